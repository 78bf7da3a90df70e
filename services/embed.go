// Package services holds the folders of the contenders that come with locbench, so that the binary alone can build and
// start them. Reading the manifests is left to package contender.
package services

import "embed"

// FS has a folder for each contender. Each folder is named here and not matched by a pattern, and of those that a build
// writes into only the sources are, so that build output lying beside them never gets into the binary.
//
//go:embed all:go-nethttp
//go:embed kt-http4k/.dockerignore kt-http4k/Dockerfile kt-http4k/README.md kt-http4k/pom.xml kt-http4k/service.yaml kt-http4k/src
//go:embed kt-ktor/.dockerignore kt-ktor/Dockerfile kt-ktor/README.md kt-ktor/pom.xml kt-ktor/service.yaml kt-ktor/src
var FS embed.FS
