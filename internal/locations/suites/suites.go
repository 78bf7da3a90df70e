// Package suites holds the HTTP checks of the locations API over the bundled data, as package check
// reads them.
package suites

import "embed"

// FS has a file for each suite, NAME.yaml.
//
//go:embed *.yaml
var FS embed.FS
