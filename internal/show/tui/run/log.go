package run

import "github.com/locbench/locbench/internal/show/tui/ui"

// newLog makes the tab.
func newLog() ui.Page { return blank{"Log"} }
