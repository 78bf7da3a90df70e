package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeInstance keeps the contract of bench.Instance: Exited is closed once, Stop is idempotent, and
// Usage fails after Stop.
type fakeInstance struct {
	name   string
	info   bench.InstanceInfo
	exited chan struct{}

	mu      sync.Mutex
	exit    *bench.Exit
	stopped bool
	grace   time.Duration // of the stop
	cpu     time.Duration
	late    *bench.Exit // the exit right before Stop; nil: none
	killed  bool        // it does not stop on SIGTERM
	handles bool        // it handles SIGTERM
	oom     int64       // killed processes
	since   time.Time
	leaks   int64 // bytes per second
	// its compilers took half of its CPU time up to this time; 0: it has none
	compiles time.Duration
}

func newFakeInstance(info bench.InstanceInfo) *fakeInstance {
	return &fakeInstance{info: info, exited: make(chan struct{})}
}

func (f *fakeInstance) BaseURL() string          { return "http://" + f.name }
func (f *fakeInstance) Info() bench.InstanceInfo { return f.info }
func (f *fakeInstance) Exited() <-chan struct{}  { return f.exited }
func (f *fakeInstance) Logs() []bench.LogLine {
	return []bench.LogLine{{Text: "java.lang.OutOfMemoryError"}}
}

func (f *fakeInstance) Exit() *bench.Exit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exit
}

func (f *fakeInstance) die(e bench.Exit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.exit == nil {
		f.exit = &e
		close(f.exited)
	}
}

func (f *fakeInstance) Usage(context.Context) (bench.Usage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped || f.exit != nil {
		return bench.Usage{}, errors.New("no such process")
	}
	f.cpu += time.Second
	threads := &bench.ThreadTime{Compiled: min(f.cpu, f.compiles) / 2}
	return bench.Usage{At: time.Now(), Source: "fake", CPU: f.cpu, ThreadTime: threads, ThreadCPU: map[int]time.Duration{7: f.cpu}, Memory: &bench.Memory{OOMKills: f.oom,
		Used: f.leaks * int64(time.Since(f.since)/time.Second)}}, nil
}

func (f *fakeInstance) Stop(_ context.Context, grace time.Duration) (bench.StopResult, error) {
	f.grace = grace
	if f.late != nil {
		f.die(*f.late)
	}
	already := f.Exit() != nil
	f.die(bench.Exit{At: time.Now()})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	return bench.StopResult{
		Graceful: !already && !f.killed, Killed: f.killed, Handled: f.killed && f.handles,
		ExitedBeforeStop: already, Exit: *f.exit,
	}, nil
}

// fakeLauncher keeps every instance that it launches.
type fakeLauncher struct {
	mu        sync.Mutex
	err       error
	instances []*fakeInstance
	names     []string
	gone      bool // the kernel reports that the processes have ended
	killed    bool // the instances do not stop on SIGTERM
	handles   bool // they handle it
	oomKills  int64
	leaks     int64 // bytes per second
	compiles  map[string]time.Duration
	info      bench.InstanceInfo

	onIncident func(bench.Incident) // of the last instance
}

func (f *fakeLauncher) Launch(_ context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	info := bench.InstanceInfo{Runtime: bench.RuntimeProcess, LimitsNote: "not root"}
	if f.info.LimitsEnforced {
		info = f.info
	}
	inst := newFakeInstance(info)
	inst.name, inst.killed, inst.handles, inst.oom = spec.Name, f.killed, f.handles, f.oomKills
	inst.since, inst.leaks, inst.compiles = time.Now(), f.leaks, f.compiles[spec.Name]
	f.onIncident = spec.OnIncident
	f.instances = append(f.instances, inst)
	f.names = append(f.names, spec.Name)
	if f.gone {
		return gone{inst, true}, nil
	}
	return inst, nil
}

func (f *fakeLauncher) last() *fakeInstance {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.instances[len(f.instances)-1]
}

// leftRunning returns the names of the instances that were not stopped.
func (f *fakeLauncher) leftRunning() (left []string) {
	for i, inst := range f.instances {
		if !inst.stopped {
			left = append(left, f.names[i])
		}
	}
	return left
}

// fakeEngine is an engine that returns the function's result for every step.
type fakeEngine func(ctx context.Context, step bench.Step) (bench.Load, error)

func (fakeEngine) Rest(Place) {}

func (f fakeEngine) Run(ctx context.Context, _ Place, step bench.Step, hooks Hooks) (bench.Load, error) {
	hooks.OnStart()
	load, err := f(ctx, step)
	hooks.OnEnd()
	if hooks.OnPart != nil {
		hooks.OnPart(bench.Window{Succeeded: load.Succeeded / 2, Length: time.Second / 2})
	}
	hooks.OnWindow(bench.Window{Succeeded: load.Succeeded, Length: time.Second})
	return load, err
}

func good(context.Context, bench.Step) (bench.Load, error) {
	return bench.Load{Outcomes: bench.Outcomes{Succeeded: 100}, Counts: bench.Counts{Sent: 100}, Elapsed: time.Second}, nil
}

type fakeChecks struct{ fail error }

func (fakeChecks) Launching(
	ctx context.Context, l Launcher, spec bench.LaunchSpec, _ bench.Service, on func(bench.CheckResult),
) error {
	spec.Name += "-without-environment"
	inst, err := l.Launch(ctx, spec)
	if err != nil {
		return err
	}
	_, err = inst.Stop(ctx, time.Second)
	on(bench.CheckResult{Group: "lifecycle", Name: "x", Status: bench.CheckPassed})
	return err
}

func (f fakeChecks) Running(
	_ context.Context, _ bench.Instance, _ bench.LaunchSpec, _ bench.Service, on func(bench.CheckResult),
) error {
	on(bench.CheckResult{Group: "get", Name: "y", Status: bench.CheckFailed, Detail: "expected 404, got 200"})
	return f.fail
}

func (fakeChecks) Alive(context.Context, bench.Instance, bench.Service) []bench.CheckResult {
	return []bench.CheckResult{{Group: "lifecycle", Name: bench.CheckStillResponds, Status: bench.CheckPassed}}
}

func (fakeChecks) Stopped(bench.StopResult) []bench.CheckResult {
	return []bench.CheckResult{{Group: "lifecycle", Name: "stops", Status: bench.CheckPassed}}
}

// noStalls reports no machine stalls. The threads of a real meter would stop the time of synctest.
type noStalls struct{}

func (noStalls) Take() bench.Hiccups { return bench.Hiccups{CPUs: 1, Realtime: true} }
func (noStalls) Stop()               {}

// noObserver reads nothing.
type noObserver struct{}

func (noObserver) ReadHost(context.Context, bench.Trial) *bench.HostReading  { return nil }
func (noObserver) ReadOwn(bench.Trial) map[string]*bench.NeedUsage           { return nil }
func (noObserver) WatchStalls() Stalls                                       { return noStalls{} }
func (noObserver) Judge(bench.StepResult, bench.InstanceInfo) bench.Warnings { return nil }

// fakeSite implements all that a run needs by its fields. A function that is nil does nothing.
type fakeSite struct {
	watch    func(report func(bench.Incident)) (end func())
	build    func(context.Context, bench.Service, func(string)) (bench.Artifact, error)
	spec     func(string, bench.Service, bench.Artifact) (bench.LaunchSpec, error)
	launcher interface {
		Launch(context.Context, bench.LaunchSpec) (bench.Instance, error)
	}
	awaits func(context.Context, bench.Instance, bench.Service, func(level, text string)) (bench.InstanceReady, error)
	engine Engine
	checks interface {
		Launching(context.Context, Launcher, bench.LaunchSpec, bench.Service, func(bench.CheckResult)) error
		Running(context.Context, bench.Instance, bench.LaunchSpec, bench.Service, func(bench.CheckResult)) error
		Alive(context.Context, bench.Instance, bench.Service) []bench.CheckResult
		Stopped(bench.StopResult) []bench.CheckResult
	}
	first                            func(context.Context, Place) (bench.FirstRequests, error)
	setUp, ask, unanswered, tearDown func(context.Context, Place) error
	responds                         func(context.Context, bench.Instance, bench.Service) error
	stages                           []Stage
	alive, engineAlive               func(context.Context) error
	change                           func(context.Context) (string, error)
	restarting                       []string // needs that start again
	restoredFor                      []string // the contenders of RestoreNeeds
	migrated                         func(context.Context, bench.Selection) (string, error)
	migratedFor                      []string // the contenders with their own state
	restores                         []Restore
	own                              func(bench.Trial) map[string]*bench.NeedUsage // nil: none
	noObserver
}

func (s *fakeSite) ReadOwn(of bench.Trial) map[string]*bench.NeedUsage {
	if s.own == nil {
		return nil
	}
	return s.own(of)
}

func (s *fakeSite) Build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	return s.build(ctx, svc, progress)
}

func (s *fakeSite) Spec(trial bench.Trial, svc bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
	return s.spec(trial.String(), svc, a)
}

func (s *fakeSite) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	return s.launcher.Launch(ctx, spec)
}

func (s *fakeSite) Ready(
	ctx context.Context, inst bench.Instance, svc bench.Service, report func(level, text string),
) (bench.InstanceReady, error) {
	return s.awaits(ctx, inst, svc, report)
}

func (s *fakeSite) Run(ctx context.Context, at Place, step bench.Step, hooks Hooks) (bench.Load, error) {
	return s.engine.Run(ctx, at, step, hooks)
}

func (s *fakeSite) Rest(at Place) { s.engine.Rest(at) }

func (s *fakeSite) FirstRequests(ctx context.Context, at Place) (bench.FirstRequests, error) {
	return s.first(ctx, at)
}

// at calls do if it is not nil.
func at(ctx context.Context, place Place, do func(context.Context, Place) error) error {
	if do == nil {
		return nil
	}
	return do(ctx, place)
}

func (s *fakeSite) SetUp(ctx context.Context, p Place) error      { return at(ctx, p, s.setUp) }
func (s *fakeSite) Ask(ctx context.Context, p Place) error        { return at(ctx, p, s.ask) }
func (s *fakeSite) Unanswered(ctx context.Context, p Place) error { return at(ctx, p, s.unanswered) }
func (s *fakeSite) TearDown(ctx context.Context, p Place) error   { return at(ctx, p, s.tearDown) }

func (s *fakeSite) Launching(
	ctx context.Context, l Launcher, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
) error {
	return s.checks.Launching(ctx, l, spec, svc, on)
}

func (s *fakeSite) Running(
	ctx context.Context, inst bench.Instance, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
) error {
	return s.checks.Running(ctx, inst, spec, svc, on)
}

func (s *fakeSite) Alive(ctx context.Context, inst bench.Instance, svc bench.Service) []bench.CheckResult {
	return s.checks.Alive(ctx, inst, svc)
}

func (s *fakeSite) Stopped(stop bench.StopResult) []bench.CheckResult { return s.checks.Stopped(stop) }

func (s *fakeSite) Responds(ctx context.Context, inst bench.Instance, svc bench.Service) error {
	if s.responds == nil {
		return nil
	}
	return s.responds(ctx, inst, svc)
}

func (s *fakeSite) Stages() []Stage { return s.stages }

func (s *fakeSite) WatchNeeds(_ bench.Trial, report func(bench.Incident)) (end func()) {
	if s.watch == nil {
		return func() {}
	}
	return s.watch(report)
}

func (s *fakeSite) NeedsAlive(ctx context.Context, _ bench.Trial) (string, error) {
	if s.alive == nil {
		return "", nil
	}
	return "db", s.alive(ctx)
}

func (s *fakeSite) RestoreTimeout() time.Duration { return 3 * time.Minute }

func (s *fakeSite) RestoreNeeds(ctx context.Context, r Restore) (string, error) {
	s.restoredFor, s.restores = append(s.restoredFor, r.Next.Contender), append(s.restores, r)
	for _, name := range s.restarting {
		r.Starts(name)
	}
	if s.change == nil {
		return "", nil
	}
	return s.change(ctx)
}

func (s *fakeSite) Unmigrated(of bench.Trial) bool {
	return s.migrated != nil && !slices.Contains(s.migratedFor, of.Contender)
}

func (s *fakeSite) Migrated(ctx context.Context, of bench.Trial, _ func(bench.Progress)) (string, error) {
	note, err := s.migrated(ctx, selection(of))
	if err == nil {
		s.migratedFor = append(s.migratedFor, of.Contender)
	}
	return note, err
}

func (s *fakeSite) EngineAlive(ctx context.Context) error {
	if s.engineAlive == nil {
		return nil
	}
	return s.engineAlive(ctx)
}

// fakeRun is a run of contenders "a" and "b" in two rounds of three steps.
type fakeRun struct {
	launcher  *fakeLauncher
	site      *fakeSite
	cfg       Config
	ctx       context.Context
	interrupt context.CancelCauseFunc
	controls  chan bench.Control
	on        func(bench.Record) // called for every event, in order; may be nil

	err     error // of the run
	records []bench.Record
	trials  map[string]*bench.TrialResult
	order   []string
}

// start runs a run under synctest and waits for all events; change may alter its configuration.
func start(t *testing.T, change func(*fakeRun)) *fakeRun {
	t.Helper()
	f := &fakeRun{launcher: &fakeLauncher{}, trials: map[string]*bench.TrialResult{}}
	synctest.Test(t, func(t *testing.T) { f.run(t, change) })
	return f
}

func (f *fakeRun) run(t *testing.T, change func(*fakeRun)) {
	f.ctx, f.interrupt = context.WithCancelCause(context.Background())
	defer f.interrupt(nil)
	f.controls = make(chan bench.Control, 100)
	contenders := []bench.Selection{{Contender: "a"}, {Contender: "b"}}
	f.cfg = Config{
		Run: bench.Run{
			Profile: bench.Profile{Contenders: contenders, Rounds: 2, Steps: []bench.Step{
				{Name: "one", Connections: 1}, {Name: "two", Connections: 2}, {Name: "four", Connections: 4},
			}},
			Trials: Order(contenders, 2, 42),
		},
		Stream:   event.New(time.Now),
		Services: map[bench.Selection]bench.Service{contenders[0]: {Name: "a"}, contenders[1]: {Name: "b"}},
		Control:  f.controls,
	}
	f.site = &fakeSite{
		stages: []Stage{{Phase: bench.PhaseNeeds, Do: func(context.Context, func(bench.Progress)) (string, error) {
			return "up", nil
		}}},
		build: func(_ context.Context, svc bench.Service, _ func(string)) (bench.Artifact, error) {
			return bench.Artifact{Image: svc.Name}, nil
		},
		spec: func(name string, _ bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
			return bench.LaunchSpec{Name: name, Artifact: a}, nil
		},
		launcher: f.launcher, engine: fakeEngine(good), checks: fakeChecks{}, noObserver: noObserver{},
	}
	f.cfg.Launcher, f.cfg.Loader, f.cfg.Checker, f.cfg.Needs, f.cfg.Observer = f.site, f.site, f.site, f.site, f.site
	f.ready(func(context.Context, bench.Instance, bench.Service) error { return nil })
	if change != nil {
		change(f)
	}
	f.cfg.Stream.Subscribe(f.handle)
	f.err = Run(f.ctx, f.cfg)
	f.cfg.Stream.Close()
	left := f.launcher.leftRunning()
	testenv.Check(t, len(left) <= 0, "left running: %v", left)
	last := f.records[len(f.records)-1]
	testenv.Check(t, bench.EventName(last.Event) == "run_ended", "the last event is %s", bench.EventName(last.Event))
}

func (f *fakeRun) handle(rec bench.Record) {
	f.records = append(f.records, rec)
	if rec.Trial != nil {
		name := rec.Trial.String()
		if _, ok := rec.Event.(bench.TrialStarted); ok {
			f.trials[name] = &bench.TrialResult{Trial: *rec.Trial}
			f.order = append(f.order, name)
		}
		f.trials[name].Apply(rec.At, rec.Event)
	}
	if f.on != nil {
		f.on(rec)
	}
}

// only reduces the run to its first n trials.
func (f *fakeRun) only(n int) { f.cfg.Run.Trials = f.cfg.Run.Trials[:n] }

// rounds makes it a run of contender a in n rounds.
func (f *fakeRun) rounds(n int) {
	only := f.cfg.Run.Profile.Contenders[:1]
	f.cfg.Run.Profile.Contenders, f.cfg.Run.Profile.Rounds, f.cfg.Run.Trials = only, n, Order(only, n, 1)
}

// ready sets what happens until an instance is ready, after a start-up of a millisecond.
func (f *fakeRun) ready(do func(context.Context, bench.Instance, bench.Service) error) {
	f.site.awaits = func(
		ctx context.Context, inst bench.Instance, svc bench.Service, _ func(level, text string),
	) (bench.InstanceReady, error) {
		return bench.InstanceReady{StartUp: time.Millisecond}, do(ctx, inst, svc)
	}
}

// load sets the load of a step with that many connections; other steps are good.
func (f *fakeRun) load(connections int, run func(ctx context.Context) (bench.Load, error)) {
	f.site.engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
		if step.Connections == connections {
			return run(ctx)
		}
		return good(ctx, step)
	})
}

// send sends a control, which the run applies later.
func (f *fakeRun) send(kind bench.ControlKind) { f.controls <- bench.Control{Kind: kind} }

// inFirst reports whether a step of the first trial starts.
func (f *fakeRun) inFirst(rec bench.Record, index int) bool {
	e, ok := rec.Event.(bench.StepStarted)
	return ok && e.Index == index && *rec.Trial == f.cfg.Run.Trials[0].Trial
}

// sendIn sends a control in a step of the first trial. The step ends when the control applies, with
// less success if it is skipped.
func (f *fakeRun) sendIn(index int, kind bench.ControlKind) {
	applied := make(chan struct{})
	var held atomic.Bool
	var once sync.Once
	f.load(1<<index, func(ctx context.Context) (bench.Load, error) {
		if kind == bench.ControlStop || kind == bench.ControlPause {
			<-applied
		} else if !held.Swap(true) {
			<-ctx.Done()
			return bench.Load{Outcomes: bench.Outcomes{Succeeded: 7}}, ctx.Err()
		}
		return good(ctx, bench.Step{})
	})
	f.on = func(rec bench.Record) {
		if e, ok := rec.Event.(bench.ChangedManually); ok && e.Control.Kind == kind {
			once.Do(func() { close(applied) })
		}
		if f.inFirst(rec, index) {
			f.send(kind)
		}
	}
}

// ends waits for the end of ctx and returns how long that took, in virtual time.
func (f *fakeRun) ends(ctx context.Context) time.Duration {
	began := time.Now()
	<-ctx.Done()
	return time.Since(began)
}

// first returns the trial that started first.
func (f *fakeRun) first() *bench.TrialResult { return f.trials[f.order[0]] }

// outcome returns the run in short: its trials with their steps, then what it reports.
func (f *fakeRun) outcome() string {
	var b strings.Builder
	for _, name := range f.order {
		t := f.trials[name]
		fmt.Fprintf(&b, "%s %s %q, last log %d, stopped %v\n", name, t.State, t.Failure, len(t.LastLog), t.Stop != nil)
		if t.Exit != nil {
			fmt.Fprintf(&b, "  exit: %v\n", t.Exit)
		}
		for _, s := range t.Steps {
			fmt.Fprintf(&b, "  step %s: %d succeeded %q\n", s.Step.Name, s.Load.Succeeded, s.Aborted)
			for _, th := range s.Thresholds {
				fmt.Fprintf(&b, "    %s: %.3f, passed %v, stopped %q\n", th.Condition, *th.Value, th.Passed, th.Stopped)
			}
			if s.Interleave != nil {
				fmt.Fprintf(&b, "    interleaved with %v\n", s.Interleave.With)
			}
			for _, w := range s.Warnings {
				fmt.Fprintf(&b, "    warning: %s\n", w.Text)
			}
		}
		for _, m := range t.ManualChanges {
			fmt.Fprintf(&b, "  changed: %s", m.Control.Kind)
			if m.Step != nil {
				fmt.Fprintf(&b, " in step %d", *m.Step+1)
			}
			b.WriteString("\n")
		}
		for _, i := range t.Incidents {
			fmt.Fprintf(&b, "  incident %s: %s\n", i.Kind, i)
		}
	}
	fmt.Fprintf(&b, "launched %v\n", f.launcher.names)
	for _, rec := range f.records {
		switch e := rec.Event.(type) {
		case bench.Paused, bench.Resumed:
			fmt.Fprintln(&b, bench.EventName(e))
		case bench.Notice:
			fmt.Fprintf(&b, "%s: %s\n", e.Level, e.Text)
		case bench.RunEnded:
			fmt.Fprintf(&b, "run %s\n", e.State)
		}
	}
	for _, is := range []error{ErrTrials, ErrOnRequest, ErrThreshold} {
		if errors.Is(f.err, is) {
			fmt.Fprintf(&b, "is an error %q\n", is)
		}
	}
	fmt.Fprintf(&b, "error: %v\n", f.err)
	return b.String()
}

func (f *fakeRun) ended() bench.RunEnded {
	for _, rec := range f.records {
		if e, ok := rec.Event.(bench.RunEnded); ok {
			return e
		}
	}
	return bench.RunEnded{}
}

func (f *fakeRun) phases(trial string) (out []string) {
	for _, rec := range f.records {
		at := ""
		if rec.Trial != nil {
			at = rec.Trial.String()
		}
		if e, ok := rec.Event.(bench.PhaseStarted); ok && at == trial {
			out = append(out, fmt.Sprint(e.Phase))
		}
	}
	return out
}

// outcomes compares the outcome of each change of a run with its golden file.
func outcomes(t *testing.T, dir string, changes map[string]func(*fakeRun)) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			file := strings.ReplaceAll(name, " ", "_") + ".golden"
			testenv.Golden(t, filepath.Join("testdata", dir, file), start(t, change).outcome())
		})
	}
}
