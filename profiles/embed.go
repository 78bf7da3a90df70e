// Package profiles holds the benchmarks that come with locbench, one YAML file each. Package
// profile reads them.
package profiles

import "embed"

// FS has the files at its root: quick.yaml, locations.yaml, …
//
//go:embed *.yaml
var FS embed.FS
