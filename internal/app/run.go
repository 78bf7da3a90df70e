// Package app wires the other packages together for a run: it plans the run, opens runtime and
// needs, conducts the run, and writes its reports.
package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// Preflight reports mistakes of the command line before a screen covers them.
func Preflight(o RunOptions, getenv func(string) string) error {
	o.Getenv = getenv
	plan, err := NewPlan(o)
	if err != nil {
		return err
	}
	return missingEnv(plan.Run, plan.Services, getenv)
}

// Run plans a run (or reads the plan of one to resume), conducts it, and writes the reports.
func Run(ctx context.Context, env console.Env, o RunOptions) error {
	var held *results.Lock
	if o.Resume != "" {
		var err error
		// The lock comes before the plan: another process may be resuming the run.
		if held, err = results.Acquire(o.Resume); err != nil {
			return console.WithCode(console.ExitUsage, err)
		}
		defer held.Close()
	}
	o.Getenv = env.Getenv
	plan, err := NewPlan(o)
	if err != nil {
		return err
	}
	if o.Resume != "" {
		plan.said = onRecord(plan.Run, len(o.Services) == 0)
		plan.said = append(plan.said, sentOnRecord(plan, o.Changes)...)
		plan.said = append(plan.said, lostOnRecord(plan.Dir)...)
	} else {
		plan.said = append(ofManifests(plan), notResumable(plan)...)
	}
	if !o.Worker { // its screen shows what Conduct publishes
		for _, text := range plan.said {
			fmt.Fprintln(env.Stderr, text)
		}
	}
	plan.resume, plan.worker, plan.controls = held, o.Worker, o.Controls
	plan.metricsListen, plan.retryNotReady, plan.failuresShown = o.MetricsListen, o.RetryNotReady, !o.Output.JSON
	var printer *plain.Printer
	plan.Follow = func(cancel context.CancelCauseFunc) func(bench.Record) {
		printer = o.Output.Printer(env, cancel)
		if o.Worker { // the screen shows the events, and prints the results
			return func(bench.Record) {}
		}
		return printer.Handle
	}
	err = Conduct(ctx, env, plan)
	if printer == nil { // the run has not begun
		return err
	}
	if run, trials, readErr := results.Read(plan.Dir); err != nil && readErr == nil && results.NothingRan(run, trials) {
		if !o.Worker { // the screen still reads it
			err = errors.Join(err, results.Discard(plan.Dir, run))
		}
		return console.Append(err, "nothing ran; no results saved")
	}
	ended, finishErr := finish(env, plan.Dir, o)
	err = errors.Join(err, finishErr)
	if !errors.Is(err, printer.Err()) { // else it has ended the run
		err = errors.Join(err, printer.Err())
	}
	if err == nil {
		return ended.err()
	}
	return err
}

// finish writes the reports from the files on disk, so they show exactly what was saved, and prints
// the end of the run, unless its output is for programs or its screen prints it.
func finish(env console.Env, dir string, o RunOptions) (e ending, err error) {
	run, trials, err := results.Read(dir)
	if err != nil && len(trials) == 0 {
		return e, err
	}
	analyzed := analysis.Of(run, trials)
	e = endingOf(analyzed)
	_, reportErr := WriteReports(dir, "", analyzed)
	if !o.Output.JSON && !o.Worker {
		if err := Summary(env, dir, analyzed, !o.Output.Quiet); err != nil {
			return e, err
		}
	}
	warning, reportErr := noReport(dir, reportErr)
	if warning != nil {
		env.Warn(warning)
	}
	return e, errors.Join(err, reportErr)
}

// noReport returns the error of a report that does not fit on the disk as a warning with what to do:
// all trials are saved.
func noReport(dir string, err error) (warning, other error) {
	if !full(err) {
		return nil, err
	}
	return fmt.Errorf("no report: %w; free space, then: locbench report %s", err, safe.Shell([]string{dir})), nil
}

// Summary prints the end of a run, the paths of its files, and how to resume it. reported means
// that its steps were printed before.
func Summary(env console.Env, dir string, a *analysis.Run, reported bool) error {
	if len(a.Trials) > 0 {
		fmt.Fprintln(env.Stderr)
		width, terminal := console.Width(env.Stdout)
		shown := reported && terminal && a.Run.Profile.Rounds == 1 // its steps are just above
		var steps []analysis.Contender
		if !shown {
			steps = a.Ordered()
		}
		said := conclusion.Of(a, FindFloor(a.Run, a.Run, dir))
		if tableErr := plain.End(env.Stdout, said, width, steps...); tableErr != nil {
			return tableErr
		}
	}
	fmt.Fprintf(env.Stderr, "\nresults  %s\n", dir)
	if results.Has(dir, results.ReportFile) {
		fmt.Fprintf(env.Stderr, "report   %s\n", filepath.Join(dir, results.ReportFile))
	}
	if a.Run.State == bench.RunInterrupted {
		again := []string{"locbench", "run", "--resume", dir}
		fmt.Fprintf(env.Stderr, "resume   %s\n", safe.Shell(again))
	}
	return nil
}
