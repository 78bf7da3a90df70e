// Package runner runs the phases of a benchmark: prepare the needs and build the contenders; then
// for every trial launch, wait until ready, check, load step by step, and stop.
//
// It publishes events and keeps no other record. Launching, loading, checking and drawing are
// behind its interfaces.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/results/event"
)

// Launcher builds contenders and starts instances of them.
type Launcher interface {
	Build(ctx context.Context, svc bench.Service, progress func(text string)) (bench.Artifact, error)
	// Spec returns how to launch svc for a trial. It is called before every launch.
	Spec(trial bench.Trial, svc bench.Service, artifact bench.Artifact) (bench.LaunchSpec, error)
	// Launch returns a running instance, or an error and nothing that still runs.
	Launch(context.Context, bench.LaunchSpec) (bench.Instance, error)
	// Ready waits for the first "ready" response; the start-up time is 0 if unknown. It may report
	// Notices of a level or, with the level "", Progress.
	Ready(
		ctx context.Context, inst bench.Instance, svc bench.Service, report func(level, text string),
	) (bench.InstanceReady, error)
	// EngineAlive returns an error if the container engine does not respond; nil without one.
	EngineAlive(context.Context) error
}

// Place is where the requests of a trial go. Two targets may have one address: what is kept of a
// trial belongs to its Trial.
type Place struct {
	Trial   bench.Trial
	BaseURL string
}

// Engine drives one step of load.
type Engine interface {
	// Run returns the results of the step even with an error, which is that of ctx if ctx ended it.
	Run(ctx context.Context, at Place, step bench.Step, hooks Hooks) (bench.Load, error)
	// Rest closes the connections that steps share. It is called after the last step of a trial.
	Rest(at Place)
}

// Loader sends all requests of a trial, first to last in the order of its methods.
type Loader interface {
	// SetUp sends the profile's requests before the load.
	SetUp(ctx context.Context, at Place) error
	// FirstRequests times single requests to an instance that has just become ready, if the profile
	// wants that.
	FirstRequests(ctx context.Context, at Place) (bench.FirstRequests, error)
	// Ask sends each request once before the load, and returns an error for unexpected responses.
	Ask(ctx context.Context, at Place) error
	Engine
	// Unanswered returns an error if none of the profile's first requests has a response. It is
	// called after a load that ended with timeouts.
	Unanswered(ctx context.Context, at Place) error
	// TearDown sends the profile's requests after the load, also after a SetUp that began and did
	// not end. Its context is not that of the run: it ends at the bounds of a teardown.
	TearDown(ctx context.Context, at Place) error
}

// Hooks are called by an engine while a step runs. Only OnPart and Interleave may be nil.
type Hooks struct {
	OnStart  func()             // called once, when the measured interval starts
	OnEnd    func()             // called once after OnStart, when the measured interval ends
	OnWindow func(bench.Window) // called for every second of the measured interval
	OnPart   func(bench.Window) // called four times a second with what is in the current second so far
	// Interleave, if not nil, makes the step run in slices, each with its OnStart and OnEnd.
	Interleave bench.Interleaving
}

// Checker has the checks of one trial: those that launch instances, which only the first trial of a
// contender has, those of the running instance, and those of its end. Results go to on; an error
// means that checking was not possible.
type Checker interface {
	Launching(ctx context.Context, l Launcher, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult)) error
	Running(
		ctx context.Context, inst bench.Instance, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
	) error
	Alive(ctx context.Context, inst bench.Instance, svc bench.Service) []bench.CheckResult
	Stopped(stop bench.StopResult) []bench.CheckResult
	// Responds returns an error if the contender does not respond to one request after the load.
	Responds(ctx context.Context, inst bench.Instance, svc bench.Service) error
}

// Observer reads what the machine does during a step.
type Observer interface {
	// ReadHost reads the host and the needs of a trial at the start and the end of each of its steps;
	// nil: they cannot be read.
	ReadHost(ctx context.Context, of bench.Trial) *bench.HostReading
	// ReadOwn reads the needs that the contender of a trial has for itself, by their names.
	ReadOwn(of bench.Trial) map[string]*bench.NeedUsage
	// WatchStalls starts to watch for machine stalls.
	WatchStalls() Stalls
	// Judge returns warnings about a finished step, such as "client-bound: …".
	Judge(bench.StepResult, bench.InstanceInfo) bench.Warnings
}

// Stalls watches for machine stalls under load. Take returns those since the last Take.
type Stalls interface {
	Take() bench.Hiccups
	Stop()
}

// Config is a run and what it needs. Patience and Grace have defaults.
type Config struct {
	Run      bench.Run // the plan; complete trials are skipped
	Dir      string    // results folder, named in events and messages
	Stream   *event.Stream
	Services map[bench.Selection]bench.Service // with the variant applied
	Launcher Launcher
	Loader   Loader
	Checker  Checker
	Needs    Needs
	Observer Observer
	Patience time.Duration // time limit for needs and engine to respond before a trial; 30 s when 0
	Grace    time.Duration // time limit for a contender to stop; 15 s when 0
	// Next, if not nil, chooses each step of a trial instead of Run.Profile.Steps; ok is false
	// after the last. It may wait until ctx ends.
	Next func(ctx context.Context, trial bench.Trial, done []bench.StepResult) (step bench.Step, ok bool)
	// RetryNotReady retries a contender in every round even if it was not ready in its first one.
	RetryNotReady bool
	// Control has the user's controls: each is recorded as ChangedManually, or a Notice says why it
	// has no effect now. It may be nil or closed.
	Control <-chan bench.Control
}

const progressBytes = 500

// ErrTrials is wrapped by the error of Run, an *Incomplete, if trials began but are incomplete.
var ErrTrials = errors.New("incomplete run")

// Incomplete has the reasons for an incomplete run. Failures of type *TrialError were published.
type Incomplete struct{ Failures []error }

// Error implements error.
func (e *Incomplete) Error() string {
	return fmt.Sprintf("%v: %v", ErrTrials, errors.Join(e.Failures...))
}

// Unwrap returns ErrTrials and the failures.
func (e *Incomplete) Unwrap() []error { return append([]error{ErrTrials}, e.Failures...) }

// TrialError is the reason why a trial is not complete.
type TrialError struct {
	Trial bench.Trial
	Err   error
}

// Error implements error.
func (e *TrialError) Error() string { return fmt.Sprintf("%s: %v", e.Trial, e.Err) }

// Unwrap returns the cause.
func (e *TrialError) Unwrap() error { return e.Err }

// Run runs every trial that is not complete, in the order of the plan, and returns when everything
// has stopped; RunEnded is the last event. The end of ctx stops the run gracefully; the error is
// then context.Cause(ctx). A control can stop it too; the error then wraps ErrOnRequest.
func Run(ctx context.Context, cfg Config) error {
	cfg.Grace, cfg.Patience = cmp.Or(cfg.Grace, 15*time.Second), cmp.Or(cfg.Patience, 30*time.Second)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	r := &runner{
		cfg: cfg, artifacts: map[bench.Selection]bench.Artifact{}, broken: map[bench.Selection]error{},
		neverReady: map[bench.Selection]int{}, unmigrated: map[bench.Selection]int{}, wasReady: map[bench.Selection]bool{}, checked: map[bench.Selection]bool{},
		deaf: map[bench.Selection]bool{}, peaks: map[bench.Selection]float64{},
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
	broken     map[bench.Selection]error   // contenders that could not be built
	unmigrated map[bench.Selection]int     // the round in which the migration of a contender failed
	neverReady map[bench.Selection]int     // the round in which a contender was not ready, without having been before
	wasReady   map[bench.Selection]bool    // contenders that have been ready
	checked    map[bench.Selection]bool    // contenders with the results of the checks that launch them
	deaf       map[bench.Selection]bool    // contenders that ignored SIGTERM
	peaks      map[bench.Selection]float64 // the highest throughput of each contender's last trial so far
	launched   bool                        // an instance was launched, so the run can be resumed
	sofar      bench.Run                   // the state of each trial; the run's state is "failed"
	steering   *steering
	clock      *clock
}

// publish publishes an event about the whole run.
func (r *runner) publish(e bench.Event) { r.cfg.Stream.Publish(nil, e) }

func (r *runner) notice(text string) { r.publish(bench.Notice{Level: "info", Text: text}) }

func (r *runner) run(ctx context.Context) error {
	r.cfg.Run.State = bench.RunRunning
	r.publish(bench.RunStarted{Run: r.cfg.Run, Dir: r.cfg.Dir})
	for _, stage := range r.cfg.Needs.Stages() {
		err := phase(r.publish, stage.Phase, func() (string, error) {
			return stage.Do(ctx, func(p bench.Progress) {
				p.Phase, p.Text = cmp.Or(p.Phase, stage.Phase), clip(p.Text, progressBytes)
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
	if failures := r.noneBuilt(); failures != nil {
		return &Incomplete{failures}
	}
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
			failures = append(failures, r.leaveOut(trial))
			return true
		})
		if len(group) == 0 {
			continue
		}
		err := errors.Join(
			r.await(ctx, func(ctx context.Context) (string, error) { return r.cfg.Needs.NeedsAlive(ctx, bench.Trial{}) }),
			r.await(ctx, func(ctx context.Context) (string, error) {
				return "the container engine", r.cfg.Launcher.EngineAlive(ctx)
			}))
		if err != nil {
			return &Incomplete{append(failures, err)}
		}
		requested, complete := error(nil), true
		for n, err := range r.interleaved(ctx, group) {
			trial := r.cfg.Run.Trials[group[n]].Trial
			if errors.Is(err, ErrOnRequest) && requested == nil {
				requested = fmt.Errorf("%s: %w", trial, err)
			}
			if err != nil {
				failures = append(failures, &TrialError{trial, err})
				complete = false
			}
		}
		if requested != nil {
			return requested
		}
		if ended := r.steering.ended(); ended != nil {
			if complete { // the threshold was missed in the last step, so no trial reports it
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

// leaveOut reports a trial whose contender was skipped. It stays pending, so a resumed run has it.
func (r *runner) leaveOut(trial bench.Trial) error {
	text := "skipped: its contender was " + bench.AbortedSkipped
	r.notice(trial.String() + ": " + text)
	return fmt.Errorf("%s: %s; run: %s", trial, text, results.ResumeCommand(r.cfg.Dir))
}

// following returns the trial that follows trial i; none if the run ends.
func (r *runner) following(ctx context.Context, i int) (next bench.Trial) {
	for _, e := range r.cfg.Run.Trials[i+1:] {
		if sel := selection(e.Trial); e.State != bench.TrialComplete && !r.steering.skips(sel) {
			if ctx.Err() != nil || r.steering.stopping() || r.steering.ended() != nil {
				return next
			}
			return e.Trial
		}
	}
	return next
}

func (r *runner) lastTrial(i int) bool {
	incomplete := func(e bench.TrialEntry) bool { return e.State != bench.TrialComplete }
	return !slices.ContainsFunc(r.cfg.Run.Trials[i+1:], incomplete)
}

// await waits until a need or the engine responds: without them every trial left would fail.
func (r *runner) await(ctx context.Context, alive func(context.Context) (what string, err error)) error {
	began := time.Now()
	for waited := ""; ; {
		what, err := alive(ctx)
		if err == nil && waited != "" {
			r.notice(waited + " responds again after " + units.Duration(time.Since(began)))
		}
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if waited == "" {
			r.notice(fmt.Sprintf("waiting up to %[2]v for %[1]s: %[3]v", what, r.cfg.Patience, err))
		}
		if time.Since(began) > r.cfg.Patience {
			how := ""
			if r.launched {
				how = "; finished trials are kept. Resume: " + results.ResumeCommand(r.cfg.Dir)
			}
			return fmt.Errorf("no response from %s for %v; run stopped%s: %w", what, r.cfg.Patience, how, err)
		}
		waited = what
		r.publish(bench.Progress{Phase: bench.PhaseNeeds, Text: "waiting for " + what + ": " + err.Error()})
		select {
		case <-ctx.Done():
		case <-time.After(min(time.Second, r.cfg.Patience)):
		}
	}
}

// phase runs one phase of the run or of a trial, and publishes its start and its end.
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
