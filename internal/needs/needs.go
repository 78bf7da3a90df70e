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
	"github.com/locbench/locbench/internal/text/strictyaml"
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

// Kind is a kind of needs: its form in profiles, and how a run finds it. A nil function does
// nothing.
type Kind struct {
	Name string                                  // of a need with its own form, in profiles
	Read func(v strictyaml.Value) bench.NeedSpec // absent keys have defaults
	// Complete fills in what a need that has its name leaves out. It may be called again.
	Complete func(n *bench.NeedSpec)
	// Wrong returns the mistakes of a need that Read has read or options have changed.
	Wrong func(n bench.NeedSpec) []Mistake
	// Traits returns what a run knows of a need before it finds it. nil: the zero value.
	Traits func(n bench.NeedSpec) Traits
	// Files returns the files and folders of this machine that it uses.
	Files func(n bench.NeedSpec) []File
	// Runs returns what it runs, such as its image and its commands, for a person who decides whether
	// it may.
	Runs func(n bench.NeedSpec) []string
	// Find finds the need and its data before anything is started. Its errors are about the
	// profile. url is that of an external one, with its user, which n does not have.
	Find func(n bench.NeedSpec, p bench.Profile, url string) (Found, error)
	// Missing is what is wrong with an external need without a URL.
	Missing string
}

// Traits are what a run knows of a need before it finds it.
type Traits struct {
	After    []string // the needs that must be ready and seeded before it is opened, which are at its key "after"
	Hosts    []string // more names by which contenders and other needs find it
	Restarts bool     // it starts again for each trial
	Own      bool     // each of several interleaved contenders has its own copy
	Memory   int64    // limit of each copy in bytes; 0: none
	Shared   string   // what it means that they share it, as part of a sentence; "": nothing
}

// File is a file or folder that a need uses.
type File struct {
	Key, Path string // where the need names it, and its whole path
	Built     bool   // it is a Dockerfile, whose folder is built
}

// Mistake is a broken rule of a need.
type Mistake struct {
	Path  string // of the key below the need
	Value string // the wrong value; "": What says what is wrong
	What  string
	Hint  string
}

// Provided is what requests and checks get from a need, unless the profile has its own.
type Provided struct {
	Data      bool     // values for {id}, and known responses; its contenders keep the lifecycle contract
	Languages []string // values for {language}
	Suites    []string // check suites that expect its data
}

// Option is an option of the command line that changes a need of its kind.
type Option struct {
	Name    string // flag without dashes
	Key     string // key below the need, such as "latency"
	Type    string // type of the flag's value, in the terms of package pflag
	Usage   string // text in --help
	Default string // the flag's default; "": the profile's value
	Values  []string
	With    string // the option without which it may not be given; "": none
	Folder  bool   // its value is one

	Label, Help string // field on the setup page; "": none

	Get func(n bench.NeedSpec) string // nil: it is only written
	Set func(e Edit, text string) error
}

// Edit applies an option to a need.
type Edit struct {
	Need *bench.NeedSpec
	// Refuse returns an error for a wrong text of the option, with a remedy.
	Refuse func(hint string) error
	Given  func(option string) (text string, ok bool)
	Getenv func(string) string // nil: no variable is set
}
