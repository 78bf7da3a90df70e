package app

import (
	"locbench/internal/bench"
	"locbench/internal/run/profile"
	"locbench/internal/show/plain"
	"locbench/internal/text/console"
)

// RunOptions are what a run is asked for: a profile, what is changed of it, where its results go
// and how it is shown.
type RunOptions struct {
	Profile      string          // name of a bundled profile, or a file
	ProfileText  []byte          // the profile itself; nil: it is read by its name
	ProfileNamed bool            // by the user: Profile is not the default
	Contenders   []string        // name or name:variant, in place of the profile's
	Changes      profile.Changes // of the profile
	Services     []string        // folders with more contenders

	CACert   string // file with certificates to trust besides those of the system
	Insecure bool   // accept any certificate
	Getenv   func(string) string
	Accept   bool // claims also about contenders whose checks failed

	Out           string // results folder; "": one of that moment
	Resume        string // results folder of a run to resume
	RetryNotReady bool   // try a contender again in each round that never answered in its first
	Command       []string
	Output        Output

	MetricsListen string // address at which Prometheus reads the state of the run; "": none

	Worker   bool                 // a screen in another process shows the run: see package worker
	Controls <-chan bench.Control // of that screen
}

// Output says how a run is shown.
type Output struct {
	JSON    bool // every event as a line
	Quiet   bool // only warnings, errors and the table
	Verbose bool // more of each step
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
		Color: color, JSON: o.JSON, Quiet: o.Quiet, Verbose: o.Verbose, Fail: fail,
	})
}
