package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// FilterBy is words that a line of a list must hold, in any case. The key Filter begins it, Enter
// keeps it, Esc clears it.
type FilterBy struct{ input textinput.Model }

// NewFilter returns an empty filter.
func NewFilter() FilterBy { return FilterBy{NewInput(200)} }

// Update handles a message; used is false for one that is not of the filter.
func (f *FilterBy) Update(msg tea.Msg) (cmd tea.Cmd, used bool) {
	press, pressed := msg.(tea.KeyPressMsg)
	_, pasted := msg.(tea.PasteMsg)
	switch k := KeyOf(press); {
	case !f.Typing() && k == Filter:
		return f.input.Focus(), true
	case !f.Typing() || !pressed && !pasted, press.Text == "" && (k == Up || k == Down):
		return nil, false
	case k == Esc:
		f.Clear()
	case k == Enter:
		f.input.Blur()
	default:
		f.input, cmd = f.input.Update(msg)
	}
	return cmd, true
}

// Typing reports whether letters are text of the filter now.
func (f *FilterBy) Typing() bool { return f.input.Focused() }

// Text returns what was typed; "" without a filter.
func (f *FilterBy) Text() string { return f.input.Value() }

// Clear removes the filter; false: there was none.
func (f *FilterBy) Clear() (had bool) {
	had = f.Typing() || f.Text() != ""
	f.input.Reset()
	f.input.Blur()
	return had
}

// Holds reports whether the texts of a line hold all words.
func (f *FilterBy) Holds(texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\n"))
	words := strings.Fields(strings.ToLower(f.input.Value()))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
}

// View returns the words in at most w cells, with the cursor while they are typed; "" without any.
func (f *FilterBy) View(w int) string {
	if !f.Typing() {
		return Words(Outside(f.input.Value(), 200), w)
	}
	f.input.SetWidth(max(1, w-1))
	return f.input.View()
}

// Keys are the keys while letters are text.
func (f *FilterBy) Keys() Keys {
	return Keys{Short: []key.Binding{Hint("keep", Enter), Hint("clear", Esc)}}
}
