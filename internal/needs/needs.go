// Package needs has the seam between a run and the services that its contenders need, such as a
// database: compose's "services that a service depends on". Each kind of need is a package below
// this one that implements Need; nothing else knows what it is.
package needs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
)

// Need is one service that contenders need. A run calls Open, Seed, then Restore before and after
// each trial, then Close. Alive, Info, Read and Address may be called at any time after Open, also
// while another method runs, and Info before it.
type Need interface {
	// Open finds or starts it, and returns when it is ready.
	Open(ctx context.Context, at Place) error
	// Seed gives it its data; it only verifies those of a need that locbench did not start. The note
	// is for the log.
	Seed(ctx context.Context, progress func(bench.Progress)) (note string, err error)
	// Restore gives it the state that it had after Seed for a trial of a contender, and returns how
	// that had changed since the last call, "" if it had not. It only looks without a contender,
	// when no trial follows, and at a need that contenders cannot change or to which locbench must
	// not write.
	Restore(ctx context.Context, of bench.Selection) (changed string, err error)
	// Address returns where contenders reach it, for their environment and command.
	Address() bench.NeedAddress
	// Rest stops it until the next call of Restore for a contender. It keeps the state that it had
	// after Seed. A need that cannot start again keeps running.
	Rest(ctx context.Context) error
	// Alive returns an error if it does not respond. One that rests has none.
	Alive(ctx context.Context) error
	// Info returns where it runs, or will run, without secrets.
	Info() bench.NeedInfo
	// Read reads its counters and limits; nil: they are not known.
	Read() *bench.NeedUsage
	// Close stops and removes what Open started, even if ctx has ended. It is idempotent, and may be
	// called without Open.
	Close(ctx context.Context) error
}

// Migrates is a need whose seeded state each contender completes by a start, such as with its
// migrations of a schema. Restore gives that contender the completed state from then on.
type Migrates interface {
	// Unmigrated reports whether a contender still has to be started, on what Restore gives it.
	Unmigrated(of bench.Selection) bool
	// Migrated completes the state after the contender was ready and has been stopped. The note is
	// for the log.
	Migrated(ctx context.Context, of bench.Selection, progress func(bench.Progress)) (note string, err error)
}

// Copies is a need that contenders which run at the same time can have for themselves.
type Copies interface {
	// Copy stops it after Seed, for good, and returns a copy for each place. Restore gives each the
	// state that this need had after Seed, the first time also if it keeps its state. They are closed
	// before this need.
	Copy(ctx context.Context, at []Place) ([]Need, error)
}

// RestoreTimeout is how long needs may take to restore, unless they say otherwise.
const RestoreTimeout = 3 * time.Minute

// Slow is a need that may say how long it may take to restore.
type Slow interface {
	RestoreTimeout() time.Duration // 0: it does not
}

// Imaged is a need that runs images.
type Imaged interface {
	// Images returns them after Open, without those that are built: these are known by their files.
	Images() []bench.NeedPart
}

// Place is where a need runs, and how contenders reach it.
type Place struct {
	Of         string     // who has it for itself, for names and messages; "": it is shared
	Seed       uint64     // of the run
	CPUs       cpuset.Set // for a need with its own; empty: any
	Containers Containers // nil: no container engine is in use
	// Build builds the image of a need from a Dockerfile, with its folder as the context, unless
	// nothing in it has changed since it was built.
	Build    func(ctx context.Context, need, dockerfile string, progress func(bench.Progress)) (image string, err error)
	Network  Network
	Getenv   func(string) string // nil: no variable is set
	Progress func(bench.Progress)
	Warn     func(bench.Warning)
	Hide     func(secrets ...string) // all output of the run masks them
	Say      func(text string)       // a line of the run's text; nil: it is left out
	Happened func(bench.Incident)    // what others do to its container; nil: not reported
}

// Network is how contenders reach this machine. The zero value is for those that run on it.
type Network struct {
	Host  string         // this machine's address there, or its name
	Named bool           // Host is a name that leads to this machine's loopback interface
	Peers []netip.Prefix // the subnets of the contenders
}

// ErrUnknown is the result of Responses.Check for a response that cannot be checked.
var ErrUnknown = errors.New("expected response not known")

// Data is what requests use of the data of a need.
type Data interface {
	// Info describes the data.
	Info() bench.DataInfo
	// IDs returns the values of {id}.
	IDs(ctx context.Context) ([]int64, error)
	// Responses returns what is known of the responses to requests.
	Responses(requests []bench.Request) (Responses, error)
}

// Responses are the expected responses of requests. They are safe for concurrent use.
type Responses interface {
	// Any reports whether one is known.
	Any() bool
	// Knows reports whether those of a request are.
	Knows(request string) bool
	// Check compares the body of a response. It returns ErrUnknown if it cannot.
	Check(request string, id int64, language string, body []byte) error
}

// Found is what a run has of a need of its profile.
type Found struct {
	Need      Need   // nil: the profile has its data only
	Elsewhere string // options with which it runs in a container, or out of it, for hints
	Data      Data   // nil: requests use none
}

// Named is a need with its name in the profile.
type Named struct {
	Name      string
	After     []string          // the names of those that must be ready and seeded before it is opened
	Elsewhere string            // that of Found
	Restarts  bool              // it starts again for each trial
	Own       bool              // each of the interleaved contenders has its own copy
	For       []bench.Selection // the contenders that get its address; empty: all
	Service   string            // the contender that has it for itself; "": it is shared
	Need      Need
}

// Info describes the need, with its name.
func (n Named) Info() bench.NeedInfo {
	info := n.Need.Info()
	info.Name, info.Service = n.Name, n.Service
	return info
}

// Label returns the name of the need in a run: "db", or "db of bookings".
func (n Named) Label() string { return bench.NeedInfo{Name: n.Name, Service: n.Service}.Label() }

// Gets reports whether a contender gets the need.
func (n Named) Gets(sel bench.Selection) bool { return len(n.For) == 0 || slices.Contains(n.For, sel) }

// Unmigrated returns the need as Migrates if a contender has to be started for its state, else nil.
func (n Named) Unmigrated(of bench.Selection) Migrates {
	if m, ok := n.Need.(Migrates); ok && n.Gets(of) && m.Unmigrated(of) {
		return m
	}
	return nil
}

// Order sorts needs in place: first those that are shared, then those of each service. Each follows
// those that it comes after, otherwise the order remains.
func Order(all []Named) error {
	named := func(name string) func(Named) bool { return func(n Named) bool { return n.Name == name } }
	for _, n := range all {
		for _, after := range n.After {
			if !slices.ContainsFunc(all, named(after)) {
				return fmt.Errorf("need %s comes after %q, which is not a need of this run", n.Name, after)
			}
		}
	}
	services := []string{""}
	for _, n := range all {
		services = append(services, n.Service)
	}
	place := func(n Named) int { return slices.Index(services, n.Service) }
	slices.SortStableFunc(all, func(a, b Named) int { return cmp.Compare(place(a), place(b)) })
	for done := range all {
		waits := func(n Named) bool {
			later := func(m Named) bool { return m.Service == n.Service && slices.Contains(n.After, m.Name) }
			return slices.ContainsFunc(all[done:], later)
		}
		next := slices.IndexFunc(all[done:], func(n Named) bool { return n.Service == all[done].Service && !waits(n) })
		if next < 0 {
			return fmt.Errorf("need %s comes after itself", all[done].Name)
		}
		first := all[done+next]
		copy(all[done+1:done+next+1], all[done:done+next])
		all[done] = first
	}
	return nil
}
