package run

import "github.com/locbench/locbench/internal/show/tui/ui"

// newContenders makes the tab.
func newContenders() ui.Page { return blank{"Contenders"} }
