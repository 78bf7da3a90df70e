package dataset

import "embed"

// Suites holds the HTTP checks of the locations API over the bundled data, in the form that package
// check reads: one file per suite, suites/NAME.yaml.
//
//go:embed suites/*.yaml
var Suites embed.FS
