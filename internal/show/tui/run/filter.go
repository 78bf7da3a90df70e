package run

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// searched bounds the part of a line that a filter is compared with.
const searched = 4096

// madeOf is what the lines of a tab are made of: they are made again when it changes.
type madeOf struct {
	state   *fold.State
	version uint64
	view    int
	filter  string
	theme   *ui.Theme
	size    ui.Size
}

// lineFilter is a text that lines must hold, in any case. ui.Filter begins it, ui.Enter keeps it,
// ui.Esc clears it.
type lineFilter struct {
	input textinput.Model
}

func newLineFilter() lineFilter { return lineFilter{ui.NewInput(100)} }

// update handles a message; used is false for one that is not of the filter.
func (f *lineFilter) update(msg tea.Msg) (cmd tea.Cmd, used bool) {
	press, _ := msg.(tea.KeyPressMsg)
	switch k := ui.KeyOf(press); {
	case !f.typing() && k == ui.Filter:
		return f.input.Focus(), true
	case !f.typing():
		return nil, false
	case k == ui.Esc:
		f.clear()
	case k == ui.Enter:
		f.input.Blur()
	default:
		f.input, cmd = f.input.Update(msg)
	}
	return cmd, true
}

func (f *lineFilter) typing() bool { return f.input.Focused() }

// clear removes the filter; false: there was none.
func (f *lineFilter) clear() bool {
	had := f.typing() || f.input.Value() != ""
	f.input.Reset()
	f.input.Blur()
	return had
}

func (f *lineFilter) text() string { return strings.ToLower(f.input.Value()) }

// holds reports whether a line holds the text.
func (f *lineFilter) holds(line string) bool {
	want := f.text()
	return want == "" || strings.Contains(strings.ToLower(line[:min(len(line), searched)]), want)
}

// block is the line of the filter; absent without one.
func (f *lineFilter) block(t *ui.Theme, priority, w int) ui.Block {
	if !f.typing() && f.text() == "" {
		return ui.Block{}
	}
	text := ui.Outside(f.input.Value(), searched)
	if f.typing() {
		f.input.SetWidth(max(1, min(60, w-4)))
		text = f.input.View()
	}
	return ui.Text(priority, " "+t.Key.S("/")+" "+text)
}

// keys are the keys while letters are text.
func (f *lineFilter) keys() ui.Keys {
	return ui.Keys{Short: []key.Binding{ui.Hint("keep", ui.Enter), ui.Hint("clear", ui.Esc)}}
}
