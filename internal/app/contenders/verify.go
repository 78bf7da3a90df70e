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
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
)

// verifyProfile is the profile that verifies a contender.
//
//go:embed verify.yaml
var verifyProfile []byte

// VerifyOptions are the options of Verify.
type VerifyOptions struct {
	Names   []string        // NAME or NAME:VARIANT
	Dirs    []string        // folders with more contenders
	Needs   profile.Changes // options of needs that run elsewhere
	Out     string          // results folder
	Command []string        // the command line, to be recorded
}

// Verify runs the lifecycle checks, all HTTP checks and a short load on the named contenders.
func Verify(ctx context.Context, env console.Env, o VerifyOptions) error {
	list, err := named(env, o.Dirs, o.Names)
	if err != nil {
		return err
	}
	run := app.RunOptions{
		Profile: "verify.yaml", ProfileText: verifyProfile, Services: o.Dirs,
		Out: cmp.Or(o.Out, app.NewFolder("verify")), Command: o.Command,
		Accept: true, // loads contenders with failed checks too, to find all faults
	}
	if len(o.Needs) > 0 {
		run.Changes = o.Needs.With("connections", "1 warm-up for 2s,4 for 3s,64 for 3s")
	}
	for _, svc := range list {
		run.Contenders = append(run.Contenders, selected(svc))
	}
	quiet := env
	quiet.Stdout = io.Discard // without the run's table: this is not a benchmark
	runErr := app.Run(ctx, quiet, run)
	_, trials, err := results.Read(run.Out)
	if err != nil {
		return cmp.Or(runErr, err) // if nothing ran, there are no results
	}
	failed := 0
	for _, svc := range list {
		i := slices.IndexFunc(trials, func(l bench.TrialResult) bool {
			return l.Trial.Contender == svc.Name && l.Trial.Variant == svc.Variant
		})
		if i < 0 || trials[i].State == bench.TrialAborted {
			fmt.Fprintf(env.Stdout, "%s: not verified\n", selected(svc))
			continue
		}
		wrong := faults(trials[i])
		if len(wrong) > 0 {
			failed++
		}
		writeOutcome(env.Stdout, trials[i], wrong)
	}
	if runErr != nil && (console.ExitCode(ctx, runErr) != console.ExitContender || failed == 0) {
		return runErr
	}
	if failed > 0 {
		return console.WithCode(console.ExitContender, fmt.Errorf("%d of %d failed verification", failed, len(list)))
	}
	return nil
}
