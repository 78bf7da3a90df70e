package run

import "github.com/locbench/locbench/internal/show/tui/ui"

// newResult makes the tab.
func newResult() ui.Page { return blank{"Result"} }
