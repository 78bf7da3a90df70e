package run

import "github.com/locbench/locbench/internal/show/tui/ui"

// newChecks makes the tab.
func newChecks() ui.Page { return blank{"Checks"} }
