// Package setup is the screen on which a benchmark is put together: profile, contenders, limits,
// rounds, steps, runtime, store and data, each with the profile's value until it is changed. It
// sees at once what is impossible on this machine and offers the way out.
//
// What it makes is the arguments of "locbench run", nothing else: the plan that it shows is made by
// the table of options (profile.Change), as the command line's is. What it needs to know of the
// machine it asks its Site, in commands, and stays usable meanwhile.
package setup

import (
	"cmp"
	"context"
	"errors"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/run/machine"
	"locbench/internal/show/tui/ui"
)

// Site is what the screen knows the outside by. Its methods may block for as long as their context
// lets them: they are called in commands.
type Site interface {
	// Profiles are those that can be chosen: the bundled ones, those in the working folder, and the
	// one called also. Those that cannot be read have an Err.
	Profiles(ctx context.Context, also string) []Profile
	// Contenders are all there are, with their variants. The error names manifests that cannot
	// be read; the others come with it.
	Contenders(ctx context.Context) ([]bench.Service, error)
	// States says of each variant of each contender what it takes to run it there; nothing is
	// built. A service without variants is a selection without one.
	States(ctx context.Context, runtime bench.Runtime) (map[bench.Selection]State, error)
	Machine(ctx context.Context) Machine
	// Elastic asks the Elasticsearch at url what it is. An error does not repeat a password in it.
	Elastic(ctx context.Context, url string) (Elastic, error)
	// Room returns how many connections can be opened at a time, at most as many as are asked for,
	// and the reason when they are fewer.
	Room(ctx context.Context, connections int) (most int, err error)
	// Save writes p as YAML to the file, which gets its ending if it has none, and returns its
	// path. Unless replace is set, a file that is there is left alone and the error is ErrExists.
	// What warning says was left out.
	Save(ctx context.Context, path string, p bench.Profile, replace bool) (saved, warning string, err error)
}

// ErrExists is wrapped by the error of Site.Save when there is such a file.
var ErrExists = errors.New("the file is there already")

// Profile is a profile that can be chosen.
type Profile struct {
	Name string // as --profile takes it
	bench.Profile
	Err error // why it cannot be read
}

// Machine is what the setup is held against. Zero numbers are unknown.
type Machine struct {
	CPUs      int   // that this process may use
	Memory    int64 // bytes
	Available int64 // bytes of it that nobody uses
	Engine    Engine
	// Unlimited says why limits of processes are not enforced; "" when they are.
	Unlimited string
	Warnings  []machine.Warning
}

// Engine is the Docker engine, as it has answered.
type Engine struct {
	Err     error // why there is none
	Version string
	CPUs    int
	Memory  int64 // bytes
	Local   bool  // on this machine, as it seems
}

// Elastic is what an Elasticsearch says of itself.
type Elastic struct {
	Version string
	Warning string // when it is of another version than 7
	Cities  int64  // documents in the index city; 0: none, or no such index
}

// Kind is what it takes to run a variant.
type Kind int

// The kinds of states.
const (
	Unknown Kind = iota // nobody knows yet
	Ready               // nothing is to be built
	Stale               // was built before, from other sources
	Build               // never built here
	Pull                // an image that is in a registry only
	Cannot              // not here, and State.Why says why
)

// State is how far a variant is from running.
type State struct {
	Kind Kind
	Why  string
	// Verified is what "services verify" has seen of the contender, in words that begin with the
	// word "verified" where it passed and its sources are still the same; "" where nobody has run
	// it.
	Verified string
}

// Options are what a Screen is made of.
type Options struct {
	Site Site
	// Start begins a run as "locbench run args…" would.
	Start func(args []string) tea.Cmd
	// Browse opens the past results; nil: there is no such screen.
	Browse  func() tea.Cmd
	Initial Choice // what the command line has chosen already
}

type mode int

const (
	fields     mode = iota
	editing         // the text of a field
	choosing        // one of a field's options
	contenders      // the list of contenders
	saving          // the file's name of a new profile
	findings        // what is wrong, and what this machine can do
)

// Screen is the setup screen; it implements ui.Screen.
type Screen struct {
	o        Options
	choice   Choice
	profiles []Profile
	base     bench.Profile // the one chosen
	loaded   bool          // base is known
	baseErr  string

	plan    bench.Profile
	planned bool
	planErr string        // what is wrong with the whole of it
	wrong   map[id]string // what is wrong with a field

	facts facts

	mode   mode
	focus  id
	from   int // first field shown
	input  textinput.Model
	before []string // what was given for the edited field
	option int      // the one under the cursor while choosing
	list   list
	save   save
	scroll int    // of the warnings
	url    string // the last one typed, for who comes back to an external store
	forced string // the troubles in spite of which a second "start" starts

	width, height int
	plain         *ui.Look // to find out where things are
}

// New makes the screen.
func New(o Options) *Screen {
	s := &Screen{
		o: o, choice: o.Initial.clone(), wrong: map[id]string{}, focus: fieldProfile, input: newInput(),
		list: list{filter: newInput()}, save: save{input: newInput()}, width: 80, height: 23,
		plain: ui.NewLook(ui.LookOptions{NoColor: true}),
	}
	s.choice.Profile = cmp.Or(s.choice.Profile, "quick")
	return s
}

func newInput() textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.CharLimit = 2000
	in.SetVirtualCursor(false)
	return in
}

// Init asks for everything there is to know.
func (s *Screen) Init() tea.Cmd { return tea.Batch(s.askProfiles(), s.askContenders(), s.askAgain()) }

// Title implements ui.Screen.
func (s *Screen) Title() string { return "set up" }

// Typing implements ui.Screen.
func (s *Screen) Typing() bool {
	return s.mode == editing || s.mode == saving && !s.save.asking || s.mode == contenders && s.list.typing
}

// Busy implements ui.Screen: the spinner turns while something is being asked.
func (s *Screen) Busy() bool { return s.facts.pending > 0 }

// Keys implements ui.Screen.
func (s *Screen) Keys() []ui.Key {
	switch s.mode {
	case editing:
		return []ui.Key{{Name: "enter", Help: "keep"}, {Name: "esc", Help: "cancel"}, {Name: "tab", Help: "next field"}}
	case choosing:
		return []ui.Key{{Name: "enter", Help: "choose"}, {Name: "↑/↓", Help: "move"}, {Name: "esc", Help: "cancel"}}
	case saving:
		if s.save.asking {
			return []ui.Key{
				{Name: "y", Help: "replace it"}, {Name: "n", Help: "rename"}, {Name: "esc", Help: "cancel"},
			}
		}
		return []ui.Key{{Name: "enter", Help: "save"}, {Name: "esc", Help: "do not save"}}
	case findings:
		return []ui.Key{{Name: "esc", Help: "back"}, {Name: "↑/↓", Help: "scroll"}, {Name: "r", Help: "refresh"}}
	case contenders:
		return s.list.keys()
	}
	keys := []ui.Key{
		{Name: "s", Help: "start", Long: "start the benchmark (ctrl+s too, or enter on Start)"},
		{Name: "enter", Help: "edit", Long: "edit field, open list or press button"},
		{Name: "←/→", Help: "change", Long: "change the value"},
		{Name: "u", Help: "undo", Long: "reset the field to the profile; U resets all"},
		{Name: "w", Help: "save", Long: "save as a new profile"},
		{Name: "y", Help: "copy", Long: "copy the equivalent command"},
		{Name: "d", Help: "doctor", Long: "machine check and all problems"},
	}
	if s.o.Browse != nil {
		keys = append(keys, ui.Key{Name: "b", Help: "browse", Long: "browse past results"})
	}
	return append(keys, ui.Key{Name: "r", Help: "refresh", Long: "check machine, engine and store again"},
		ui.Key{Name: "1…9", Help: "fix", Long: "apply fix 1-9"},
		ui.Key{Name: "↑/↓", Help: "move", Long: "move between fields (also tab, j, k)"},
		ui.Key{Name: "q", Help: "leave"})
}
