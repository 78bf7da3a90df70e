// Package app wires the other packages together for a run: it plans the run, opens runtime and
// needs, conducts the run, and writes its reports.
package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/run/worker"
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
		if tableErr := plain.End(env.Stdout, a, FindFloor(a.Run, a.Run, dir), width, shown); tableErr != nil {
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

// interruption returns the signal or the closed screen that has ended ctx; nil if neither did.
func interruption(ctx context.Context) error {
	if interrupted, ok := errors.AsType[console.Signal](context.Cause(ctx)); ok {
		return interrupted
	}
	if errors.Is(context.Cause(ctx), worker.ErrScreenGone) {
		return worker.ErrScreenGone
	}
	return nil
}

// outcome returns the error to end with: an interruption or a full disk explains all other errors.
func outcome(ctx context.Context, err, writeErr error) error {
	switch cause := interruption(ctx); {
	case cause != nil:
		return console.WithCode(console.ExitInterrupted, cause)
	case errors.Is(err, runner.ErrOnRequest):
		return console.WithCode(console.ExitInterrupted, err)
	case writeErr != nil:
		return console.WithCode(console.ExitContender, fmt.Errorf("run stopped early: %w", writeErr))
	case errors.Is(err, runner.ErrTrials):
		return console.WithCode(console.ExitContender, err)
	case errors.Is(err, runner.ErrThreshold):
		return console.WithCode(console.ExitThreshold, err)
	}
	return err
}

// withoutFailures replaces the failures of trials in err, which were reported, by the trials'
// names.
func withoutFailures(err error) error {
	inc, ok := errors.AsType[*runner.Incomplete](err)
	if !ok {
		return err
	}
	var rest []error
	var failed []string
	for _, f := range inc.Failures {
		if trial, ok := errors.AsType[*runner.TrialError](f); ok {
			failed = append(failed, trial.Trial.String())
		} else {
			rest = append(rest, f)
		}
	}
	const named = 5
	text := ""
	switch n := len(failed); {
	case n > named:
		text = fmt.Sprintf(": %d failed", n)
	case n > 0:
		text = ": " + strings.Join(failed, ", ") + " failed"
	}
	if len(rest) > 0 {
		text += ": " + errors.Join(rest...).Error()
	}
	return fmt.Errorf("%w%s", runner.ErrTrials, text)
}

// full reports whether an error is that of a full disk.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// saveError returns an error that says what to do about results that cannot be saved; nil for nil.
func saveError(dir string, err error, resumable bool) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("cannot save results: %w", err)
	if !full(err) {
		return err
	}
	if full, e := filepath.Abs(dir); e == nil {
		err = fmt.Errorf("%w; free space in %s", err, full)
	}
	if resumable {
		err = fmt.Errorf("%w, then run: %s", err, results.ResumeCommand(dir))
	}
	return err
}

// ending is what a run that went to its end has to report by its exit code.
type ending struct {
	missed   int                       // thresholds
	excluded []bench.ExcludedContender // contenders that are not compared
	silent   []string                  // contenders of which no request succeeded in a measured step, and why
}

// err returns the failure with its exit code; nil without one.
func (e ending) err() error {
	var all []error
	if len(e.excluded) > 0 {
		all = append(all, excludedError(e.excluded))
	}
	if len(e.silent) > 0 {
		all = append(all, errors.New(strings.Join(e.silent, "; ")))
	}
	switch {
	case len(all) > 0:
		return console.WithCode(console.ExitContender, errors.Join(all...))
	case e.missed > 0:
		return console.WithCode(console.ExitThreshold, fmt.Errorf("thresholds missed: %d", e.missed))
	}
	return nil
}

// endingOf returns what an analyzed run has to report.
func endingOf(a *analysis.Run) (e ending) {
	e.excluded = a.Run.Excluded()
	for _, trial := range a.Trials {
		for _, step := range trial.Steps {
			e.missed += len(step.Missed())
		}
	}
	for _, c := range a.Ordered() {
		if why, nothing := c.Silence(); nothing && c.WhyExcluded() == "" {
			e.silent = append(e.silent, safe.Line(c.Label, 60)+": "+why.String())
		}
	}
	return e
}

// excludedError lists the excluded contenders, with the option that compares them.
func excludedError(all []bench.ExcludedContender) error {
	var texts []string
	checks := false
	for _, e := range all {
		text := e.Brief()
		if e.NoValidStep && e.Errors >= 1 { // what failed is the next question
			text = safe.Line(e.String(), 300)
		}
		texts = append(texts, e.Label+" "+text)
		checks = checks || e.FailedChecks > 0
	}
	hint := ""
	if checks {
		hint = " (--accept-failed-checks compares it anyway)"
	}
	return fmt.Errorf("%s: excluded from comparison%s", strings.Join(texts, "; "), hint)
}
