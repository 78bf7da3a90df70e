package ui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Filter is a text by which lines are looked for, and whether it is being typed.
type Filter struct {
	Text   string
	Typing bool
	Most   int // bytes
}

// Key takes in a key while the text is typed; mine is false for one that means nothing here.
func (f *Filter) Key(msg tea.KeyPressMsg) (mine bool) {
	switch name := msg.String(); name {
	case "enter":
		f.Typing = false
	case "esc", "ctrl+u":
		f.Typing, f.Text = name != "esc", ""
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(f.Text)
		f.Text = f.Text[:len(f.Text)-n]
	default:
		f.Add(msg.Text)
		return msg.Text != ""
	}
	return true
}

// Add adds what of text can be shown, as far as there is room.
func (f *Filter) Add(text string) {
	for _, r := range strings.ToValidUTF8(text, "") {
		if r >= 0x20 && len(f.Text)+utf8.RuneLen(r) <= f.Most {
			f.Text += string(r)
		}
	}
}
