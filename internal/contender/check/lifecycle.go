package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/ready"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	// GroupLifecycle is the group of the lifecycle checks' results.
	GroupLifecycle = "lifecycle"
	// ExitWithin is the time to exit for a contender that cannot work or was asked to stop.
	ExitWithin = 15 * time.Second
	// UnreachableNeed is a URL at which nothing listens, neither on this machine nor in a container:
	// its port is above those that Linux uses for outgoing connections.
	UnreachableNeed = "http://127.0.0.1:64999"
)

// Unreachable returns the address of a need that does not respond.
func Unreachable() bench.NeedAddress {
	return bench.NeedAddress{URL: UnreachableNeed, Host: "127.0.0.1", Port: "64999"}
}

// Launcher starts contenders. One that exits at once is an exited instance, not an error.
type Launcher interface {
	Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error)
}

// LifecycleOptions say what the lifecycle checks start, and how.
type LifecycleOptions struct {
	Spec        bench.LaunchSpec        // as in a trial; the port must be free while the checks run
	Unreachable map[string]string       // environment with needs at UnreachableNeed; nil: skip that check
	Ready       ready.Question          // when the contender has started
	CPUs        int                     // CPUs of the machine that runs the contender
	Names       []string                // which checks (bench.LifecycleChecks); none: no check
	OnResult    func(bench.CheckResult) // called after each check; may be nil
	OnStart     func(n, of int)         // called before start n (from 1) of the contender; may be nil
	Deaf        *atomic.Bool            // set once it ignored SIGTERM, then killed at once; nil: of this call
	exitWithin  time.Duration           // shorter in tests; 0: ExitWithin
	patience    time.Duration           // shorter in tests; 0: logPatience
}

// Lifecycle runs those of the named checks that start the contender themselves, one after the
// other, and stops what it started even when ctx ends. The error says why ctx ended; the results
// until then are returned with it.
func Lifecycle(ctx context.Context, launcher Launcher, opt LifecycleOptions) ([]bench.CheckResult, error) {
	opt.exitWithin, opt.patience = cmp.Or(opt.exitWithin, ExitWithin), cmp.Or(opt.patience, logPatience)
	opt.Deaf = cmp.Or(opt.Deaf, new(atomic.Bool))
	t := reporter{on: opt.OnResult}
	starts := opt.starts()
	n := 0
	for _, name := range opt.Names {
		l := attempt{launcher, opt, name, func() {
			if n++; opt.OnStart != nil {
				opt.OnStart(n, starts)
			}
		}}
		switch name {
		case bench.CheckNoEnvironment:
			t.run(ctx, name, func(res *bench.CheckResult) { l.mustExit(ctx, res, nil) })
		case bench.CheckNoNeeds:
			t.run(ctx, name, func(res *bench.CheckResult) {
				if opt.Unreachable == nil {
					skip(res, "contender does not use this run's store")
					return
				}
				l.mustExit(ctx, res, opt.Unreachable)
			})
		case bench.CheckThreads:
			for _, c := range threadCasesOn(opt.CPUs) {
				l.check = c.slug()
				t.run(ctx, c.name(), func(res *bench.CheckResult) { l.threads(ctx, res, c) })
			}
		}
	}
	return t.results, t.err
}

// reporter collects results and reports them as they come, until ctx ends.
type reporter struct {
	on      func(bench.CheckResult)
	results []bench.CheckResult
	err     error
}

func (t *reporter) run(ctx context.Context, name string, check func(*bench.CheckResult)) {
	if t.err != nil {
		return
	}
	start, res := time.Now(), bench.CheckResult{Group: GroupLifecycle, Name: name}
	if ctx.Err() == nil {
		check(&res)
	}
	if ctx.Err() != nil {
		t.err = fmt.Errorf("lifecycle check %s: %w", name, context.Cause(ctx))
		return
	}
	res.Took = time.Since(start)
	t.results = append(t.results, res)
	if t.on != nil {
		t.on(res)
	}
}

// attempt is one start of the contender for one check.
type attempt struct {
	launcher Launcher
	opt      LifecycleOptions
	check    string
	begins   func() // called before the start
}

// starts returns how often the named checks start the contender.
func (o LifecycleOptions) starts() (n int) {
	for _, name := range o.Names {
		switch {
		case name == bench.CheckNoEnvironment, name == bench.CheckNoNeeds && o.Unreachable != nil:
			n++
		case name == bench.CheckThreads:
			n += len(threadCasesOn(o.CPUs))
		}
	}
	return n
}

// with starts the contender, calls use with it, and always stops it.
func (l attempt) with(
	ctx context.Context, res *bench.CheckResult, change func(*bench.LaunchSpec), use func(bench.Instance),
) {
	spec := l.opt.Spec
	spec.Name += "-" + l.check
	spec.Env = maps.Clone(spec.Env)
	change(&spec)
	l.begins()
	inst, err := l.launcher.Launch(ctx, spec)
	if err != nil {
		fail(res, "launch failed: %v", err)
		return
	}
	use(inst)
	// Stop outlives ctx by its contract: an interrupted check must not leave a container.
	grace := l.opt.exitWithin
	if l.opt.Deaf.Load() {
		grace = 0
	}
	stop, err := inst.Stop(ctx, grace)
	if err != nil {
		fail(res, "removal failed: %v", err)
	}
	if stop.Killed && !stop.Forced {
		l.opt.Deaf.Store(true)
	}
}

// mustExit passes if the contender, given env, exits with a code other than 0 and has logged why.
func (l attempt) mustExit(ctx context.Context, res *bench.CheckResult, env map[string]string) {
	l.with(ctx, res, func(s *bench.LaunchSpec) { s.Env = maps.Clone(env) }, func(inst bench.Instance) {
		limit := time.NewTimer(l.opt.exitWithin)
		defer limit.Stop()
		select {
		case <-inst.Exited():
		case <-limit.C:
			fail(res, "still running after %s, expected it to exit. Last log line: %s", l.opt.exitWithin, lastLine(inst))
			return
		case <-ctx.Done():
			return
		}
		exit := inst.Exit()
		if exit == nil {
			fail(res, "exited, exit code unknown")
			return
		}
		took := max(exit.At.Sub(inst.Info().StartedAt), 0)
		res.Value = fmt.Sprintf("%s after %s", exit, took.Round(10*time.Millisecond))
		switch {
		case exit.Signal != "" || exit.OOMKilled:
			fail(res, "expected an exit, got %s", exit)
		case exit.Code == 0:
			fail(res, "expected an exit code other than 0, got 0. Last log line: %s", lastLine(inst))
		case !poll(ctx, l.opt.patience, func() bool { return len(inst.Logs()) > 0 }):
			fail(res, "expected a log line with the reason, got none (%s)", exit)
		default:
			res.Status = bench.CheckPassed
		}
	})
}

func fail(res *bench.CheckResult, format string, args ...any) {
	res.Status, res.Detail = bench.CheckFailed, safe.Line(fmt.Sprintf(format, args...), maxDetail)
}

func skip(res *bench.CheckResult, why string) {
	res.Status, res.Detail = bench.CheckSkipped, safe.Line(why, maxDetail)
}

func lastLine(inst bench.Instance) string {
	lines := inst.Logs()
	if len(lines) == 0 {
		return "none"
	}
	return safe.Line(lines[len(lines)-1].Text, 300)
}

// poll calls isTrue every 20 ms until it is true or patience or ctx ends, and reports the result.
func poll(ctx context.Context, patience time.Duration, isTrue func() bool) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !isTrue() {
		select {
		case <-tick.C:
		case <-deadline.C:
			return isTrue()
		case <-ctx.Done():
			return false
		}
	}
	return true
}
