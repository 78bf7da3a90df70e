// Package runner knows the order of a benchmark's phases: prepare the store and the contenders,
// then for every trial launch, wait until ready, check, load step by step while sampling, and stop.
//
// It publishes what happens as events and keeps no other record. How anything is launched, loaded,
// checked or drawn is left to the packages behind its interfaces.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/host/thread"
	"locbench/internal/results"
	"locbench/internal/results/event"
)

// Launcher starts instances.
type Launcher interface {
	// Launch returns a running instance or an error, and leaves nothing behind with the latter.
	Launch(context.Context, bench.LaunchSpec) (bench.Instance, error)
}

// Engine drives one step of load.
type Engine interface {
	// Run returns what was measured even with an error, which is ctx's when the step was cut short.
	Run(ctx context.Context, baseURL string, step bench.Step, hooks Hooks) (bench.Load, error)
	// Rest closes connections that are kept from step to step, after the last step of a trial.
	Rest(baseURL string)
}

// Hooks are what an engine calls while a step runs. None but Interleave is nil.
type Hooks struct {
	OnStart  func()             // once, when the interval begins that is measured
	OnEnd    func()             // once after OnStart, when it ends
	OnWindow func(bench.Window) // for every second of it
	// Rate is how many requests are scheduled per second from now on in an open-loop step; 0: as many as
	// the step says. It may be called from any goroutine, and costs next to nothing.
	Rate func() float64
	// Interleave, if not nil, has the step run in turns. OnStart and OnEnd are then called for each of
	// them.
	Interleave *Interleave
}

// Checks are those of one trial: those that launch for themselves, on the running instance, and on
// its end. Outcomes go to on; an error means that checking itself was not possible.
type Checks interface {
	Launching(ctx context.Context, l Launcher, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult)) error
	Running(
		ctx context.Context, inst bench.Instance, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
	) error
	Alive(ctx context.Context, inst bench.Instance, svc bench.Service) []bench.CheckResult
	Stopped(stop bench.StopResult) []bench.CheckResult
}

// Stage is a phase of the whole run, before the first trial. Do returns a note for the log.
type Stage struct {
	Phase bench.Phase
	Do    func(ctx context.Context, progress func(bench.Progress)) (note string, err error)
}

// Stalls watches the machine while it is loaded. Take returns what has happened since the last Take.
type Stalls interface {
	Take() bench.Hiccups
	Stop()
}

// Config is a run and all that it needs. Only Patience, Stalls and Grace have defaults.
type Config struct {
	Run      bench.Run // the plan; trials that are complete already are passed over
	Dir      string    // results folder, for the event that names it
	Stream   *event.Stream
	Stages   []Stage
	Services map[bench.Selection]bench.Service // resolved: variant applied
	Build    func(ctx context.Context, svc bench.Service, progress func(text string)) (bench.Artifact, error)
	// Spec fills in what a trial of svc is launched with. It is called again for every launch.
	Spec     func(name string, svc bench.Service, artifact bench.Artifact) (bench.LaunchSpec, error)
	Launcher Launcher
	Engine   Engine
	Checks   Checks
	// StoreAlive fails when the store does not respond, EngineAlive when what launches contenders does
	// not; nil when there is none to ask.
	StoreAlive  func(context.Context) error
	EngineAlive func(context.Context) error
	// StoreChange says how the store's documents have changed since it was asked last, "" if they have
	// not. It is asked before and after each trial; nil where nothing can change.
	StoreChange func(context.Context) (string, error)
	Patience    time.Duration // to wait for either of them before a trial; 30 s when 0
	// Ready waits for the response that says it is ready; the start-up time is 0 where it is not known. It
	// may report what it sees as a Notice of that level or, with the level "", as a Progress.
	Ready func(
		ctx context.Context, inst bench.Instance, svc bench.Service, report func(level, text string),
	) (bench.InstanceReady, error)
	// FirstRequests times single requests of an instance that has just become ready; may be nil.
	FirstRequests func(ctx context.Context, baseURL string) (bench.Phases, error)
	// Ask asks an instance each kind of request once, before the load, and returns what was not as
	// expected; may be nil. What FirstRequests times comes before it.
	Ask func(ctx context.Context, baseURL string) error
	// SetUp and TearDown make the requests before the first of a life and after its last; may be nil. Without its
	// setup nothing is loaded.
	SetUp, TearDown func(ctx context.Context, baseURL string) error
	// Next, if not nil, chooses each step of a trial in place of Run.Profile.Steps; ok is false after
	// the last. It may rest before it returns, but not beyond the end of ctx.
	Next func(ctx context.Context, trial bench.Trial, done []bench.StepResult) (step bench.Step, ok bool)
	// Judge adds warnings to a finished step ("the client may be the bottleneck: …"); may be nil.
	Judge func(bench.StepResult, bench.InstanceInfo) bench.Warnings
	// ReadHost reads host and store at the two ends of each step; nil where nobody can.
	ReadHost func(ctx context.Context) *bench.HostReading
	// Stalls begins to watch the machine for machine stalls; a thread.StallMeter does when it is nil.
	Stalls func() Stalls
	Grace  time.Duration // to stop in; 15 s when 0
	// RetryNotReady has a contender tried in every round though it never became ready in its first one.
	RetryNotReady bool
	// Control is what somebody asks of the run: each is on record as ChangedManually, or a Notice says
	// why it cannot be done now. Nil, or closed, when nobody asks.
	Control <-chan bench.Control
}

const progressBytes = 500

// ErrTrials is wrapped by the error of Run, an *Incomplete then, when the trials had begun but not all
// of them are complete at the end.
var ErrTrials = errors.New("incomplete run")

// Incomplete says why. Those of its Failures that are a *TrialError were published before.
type Incomplete struct{ Failures []error }

// Error implements error.
func (e *Incomplete) Error() string {
	return fmt.Sprintf("%v: %v", ErrTrials, errors.Join(e.Failures...))
}

// Unwrap makes it an ErrTrials, and each of its failures.
func (e *Incomplete) Unwrap() []error { return append([]error{ErrTrials}, e.Failures...) }

// TrialError is why one trial is not complete.
type TrialError struct {
	Trial bench.Trial
	Err   error
}

// Error implements error.
func (e *TrialError) Error() string { return fmt.Sprintf("%s: %v", e.Trial, e.Err) }

// Unwrap gives errors.Is and errors.As the cause.
func (e *TrialError) Unwrap() error { return e.Err }

// Run runs every trial that is not complete yet, in the order of the plan, and returns when all has
// stopped; RunEnded comes last. Interrupting ctx stops it in order, with context.Cause(ctx) as the
// error, as what Config.Control asks for can, with one that wraps ErrOnRequest.
func Run(ctx context.Context, cfg Config) error {
	cfg.Grace, cfg.Patience = cmp.Or(cfg.Grace, 15*time.Second), cmp.Or(cfg.Patience, 30*time.Second)
	if cfg.ReadHost == nil {
		cfg.ReadHost = func(context.Context) *bench.HostReading { return nil }
	}
	if cfg.Stalls == nil {
		cfg.Stalls = func() Stalls { return thread.WatchStalls(thread.LookEvery) }
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	r := &runner{
		cfg: cfg, artifacts: map[bench.Selection]bench.Artifact{}, broken: map[bench.Selection]error{},
		neverReady: map[bench.Selection]int{}, wasReady: map[bench.Selection]bool{},
		sofar: bench.Run{State: bench.RunFailed, Trials: slices.Clone(cfg.Run.Trials)},
		steering: &steering{
			publish: cfg.Stream.Publish, endRun: end, changed: make(chan struct{}),
			skipped: map[bench.Selection]bool{}, running: &controlled{},
		},
		clock: &clock{began: time.Now()},
	}
	for _, e := range cfg.Run.Trials {
		if e.State == bench.TrialComplete {
			r.wasReady[selection(e.Trial)], r.launched = true, true
		}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { r.steering.run(r.cfg.Control, done) })
	err := r.run(ctx)
	close(done)
	wg.Wait()
	state := bench.RunComplete
	switch {
	case ctx.Err() != nil:
		state, err = bench.RunInterrupted, context.Cause(ctx)
	case errors.Is(err, ErrOnRequest):
		state = bench.RunInterrupted
	case errors.Is(err, ErrTrials):
		state, _ = r.sofar.Outcome()
	case err != nil:
		state = bench.RunFailed
	}
	ended := bench.RunEnded{State: state}
	if err != nil {
		ended.Err = err.Error()
	}
	r.publish(ended)
	return err
}

type runner struct {
	cfg        Config
	artifacts  map[bench.Selection]bench.Artifact
	broken     map[bench.Selection]error // contenders that could not be built
	neverReady map[bench.Selection]int   // the round in which a contender ran and did not become ready, nor ever before
	wasReady   map[bench.Selection]bool  // contenders that have become ready once
	launched   bool                      // something was, so there are results to resume
	sofar      bench.Run                 // how each trial has ended; the run's state is that of one that has failed
	steering   *steering
	clock      *clock
}

// publish publishes an event about the whole run.
func (r *runner) publish(e bench.Event) { r.cfg.Stream.Publish(nil, e) }

func (r *runner) notice(text string) { r.publish(bench.Notice{Level: "info", Text: text}) }

func (r *runner) run(ctx context.Context) error {
	r.cfg.Run.State = bench.RunRunning
	r.publish(bench.RunStarted{Run: r.cfg.Run, Dir: r.cfg.Dir})
	for _, stage := range r.cfg.Stages {
		err := phase(r.publish, stage.Phase, func() (string, error) {
			return stage.Do(ctx, func(p bench.Progress) {
				p.Phase, p.Text = stage.Phase, clip(p.Text, progressBytes)
				r.publish(p)
			})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", stage.Phase, err)
		}
	}
	if err := r.buildAll(ctx); err != nil {
		return err
	}
	return r.runTrials(ctx)
}

func (r *runner) runTrials(ctx context.Context) error {
	var failures []error
	for _, group := range r.cfg.Run.Groups() {
		group = slices.DeleteFunc(group, func(i int) bool { return r.cfg.Run.Trials[i].State == bench.TrialComplete })
		if len(group) == 0 {
			continue
		}
		r.steering.pause(ctx, nil, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		group = slices.DeleteFunc(group, func(i int) bool {
			trial := r.cfg.Run.Trials[i].Trial
			if !r.steering.skips(selection(trial)) {
				return false
			}
			failures = append(failures, r.passOver(trial))
			return true
		})
		if len(group) == 0 {
			continue
		}
		err := errors.Join(
			r.await(ctx, "the store", r.cfg.StoreAlive), r.await(ctx, "the container engine", r.cfg.EngineAlive))
		if err != nil {
			return &Incomplete{append(failures, err)}
		}
		requested, missed := error(nil), true
		for n, err := range r.together(ctx, group) {
			trial := r.cfg.Run.Trials[group[n]].Trial
			if errors.Is(err, ErrOnRequest) && requested == nil {
				requested = fmt.Errorf("%s: %w", trial, err)
			}
			if err != nil {
				failures = append(failures, &TrialError{trial, err})
				missed = false
			}
		}
		if requested != nil {
			return requested
		}
		if ended := r.steering.ended(); ended != nil {
			if missed { // it was missed at the end of a whole trial
				failures = append(failures, ended)
			}
			break
		}
		if last := group[len(group)-1]; r.steering.stopping() && !r.lastTrial(last) {
			return fmt.Errorf("%w after trial %s", errStopped, r.cfg.Run.Trials[last].Trial)
		}
	}
	if slices.ContainsFunc(failures, func(err error) bool { return !errors.Is(err, ErrThreshold) }) {
		return &Incomplete{failures}
	}
	return errors.Join(failures...)
}

// passOver leaves out a trial of a contender that was skipped. It stays pending: it can still be run.
func (r *runner) passOver(trial bench.Trial) error {
	text := "skipped: its contender was " + bench.AbortedSkipped
	r.notice(trial.String() + ": " + text)
	return fmt.Errorf("%s: %s; run: %s", trial, text, results.ResumeCommand(r.cfg.Dir))
}

func (r *runner) lastTrial(i int) bool {
	return !slices.ContainsFunc(r.cfg.Run.Trials[i+1:], func(e bench.TrialEntry) bool { return e.State != bench.TrialComplete })
}

// buildAll builds each contender once. One that cannot be built fails its trials, not the run.
func (r *runner) buildAll(ctx context.Context) error {
	if r.cfg.Run.Profile.Runtime.Traits().AlreadyRunning {
		return nil // it runs already
	}
	for _, sel := range r.cfg.Run.Profile.Contenders {
		needed := slices.ContainsFunc(r.cfg.Run.Trials, func(e bench.TrialEntry) bool {
			return selection(e.Trial) == sel && e.State != bench.TrialComplete
		})
		if _, done := r.artifacts[sel]; done || r.broken[sel] != nil || !needed {
			continue
		}
		err := phase(r.publish, bench.PhaseBuild, func() (string, error) {
			var last time.Time
			a, err := r.cfg.Build(ctx, r.cfg.Services[sel], func(text string) {
				if now := time.Now(); now.Sub(last) >= time.Second {
					last = now
					r.publish(bench.Progress{Phase: bench.PhaseBuild, Text: clip(text, progressBytes)})
				}
			})
			r.artifacts[sel] = a
			return describeBuild(sel, a), err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.broken[sel] = err
		}
	}
	return nil
}

func describeBuild(sel bench.Selection, a bench.Artifact) string {
	switch {
	case a.BuildCached:
		return sel.String() + ": unchanged, not rebuilt"
	case a.BuildTime > 0:
		return sel.String() + ": built in " + a.BuildTime.Round(10*time.Millisecond).String()
	}
	return sel.String() + ": ready"
}

// await waits for a part of the site that does not respond: without it every trial left would fail.
func (r *runner) await(ctx context.Context, what string, alive func(context.Context) error) error {
	if alive == nil {
		return nil
	}
	began := time.Now()
	for reported := false; ; reported = true {
		err := alive(ctx)
		if err == nil && reported {
			r.notice(what + " responds again after " + units.Duration(time.Since(began)))
		}
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if !reported {
			r.notice(fmt.Sprintf("waiting up to %[2]v for %[1]s: %[3]v", what, r.cfg.Patience, err))
		}
		if time.Since(began) > r.cfg.Patience {
			how := ""
			if r.launched {
				how = "; finished trials are kept. Resume: " + results.ResumeCommand(r.cfg.Dir)
			}
			return fmt.Errorf("no response from %s for %v; run stopped%s: %w", what, r.cfg.Patience, how, err)
		}
		r.publish(bench.Progress{Phase: bench.PhaseStore, Text: "waiting for " + what + ": " + err.Error()})
		select {
		case <-ctx.Done():
		case <-time.After(min(time.Second, r.cfg.Patience)):
		}
	}
}

// phase does one phase of the run or of a trial, and publishes its beginning and its end.
func phase(publish func(bench.Event), phase bench.Phase, do func() (note string, err error)) error {
	publish(bench.PhaseStarted{Phase: phase})
	began := time.Now()
	note, err := do()
	ended := bench.PhaseEnded{Phase: phase, Took: time.Since(began), Note: note}
	if err != nil {
		ended.Err = err.Error()
	}
	publish(ended)
	return err
}
