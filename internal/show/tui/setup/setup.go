// Package setup is the page for setting up a benchmark: profile, contenders, limits, rounds, steps,
// runtime and needs, each with the profile's value until it is changed. It shows at once what
// is impossible on this machine, with fixes.
//
// Its result is the arguments of "locbench run". The plan that it shows comes from the table of
// options (profile.Change), as the command line's does. It learns about the machine from its Site,
// in commands, and stays usable meanwhile.
package setup

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Options configure the page.
type Options struct {
	Site Site
	Runs ui.Source // nil: no recent runs
	// Start starts a run as "locbench run args…" would.
	Start   func(args []string) tea.Cmd
	Browse  func() tea.Cmd // opens the past runs
	Initial Choice         // of the command line
}

// Setup is the page.
type Setup struct {
	options Options
	form    form

	at        string  // name of the field in focus
	over      *picker // the list of contenders over the form
	confirmed string  // the problem that was shown, with the command: the next "start" of it ignores it

	size  ui.Size
	theme *ui.Theme
	// of the last View: the first line of the form that is shown, the line of the page where it
	// begins, and its lines
	from, top int
	inSight   []line
}

// New makes the page.
func New(o Options) *Setup {
	s := &Setup{options: o, at: fieldProfile}
	s.form = form{fields: allFields(), choice: o.Initial.clone(), wrong: map[string]string{}}
	s.form.choice.Profile = cmp.Or(s.form.choice.Profile, "quick")
	return s
}

// Init implements ui.Page.
func (s *Setup) Init() tea.Cmd { return s.askAll() }

// SetSize implements ui.Page.
func (s *Setup) SetSize(size ui.Size, theme *ui.Theme) { s.size, s.theme = size, theme }

// Title implements ui.Page.
func (s *Setup) Title() string {
	if s.over != nil {
		return "contenders"
	}
	return "set up"
}

// Typing implements ui.Page.
func (s *Setup) Typing() bool { return s.over != nil && s.over.typing() }

// Keys implements ui.Page.
func (s *Setup) Keys() ui.Keys {
	if s.over != nil {
		return s.over.keys()
	}
	start, change, edit := ui.Hint("", ui.Start), ui.Hint("change", ui.Left, ui.Right), ui.Hint("edit", ui.Enter)
	undo, runs := ui.Hint("undo", ui.Undo), ui.Hint("", ui.Runs)
	return ui.Keys{
		Short: []key.Binding{start, change, edit, undo, runs},
		Groups: []ui.Group{
			{Title: "the field", Keys: []key.Binding{
				ui.Hint("another field", ui.Up, ui.Down, ui.NextTab, ui.PrevTab, ui.First, ui.Last), change,
				ui.Hint("edit, or choose from a list", ui.Enter), ui.Hint("", ui.Undo), ui.Hint("", ui.UndoAll),
				ui.Hint("apply the fix with this number", ui.Digits),
			}},
			{Title: "the setup", Keys: []key.Binding{
				start, ui.Hint("", ui.Copy), ui.Hint("", ui.Machine), ui.Hint("", ui.Refresh), runs,
				ui.Hint("leave", ui.Esc, ui.Leave),
			}},
		},
		Legend: []string{"Changed fields are marked *. A problem is shown below its field, with its fixes on digit keys."},
	}
}

// Update implements ui.Page.
func (s *Setup) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case action:
		var cmd tea.Cmd
		more := s.change(func() { cmd = msg() })
		return tea.Batch(cmd, more)
	case ui.ShownMsg:
		return s.askAll() // images may have been built
	case ui.StopMsg:
		return ui.Cmd(ui.QuitMsg{})
	}
	if s.over != nil {
		return s.over.update(msg)
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.MouseClickMsg:
		return s.click(msg)
	case tea.MouseWheelMsg:
		s.move(ui.Wheel(msg))
	}
	return nil
}

func (s *Setup) key(msg tea.KeyPressMsg) tea.Cmd {
	f := &s.form
	switch k := ui.KeyOf(msg); k {
	case ui.Left, ui.Right, ui.Space:
		by := 1
		if k == ui.Left {
			by = -1
		}
		return s.change(func() { f.step(f.field(s.at), by) })
	case ui.NextTab:
		s.move(1)
	case ui.PrevTab:
		s.move(-1)
	case ui.Enter:
		return s.open()
	case ui.Start:
		return s.start()
	case ui.Undo:
		return s.change(func() { f.reset(f.field(s.at)) })
	case ui.UndoAll:
		return s.change(func() { f.reset(f.fields...) })
	case ui.Copy:
		return ui.Cmd(ui.CopyMsg{Text: f.choice.Command(), What: "command", Shown: f.choice.shown()})
	case ui.Machine:
		return f.askChecks()
	case ui.Refresh:
		return s.askAll()
	case ui.Runs:
		return s.options.Browse()
	case ui.Digits:
		return s.fix(ui.DigitOf(msg))
	case ui.Esc, ui.Leave:
		return ui.Cmd(ui.BackMsg{})
	default:
		by, _ := ui.Moves(k, s.size.Height)
		s.move(by)
	}
	return nil
}

// mostText is the longest value that can be typed, in characters.
const mostText = 2000

// move moves the focus.
func (s *Setup) move(by int) {
	shown := s.form.shown()
	at := slices.IndexFunc(shown, func(f Field) bool { return f.Name == s.at })
	s.at = shown[max(0, min(len(shown)-1, at+by))].Name
}

// open starts the run, or opens what changes the field in focus: the list of contenders, a
// question.
func (s *Setup) open() tea.Cmd {
	f := s.form.field(s.at)
	switch {
	case f.Name == fieldStart:
		return s.start()
	case f.Name == fieldContenders:
		s.over = newPicker(s)
		return nil
	case f.Choices == nil:
		in := ui.NewInput(mostText)
		in.SetValue(ui.Outside(f.Get(&s.form), mostText))
		if f.Name == fieldDuration && strings.Contains(in.Value(), " to ") {
			in.SetValue("") // steps of several lengths
		}
		value := in.Value()
		reply := func(text string) tea.Msg {
			if text == value {
				return nil // it may be shown in another way than it was written
			}
			return s.set(f, strings.TrimSpace(text))
		}
		return ui.Cmd(ui.AskMsg{Ask: ui.Ask{Title: f.Label, Text: f.Help, Value: value, Limit: mostText, Reply: reply}})
	}
	ask := ui.Ask{Title: f.Label}
	for i, c := range f.Choices(&s.form) {
		if c.value == f.Get(&s.form) {
			ask.At = i
		}
		name, words := ui.Outside(c.value, 40), ui.Outside(c.help, 200)
		ask.Choices = append(ask.Choices, ui.Choice{Name: name, Words: words, Msg: s.set(f, c.value)})
	}
	if len(ask.Choices) == 0 {
		return nil
	}
	return ui.Cmd(ui.AskMsg{Ask: ask})
}

// set sets the value of a field.
func (s *Setup) set(f Field, value string) action {
	return func() tea.Cmd {
		f.Set(&s.form, value)
		return nil
	}
}

// change changes the form, plans again, and requests the facts that depend on the change.
func (s *Setup) change(f func()) tea.Cmd {
	runtime, before, services := s.form.runtime(), s.form.choice.Profile, s.form.base.Services
	f()
	if s.form.choice.Profile != before {
		s.form.takeProfile()
	}
	s.form.replan()
	if !slices.ContainsFunc(s.form.shown(), func(f Field) bool { return f.Name == s.at }) {
		s.at = fieldStart
	}
	probe := s.askNeed()
	if s.form.runtime() == runtime && s.form.base.Services == services {
		return probe
	}
	s.form.facts.states = nil
	return tea.Batch(probe, s.askContenders())
}

// fix applies the fix with a number.
func (s *Setup) fix(n int) tea.Cmd {
	var all []fix
	for _, p := range s.form.problems() {
		all = append(all, p.fixes...)
	}
	switch {
	case n > len(all):
		return nil
	case all[n-1].change == nil:
		return ui.Cmd(all[n-1].msg)
	}
	return s.change(all[n-1].change)
}

func bad(text string) tea.Cmd { return ui.Cmd(ui.TellMsg{Text: text, Bad: true}) }

// notReady focuses the field of a mistake and shows it; nil if there is a plan.
func (s *Setup) notReady() tea.Cmd {
	for _, p := range s.form.problems() {
		if p.input {
			s.at = p.field
			return bad(p.text)
		}
	}
	switch {
	case !s.form.loaded:
		return bad("still reading the profile")
	case !s.form.planned:
		return bad("no plan yet")
	}
	return nil
}

// start starts the run, or shows the first problem and focuses its field. A problem of the machine
// may be solved by now: a second start ignores it.
func (s *Setup) start() tea.Cmd {
	if cmd := s.notReady(); cmd != nil {
		return cmd
	}
	all := s.form.problems()
	if i := slices.IndexFunc(all, func(p problem) bool { return p.bad }); i >= 0 {
		if shown := all[i].text + s.form.choice.Command(); s.confirmed != shown {
			s.at, s.confirmed = all[i].field, shown
			return bad(all[i].text + "; s again starts anyway")
		}
	}
	s.confirmed = ""
	return s.options.Start(s.form.choice.Args())
}
