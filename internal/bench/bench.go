// Package bench is the vocabulary of locbench: what is to be measured (Profile, Service, Step),
// what runs (Instance), what was seen (StepResult, Usage, CheckResult) and what is reported about
// it while it happens (Event).
//
// It holds plain values and the few interfaces that more than one package speaks; it does no I/O
// and imports the standard library, units and cpuset only, so every other package may import it.
// Numbers stay exact here (time.Duration, int64) and are rounded where they are printed. In JSON a
// duration is a whole number of nanoseconds and its key ends in _ns; a size is in bytes.
package bench

import (
	"strconv"
	"time"

	"locbench/internal/bench/cpuset"
)

// SchemaVersion is the version of run.json and of the trial files. Readers accept it and everything
// older. Before 2, entries of warnings were texts alone.
const SchemaVersion = 2

// Protocol is what the load is put on a contender in. Checks are always asked in whatever both
// sides agree on.
type Protocol string

// The protocols. HTTP/2 goes over TLS where the address is one of https, else without any
// negotiation; each connection has one request at a time with both.
const (
	HTTP11 Protocol = "http/1.1"
	HTTP2  Protocol = "http/2"
)

// Trial is one life of one contender: started, checked, loaded step by step and stopped, once in
// every round.
type Trial struct {
	Contender string `json:"contender"`
	Variant   string `json:"variant,omitempty"` // "" only where the service has no variants
	Round     int    `json:"round"`             // from 1
}

// Label returns what tables and charts call the contender: "rs-actix", or "rs-actix:lto".
func (l Trial) Label() string { return Selection{l.Contender, l.Variant}.String() }

// String returns the name of the trial and the stem of its file: "rs-actix-1", "rs-actix.lto-1".
func (l Trial) String() string {
	name := l.Contender
	if l.Variant != "" {
		name += "." + l.Variant
	}
	return name + "-" + strconv.Itoa(l.Round)
}

// Selection chooses a contender and, after a colon, one of its variants. Without a variant the
// manifest's default is meant.
type Selection struct {
	Contender string `json:"contender"`
	Variant   string `json:"variant,omitempty"`
}

// String returns the form that is written in profiles and on the command line.
func (s Selection) String() string {
	if s.Variant == "" {
		return s.Contender
	}
	return s.Contender + ":" + s.Variant
}

// Limits bound one contender, as a dense cluster would. A zero field means "no such limit".
type Limits struct {
	CPUs   float64 `json:"cpus,omitempty"`         // quota in CPUs; 1.5 is 150 ms of CPU time in every period of 100 ms
	CPUSet int     `json:"cpu_set,omitempty"`      // at most so many different CPUs; fewer where the machine has fewer
	Memory int64   `json:"memory_bytes,omitempty"` // bytes; swap is never allowed on top of it
	PIDs   int64   `json:"pids,omitempty"`         // processes and threads together
}

// IsolationOff is Profile.Isolation where contender, store and client are to share the CPUs.
const IsolationOff = "off"

// Isolation says which CPUs belong to whom during a run, as sets such as "0-3,5".
type Isolation struct {
	Separate  bool       `json:"separate"` // the sets below are kept and do not overlap
	Contender cpuset.Set `json:"contender,omitempty"`
	Store     cpuset.Set `json:"store,omitempty"` // of a store in a container; one inside the client runs where that does
	Client    cpuset.Set `json:"client,omitempty"`
	Text      string     `json:"text"` // who runs where, or what is shared and why
}

// String returns Text, or "" of nil.
func (i *Isolation) String() string {
	if i == nil {
		return ""
	}
	return i.Text
}

// Profile is a benchmark that can be repeated: everything that decides about the figures except the
// machine.
type Profile struct {
	Name        string      `json:"name"`
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Contenders  []Selection `json:"contenders"`
	Rounds      int         `json:"rounds"`
	Runtime     Runtime     `json:"runtime"`
	Limits      Limits      `json:"limits"`
	// "off", or "": CPU sets of their own for contender, store and client, where the machine has the CPUs
	Isolation string    `json:"isolation,omitempty"`
	Store     StoreSpec `json:"store"`
	Data      DataSpec  `json:"data"`
	// what is asked: requests that stand alone and, in their order, those of the sessions
	Requests  []Request  `json:"requests"`
	Sessions  []Session  `json:"sessions,omitempty"`
	Variables []Variable `json:"variables,omitempty"` // what {name} stands for in requests
	// once in each life of a contender: after it is ready and was checked, and after its last step
	Setup    []Request `json:"setup,omitempty"`
	Teardown []Request `json:"teardown,omitempty"`
	Protocol Protocol  `json:"protocol,omitempty"` // "": HTTP11
	Timeout  Duration  `json:"timeout_ns"`         // of one request, from its sending to its last byte
	// share of the responses whose whole body is compared with the known one, where there is one
	CompareBodies float64 `json:"compare_bodies,omitempty"`
	// share of failed requests from which on a step supports no claim; 0: DefaultMaxErrors
	MaxErrors float64            `json:"max_errors,omitempty"`
	Phases    *FirstRequestsSpec `json:"first_requests,omitempty"`
	Checks    CheckSpec          `json:"checks"`
	// the contenders of a round are alive at the same time, and the load goes from one to the next after so long; 0: one
	// after the other
	Interleave  Duration    `json:"interleave_ns,omitempty"`
	Steps       []Step      `json:"steps"`
	Thresholds  []Threshold `json:"thresholds,omitempty"`
	PriceVCPUHr float64     `json:"price_usd_per_vcpu_hour"`
}

// Duration is a time.Duration; the alias keeps struct literals short.
type Duration = time.Duration

// LoadDuration returns the time that the steps of one trial take together, pauses apart.
func (p Profile) LoadDuration() time.Duration {
	var d time.Duration
	for _, s := range p.Steps {
		d += s.Duration
	}
	return d
}

// DataSpec is the data set that the store holds: the bundled one, a generated one (Cities > 0), or
// a dump (Dir != "").
type DataSpec struct {
	Dir      string `json:"dir,omitempty"`
	Cities   int    `json:"cities,omitempty"`
	Vertices int    `json:"vertices,omitempty"` // per generated polygon
	Seed     uint64 `json:"seed,omitempty"`
}

// CheckSpec says which checks a trial runs.
type CheckSpec struct {
	Lifecycle []string `json:"lifecycle,omitempty"` // names of lifecycle checks; empty: none
	Suites    []string `json:"suites,omitempty"`    // HTTP suites: bundled names or file paths
}
