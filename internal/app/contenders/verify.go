package contenders

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/services"
)

// verifyProfile is the profile that verifies a contender.
//
//go:embed verify.yaml
var verifyProfile []byte

// VerifyOptions are the options of Verify.
type VerifyOptions struct {
	Selection
	Elastic string   // URL of the store; "": the embedded one
	Record  string   // file for the outcome, in addition to the user's cache folder
	Out     string   // results folder
	Command []string // the command line, to be recorded
}

// Verify runs the lifecycle checks, all HTTP checks and a short load on the selected contenders.
func Verify(ctx context.Context, env console.Env, o VerifyOptions) error {
	list, err := o.Choose(env)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return console.Usagef("no contender to verify")
	}
	run := app.RunOptions{
		Profile: "verify.yaml", ProfileText: verifyProfile, Services: o.Dirs,
		Out: cmp.Or(o.Out, app.NewFolder("verify")), Command: o.Command,
		Accept: true, // loads contenders with failed checks too, to find all faults
	}
	if o.Elastic != "" {
		run.Changes = profile.Changes{"elastic": {o.Elastic}, "connections": {"1 warm-up for 2s,4 for 3s,64 for 3s"}}
	}
	for _, svc := range list {
		run.Contenders = append(run.Contenders, selected(svc))
	}
	quiet := env
	quiet.Stdout = io.Discard // without the run's table: this is not a benchmark
	runErr := app.Run(ctx, quiet, run)
	plan, trials, err := results.Read(run.Out)
	if err != nil {
		return cmp.Or(runErr, err) // if nothing ran, there are no results
	}
	states, wrong := map[string]contender.Verified{}, 0
	for _, svc := range list {
		i := slices.IndexFunc(trials, func(l bench.TrialResult) bool {
			return l.Trial.Contender == svc.Name && l.Trial.Variant == svc.Variant
		})
		if i < 0 || trials[i].State == bench.TrialAborted {
			fmt.Fprintf(env.Stdout, "%s: not verified\n", selected(svc))
			continue
		}
		v, err := verifiedState(plan, trials[i], svc)
		if err != nil {
			return err
		}
		if v.Failure != "" {
			wrong++
		}
		writeOutcome(env.Stdout, trials[i], v)
		states[selected(svc)] = v
	}
	for _, file := range slices.Compact([]string{"", o.Record}) {
		if len(states) == 0 {
			break
		}
		if err := contender.KeepStates(file, states, contender.BuildOptions{}); err != nil {
			return fmt.Errorf("save the outcome: %s", safe.Line(err.Error(), 1000))
		}
	}
	if runErr != nil && (console.ExitCode(ctx, runErr) != console.ExitContender || wrong == 0) {
		return runErr
	}
	if wrong > 0 {
		return console.WithCode(console.ExitContender, fmt.Errorf("%d of %d failed verification", wrong, len(list)))
	}
	return nil
}

// KnownStates returns the outcomes of verification that are bundled, and those of this user.
func KnownStates() ([]contender.States, error) {
	bundled, err := contender.ReadStates(services.Verified, contender.VerifiedName)
	if err != nil {
		return nil, err
	}
	mine, err := contender.KnownStates(contender.BuildOptions{})
	return []contender.States{bundled, mine}, err
}

// VerifiedText returns the outcome of verification for all variants of a contender together: the
// worst of them.
func VerifiedText(svc bench.Service, known []contender.States) string {
	all := contender.Resolved(svc)
	var good, stale, bad []contender.Verified
	for _, resolved := range all {
		v, changed, ok := contender.VerifiedState(resolved, known...)
		switch {
		case !ok, v.Failure != "" && resolved.Unverified != "": // its manifest says "unverified"
		case changed:
			stale = append(stale, v)
		case v.Failure != "":
			bad = append(bad, v)
		default:
			good = append(good, v)
		}
	}
	newest := func(of []contender.Verified) contender.Verified {
		return slices.MaxFunc(of, func(a, b contender.Verified) int { return a.When.Compare(b.When) })
	}
	switch {
	case len(bad) > 0:
		return newest(bad).String()
	case len(good) == len(all):
		return newest(good).String()
	case len(good) > 0:
		return fmt.Sprintf("%d of %d variants", len(good), len(all))
	case len(stale) > 0:
		return "changed since " + newest(stale).When.Format("2006-01-02")
	}
	return "no"
}
