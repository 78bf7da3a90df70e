package ui

import (
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/text/fit"
)

// Ask is a question over a page: one of some choices, or a text. It says what exactly each does.
type Ask struct {
	Title   string
	Text    string
	Choices []Choice
	At      int      // the choice to begin with
	After   []string // below the choices, such as a command

	// Interrupt is what Ctrl-C chooses; nil: the question closes and the page gets StopMsg.
	Interrupt tea.Msg
	// Opened is called when the question has opened, or cannot; may be nil.
	Opened func()

	// Marked makes the message of the choices that are marked; nil: one is chosen.
	Marked func(marked []int) tea.Msg

	// Reply makes the message of a text that was typed; nil: the question has choices.
	Reply func(text string) tea.Msg
	Value string // the text to begin with
	Limit int    // characters of the text

	at     int
	filter FilterBy // of many choices
	input  textinput.Model
}

// many is the number of choices above which they can be filtered: the others have digits.
const many = 9

// Choice is one way on. Its message goes to the page of the question. Without messages the choices
// are a list to read.
type Choice struct {
	Name, Words string
	Msg         tea.Msg
	Marked      bool
}

// Init begins the question.
func (a *Ask) Init() tea.Cmd {
	a.at, a.filter = a.At, NewFilter()
	if a.Reply == nil {
		return nil
	}
	a.input = NewInput(a.Limit)
	a.input.SetValue(a.Value)
	return a.input.Focus()
}

// Typing reports whether letters are text.
func (a *Ask) Typing() bool { return a.Reply != nil || a.filter.Typing() }

// shown returns the choices that match the filter.
func (a *Ask) shown() (all []*Choice) {
	for i := range a.Choices {
		if c := &a.Choices[i]; a.filter.Holds(c.Name, c.Words) {
			all = append(all, c)
		}
	}
	return all
}

// marked returns the indexes of the choices that are marked.
func (a *Ask) marked() (all []int) {
	for i, c := range a.Choices {
		if c.Marked {
			all = append(all, i)
		}
	}
	return all
}

// Update handles a message; done: the question closes, with the chosen message or nil.
func (a *Ask) Update(msg tea.Msg) (done bool, chosen tea.Msg, cmd tea.Cmd) {
	if a.Reply == nil && (len(a.Choices) > many || a.Marked != nil) {
		if cmd, used := a.filter.Update(msg); used {
			a.at = 0
			return false, nil, cmd
		}
	}
	press, pressed := msg.(tea.KeyPressMsg)
	shown := a.shown()
	switch k := KeyOf(press); {
	case pressed && k == Esc, pressed && k == Leave && a.Reply == nil:
		return true, nil, nil
	case pressed && k == Enter && a.Reply != nil:
		if a.input.Value() == "" {
			return true, nil, nil
		}
		return true, a.Reply(a.input.Value()), nil
	case a.Reply != nil:
		a.input, cmd = a.input.Update(msg)
		return false, nil, cmd
	case !pressed, len(shown) == 0:
		return false, nil, nil
	case k == Space && a.Marked != nil:
		shown[a.at].Marked = !shown[a.at].Marked
	case k == Enter && a.Marked != nil:
		return true, a.Marked(a.marked()), nil
	case k == Enter:
		return true, shown[a.at].Msg, nil
	case k == Digits && a.Marked == nil:
		if n := DigitOf(press); n <= len(shown) {
			return true, shown[n-1].Msg, nil
		}
	default:
		by, _ := Moves(k, len(shown))
		a.at = max(0, min(a.at+by, len(shown)-1))
	}
	return false, nil, nil
}

// Keys are the keys of the question.
func (a *Ask) Keys() Keys {
	switch {
	case a.filter.Typing():
		return a.filter.Keys()
	case a.Reply != nil:
		return Keys{Short: []key.Binding{Hint("save", Enter), Hint("discard", Esc)}}
	}
	if a.Marked != nil {
		return Keys{Short: []key.Binding{Hint("move", Up, Down), Hint("", Space), Hint("done", Enter), Hint("", Filter), Hint("cancel", Esc)}}
	}
	if !slices.ContainsFunc(a.Choices, func(c Choice) bool { return c.Msg != nil }) {
		return Keys{Short: []key.Binding{Hint("move", Up, Down), Hint("", Esc)}}
	}
	digits := Hint("choose at once", Digits)
	digits.SetHelp("1–"+strconv.Itoa(min(many, len(a.Choices))), "choose at once")
	all := []key.Binding{Hint("choose", Up, Down), Hint("confirm", Enter), digits, Hint("stay", Esc)}
	if len(a.Choices) > many {
		all = slices.Insert(all, 2, Hint("", Filter))
	}
	return Keys{Short: all}
}

// View draws the question in a box of at most w by h cells. What does not fit is left out whole: the
// words of the other choices last but one, their names last.
func (a *Ask) View(t *Theme, w, h int) []string {
	inner := min(72, w-8)
	if w < 60 {
		inner = w - 4
	}
	var blocks []Block
	room := h - 2 // lines of the choices
	if a.Text != "" {
		blocks = append(blocks, Text(2, append(Wrap(a.Text, inner), "")...))
	}
	if a.filter.Typing() || a.filter.Text() != "" {
		blocks = append(blocks, Text(1, t.Key.S("filter: ")+a.filter.View(inner-8)))
		room--
	}
	if a.Reply != nil {
		a.input.SetWidth(max(1, min(inner-1, 60)))
		blocks = append(blocks, Text(1, a.input.View()))
	} else {
		choices, _, _ := a.choices(t, inner, true)
		from := 0
		if len(choices) > room {
			var first, last int
			choices, first, last = a.choices(t, inner, false)
			from = Window(Window(0, last, len(choices), room), first, len(choices), room)
		}
		blocks = append(blocks, Text(1, choices[from:min(len(choices), from+room)]...))
	}
	if len(a.After) > 0 {
		lines := []string{""}
		for _, s := range a.After {
			lines = append(lines, Wrap(s, inner)...)
		}
		blocks = append(blocks, Text(3, lines...))
	}
	used := 0
	for i, n := range share(h-2, blocks) {
		used += n
		blocks[i].Least = n
	}
	lines := strings.Split(Stack(inner, used, blocks...), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return t.Box(a.Title, lines, w)
}

// choices returns the lines of the choices, with their words next to them, or below where it is
// narrow: of all, or only of the one under the cursor, whose lines are first to last.
func (a *Ask) choices(t *Theme, w int, all bool) (lines []string, first, last int) {
	wide := 0
	for _, c := range a.shown() {
		wide = max(wide, fit.Width(c.Name))
	}
	for i, c := range a.shown() {
		cursor, name := "  ", fit.Left(c.Name, wide)
		if i == a.at {
			first = len(lines)
			cursor, name = t.Title.S(t.Glyph.Cursor)+" ", t.Select.S(name)
		}
		head := cursor + t.Key.S(strconv.Itoa(i+1)) + "  " + name
		if a.Marked != nil {
			head = cursor + map[bool]string{true: "[x] ", false: "[ ] "}[c.Marked] + name
		}
		switch {
		case !all && i != a.at || c.Words == "":
			lines = append(lines, head)
		case w-wide-7 < 16: // a column of words would have lines of one
			lines = append(append(lines, head), Hang("     ", c.Words, w, Paint{})...)
		default:
			lines = append(lines, Hang(head+"  ", c.Words, w, Paint{})...)
		}
		if i == a.at {
			last = len(lines) - 1
		}
	}
	return lines, first, last
}

// NewInput returns a field for a line of text in the colors of the terminal, with a steady cursor:
// nothing blinks while a step is measured.
func NewInput(limit int) textinput.Model {
	in := textinput.New()
	in.Prompt, in.CharLimit = "", limit
	in.SetStyles(textinput.Styles{})
	return in
}

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
