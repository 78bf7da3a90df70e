package check

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

	"locbench/internal/bench"
)

// The lifecycle checks. Each is the name of a check result in the group GroupLifecycle, and what profiles write.
const (
	NoEnvironment    = "no-environment"    // own launch: without its environment it exits by itself, not with 0
	StoreUnreachable = "store-unreachable" // own launch: with a store that nobody listens on it exits by itself, not with 0
	PortLogged       = "port-logged"       // running: the log names the port
	RequestsLogged   = "requests-logged"   // running: the path of every request stands in the log
	ImageSize        = "image-size"        // running: a measured value
	Threads4x4       = "threads-4-cpus-4.0"
	Threads4x1_5     = "threads-4-cpus-1.5" // own launches: processes and threads under (CPU set, limit); measured values
	Threads1x1       = "threads-1-cpu-1.0"
	GracefulStop     = "graceful-stop" // stopped: ended by itself, with 0, within the grace time
)

const (
	// GroupLifecycle is the group of the lifecycle checks' results.
	GroupLifecycle = "lifecycle"
	// ExitWithin is the time in which a contender that cannot work must have ended by itself, and in which one that is asked
	// to stop must have stopped.
	ExitWithin = 15 * time.Second
	// UnreachableStore is the URL of a store that nobody listens on, neither on this machine nor in a container: the port is
	// above those that Linux gives to outgoing connections.
	UnreachableStore = "http://127.0.0.1:64999"
)

// LifecycleNames are the names of all lifecycle checks, in their usual order.
func LifecycleNames() []string {
	return []string{NoEnvironment, StoreUnreachable, PortLogged, RequestsLogged, ImageSize, Threads4x4, Threads4x1_5, Threads1x1, GracefulStop}
}

// LifecycleTitle says in words what a lifecycle check looks at: "does not start without its environment".
func LifecycleTitle(name string) string {
	switch name {
	case NoEnvironment:
		return "does not start without its environment"
	case StoreUnreachable:
		return "does not start with an unreachable store"
	case PortLogged:
		return "logs its port at start-up"
	case RequestsLogged:
		return "logs every request with its path"
	case ImageSize:
		return "size of the image"
	case Threads4x4:
		return "processes and threads with 4 CPUs, limit 4.0"
	case Threads4x1_5:
		return "processes and threads with 4 CPUs, limit 1.5"
	case Threads1x1:
		return "processes and threads with 1 CPU, limit 1.0"
	case GracefulStop:
		return "stops gracefully"
	}
	return name
}

// Launcher starts contenders. A contender that ends at once is not an error of Launch but an instance that has exited.
type Launcher interface {
	Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error)
}

// LifecycleOptions say what the lifecycle checks start and how.
type LifecycleOptions struct {
	Spec        bench.LaunchSpec        // as a leg would start it; the port must be free while the checks run
	Unreachable map[string]string       // its environment with the store at UnreachableStore; nil: that check is skipped
	ReadyPath   string                  // any answer to it means started; "": "/"
	ReadyWithin time.Duration           // 0: 60 s
	CPUs        int                     // of the machine that runs the contender
	Names       []string                // which checks; nil: all
	Client      *http.Client            // nil: one of its own, without proxy
	OnResult    func(bench.CheckResult) // told after each check; may be nil
	exitWithin  time.Duration           // tests do not wait as long; 0: ExitWithin
}

func (o LifecycleOptions) limit() time.Duration {
	if o.exitWithin > 0 {
		return o.exitWithin
	}
	return ExitWithin
}

// OwnLaunch says whether the lifecycle check starts the contender itself, and so belongs to Lifecycle.
func OwnLaunch(name string) bool {
	switch name {
	case NoEnvironment, StoreUnreachable, Threads4x4, Threads4x1_5, Threads1x1:
		return true
	}
	return false
}

// Lifecycle runs those of the named checks that start the contender themselves, one after the other, and stops what it
// has started even when ctx ends. The error tells that ctx has ended; the results until then are returned with it.
func Lifecycle(ctx context.Context, launcher Launcher, opt LifecycleOptions) ([]bench.CheckResult, error) {
	var results []bench.CheckResult
	for _, name := range chosen(opt.Names) {
		if !OwnLaunch(name) {
			continue
		}
		start := time.Now()
		res := lifecycleResult(name)
		l := life{launcher, opt, name}
		switch name {
		case NoEnvironment:
			l.mustExit(ctx, &res, nil)
		case StoreUnreachable:
			if opt.Unreachable == nil {
				skip(&res, "the contender does not use the store of this run")
				break
			}
			l.mustExit(ctx, &res, opt.Unreachable)
		case Threads4x4:
			l.threads(ctx, &res, 4, 4)
		case Threads4x1_5:
			l.threads(ctx, &res, 4, 1.5)
		case Threads1x1:
			l.threads(ctx, &res, 1, 1)
		}
		if ctx.Err() != nil {
			return results, fmt.Errorf("lifecycle check %s: %w", name, context.Cause(ctx))
		}
		res.Took = time.Since(start)
		results = append(results, res)
		if opt.OnResult != nil {
			opt.OnResult(res)
		}
	}
	return results, nil
}

// life is one launch of the contender for one check.
type life struct {
	launcher Launcher
	opt      LifecycleOptions
	check    string
}

// with starts the contender, hands it to use, and stops it whatever happens.
func (l life) with(ctx context.Context, res *bench.CheckResult, change func(*bench.LaunchSpec), use func(bench.Instance)) {
	spec := l.opt.Spec
	spec.Name += "-" + l.check
	spec.Env = maps.Clone(spec.Env)
	change(&spec)
	inst, err := l.launcher.Launch(ctx, spec)
	if err != nil {
		fail(res, "could not be launched: %v", err)
		return
	}
	use(inst)
	// Stop outlives ctx by its contract: an interrupted check must not leave a container.
	if _, err := inst.Stop(ctx, l.opt.limit()); err != nil {
		fail(res, "could not be removed: %v", err)
	}
}

// mustExit passes when the contender, given env, ends by itself with another code than 0 and has said something.
func (l life) mustExit(ctx context.Context, res *bench.CheckResult, env map[string]string) {
	l.with(ctx, res, func(s *bench.LaunchSpec) { s.Env = maps.Clone(env) }, func(inst bench.Instance) {
		limit := time.NewTimer(l.opt.limit())
		defer limit.Stop()
		select {
		case <-inst.Exited():
		case <-limit.C:
			fail(res, "still runs after %s; it should have ended by itself. Last log line: %s", l.opt.limit(), lastLine(inst))
			return
		case <-ctx.Done():
			return
		}
		exit := inst.Exit()
		if exit == nil {
			fail(res, "has exited, but nobody knows how")
			return
		}
		took := exit.At.Sub(inst.Info().StartedAt)
		res.Value = fmt.Sprintf("%s after %s", exit, max(took, 0).Round(10*time.Millisecond))
		switch {
		case exit.Signal != "" || exit.OOMKilled:
			fail(res, "wanted an exit by itself, got %s", exit)
		case exit.Code == 0:
			fail(res, "wanted an exit code other than 0, got 0. Last log line: %s", lastLine(inst))
		case !poll(ctx, logPatience, func() bool { return len(inst.Logs()) > 0 }):
			fail(res, "wanted a log line that says why, got none (%s)", exit)
		default:
			res.Status, res.Detail = bench.CheckPassed, clip(lastLine(inst), 300)
		}
	})
}

func chosen(names []string) []string {
	if names == nil {
		return LifecycleNames()
	}
	return names
}

func lifecycleResult(name string) bench.CheckResult {
	return bench.CheckResult{Group: GroupLifecycle, Name: name}
}

func fail(res *bench.CheckResult, format string, args ...any) {
	res.Status, res.Detail = bench.CheckFailed, clip(fmt.Sprintf(format, args...), maxDetail)
}

func skip(res *bench.CheckResult, why string) {
	res.Status, res.Detail = bench.CheckSkipped, clip(why, maxDetail)
}

func lastLine(inst bench.Instance) string {
	lines := inst.Logs()
	if len(lines) == 0 {
		return "none"
	}
	return clip(lines[len(lines)-1].Text, 300)
}

// poll asks often until it is true or the time is over.
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
