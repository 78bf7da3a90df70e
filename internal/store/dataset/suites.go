package dataset

import "embed"

// Suites holds the HTTP checks of the locations API over the bundled data, as package check reads
// them: a file for each suite, suites/NAME.yaml.
//
//go:embed suites/*.yaml
var Suites embed.FS
