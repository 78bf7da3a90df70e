// Package load puts one step of load on a contender and measures the result. In a closed loop each
// of N connections sends its next request as soon as the response has arrived; an open loop sends
// on schedule, whatever happened to earlier requests. The measured interval lies in the steady
// state: the load begins before it, and requests in flight at its end are completed and counted
// apart. So all successes together are exactly those that the server has answered.
//
// vegeta supplies the model, pacers and targets, and its Attacker is engine vegeta. The exchange on
// the wire is this package's own: it holds exactly N connections, distinguishes kinds of failure,
// times a request from sending to its last byte with nothing else in between, and repeats no
// request silently, as net/http's transport does. It repeats a request whose connection had ended
// before it, and counts it once, with all of its time; see wire.Repeatable.
//
// The package does not launch or sample contenders, nor find bottlenecks (package verdict). It logs
// nothing: reasons to distrust a result are in its Warnings.
//
// The engines are in packages fast and portable (vegeta), what they send is in workload, and what
// they see in record. A process that drives load first calls thread.Tune.
package load

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/load/fast"
	"github.com/locbench/locbench/internal/load/portable"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

// Engine runs steps, one after the other. The zero value is ready to use.
type Engine struct {
	// Window is the length of a window; 0 is one second.
	Window time.Duration
	// Grace is how long requests in flight may take after the end of ctx before being cut; 0 is 250
	// ms.
	Grace time.Duration
	// TLS is used for https; nil checks certificates against the system's.
	TLS *tls.Config
	// Name selects the engine; "" is bench.EngineAuto.
	Name bench.Engine
	// Shards is the number of threads of engine fast; 0 is half of the CPUs.
	Shards int
	// Keep, if not nil, keeps connections open from one step to the next.
	Keep *Kept
	// Dial opens connections; nil is a plain net.Dialer. Engine fast uses no other.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	sleep func(time.Duration) // see portable.Config; tests in virtual time set it
	// patience, if not 0, replaces two limits that a busy machine may exceed: wire.DialTime, and
	// how long the last window waits for a thread that still counts.
	patience time.Duration
	// litter leaves the garbage from before a step. Tests have hundreds of short steps, which would
	// wait for each other's collections.
	litter bool
}

// Run puts plan's step on the contender, and returns when nothing of it is in flight.
//
// First it opens all connections, which takes at most 3 s; the later ones of a ramp open when they
// start. The first request of a failed connection dials again. The load begins with a lead-in,
// which lasts until every connection has had its first response, at most one timeout;
// record/leadin.go says how connections start. Then comes the measured interval, of the step's
// duration: Load.Succeeded are responses whose last byte arrived in it, Load.Elapsed is its length,
// and the counters are read at its two ends. At its end Run sends no new request. Those in flight
// are completed, each within its timeout, and counted apart.
//
// A step with a bounded number of requests, or with arrivals, has no steady state: its interval is
// the whole step, from the first request to the last response or failure. In a closed loop, a
// connection that could not be opened waits 1 to 100 ms before it tries again; otherwise the error
// count would only say how fast this client fails.
//
// In an open loop the lead-in has the initial rate of the step. It lasts until as many requests are
// answered as are scheduled in 10 ms. A scheduled request takes a free connection or opens one, up
// to Step.MaxConnections. If all are in use it waits for one, and is dropped after Timeout or when
// sending ends. Load.Scheduled counts all scheduled requests; each is also in Sent or in Dropped.
// Latency counts from the scheduled time, Sending from sending, and Lag is the time in between. A
// step with arrivals ends when all users have been served, each over its own connection, or after
// its duration.
//
// Before all that, the setup of each session is sent for each user, over other connections.
//
// onWindow, if not nil, is called for each window of the interval, in order, from a goroutine that
// does not measure; a slow callback delays only the later ones. All calls have returned when Run
// returns.
//
// When ctx ends, Run stops and returns what it has measured, with an error that wraps ctx's.
// Requests still in flight after the grace are cut off: they are in Load.Sent, but neither
// succeeded nor failed. A contender that refuses, resets or hangs is a result, not an error.
func (e Engine) Run(ctx context.Context, plan Plan, onWindow func(bench.Window)) (bench.Load, error) {
	load, err := e.run(ctx, plan, onWindow)
	if err != nil {
		err = fmt.Errorf("load step %q: %w", plan.Step.Name, err)
	}
	return load, err
}

func (e Engine) run(ctx context.Context, plan Plan, onWindow func(bench.Window)) (bench.Load, error) {
	plan.Timeout = cmp.Or(max(plan.Timeout, 0), wire.DefaultTimeout)
	plan.Life = cmp.Or(plan.Life, &TrialState{})
	plan.Seed = plan.Life.Step(plan.Seed)
	e.Window, e.Grace = cmp.Or(max(e.Window, 0), time.Second), cmp.Or(max(e.Grace, 0), 250*time.Millisecond)
	if _, err := workload.NewMix(plan); err != nil { // before a setup is sent
		return bench.Load{}, err
	}
	connections, err := checkStepLimits(plan.Step)
	if err != nil {
		return bench.Load{}, err
	}
	waited, ports, err := limits.AwaitPorts(ctx, wire.NewTarget(plan.BaseURL, e.TLS, plan.HTTP2).Resolve(ctx), plan.Step)
	if err != nil {
		return bench.Load{}, err
	}
	if plan.Users, err = e.setUp(ctx, plan, connections, setUpTimes, func(Asked) {}); err != nil {
		return bench.Load{}, err
	}
	if !e.litter {
		runtime.GC() // garbage from before need not be collected during the step
	}
	var load bench.Load
	if plan.Interleave != nil {
		load, err = e.runInterleaved(ctx, plan, connections, onWindow)
	} else if m, failed := e.measure(ctx, plan, nil, connections, onWindow); failed != nil {
		return bench.Load{}, failed
	} else {
		load, err = finish(ctx, &m.rec.Result, m.wall, m.cpu)
		err = cmp.Or(err, m.rec.Err())
	}
	if waited > 0 {
		load.Warnings = append(load.Warnings, verdict.WaitedForPorts(waited, ports))
	}
	return load, err
}

// loop holds a step's connections and sends its requests.
type loop interface {
	// Connect opens connections before the clock starts.
	Connect(ctx context.Context)
	// Run sends until the recorder is stopped, and returns when nothing is in flight. ctx bounds
	// opening connections.
	Run(ctx context.Context)
	// Cut ends what is in flight.
	Cut()
	// Close closes all connections, after Run.
	Close()
}

// measured is the result of a step, or of a slice of one.
type measured struct {
	rec       *record.Recorder
	wall, cpu time.Duration // between Plan.OnStart and Plan.OnEnd; cpu: of this process
	took      time.Duration // from the beginning of the load until nothing is in flight
}

// measure runs a step, or a slice of one. It returns an error for a wrong plan, and ctx's if that
// ended before the load began.
func (e Engine) measure(
	ctx context.Context, plan Plan, of *slicing, connections int, onWindow func(bench.Window),
) (m measured, err error) {
	mix, err := workload.NewMix(plan)
	if err != nil {
		return m, err
	}
	rec, loop, err := e.loop(ctx, plan, mix, connections)
	if err != nil {
		return m, err
	}
	defer loop.Close()
	loop.Connect(ctx)
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	of.await(ctx, plan, rec)
	m.rec = rec
	defer func(began time.Time) { m.took = time.Since(began) }(time.Now())
	m.wall, m.cpu = e.clocked(ctx, plan, rec, loop, onWindow)
	return m, nil
}

// loop returns the loop for a step of plan, and the recorder of what it sees. The error says why
// the selected engine does not apply.
func (e Engine) loop(
	ctx context.Context, plan Plan, mix *workload.Mix, connections int,
) (*record.Recorder, loop, error) {
	rec, step := record.New(plan.Step, mix.Names(), mix.Sessions()...), plan.Step
	rec.SettleTime, rec.Seed = cmp.Or(e.patience, rec.SettleTime), plan.Seed
	dialTime := min(cmp.Or(e.patience, wire.DialTime), plan.Timeout)
	if n := step.MaxRequests; n > 0 && n < int64(connections) && !step.Open() {
		connections = int(n)
	}
	target := wire.NewTarget(plan.BaseURL, e.TLS, plan.HTTP2)
	why := FastApplies(target.TLS != nil, plan.HTTP2)
	if why == nil && e.Name != bench.EngineVegeta && e.Dial == nil {
		var l *fast.Loop
		if l, why = fast.New(fast.Config{
			Addresses: target.Resolve(ctx), Step: step, Mix: mix, Timeout: plan.Timeout, DialTime: dialTime,
			Recorder: rec, Keep: e.Keep, Connections: connections, Shards: e.Shards, Epoll: e.Name == bench.EngineEpoll,
		}); why == nil {
			return rec, l, nil
		}
	}
	if why != nil && (e.Name == bench.EngineFast || e.Name == bench.EngineEpoll) {
		return nil, nil, fmt.Errorf("engine %s: %w", e.Name, why)
	}
	return rec, portable.New(portable.Config{
		Target: target, Step: step, Connections: connections, Timeout: plan.Timeout, DialTime: dialTime,
		HTTP2: plan.HTTP2, Mix: mix, Recorder: rec, Keep: e.Keep, Dial: e.Dial, Sleep: e.sleep,
	}), nil
}

// clocked is measure after the preparations: everything in it is timed.
func (e Engine) clocked(
	ctx context.Context, plan Plan, rec *record.Recorder, loop loop, onWindow func(bench.Window),
) (wall, cpu time.Duration) {
	// Sending outlives ctx by the grace: supervise decides when to give up connections that are
	// being opened.
	alive, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	cut := func() {
		// In this order: an exchange that kill ends must see that it was cut.
		loop.Cut()
		kill()
	}
	drained := make(chan struct{})
	var wg sync.WaitGroup
	var began time.Time
	var before time.Duration
	start := func() {
		call(plan.OnStart)
		began, before = time.Now(), thread.ProcessCPU()
	}
	if rec.Whole {
		start()
	}
	rec.Begin(workload.InitialConnections(plan.Step, workload.MaxOpenConnections(plan.Step)))
	wg.Go(func() { e.supervise(ctx, drained, rec.Stop, cut) })
	wg.Go(func() {
		if !rec.Whole && !rec.AwaitSteady(plan.Timeout, drained) {
			return
		}
		windows := make(chan struct{})
		go func() {
			defer close(windows)
			rec.CloseWindows(e.Window, drained, onWindow, plan.OnPart)
		}()
		if !rec.Whole {
			start()
		}
		rec.AwaitEnd(drained)
		wall, cpu = time.Since(began), thread.ProcessCPU()-before
		call(plan.OnEnd)
		<-windows
	})
	loop.Run(alive)
	close(drained)
	wg.Wait()
	rec.Finish()
	return wall, cpu
}

// checkStepLimits returns Check for the connections of a step. An open loop without a number
// of connections takes fewer if necessary.
func checkStepLimits(s bench.Step) (connections int, err error) {
	connections = workload.MaxOpenConnections(s)
	for {
		err = limits.Check(connections)
		if err == nil || s.Connections > 0 || s.MaxConnections > 0 || connections <= 1 {
			return connections, err
		}
		connections /= 2
	}
}

func call(hook func()) {
	if hook != nil {
		hook()
	}
}

// supervise stops sending when ctx ends, and cuts off what is in flight after the grace. It returns
// when nothing is in flight.
func (e Engine) supervise(ctx context.Context, drained <-chan struct{}, stop, cut func()) {
	select {
	case <-drained:
		return
	case <-ctx.Done():
	}
	stop()
	grace := time.NewTimer(e.Grace)
	defer grace.Stop()
	select {
	case <-drained:
		return
	case <-grace.C:
	}
	cut()
	<-drained
}

// FastApplies returns why engine fast cannot load a contender over TLS or HTTP/2, or on this
// system; nil if it can.
func FastApplies(tls, http2 bool) error {
	switch {
	case tls:
		return errors.New("it has no TLS")
	case http2:
		return errors.New("it has no HTTP/2")
	}
	return fast.Has(false)
}
