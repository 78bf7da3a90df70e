package app

import (
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/text/console"
)

// RunOptions are the user's options for a run: a profile, changes of it, where the results go and
// how the run is shown.
type RunOptions struct {
	Profile      string          // name of a bundled profile, or a file
	ProfileText  []byte          // the profile itself; nil: it is read by its name
	ProfileNamed bool            // by the user: Profile is not the default
	Contenders   []string        // NAME or NAME:VARIANT, instead of the profile's
	Changes      profile.Changes // to the profile
	Request      profile.One     // the only request, without a profile; needs a target
	Services     []string        // folders with more contenders
	AllowFiles   []string        // folders with files that the profile may name, in addition to its own

	CACert   string // PEM file with certificates to trust in addition to the system's
	Insecure bool   // accept any certificate
	Getenv   func(string) string
	Accept   bool // compare also contenders with failed checks

	Out           string // results folder; "": a new one, named by time and profile
	Resume        string // results folder of a run to resume
	RetryNotReady bool   // retry contenders that were not ready in their first round
	Command       []string
	Given         []string // Command in its parsed form (see bench.Run)
	Output        Output

	MetricsListen string // address of the metrics for Prometheus; "": none

	Worker   bool                 // a screen in another process shows the run (package worker)
	Controls <-chan bench.Control // from that screen
}

// Output says how a run is shown.
type Output struct {
	JSON    bool // every event as a JSON line
	Quiet   bool // only warnings, errors and the table
	Verbose bool // more values per step
}

// Printer writes the events of a run to the console.
func (o Output) Printer(env console.Env, fail func(error)) *plain.Printer {
	width, live := console.Width(env.Stderr)
	stderr, color := env.Stderr, env.Colored(env.Stderr)
	if live || color {
		stderr = console.Terminal(stderr)
	}
	out := env.Stdout
	if o.JSON {
		out = console.UntilGone(out)
	}
	return plain.New(plain.Options{
		Out: out, Talk: stderr, Live: live && !o.JSON, Width: width,
		Color: color, JSON: o.JSON, Quiet: o.Quiet, Verbose: o.Verbose, Fail: fail,
	})
}
