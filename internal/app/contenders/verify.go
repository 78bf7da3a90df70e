package contenders

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"

	"locbench/internal/app"
	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/results"
	"locbench/internal/run/profile"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
	"locbench/services"
)

// verifyProfile is what a contender is put through to count as verified.
//
//go:embed verify.yaml
var verifyProfile []byte

// VerifyOptions say what is verified, and where what was seen is kept.
type VerifyOptions struct {
	Selection
	Elastic string   // URL; "": the store is the one inside locbench
	Record  string   // file that gets what was seen, besides the user's cache folder
	Out     string   // results folder
	Command []string // as it is kept on record
}

// Verify puts the contenders that are selected through the lifecycle contract, all checks and a short
// load.
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
		Accept: true, // who answers wrongly is loaded too: what becomes of it then is asked for as well
	}
	if o.Elastic != "" {
		run.Changes = profile.Changes{"elastic": {o.Elastic}, "connections": {"1 warm-up for 2s,4 for 3s,64 for 3s"}}
	}
	for _, svc := range list {
		run.Contenders = append(run.Contenders, selected(svc))
	}
	quiet := env
	quiet.Stdout = io.Discard // the table is one of throughput, which is not what was asked for
	runErr := app.Run(ctx, quiet, run)
	plan, trials, err := results.Read(run.Out)
	if err != nil {
		return cmp.Or(runErr, err) // where nothing ran nothing was kept
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
		writeVerdict(env.Stdout, trials[i], v)
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

// KnownStates returns the verified states that travel with the bundled contenders, and those of this
// user.
func KnownStates() ([]contender.States, error) {
	bundled, err := contender.ReadStates(services.FS, contender.VerifiedName)
	if err != nil {
		return nil, err
	}
	mine, err := contender.KnownStates(contender.BuildOptions{})
	return []contender.States{bundled, mine}, err
}

// VerifiedText returns what is known of all variants of a contender together: the worst that holds for
// one of them.
func VerifiedText(svc bench.Service, known []contender.States) string {
	all := contender.Resolved(svc)
	var good, stale, bad []contender.Verified
	for _, resolved := range all {
		v, changed, ok := contender.VerifiedState(resolved, known...)
		switch {
		case !ok, v.Failure != "" && resolved.Unverified != "": // as its manifest says
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
