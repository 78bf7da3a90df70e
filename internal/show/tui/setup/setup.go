// Package setup is the page for setting up a benchmark: a form of profile, contenders and the options
// of a run that have a label in the table of options (profile.Options), each with the profile's value
// until it is changed. Its result is the arguments of "locbench run", which it shows, and its plan is
// that of the command line (profile.Change).
package setup

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Site reads what is outside of the page. Its methods may block: they are called in commands.
type Site interface {
	// Profiles returns bundled profiles, those in the working folder, and also. Each may have an
	// Err.
	Profiles(also string) []Profile
	// Contenders returns all contenders, with those in services, the folder that a profile names
	// ("": none). The error names unreadable manifests; the others are returned with it.
	Contenders(services string) ([]bench.Service, error)
}

// Profile is a profile that can be chosen.
type Profile struct {
	Name string // as --profile takes it
	bench.Profile
	Err error // why it is unreadable
}

// Options configure the page.
type Options struct {
	Site Site
	// Start starts a run as "locbench run args…" would.
	Start   func(args []string) tea.Cmd
	Browse  func() tea.Cmd // opens the past runs
	Initial Choice         // of the command line
}

// Setup is the page.
type Setup struct {
	options Options
	form    form
	at      string // name of the field in focus

	size   ui.Size
	theme  *ui.Theme
	scroll ui.Scroll
	lines  []line // of the form
}

// New makes the page.
func New(o Options) *Setup {
	s := &Setup{options: o, at: fieldProfile, scroll: ui.NewScroll()}
	s.form = form{fields: allFields(), choice: o.Initial.clone()}
	return s
}

// Messages of the page to itself.
type (
	profilesMsg   []Profile
	contendersMsg struct {
		services string // its folder
		all      []bench.Service
		err      error
	}
	// setMsg sets a field.
	setMsg struct{ field, value string }
	// chosenMsg are the contenders that were marked.
	chosenMsg []bench.Selection
)

// Init implements ui.Page.
func (s *Setup) Init() tea.Cmd {
	site, also := s.options.Site, s.form.choice.profile()
	return tea.Batch(s.readContenders(), func() tea.Msg { return profilesMsg(site.Profiles(also)) })
}

func (s *Setup) readContenders() tea.Cmd {
	site, services := s.options.Site, s.form.base.Services
	return func() tea.Msg {
		all, err := site.Contenders(services)
		return contendersMsg{services, all, err}
	}
}

// SetSize implements ui.Page.
func (s *Setup) SetSize(size ui.Size, theme *ui.Theme) { s.size, s.theme = size, theme }

// Title implements ui.Page.
func (s *Setup) Title() string { return "set up" }

// Typing implements ui.Page.
func (s *Setup) Typing() bool { return false }

// Keys implements ui.Page.
func (s *Setup) Keys() ui.Keys {
	start, change, edit := ui.Hint("", ui.Start), ui.Hint("change", ui.Left, ui.Right), ui.Hint("edit", ui.Enter)
	undo, runs := ui.Hint("undo", ui.Undo), ui.Hint("", ui.Runs)
	return ui.Keys{
		Short: []key.Binding{start, change, edit, undo, runs},
		Groups: []ui.Group{
			{Title: "the field", Keys: []key.Binding{
				ui.Hint("another field", ui.Up, ui.Down, ui.NextTab, ui.PrevTab, ui.First, ui.Last), change,
				ui.Hint("edit, or choose from a list", ui.Enter), ui.Hint("", ui.Undo), ui.Hint("", ui.UndoAll),
			}},
			{Title: "the setup", Keys: []key.Binding{
				start, ui.Hint("", ui.Copy), ui.Hint("", ui.Refresh), runs, ui.Hint("leave", ui.Esc, ui.Leave),
			}},
		},
		Legend: []string{"Changed fields are marked *. A mistake is shown below its field."},
	}
}

// Update implements ui.Page.
func (s *Setup) Update(msg tea.Msg) tea.Cmd {
	f := &s.form
	switch msg := msg.(type) {
	case profilesMsg:
		return s.change(func() { f.profiles = msg })
	case contendersMsg:
		if msg.services == f.base.Services { // else it is outdated
			f.services, f.unreadable = msg.all, text(msg.err)
		}
	case setMsg:
		return s.change(func() { f.set(f.field(msg.field), msg.value) })
	case chosenMsg:
		return s.change(func() { f.choose(msg) })
	case ui.StopMsg:
		return ui.Cmd(ui.QuitMsg{})
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Setup) key(msg tea.KeyPressMsg) tea.Cmd {
	f := &s.form
	switch k := ui.KeyOf(msg); k {
	case ui.Left:
		return s.change(func() { f.step(f.field(s.at), -1) })
	case ui.Right, ui.Space:
		return s.change(func() { f.step(f.field(s.at), 1) })
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
	case ui.Refresh:
		return s.Init()
	case ui.Runs:
		return s.options.Browse()
	case ui.Esc, ui.Leave:
		return ui.Cmd(ui.BackMsg{})
	default:
		by, _ := ui.Moves(k, s.size.Height)
		s.move(by)
	}
	return nil
}

// move moves the focus.
func (s *Setup) move(by int) {
	shown := s.form.shown()
	at := slices.IndexFunc(shown, func(f field) bool { return f.name == s.at })
	s.at = shown[max(0, min(len(shown)-1, at+by))].name
}

// change changes the form and plans again. Another profile may have contenders in another folder.
func (s *Setup) change(f func()) tea.Cmd {
	before := s.form.base.Services
	f()
	s.form.replan()
	if !slices.ContainsFunc(s.form.shown(), func(f field) bool { return f.name == s.at }) {
		s.at = fieldStart
	}
	if s.form.base.Services == before {
		return nil
	}
	return s.readContenders()
}

// mostText is the longest value that can be typed, in characters.
const mostText = 2000

// open starts the run, or opens the question that changes the field in focus.
func (s *Setup) open() tea.Cmd {
	f := &s.form
	at := f.field(s.at)
	ask := ui.Ask{Title: at.label}
	switch {
	case at.name == fieldStart:
		return s.start()
	case at.name == fieldContenders:
		all := f.contenders()
		for _, row := range all {
			ask.Choices = append(ask.Choices, ui.Choice{
				Name: ui.Outside(row.sel.String(), 40), Words: row.about, Marked: slices.Contains(f.selected(), row.sel),
			})
		}
		ask.Marked = func(marked []int) tea.Msg {
			var msg chosenMsg
			for _, i := range marked {
				msg = append(msg, all[i].sel)
			}
			return msg
		}
	case len(f.choices(at)) > 0:
		for i, value := range f.choices(at) {
			if value == f.value(at) {
				ask.At = i
			}
			ask.Choices = append(ask.Choices, ui.Choice{
				Name: ui.Outside(value, 40), Words: f.words(at, i), Msg: setMsg{at.name, value},
			})
		}
	default:
		in := ui.NewInput(mostText)
		in.SetValue(ui.Outside(f.value(at), mostText))
		if at.name == fieldDuration && strings.Contains(in.Value(), " to ") {
			in.SetValue("") // steps of several lengths
		}
		ask.Text, ask.Value, ask.Limit = at.help, in.Value(), mostText
		ask.Reply = func(text string) tea.Msg {
			if text == ask.Value {
				return nil // it may be shown in another way than it was written
			}
			return setMsg{at.name, strings.TrimSpace(text)}
		}
	}
	return ui.Cmd(ui.AskMsg{Ask: ask})
}

// start starts the run, or focuses the field of the mistake.
func (s *Setup) start() tea.Cmd {
	where, text := s.form.mistake()
	switch {
	case text != "":
		s.at = where
		return ui.Cmd(ui.TellMsg{Text: text, Bad: true})
	case s.form.profiles == nil:
		return ui.Cmd(ui.TellMsg{Text: "still reading the profile", Bad: true})
	}
	return s.options.Start(s.form.choice.Args())
}
