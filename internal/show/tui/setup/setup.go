// Package setup is the screen for setting up a benchmark: profile, contenders, limits, rounds,
// steps, runtime, store and data, each with the profile's value until it is changed. It shows at
// once what is impossible on this machine, with fixes.
//
// Its result is the arguments of "locbench run". The plan that it shows comes from the table of
// options (profile.Change), as the command line's does. It learns about the machine from its Site,
// in commands, and stays usable meanwhile.
package setup

import (
	"cmp"
	"context"
	"errors"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/machine"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// Site reads and writes everything outside of the screen. Its methods may block until their context
// ends: they are called in commands.
type Site interface {
	// Profiles returns bundled profiles, those in the working folder, and also. Each may have an
	// Err.
	Profiles(ctx context.Context, also string) []Profile
	// Contenders returns all contenders with their variants. The error names unreadable manifests;
	// the others are returned with it.
	Contenders(ctx context.Context) ([]bench.Service, error)
	// States returns what each variant of each contender needs to run; nothing is built. A service
	// without variants is a selection without one.
	States(ctx context.Context, runtime bench.Runtime) (map[bench.Selection]State, error)
	Machine(ctx context.Context) Machine
	// Elastic describes the Elasticsearch at url. An error does not repeat a password in url.
	Elastic(ctx context.Context, url string) (Elastic, error)
	// Room returns how many of the connections can be open at once, and the reason if not all.
	Room(ctx context.Context, connections int) (most int, err error)
	// Save writes p as YAML to the file, adds .yaml to a path without an extension, and returns the
	// path. Without replace it leaves an existing file alone and returns ErrExists. warning names
	// what was not saved.
	Save(ctx context.Context, path string, p bench.Profile, replace bool) (saved, warning string, err error)
}

// ErrExists is wrapped by the error of Site.Save if the file exists.
var ErrExists = errors.New("the file exists")

// Profile is a profile that can be chosen.
type Profile struct {
	Name string // as --profile takes it
	bench.Profile
	Err error // why it is unreadable
}

// Machine is the machine that the setup has to fit. Zero numbers are unknown.
type Machine struct {
	CPUs      int   // that this process may use
	Memory    int64 // bytes
	Available int64 // free memory in bytes
	Engine    Engine
	// Unlimited says why limits for processes are not enforced; "" if they are.
	Unlimited string
	Warnings  []machine.Warning
}

// Engine is the Docker engine, as it describes itself.
type Engine struct {
	Err     error // why it is not available
	Version string
	CPUs    int
	Memory  int64 // bytes
	Local   bool  // probably on this machine
}

// Elastic describes an Elasticsearch.
type Elastic struct {
	Version string
	Warning string // if its version is not 7
	Cities  int64  // documents in the index city; 0: none, or no index
}

// Kind is what a variant needs to run.
type Kind int

// The kinds of states.
const (
	Unknown Kind = iota // not known yet
	Ready               // nothing
	Stale               // a build: the last one was from other sources
	Build               // its first build here
	Pull                // an image from a registry
	Cannot              // it cannot run here; State.Why says why
)

// State is the state of a variant before a run.
type State struct {
	Kind Kind
	Why  string
}

// Options configure a Screen.
type Options struct {
	Site Site
	// Start starts a run as "locbench run args…" would.
	Start func(args []string) tea.Cmd
	// Browse opens the past results; nil: the key is not offered.
	Browse  func() tea.Cmd
	Initial Choice // of the command line
}

type mode int

const (
	fields     mode = iota
	editing         // editing the text of a field
	choosing        // selecting one of a field's options
	contenders      // the list of contenders
	saving          // naming the file of a new profile
	diagnosis       // all problems, and the machine check
)

// Screen is the setup screen; it implements ui.Screen.
type Screen struct {
	o        Options
	choice   Choice
	profiles []Profile
	base     bench.Profile // the chosen profile
	loaded   bool          // base is set
	baseErr  string        // why base is not set

	plan bench.Profile
	// why the contenders of plan are not interleaved; nil: they are
	notInterleaved *bench.Plain
	planned        bool
	planErr        string        // mistake in the whole plan
	wrong          map[id]string // mistakes by field

	facts facts

	mode      mode
	focus     id
	from      int // first field shown
	input     textinput.Model
	before    []string // values of the edited field before editing
	option    int      // index of the option under the cursor
	list      list
	save      save
	scroll    int    // lines that the diagnosis is scrolled by
	url       string // last URL typed, kept for a return to an external store
	confirmed string // the problem that was shown: the next "start" ignores it

	width, height int
	plain         *ui.Look // for the layout when the mouse is used
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

// Init loads profiles, contenders and the state of the machine.
func (s *Screen) Init() tea.Cmd { return tea.Batch(s.askProfiles(), s.askContenders(), s.askAgain()) }

// Title implements ui.Screen.
func (s *Screen) Title() string { return "set up" }

// Typing implements ui.Screen.
func (s *Screen) Typing() bool {
	return s.mode == editing || s.mode == saving && !s.save.asking || s.mode == contenders && s.list.typing
}

// Busy implements ui.Screen: a spinner is shown while responses of the Site are pending.
func (s *Screen) Busy() bool { return s.facts.pending > 0 }

// Keys implements ui.Screen.
func (s *Screen) Keys() []ui.Key {
	switch s.mode {
	case editing:
		return []ui.Key{{Name: "enter", Help: "keep"}, {Name: "esc", Help: "cancel"}, {Name: "tab", Help: "next field"}}
	case choosing:
		return []ui.Key{{Name: "enter", Help: "select"}, {Name: "↑/↓", Help: "move"}, {Name: "esc", Help: "cancel"}}
	case saving:
		if s.save.asking {
			return []ui.Key{
				{Name: "y", Help: "replace"}, {Name: "n", Help: "rename"}, {Name: "esc", Help: "cancel"},
			}
		}
		return []ui.Key{{Name: "enter", Help: "save"}, {Name: "esc", Help: "cancel"}}
	case diagnosis:
		return []ui.Key{{Name: "esc", Help: "back"}, {Name: "↑/↓", Help: "scroll"}, {Name: "r", Help: "refresh"}}
	case contenders:
		return s.list.keys()
	}
	keys := []ui.Key{
		{Name: "s", Help: "start", Long: "start the benchmark (also ctrl+s, or enter on Start)"},
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
		ui.Key{Name: "1…9", Help: "fix", Long: "apply the fix with this number"},
		ui.Key{Name: "↑/↓", Help: "move", Long: "move between fields (also tab, j, k)"},
		ui.Key{Name: "q", Help: "leave"})
}
