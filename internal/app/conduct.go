package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/results/export"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/run/worker"
	"github.com/locbench/locbench/internal/text/console"
)

// Search chooses the steps while a run is in progress.
type Search interface {
	// Begin is called before the first step, with the final plan and a function that publishes
	// events.
	Begin(run *bench.Run, publish func(*bench.Trial, bench.Event))
	// Next returns the step of a trial that follows those that are done, if there is one.
	Next(ctx context.Context, trial bench.Trial, done []bench.StepResult) (bench.Step, bool)
}

// Conduct runs a plan and saves its results. Its error has the exit code.
func Conduct(ctx context.Context, env console.Env, p Plan) (err error) {
	s, err := newSite(p, env)
	if err != nil {
		return err
	}
	defer func() { // for an end before the run begins
		if closeErr := s.close(ctx); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
	}()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	// A full disk ends the run: results that cannot be saved are not worth measuring.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var served *export.MetricsServer
	if s.plan.metricsListen != "" {
		if served, err = export.ListenMetrics(ctx, s.plan.metricsListen); err != nil {
			return console.Usagef("--metrics-listen: %w", err)
		}
		defer served.Close()
	}
	writer, err := s.openResults(cancel)
	if err != nil {
		return err
	}
	defer writer.Close()
	defer context.AfterFunc(ctx, func() {
		if interruption(ctx) != nil {
			writer.Interrupted()
		}
	})()
	if s.plan.worker {
		if err := worker.Announce(env.Stdout, s.plan.Dir); err != nil {
			return err
		}
	}
	follow := s.plan.Follow(cancel)
	last, err := results.LastSeq(s.plan.Dir)
	if err != nil {
		return fmt.Errorf("read event log: %w", err)
	}
	s.stream.Continue(last) // numbers continue those on disk
	s.stream.Subscribe(writer.Handle)
	s.stream.Subscribe(follow)
	if served != nil {
		served.Follow(s.stream)
	}

	if s.plan.worker {
		for _, text := range s.plan.said {
			s.stream.Publish(nil, bench.Notice{Level: "info", Text: text})
		}
	}
	err = runner.Run(ctx, s.config())
	if s.plan.failuresShown {
		err = withoutFailures(err)
	}
	closeErr := s.close(ctx)
	s.stream.Close()
	err = outcome(ctx, err, saveError(s.plan.Dir, writer.Err(), s.plan.Search == nil))
	return s.masks.mask().Error(errors.Join(err, closeErr))
}

// prepare chooses the runtime and the CPUs, and records the environment of the run.
func (s *site) prepare(ctx context.Context) error {
	plan, recorded := &s.plan.Run, s.plan.Run
	if plan.Data = (bench.DataInfo{}); s.traffic.data != nil {
		plan.Data = s.traffic.data.Info()
	}
	plan.Files = s.traffic.values.Hashes
	var err error
	if plan.NeedParts, err = needFiles(plan.Profile.Needs); err != nil {
		return err
	}
	if s.plan.resume != nil {
		if err := changedParts(recorded.NeedParts, plan.NeedParts, s.plan.Dir); err != nil {
			return err
		}
		plan.NeedParts = append(plan.NeedParts, slices.DeleteFunc(slices.Clone(recorded.NeedParts), func(p bench.NeedPart) bool {
			return p.Image == ""
		})...)
	}
	plan.Machine = machine.Describe(ctx)
	plan.Software, plan.Needs = Built().software(), nil
	if err := s.launcher.choosePlatform(ctx); err != nil {
		return err
	}
	if err := needEngine(s.launcher.noEngine, s.plan.Services); err != nil {
		return err
	}
	plan.Machine.OtherContainers = s.launcher.others(ctx)
	plan.Builds = s.launcher.builds(ctx)
	plan.Hash = compare.ProfileHash(plan.Profile)
	s.masks.hide(s.plan.secrets(s.env.Getenv)...)
	s.stream.Mask(func(e bench.Event) bench.Event { return s.masks.mask().Event(s.clock.Event(e)) })
	s.isolate()
	plan.Warnings = append(plan.Warnings, s.occupy(plan.Warnings)...)
	if s.plan.resume != nil {
		if plan.Data.Hash != recorded.Data.Hash {
			return console.Usagef("cannot resume: data set %s differs from the one %s started with",
				plan.Data.Name, s.plan.Dir)
		}
		for _, f := range plan.Files {
			if !slices.Contains(recorded.Files, f) {
				return console.Usagef("cannot resume: %s changed since %s started", f.File, s.plan.Dir)
			}
		}
		s.launcher.before = ran(s.plan)
		if err := changedSources(s.plan, s.launcher.before); err != nil {
			return err
		}
		plan.Warnings = append(plan.Warnings, changes(recorded, *plan)...)
		if err := s.launcher.cleanUp(ctx); err != nil {
			s.env.Warn(err)
		}
	}
	plan.Warnings = append(plan.Warnings, memoryOvercommit(*plan)...)
	if s.plan.resume == nil { // or the record has it
		plan.Warnings = append(plan.Warnings, limitsAbove(*plan)...)
	}
	if _, err := machine.RaiseOpenFiles(); err != nil {
		s.env.Warn(err)
	}
	return limits.Check(profile.MostConnections(plan.Profile.Steps)) // now, rather than at the largest step
}

func (s *site) openResults(cancel context.CancelCauseFunc) (*results.Writer, error) {
	run := s.masks.mask().Run(s.plan.Run)
	fail := func(err error) { cancel(saveError(s.plan.Dir, err, run.Search == "")) }
	if s.plan.resume != nil {
		return s.plan.resume.Reopen(run, fail)
	}
	w, err := results.Create(s.plan.Dir, run, fail)
	return w, console.WithCode(console.ExitUsage, err)
}

// config returns what the runner gets.
func (s *site) config() runner.Config {
	config := runner.Config{
		Run: s.plan.Run, Dir: s.plan.Dir, Stream: s.stream, Services: s.plan.Services,
		Launcher: s.launcher, Loader: s.traffic, Checker: s.checks, Needs: s.needs, Observer: observer{s.needs, s.traffic},
		Control: s.plan.controls, RetryNotReady: s.plan.retryNotReady,
	}
	if s.plan.Search != nil {
		s.plan.Search.Begin(&s.plan.Run, s.stream.Publish)
		config.Next = s.plan.Search.Next
	}
	return config
}
