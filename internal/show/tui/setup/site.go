package setup

import (
	"context"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/machine"
)

// Site reads and writes everything outside of the page. Its methods may block until their context
// ends: they are called in commands.
type Site interface {
	// Profiles returns bundled profiles, those in the working folder, and also. Each may have an
	// Err.
	Profiles(ctx context.Context, also string) []Profile
	// Contenders returns all contenders, with those in services, the folder that a profile names
	// ("": none), and what each of their variants needs to run; nothing is built. A service without variants is a selection without one. The error names unreadable
	// manifests; the others are returned with it.
	Contenders(ctx context.Context, runtime bench.Runtime, services string) ([]bench.Service, map[bench.Selection]State, error)
	Machine(ctx context.Context) Machine
	// Probe returns what an external need of a kind at a URL says of itself.
	Probe(ctx context.Context, url string) needs.Probe
}

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
	// Room returns how many of the connections can be open at once, and why if not all. It does not
	// block.
	Room func(connections int) (most int, err error)
}

// Engine is the Docker engine, as it describes itself.
type Engine struct {
	Err     error // why it is not available
	Version string
	CPUs    int
	Memory  int64 // bytes
	Local   bool  // probably on this machine
}

// Kind is what a variant needs to run.
type Kind int

// The kinds of states.
const (
	Unknown Kind = iota // not known yet
	Ready               // nothing
	Build               // a build
	Pull                // an image from a registry
	Cannot              // it cannot run here; State.Why says why
)

// State is the state of a variant before a run.
type State struct {
	Kind Kind
	Why  string
}

// String returns the state in a word or two; "" if it is not known.
func (s State) String() string {
	return [...]string{
		Ready: "ready", Build: "needs build", Pull: "needs pull", Cannot: "cannot run here", Unknown: "",
	}[s.Kind]
}
