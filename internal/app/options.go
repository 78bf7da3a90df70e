package app

import (
	"time"

	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/plain"
)

// RunOptions are what a run is asked for: a profile, what is changed of it, where its results go
// and how it is shown. A nil pointer, 0 and "" leave what the profile says; a pointer may hold a
// value that is refused.
type RunOptions struct {
	Profile      string   // name of a bundled profile, or a file
	ProfileText  []byte   // the profile itself; nil: it is read by its name
	ProfileNamed bool     // by the user: Profile is not the default
	Contenders   []string // name or name:variant, in place of the profile's
	Services     []string // folders with more contenders

	Runtime     *string
	Targets     []string // services that run already: URL, or NAME=URL
	CACert      string   // file with certificates to trust besides those of the system
	Insecure    bool     // accept any certificate
	Store       string
	Elastic     string // URL of an external store; ${NAME} is a variable of Getenv
	Getenv      func(string) string
	Latency     time.Duration
	P99         time.Duration
	Rounds      *int
	Duration    *time.Duration // of every step
	Turns       *time.Duration
	Connections []string
	CPUs        *float64
	CPUSet      *int
	Memory      *string
	HTTP2       *bool
	NoChecks    bool
	Accept      bool // claims also about contenders whose checks failed
	Thresholds  []string
	Data        DataOptions
	Seed        *uint64 // nil: a random one

	Out       string // results folder; "": one of that moment
	Resume    string // results folder of a run that goes on
	KeepGoing bool   // try a contender again in each round that never answered in its first
	Command   []string
	Output    Output

	MetricsListen string // address at which Prometheus reads the state of the run; "": none

	Worker   bool                 // a screen in another process shows the run: see package worker
	Controls <-chan bench.Control // of that screen
}

// DataOptions choose the data set.
type DataOptions struct {
	Name     *string // a folder with a dump, or BundledData
	Cities   *int    // to generate
	Vertices *int    // nil: DefaultVertices
	Seed     *uint64 // nil: DefaultDataSeed
}

// Of the data that is generated.
const (
	DefaultVertices = 60
	DefaultDataSeed = 1
)

// Output says how a run is shown.
type Output struct {
	JSON    bool // every event as a line
	Quiet   bool // only warnings, errors and the table
	Details bool // more of each step
}

// Printer writes the events of a run to the console.
func (o Output) Printer(env console.Env, fail func(error)) *plain.Printer {
	width, live := console.Width(env.Stderr)
	talk, color := env.Stderr, env.Colored(env.Stderr)
	if live || color {
		talk = console.Terminal(talk)
	}
	return plain.New(plain.Options{
		Out: env.Stdout, Talk: talk, Live: live && !o.JSON, Width: width,
		Color: color, JSON: o.JSON, Quiet: o.Quiet, Details: o.Details, Fail: fail,
	})
}
