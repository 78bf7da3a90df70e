package app

import (
	"os"
	"path/filepath"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/profiles"
)

// PlannedProfile returns the profile with the changes of the command line, valid and complete, and
// with the needs of manifests.
func PlannedProfile(o RunOptions) (p bench.Profile, err error) {
	targets, request, err := parseTargets(o)
	if err != nil {
		return p, err
	}
	if p, err = plannedProfile(o, targets, request); err != nil {
		return p, err
	}
	return withNeeds(p, o)
}

// profileFile returns the whole path of the file of a profile; "" if it is bundled, or not a file.
func profileFile(o RunOptions) string {
	if o.ProfileText != nil {
		return ""
	}
	if info, err := os.Stat(o.Profile); err != nil || !info.Mode().IsRegular() || profile.Bundled(o.Profile, profiles.FS) {
		return ""
	}
	file, err := filepath.Abs(o.Profile)
	if err != nil {
		return ""
	}
	return file
}

// WithManifests returns the profile in a file with the needs of the manifests of its contenders. An
// error is about these needs, or about a contender that is not in the folder that the profile
// names. Without such a folder, contenders that are not found have no needs yet.
func WithManifests(p bench.Profile, file string) (bench.Profile, error) {
	run := bench.Run{Profile: p}
	if p.Services != "" {
		run.Services = []string{p.Services}
	}
	services, err := servicesOf(&run, nil)
	if err != nil && p.Services == "" {
		return p, nil //nolint:nilerr // a run gets --services, or reports it
	}
	if err == nil {
		err = joinNeeds(&run, file, services)
	}
	if err == nil {
		err = unknownNeeds(run.Profile, services)
	}
	return run.Profile, err
}

// plannedProfile also takes what parseTargets returns.
func plannedProfile(o RunOptions, targets []bench.Target, request string) (p bench.Profile, err error) {
	switch {
	case request != "":
		if p, err = o.Request.Profile(request); err == nil {
			p.Contenders, err = selections(targets)
		}
	case o.ProfileText != nil:
		p, err = profile.Parse(o.Profile, o.ProfileText, o.AllowFiles...)
	default:
		p, err = profile.LoadWith(o.Profile, profiles.FS, o.Changes.Text("targets"), o.AllowFiles...)
	}
	if err != nil {
		return p, console.WithCode(console.ExitUsage, err)
	}
	if o.Changes.Given("targets") && !o.ProfileNamed && len(o.Contenders) == 0 && !o.Changes.Given("target") {
		return p, console.Usagef("--targets has requests for your own service: name the contender, or add --target URL")
	}
	return profile.Change(p, o.Changes.With("contenders", o.Contenders...), o.Getenv)
}

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
