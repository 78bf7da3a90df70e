package run

import "github.com/locbench/locbench/internal/show/tui/ui"

// newSteps makes the tab.
func newSteps() ui.Page { return blank{"Steps"} }
