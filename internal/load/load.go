// Package load puts one step of load on a contender and measures what comes of it. In a closed loop
// each of N connections asks again as soon as it has its response; in an open loop requests are sent
// when they are scheduled, whatever became of earlier ones. What is measured is an interval in the steady
// state: the load begins before it, and what is in flight at its end is completed and counted
// apart, so all successes together are exactly those that the server has answered.
//
// vegeta supplies the model: pacers and what a target is. The exchange on the wire is this
// package's own, because it has to hold exactly N connections, to keep kinds of failure apart, to time
// a request from its sending to its last byte without anything else in between, and to repeat none
// unnoticed, as net/http's transport does. The one that it repeats, because its
// connection had ended before it, is counted once, with all of its time; see wire.Repeatable.
//
// Launching and sampling the contender, and judging (package verdict), are left to others. Nothing
// here is logged: doubt about a result goes into its Warnings.
//
// The loops are in packages of their own, portable and fast; what they ask is in workload, and what
// they see in record. A process that drives load sets its Go runtime for it first (goruntime).
package load

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/fast"
	"locbench/internal/load/portable"
	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// Plan is one step and all that its requests are made of.
type Plan struct {
	BaseURL  string          // of the contender, without a slash at the end; http or https
	Step     bench.Step      // with a Duration, and one of Connections, Rate and Arrivals
	Requests []bench.Request // the weighted mix
	// what else they are made of; nil: nothing
	Sessions  []bench.Session
	Variables []bench.Variable
	Data      Data
	Life      *Life         // of the contender, which continues from step to step; nil: one of its own
	IDs       []int64       // of the data set, for {id}; with zipf the first is the most frequent one
	Timeout   time.Duration // of one request, from its sending to its last byte; 0 is wire.DefaultTimeout
	Seed      uint64        // the same seed asks the same sequence in each step of a life
	HTTP2     bool          // one request at a time on a connection; in clear without negotiation

	// Rate, if not nil, lets somebody change the rate of a step that has one while it runs:
	// requests due per second from now on, or 0 for the step's own. It is called many times a
	// second, from one goroutine.
	Rate func() float64

	// Check, if not nil, is given one in CheckEvery answers of a wanted status, drawn at random, to the
	// requests that Checks names, and returns what is wrong with it; nil is the known response, ErrNotKnown one
	// that cannot be judged. It is called from the goroutines that measure, several at a time,
	// after the clock has been read: its time is in no latency, but it is the client's. It must not
	// keep the body.
	Check      func(Response) error
	Checks     func(request string) bool // nil: to all requests
	CheckEvery int                       // 0: one in a hundred; 1: all

	// Interleave, if not nil, lets the load rest again and again while others have theirs. OnStart and
	// OnEnd are then called for each turn.
	Interleave *Interleave

	// OnStart and OnEnd, if not nil, are for reading counters at exactly the two ends of the
	// interval. OnStart is called when it begins, while the load continues; not when that ends before.
	OnStart func()
	// OnEnd is called if and only if OnStart was, when the interval ends, also when ctx has ended.
	// Run returns after it. Both are called from a goroutine that does not measure.
	OnEnd func()
}

// Response is what Plan.Check is given.
type Response = workload.Response

// Data is what requests take from files, and Life what the steps of one contender's life have in common.
type (
	Data = workload.Data
	Life = workload.Life
)

// ErrNotKnown is what Plan.Check returns for a response that it cannot judge: it is a success, and
// not among those checked.
var ErrNotKnown = workload.ErrNotKnown

// Kept keeps connections open from one step to the next.
type Kept = wire.Kept

// spec returns what the plan's requests are made of.
func (p Plan) spec() workload.Spec {
	return workload.Spec{
		BaseURL: p.BaseURL, Step: p.Step, Requests: p.Requests, Sessions: p.Sessions, Variables: p.Variables,
		Data: p.Data, Life: p.Life, IDs: p.IDs, Seed: p.Seed,
		Check: p.Check, Checks: p.Checks, CheckEvery: p.CheckEvery,
	}
}

// Engine runs steps. The zero value is ready to use; one engine may run several steps one after the
// other.
type Engine struct {
	// Window is the length of a window; 0 is one second.
	Window time.Duration
	// Grace is how long requests in flight may still take after ctx has ended before they are cut
	// off; 0 is 250 ms.
	Grace time.Duration
	// TLS is used for https; nil checks certificates against those of the system.
	TLS *tls.Config
	// Portable keeps to the loop that runs everywhere, with a goroutine for each connection, also
	// where there is a faster one.
	Portable bool
	// Shards is the number of threads of the faster loop; 0 is half of the CPUs.
	Shards int
	// Epoll keeps the faster loop from using io_uring, which it does for closed loops where the
	// system has it and permits it.
	Epoll bool
	// Keep, if not nil, keeps connections open from one step to the next.
	Keep *Kept
	// Dial opens connections; nil is a plain net.Dialer. With any other the loop is the portable
	// one.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	sleep func(time.Duration) // see portable.Config; tests in virtual time have their own
	// patience, if not 0, takes the place of the two bounds that a machine which runs something else
	// may exceed: wire.DialTime, and for how long the last window waits for a thread that counts.
	patience time.Duration
}

// Run puts plan's step on the contender and returns when nothing of it is in flight any more.
//
// All connections are opened first, which takes at most 3 s, but for the later ones of a ramp, which
// are opened when they begin; those that fail are tried again by their first request. The load begins
// with a lead-in until every connection has had its first response, or for as long as a request may
// take; see record/leadin.go for how connections begin. Then comes the interval, of the step's
// duration: Load.Succeeded are the responses whose last byte arrived in it, Load.Elapsed is its length,
// and the counters are read at its two ends. At its end no new request is sent; those in flight are
// completed, each within its timeout, and counted apart.
//
// A step with a bounded number of requests, or with arrivals, has no steady state: its interval is
// the whole step, from the first request to the last response or failure. In a closed loop, a
// connection that could not be opened waits 1 to 100 ms before it tries again; otherwise the error
// count would only say how fast this client fails.
//
// In an open loop the lead-in has the rate with which the step begins, until as many requests are
// answered as come due in 10 ms. A request that is scheduled takes a free connection or opens one more,
// up to Step.MaxConnections. With all of them in use it waits until one is free, and is dropped
// when it has waited for Timeout or when the sending ends. Everything that were scheduled is in
// Load.Scheduled, and either in Sent or in Dropped. Latency is from the moment that a request was
// due, Sending from when it was sent, Lag in between. A step with arrivals ends when all users have
// been served, each over its own connection, or with its duration.
//
// onWindow, if not nil, is called for each window of the interval, in order, from one goroutine that
// does not measure; a slow callback delays only the later ones. All of its calls have returned when
// Run returns.
//
// When ctx ends, Run stops and returns what it has measured together with an error that wraps
// ctx's; requests still in flight after the grace are cut off and are then in Load.Sent, but
// neither succeeded nor failed. A contender that refuses, resets or hangs is a result, not an error.
func (e Engine) Run(ctx context.Context, plan Plan, onWindow func(bench.Window)) (bench.Load, error) {
	load, err := e.run(ctx, plan, onWindow)
	if err != nil {
		err = fmt.Errorf("load step %q: %w", plan.Step.Name, err)
	}
	return load, err
}

func (e Engine) run(ctx context.Context, plan Plan, onWindow func(bench.Window)) (bench.Load, error) {
	plan.Timeout = cmp.Or(max(plan.Timeout, 0), wire.DefaultTimeout)
	plan.Life = cmp.Or(plan.Life, &Life{})
	plan.Seed = plan.Life.Step(plan.Seed)
	e.Window, e.Grace = cmp.Or(max(e.Window, 0), time.Second), cmp.Or(max(e.Grace, 0), 250*time.Millisecond)
	if _, err := workload.NewMix(plan.spec()); err != nil {
		return bench.Load{}, err
	}
	connections, err := checkStepLimits(plan.Step)
	if err != nil {
		return bench.Load{}, err
	}
	waited, err := awaitPorts(ctx, wire.NewTarget(plan.BaseURL, e.TLS, plan.HTTP2).Resolve(ctx), plan.Step)
	if err != nil {
		return bench.Load{}, err
	}
	runtime.GC() // what is garbage by now need not be collected while the step is measured
	var load bench.Load
	if plan.Interleave != nil {
		load, err = e.runInterleaved(ctx, plan, connections, onWindow)
	} else if m, failed := e.measure(ctx, plan, connections, onWindow); failed != nil {
		return bench.Load{}, failed
	} else {
		load, err = finish(ctx, &m.rec.Result, m.wall, m.cpu)
		err = cmp.Or(err, m.rec.Err())
	}
	load.Warnings = append(load.Warnings, waited...)
	return load, err
}

// loop keeps a step's connections and sends its requests.
type loop interface {
	// Connect opens connections before the clock starts.
	Connect(ctx context.Context)
	// Run sends until the recorder is stopped and returns when all is drained. ctx bounds the
	// opening of connections.
	Run(ctx context.Context)
	// Cut ends what is in flight.
	Cut()
	// Close closes all connections, after run.
	Close()
}

// measured is what a step, or a turn of one, has come to.
type measured struct {
	rec       *record.Recorder
	wall, cpu time.Duration // between Plan.OnStart and Plan.OnEnd; cpu: of this process
}

// measure runs a step, or a turn of one. An error is a mistake, or ctx's where that has ended before
// the load could begin.
func (e Engine) measure(
	ctx context.Context, plan Plan, connections int, onWindow func(bench.Window),
) (m measured, err error) {
	mix, err := workload.NewMix(plan.spec())
	if err != nil {
		return m, err
	}
	rec, loop := e.loop(ctx, plan, mix, connections)
	defer loop.Close()
	loop.Connect(ctx)
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	m.rec = rec
	m.wall, m.cpu = e.clocked(ctx, plan, rec, loop, onWindow)
	return m, nil
}

// loop chooses the one for a step of plan, and the recorder of what it sees.
func (e Engine) loop(ctx context.Context, plan Plan, mix *workload.Mix, connections int) (*record.Recorder, loop) {
	rec, step := record.New(plan.Step, mix.Names(), mix.Sessions()...), plan.Step
	rec.SettleTime = cmp.Or(e.patience, rec.SettleTime)
	dialTime := min(cmp.Or(e.patience, wire.DialTime), plan.Timeout)
	if n := step.MaxRequests; n > 0 && n < int64(connections) && !step.Open() {
		connections = int(n)
	}
	target := wire.NewTarget(plan.BaseURL, e.TLS, plan.HTTP2)
	if !e.Portable && e.Dial == nil && target.TLS == nil && !plan.HTTP2 {
		l := fast.New(fast.Config{
			Addresses: target.Resolve(ctx), Step: step, Mix: mix, Timeout: plan.Timeout, DialTime: dialTime, Rate: plan.Rate,
			Recorder: rec, Keep: e.Keep, Connections: connections, Shards: e.Shards, Epoll: e.Epoll,
		})
		if l != nil {
			return rec, l
		}
	}
	return rec, portable.New(portable.Config{
		Target: target, Step: step, Connections: connections, Timeout: plan.Timeout, DialTime: dialTime,
		HTTP2: plan.HTTP2, Rate: plan.Rate, Mix: mix, Recorder: rec, Keep: e.Keep, Dial: e.Dial, Sleep: e.sleep,
	})
}

// clocked returns measure after the preparations: everything in here is on the clock.
func (e Engine) clocked(
	ctx context.Context, plan Plan, rec *record.Recorder, loop loop, onWindow func(bench.Window),
) (wall, cpu time.Duration) {
	// Sending outlives ctx by the grace: supervise decides when connections that are being opened
	// are given up.
	alive, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	cut := func() {
		// In this order: an exchange that kill ends has to find itself cut.
		loop.Cut()
		kill()
	}
	drained := make(chan struct{})
	var wg sync.WaitGroup
	var began time.Time
	var before time.Duration
	start := func() {
		call(plan.OnStart)
		began, before = time.Now(), processCPU()
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
			rec.CloseWindows(e.Window, drained, onWindow)
		}()
		if !rec.Whole {
			start()
		}
		rec.AwaitEnd(drained)
		wall, cpu = time.Since(began), processCPU()-before
		call(plan.OnEnd)
		<-windows
	})
	loop.Run(alive)
	close(drained)
	wg.Wait()
	rec.Finish()
	return wall, cpu
}

// finish returns what has been recorded, with the warning about it.
func finish(ctx context.Context, rec *record.Result, wall, cpu time.Duration) (bench.Load, error) {
	load := rec.Load()
	load.ClientCPU, load.Wall, load.ClientCPUs = cpu, wall, ownCPUs()
	load.Warnings = append(load.Warnings, judge(load, rec)...)
	if ctx.Err() != nil {
		return load, context.Cause(ctx)
	}
	return load, nil
}

func call(hook func()) {
	if hook != nil {
		hook()
	}
}

// supervise ends the sending with ctx, and cuts off what is in flight when ctx has ended and the
// grace is over. It returns when all is drained.
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
