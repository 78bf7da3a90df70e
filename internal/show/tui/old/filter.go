package old

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Filter is a text that selects lines, and whether it is being typed.
type Filter struct {
	Text   string
	Typing bool
	Most   int // bytes
}

// Moves returns the lines that a key moves in a list of page lines; handled: it is such a key.
func Moves(name string, page int) (by int, handled bool) {
	const all = 1 << 30
	page = max(1, page-1) // one line stays in sight
	by, handled = map[string]int{
		"up": -1, "k": -1, "pgup": -page, "ctrl+b": -page, "home": -all, "g": -all,
		"down": 1, "j": 1, "pgdown": page, "ctrl+f": page, "space": page, "end": all, "G": all,
	}[name]
	return by, handled
}

// Key handles a key while the text is typed; handled is false for keys that have no effect.
func (f *Filter) Key(msg tea.KeyPressMsg) (handled bool) {
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

// Add adds the printable characters of text, while there is room.
func (f *Filter) Add(text string) {
	for _, r := range strings.ToValidUTF8(text, "") {
		if r >= 0x20 && len(f.Text)+utf8.RuneLen(r) <= f.Most {
			f.Text += string(r)
		}
	}
}
