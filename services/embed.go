// Package services holds the folders of the contenders that come with locbench, so that the binary alone can build and
// start them. Reading the manifests is left to package contender.
package services

import "embed"

// FS has a folder for each contender. Each folder is named here and not matched by a pattern, so that build output lying
// beside them never gets into the binary.
//
//go:embed all:go-nethttp
var FS embed.FS
