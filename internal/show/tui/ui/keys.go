package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Key is what a key means, the same on all pages. Pages switch on KeyOf and never on names of keys.
type Key int

// The keys.
const (
	NoKey Key = iota
	Up
	Down
	Left
	Right
	PageUp
	PageDown
	First
	Last
	Enter
	Esc
	NextTab
	PrevTab
	Digits
	Space
	Filter
	View
	Order
	TrialBefore
	TrialAfter
	Current
	Start
	Resume
	Pause
	Stop
	Note
	Detach
	Faster
	Slower
	Compare
	Report
	Copy
	Runs
	Undo
	UndoAll
	Save
	Machine
	Refresh
	Help
	Leave
	Interrupt
	Suspend
	Redraw
)

// keys holds the names of each key from Bubble Tea, its sign, and what the key
// does on most pages.
var keys = [...]struct{ names, shown, words string }{
	Up:          {"up k", "↑", "previous"},
	Down:        {"down j", "↓", "next"},
	Left:        {"left h", "←", "left"},
	Right:       {"right l", "→", "right"},
	PageUp:      {"pgup", "pgup", "a page up"},
	PageDown:    {"pgdown", "pgdn", "a page down"},
	First:       {"home g", "home", "first"},
	Last:        {"end G", "end", "last"},
	Enter:       {"enter", "enter", "open"},
	Esc:         {"esc", "esc", "back"},
	NextTab:     {"tab", "tab", "next"},
	PrevTab:     {"shift+tab", "shift+tab", "previous"},
	Digits:      {"1 2 3 4 5 6 7 8 9", "1…9", "choose by number"},
	Space:       {"space", "space", "mark"},
	Filter:      {"/", "/", "filter"},
	View:        {"v", "v", "next view"},
	Order:       {"o", "o", "order"},
	TrialBefore: {"[", "[", "trial before"},
	TrialAfter:  {"]", "]", "trial after"},
	Current:     {".", ".", "back to the running trial"},
	Start:       {"s", "s", "start"},
	Resume:      {"R", "R", "resume"},
	Pause:       {"p", "p", "pause"},
	Stop:        {"x", "x", "stop…"},
	Note:        {"n", "n", "note, kept in the results"},
	Detach:      {"d", "d", "leave it running"},
	Faster:      {"+ =", "+", "rate +10%"},
	Slower:      {"- _", "-", "rate -10%"},
	Compare:     {"c", "c", "compare"},
	Report:      {"r", "r", "report"},
	Copy:        {"y", "y", "copy the command"},
	Runs:        {"b", "b", "past runs"},
	Undo:        {"u", "u", "undo this field"},
	UndoAll:     {"U", "U", "undo all fields"},
	Save:        {"w", "w", "save as a profile"},
	Machine:     {"m", "m", "this machine"},
	Refresh:     {"f5", "f5", "read again"},
	Help:        {"?", "?", "all keys"},
	Leave:       {"q", "q", "leave"},
	Interrupt:   {"ctrl+c", "ctrl+c", "end"},
	Suspend:     {"ctrl+z", "ctrl+z", "suspend (fg returns)"},
	Redraw:      {"ctrl+l", "ctrl+l", "redraw"},
}

// KeyOf returns what a key means.
func KeyOf(msg tea.KeyPressMsg) Key {
	name := msg.String()
	for k, row := range keys {
		if slices.Contains(strings.Fields(row.names), name) {
			return Key(k)
		}
	}
	return NoKey
}

// DigitOf returns the number of a digit key, 1 to 9, else 0.
func DigitOf(msg tea.KeyPressMsg) int {
	if name := msg.String(); len(name) == 1 && name >= "1" && name <= "9" {
		return int(name[0] - '0')
	}
	return 0
}

// Hint is the help of keys that belong together, such as up and down. Without words it is that of
// the first key.
func Hint(words string, all ...Key) key.Binding {
	var names, shown []string
	for _, k := range all {
		names = append(names, strings.Fields(keys[k].names)...)
		shown = append(shown, keys[k].shown)
	}
	if words == "" {
		words = keys[all[0]].words
	}
	sep := " "
	if len(all) > 1 && all[0] <= Right {
		sep = ""
	}
	return key.NewBinding(key.WithKeys(names...), key.WithHelp(strings.Join(shown, sep), words))
}

// Keys are the keys of a page that work now.
type Keys struct {
	Short  []key.Binding // for the last line, at most six, the most useful first
	Groups []Group       // all of them, for the page of help
	Legend []string      // signs and words of the page, below the keys
}

// Group is keys under a title.
type Group struct {
	Title string
	Keys  []key.Binding
}

// Moves returns the lines by which a key moves in a list of page lines; ok: it is such a key.
func Moves(k Key, page int) (by int, ok bool) {
	const all = 1 << 30
	page = max(1, page-1) // one line stays in sight
	by, ok = map[Key]int{
		Up: -1, Down: 1, PageUp: -page, PageDown: page, First: -all, Last: all,
	}[k]
	return by, ok
}
