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
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

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
