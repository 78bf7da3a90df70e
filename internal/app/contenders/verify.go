package contenders

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"locbench/internal/app"
	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/contender"
	"locbench/internal/exit"
	"locbench/internal/results"
	"locbench/internal/safe"
)

// verifyProfile is what a contender is put through to count as verified.
//
//go:embed verify.yaml
var verifyProfile []byte

// VerifyOptions say what is verified, and where what was seen goes.
type VerifyOptions struct {
	Selection
	Elastic string   // URL; "": the store is the one inside locbench
	Record  string   // file that gets what was seen, besides the user's cache folder
	Out     string   // results folder
	Command []string // as it is kept on record
}

// Verify puts the contenders that are selected through the process contract, all checks and a short
// load.
func Verify(ctx context.Context, env console.Env, o VerifyOptions) error {
	list, err := o.Choose(env)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return exit.Usagef("no contender is left to verify")
	}
	dir, err := os.MkdirTemp("", "locbench-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	run := app.RunOptions{Profile: filepath.Join(dir, "verify.yaml"), Services: o.Dirs, Elastic: o.Elastic, Out: o.Out, Command: o.Command}
	if o.Elastic != "" {
		run.Connections = []string{"1 warm-up for 2s", "4 for 3s", "64 for 3s"}
	}
	if err := os.WriteFile(run.Profile, verifyProfile, 0o600); err != nil {
		return err
	}
	if run.Out == "" {
		run.Out = filepath.Join("results", time.Now().Format("20060102-150405")+"-verify")
	}
	for _, svc := range list {
		run.Contenders = append(run.Contenders, selected(svc))
	}
	quiet := env
	quiet.Stdout = io.Discard // the table is one of throughput, which is not what was asked for
	runErr := app.Run(ctx, quiet, run)
	plan, legs, err := results.Read(run.Out)
	if err != nil {
		return cmp.Or(runErr, err) // where nothing ran nothing was kept
	}
	states, wrong := map[string]contender.Verified{}, 0
	for _, svc := range list {
		leg, ok := legOf(legs, svc)
		if !ok || leg.State == bench.LegAborted {
			fmt.Fprintf(env.Stdout, "%s: not looked at\n", selected(svc))
			continue
		}
		v, err := verifiedState(plan, leg, svc)
		if err != nil {
			return err
		}
		if v.Failure != "" {
			wrong++
		}
		tellVerdict(env.Stdout, leg, v)
		states[selected(svc)] = v
	}
	if err := keepStates(states, o.Record); err != nil {
		return err
	}
	if runErr != nil && (exit.Code(ctx, runErr) != exit.Contender || wrong == 0) {
		return runErr
	}
	if wrong > 0 {
		return exit.With(exit.Contender, fmt.Errorf("%d of %d are not as they should be", wrong, len(list)))
	}
	return nil
}

func keepStates(states map[string]contender.Verified, record string) error {
	if len(states) == 0 {
		return nil
	}
	err := contender.KeepStates("", states, contender.BuildOptions{})
	if record != "" {
		err = errors.Join(err, contender.KeepStates(record, states, contender.BuildOptions{}))
	}
	if err != nil {
		return fmt.Errorf("keep what was seen: %s", safe.Line(err.Error(), 1000))
	}
	return nil
}

func legOf(legs []bench.LegResult, svc bench.Service) (bench.LegResult, bool) {
	for _, l := range legs {
		if l.Leg.Contender == svc.Name && l.Leg.Variant == svc.Variant {
			return l, true
		}
	}
	return bench.LegResult{}, false
}
