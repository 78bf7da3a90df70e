package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

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
	return bench.Usage{At: time.Now(), Source: "fake", CPU: f.cpu, Memory: &bench.Memory{OOMKills: f.oom}}, nil
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
	return bench.StopResult{Graceful: !already && !f.killed, Killed: f.killed, Handled: f.killed && f.handles, ExitedBeforeStop: already, Exit: *f.exit}, nil
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

	onIncident func(bench.Incident) // of the last instance
}

func (f *fakeLauncher) Launch(_ context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	inst := newFakeInstance(bench.InstanceInfo{Runtime: bench.RuntimeProcess, LimitsNote: "not root"})
	inst.name, inst.killed, inst.handles, inst.oom = spec.Name, f.killed, f.handles, f.oomKills
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
	hooks.OnWindow(bench.Window{Succeeded: load.Succeeded, Length: time.Second})
	return load, err
}

func good(context.Context, bench.Step) (bench.Load, error) {
	return bench.Load{Succeeded: 100, Sent: 100, Elapsed: time.Second}, nil
}

type fakeChecks struct{ fail error }

func (fakeChecks) Launching(ctx context.Context, l Launcher, spec bench.LaunchSpec, _ bench.Service, on func(bench.CheckResult)) error {
	spec.Name += "-without-environment"
	inst, err := l.Launch(ctx, spec)
	if err != nil {
		return err
	}
	_, err = inst.Stop(ctx, time.Second)
	on(bench.CheckResult{Group: "lifecycle", Name: "x", Status: bench.CheckPassed})
	return err
}

func (f fakeChecks) Running(_ context.Context, _ bench.Instance, _ bench.LaunchSpec, _ bench.Service, on func(bench.CheckResult)) error {
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

// fakeRun is a run of contenders "a" and "b" in two rounds of three steps.
type fakeRun struct {
	launcher *fakeLauncher
	cfg      Config
	records  []bench.Record
	trials   map[string]*bench.TrialResult
	order    []string
	report   func(bench.Incident) // reports an incident of the last instance
}

func (f *fakeRun) handle(rec bench.Record) {
	f.records = append(f.records, rec)
	if rec.Trial == nil {
		return
	}
	name := rec.Trial.String()
	if _, ok := rec.Event.(bench.TrialStarted); ok {
		f.trials[name] = &bench.TrialResult{Trial: *rec.Trial}
		f.order = append(f.order, name)
	}
	f.trials[name].Apply(rec.At, rec.Event)
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
		if e, ok := rec.Event.(bench.PhaseStarted); ok && (rec.Trial == nil && trial == "" || rec.Trial != nil && rec.Trial.String() == trial) {
			out = append(out, fmt.Sprint(e.Phase))
		}
	}
	return out
}
