package run

import "github.com/locbench/locbench/internal/show/tui/ui"

// newOverview makes the tab.
func newOverview() ui.Page { return blank{"Overview"} }
