package ui

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Key is what a key means, the same on all pages. Pages switch on KeyOf and never on names of keys.
type Key = *key.Binding

// keys are all of them.
var keys []Key

// define returns a key: its names from Bubble Tea, its sign, and what it does on most pages.
func define(names, shown, words string) Key {
	k := key.NewBinding(key.WithKeys(strings.Fields(names)...), key.WithHelp(shown, words))
	keys = append(keys, &k)
	return &k
}

// The keys.
var (
	Up          = define("up k", "↑", "previous")
	Down        = define("down j", "↓", "next")
	Left        = define("left h", "←", "left")
	Right       = define("right l", "→", "right")
	PageUp      = define("pgup", "pgup", "a page up")
	PageDown    = define("pgdown", "pgdn", "a page down")
	First       = define("home g", "home", "first")
	Last        = define("end G", "end", "last")
	Enter       = define("enter", "enter", "open")
	Esc         = define("esc", "esc", "back")
	NextTab     = define("tab", "tab", "next")
	PrevTab     = define("shift+tab", "shift+tab", "previous")
	Digits      = define("1 2 3 4 5 6 7 8 9", "1…9", "choose by number")
	Space       = define("space", "space", "mark")
	Filter      = define("/", "/", "filter")
	View        = define("v", "v", "next view")
	TrialBefore = define("[", "[", "trial before")
	TrialAfter  = define("]", "]", "trial after")
	Current     = define(".", ".", "back to the running trial")
	Start       = define("s", "s", "start")
	Resume      = define("R", "R", "resume")
	Pause       = define("p", "p", "pause")
	Stop        = define("x", "x", "stop…")
	Detach      = define("d", "d", "leave it running")
	Compare     = define("c", "c", "compare")
	Report      = define("r", "r", "report")
	Copy        = define("y", "y", "copy the command")
	Runs        = define("b", "b", "past runs")
	Undo        = define("u", "u", "undo this field")
	UndoAll     = define("U", "U", "undo all fields")
	Refresh     = define("f5", "f5", "read again")
	Help        = define("?", "?", "all keys")
	Leave       = define("q", "q", "leave")
	Interrupt   = define("ctrl+c", "ctrl+c", "end")
	Suspend     = define("ctrl+z", "ctrl+z", "suspend (fg returns)")
	Redraw      = define("ctrl+l", "ctrl+l", "redraw")
)

// KeyOf returns what a key means; nil: nothing.
func KeyOf(msg tea.KeyPressMsg) (found Key) {
	if i := slices.IndexFunc(keys, func(k Key) bool { return key.Matches(msg, *k) }); i >= 0 {
		found = keys[i]
	}
	return found
}

// DigitOf returns the number of a digit key, 1 to 9, else 0.
func DigitOf(msg tea.KeyPressMsg) int {
	return 1 + slices.Index(Digits.Keys(), msg.String())
}

// Hint is the help of keys that belong together, such as up and down. Without words it is that of
// the first key.
func Hint(words string, all ...Key) key.Binding {
	var names []string
	shown, arrows := "", []Key{Up, Down, Left, Right}
	for i, k := range all {
		if i > 0 && !(slices.Contains(arrows, k) && slices.Contains(arrows, all[i-1])) {
			shown += " "
		}
		names, shown = append(names, k.Keys()...), shown+k.Help().Key
	}
	words = cmp.Or(words, all[0].Help().Desc)
	return key.NewBinding(key.WithKeys(names...), key.WithHelp(shown, words))
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
