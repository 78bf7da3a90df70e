package run

import (
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// blank is a tab that is not built yet.
type blank struct{ title string }

func (blank) Init() tea.Cmd              { return nil }
func (blank) SetSize(ui.Size, *ui.Theme) {}
func (blank) Update(tea.Msg) tea.Cmd     { return nil }
func (blank) View() string               { return "" }
func (blank) Keys() ui.Keys              { return ui.Keys{} }
func (blank) Typing() bool               { return false }
func (b blank) Title() string            { return b.title }
