package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/testenv"
)

const ms = time.Millisecond

// A promise is what each loop makes of a step and a server, in facts.
type promise struct {
	plan    Plan // without an address
	engine  Engine
	server  script
	refused bool // no process listens
	prepare func(p *Plan, s *server)
	want    string // in every loop, whatever the machine does; "-": it is not run there
	exact   string // in virtual time, too; "-": it is not run there
	says    string // in virtual time: text in the warnings
	also    func(t *testing.T, l bench.Load, s *server, exact bool)
}

var errEnough = errors.New("enough")

// once is a script whose request m of the interval does a, and whose other ones take a time.
func once(m int64, others time.Duration, a func(s *server) act) script {
	return func(s *server, _, of int64) act {
		if of == m {
			return a(s)
		}
		return act{wait: others}
	}
}

// open returns a plan of a step without a number of connections.
func open(s bench.Step) Plan {
	p := plan("", 0, s.Duration)
	s.Name = "open"
	p.Step = s
	return p
}

func promises() map[string]promise {
	const ends = "hooks=2 startlag=0 endlag=0 "
	all := map[string]promise{
		// Closed loops.
		"a duration": {plan: plan("", 16, 100*ms), server: after(ms),
			want: "elapsed=100 connections=16 answered=all failed=0 scheduled=sent lead>=16 before>=16 hooks=2 cpu>=0"},
		"a duration with many connections": {plan: plan("", 200, 100*ms), server: after(5 * ms),
			exact: "-", want: "elapsed=100 connections=200 answered=all failed=0 lead>=200 before>=200"},
		"what is in flight is completed": {plan: plan("", 10, 300*ms), server: after(120 * ms), engine: Engine{Window: 100 * ms},
			want: "elapsed=300 connections=10 answered=all lead>=10 drain<=10 backlog<=drain ok<=30", exact: "drain=10 backlog=10 windows=3 min~120 max~120",
			also: func(t *testing.T, l bench.Load, s *server, exact bool) {
				for i, w := range l.Windows {
					if n := s.between(l.Started.Add(w.Start), w.Length); exact && (w.Succeeded != n || w.Length != 100*ms) {
						t.Errorf("window %d of %s: %d succeeded, the server answered %d", i, w.Length, w.Succeeded, n)
					}
				}
			}},
		"no responses": {plan: timeout(plan("", 3, 200*ms), 500*ms), server: after(forever),
			want:  "elapsed=200 ok=0 all=0 sent>=1 fail.timeout=sent failed=sent leadin>=500 timeoutmin>=495",
			exact: "sent>=3 sent<=6 leadin<=503 timeoutmin~500 timeoutmax~500"},
		// A request that is held until the end of the interval, and after it, delays neither OnEnd nor a window.
		"a straggler": {plan: plan("", 20, 300*ms), engine: Engine{Window: 150 * ms},
			server: once(25, 5*ms, func(s *server) act { return act{until: s.over, wait: 100 * ms} }),
			want:   "elapsed=300 answered=all drain>=held drain<=20 backlog>=held backlog<=20 hooks=2 startlag>=0 endlag>=0",
			exact:  ends + "held=1 windows=2 max~5 drainmax>=100 after>=100"},
		"OnStart takes its time": {plan: plan("", 4, 400*ms), server: once(10, ms, func(s *server) act { return act{until: s.over, wait: 4 * ms} }),
			prepare: func(p *Plan, _ *server) { p.OnStart = func() { time.Sleep(50 * ms) } },
			want:    "elapsed=400 hooks=2 before>=4 startlag>=0 endlag>=0", exact: ends + "wall=350"},
		"a slow drain": {plan: plan("", 4, 500*ms), server: once(80, 5*ms, func(*server) act { return act{wait: 1500 * ms} }),
			want: "-", exact: "drain>=1 drainmax~1500 max<10", says: "successes ended after the measured interval and took up to 1.50 s: p99 and max (5.0"},
		"a slow drain of an open loop": {plan: open(bench.Step{Rate: 400, Duration: 500 * ms}), server: once(80, 5*ms, func(*server) act { return act{wait: 1500 * ms} }),
			want: "-", exact: "drain>=1 drainmax~1500 max<10", says: "successes ended after the measured interval and took up to 1.50 s: p99 and max (5.0"},
		"Little's law": {plan: plan("", 16, time.Second), server: after(20 * ms), want: "-",
			exact: "flying>15.9 flying<16.1 inflight>15.9 inflight<16.1 warn.unsteady=0", also: steadyFlight},
		"Little's law in an open loop": {plan: open(bench.Step{Rate: 800, Duration: time.Second}), server: after(20 * ms), want: "-",
			exact: "flying>15.9 flying<16.1 inflight>15.9 inflight<16.1 warn.unsteady=0", also: steadyFlight},
		// Connections are opened when they start, thus none is idle before: evenly, one after the other. The
		// mean in flight is that of the two ends.
		"a ramp": {plan: ramped(plan("", 20, 500*ms), 2), server: after(10 * ms), want: "elapsed=500 connections<=20 early<=2 failed=0 reconnects=0 answered=all lead>=2",
			exact: "connections=20 inflight>10.9 inflight<11.1", also: func(t *testing.T, l bench.Load, s *server, exact bool) {
				if early, late := s.between(l.Started, 50*ms), s.between(l.Started.Add(400*ms), 50*ms); exact && (early > 20 || late < 75) {
					t.Errorf("%d responses in the first tenth, %d in the ninth", early, late)
				}
				steadyFlight(t, l, s, exact)
			}},
		"no listener": {plan: counted("", 4, 16), refused: true,
			want: "sent=16 fail.connection_refused=16 failed=16 all=0 rate=0"},
		// Each connection tries at once, after 1, 3, 7, 15, 31, 63, 127, 227 and 327 ms.
		"no listener for some time": {plan: plan("", 4, 350*ms), refused: true,
			want: "elapsed=350 fail.connection_refused=sent failed=sent sent>=4", exact: "sent>=36 sent<=44"},
		// With a bounded number of requests all are measured, whatever happens to them. A machine stall may
		// make more of them time out.
		"a timeout of a bounded number": {plan: timeout(counted("", 4, 100), time.Second), server: func(_ *server, n, _ int64) act {
			if n == 20 {
				return act{wait: forever}
			}
			return act{wait: ms}
		}, want: "hooks=2 sent=100 sent=ok+fail.timeout fail.timeout>=1 failed=fail.timeout lead=0 drain=0", exact: "ok=99"},
		// A connection tries again after it was cut off. Of each, one response may have been written in vain.
		"a server that dies": {plan: counted("", 8, 560), server: func(s *server, n, _ int64) act {
			if n == 500 {
				return act{does: s.die, mute: true}
			}
			return act{wait: ms}
		}, exact: "-", want: "sent=560 answered>=all answered<=all+8 fail.connection_reset<=8 fail.connection_refused>=44 failed=fail.connection_reset+fail.connection_refused"},
		"the longest first response": {plan: counted("", 4, 40), server: func(_ *server, n, _ int64) act {
			switch {
			case n <= 4:
				return act{wait: 50 * ms}
			case n > 36:
				return act{wait: 200 * ms}
			}
			return act{wait: ms}
		}, want: "first>=50 max>=199", exact: "first~50 max~200"},
		// A pool that fills slowly keeps the first requests waiting in the lead-in: the load has it, its latency does not.
		"a pool that fills": {plan: plan("", 16, time.Second), server: func(_ *server, n, _ int64) act {
			if n > 1 && n <= 9 {
				return act{wait: 3 * time.Second}
			}
			return act{wait: 10 * ms}
		}, want: "-", exact: "first~3000 max~10 unserved=0", also: func(t *testing.T, l bench.Load, _ *server, _ bool) {
			testenv.Check(t, verdict.Froze(bench.StepResult{Step: bench.Step{Connections: 16, Duration: time.Second}, Load: l}), "it is not seen as a freeze")
		}},

		// Open loops.
		"a stall opens connections": {plan: openCounted("", 1000, 0, 100), server: func(s *server, _, _ int64) act { return act{until: s.at(50)} },
			want: "ok=100 open>=50 open<=connections dropped=0 waited=0 connections>=50"},
		"a queue without connections": {plan: openCounted("", 1000, 3, 60), server: func(s *server, _, _ int64) act { return act{until: s.at(3), wait: 10 * ms} },
			want: "scheduled=60 ok=sent answered=sent connections=3 open=3 sent>=3"},
		"idle connections are closed": {plan: openCounted("", 50, 0, 5), server: func(*server, int64, int64) act { return act{ends: true} },
			want: "ok=sent answered=sent failed=0 sent>=1", exact: "-"},
		// Each user has its own connection, and the step is over when all have been served: the last one comes
		// after 298.5 ms, and gets three responses.
		"arrivals": {plan: open(bench.Step{Arrivals: &bench.Arrivals{Users: 200, Over: 300 * ms, Requests: 3}, Duration: time.Hour}), server: after(5 * ms),
			want: "scheduled=600 ok=600 answered=600 connections=200 warn.reopened=0 elapsed>=313", exact: "elapsed~313.5"},
		// Four users are in flight; their second requests, and six users, are dropped.
		"arrivals that outlast the step": {plan: open(bench.Step{Arrivals: &bench.Arrivals{Users: 10, Over: 10 * ms, Requests: 2}, MaxConnections: 4, Duration: 200 * ms}),
			server: after(400 * ms), want: "sent<=4 all=sent scheduled=sent+dropped", exact: "scheduled=20 sent=4 dropped=16"},
		// Each of three connections is given up after a quarter of a second, and takes the next in the
		// queue: at 0, 250, 500 and 750 ms.
		"what cannot be sent is dropped": {plan: timeout(openPlan("", 1000, 3, 600*ms), 250*ms), server: after(forever),
			want: "fail.timeout=sent failed=sent sent>=1 planned>0 warn.dropped=1", exact: "planned=600 sent=12 waited>=dropped"},
		// A request scheduled a moment before the end is sent, though the client wakes up for it after the end.
		"a late client": {plan: openPlan("", 20000, 1000, 100*ms), server: after(3 * ms), want: "-", exact: "scheduled>=2000 all=scheduled dropped=0",
			engine: Engine{sleep: func(d time.Duration) { time.Sleep(d + 300*time.Microsecond) }}},

		// Steps that are interrupted.
		"interrupted": {plan: plan("", 8, time.Hour), engine: Engine{Grace: time.Minute, Window: 20 * ms},
			server: once(90, ms, func(s *server) act { return act{does: func() { s.cancel(errEnough) }} }),
			want:   "hooks=2 sent=all answered=all lead>=8 ok>0 elapsed>0 scheduled=sent cut=0"},
		"interrupted after some time": {plan: plan("", 4, time.Hour), server: after(ms), prepare: func(p *Plan, s *server) {
			p.OnStart = func() { time.AfterFunc(100*ms, func() { s.cancel(errEnough) }) }
		}, want: "-", exact: "hooks=2 wall=100 elapsed=100 all=sent"},
		"interrupted by OnStart": {plan: plan("", 4, time.Hour), server: after(ms), engine: Engine{Grace: time.Minute},
			prepare: func(p *Plan, s *server) { p.OnStart = func() { s.cancel(errEnough) } }, want: "hooks=2 all=sent cut=0"},
		"interrupted in the lead-in": {plan: plan("", 4, time.Hour), engine: Engine{Grace: 20 * ms}, server: func(s *server, _, _ int64) act {
			return act{does: func() { s.cancel(errEnough) }, wait: forever}
		}, want: "hooks=0 elapsed=0 cut=sent sent>0 failed=0"},
		"interrupted while connecting": {plan: plan("", 4, time.Hour), want: "-", exact: "hooks=0 sent=0", prepare: func(_ *Plan, s *server) {
			time.AfterFunc(50*ms, func() { s.cancel(errEnough) })
		}, engine: Engine{Dial: hangs}},
		"interrupted while connecting again": {plan: plan("", 4, time.Hour), want: "-", exact: "hooks=0 sent=1 cut=1 failed=0", // the others start later
			prepare: func(_ *Plan, s *server) { time.AfterFunc(100*ms, func() { s.cancel(errEnough) }) },
			engine:  Engine{Grace: 20 * ms, Dial: failsThenHangs(4)}},
		"an open loop interrupted with a queue": {plan: openPlan("", 1000, 3, time.Hour), engine: Engine{Grace: 20 * ms}, server: after(forever),
			prepare: func(_ *Plan, s *server) {
				polls := 0
				var poll func()
				poll = func() {
					if polls++; polls >= 20 && s.asked.Load() == 3 {
						s.cancel(errEnough)
						return
					}
					time.AfterFunc(ms, poll)
				}
				poll()
			}, want: "sent=3 cut=3 dropped>=1 scheduled=sent+dropped warn.dropped=1"},
	}
	for connections, requests := range map[int]int64{1: 100, 2: 100, 3: 1, 4: 3, 16: 300, 200: 400, 2048: 2100} {
		opened := min(requests, int64(connections))
		all[fmt.Sprintf("%d requests over %d connections", requests, connections)] = promise{plan: counted("", connections, requests),
			want: fmt.Sprintf("scheduled=%d sent=%[1]d ok=%[1]d lead=0 drain=0 cut=0 bytes=%d answered=%[1]d connections=%[3]d elapsed>=0",
				requests, 5*requests, opened)}
	}
	for _, shards := range []int{1, 2, 3, 5} {
		all[fmt.Sprint(shards, " shards")] = promise{plan: counted("", 7, 1001), engine: Engine{Shards: shards}, exact: "-",
			want: "ok=1001 answered=1001 connections=7"}
	}
	// Responses to five requests hang, before or after the last one is sent.
	for most, name := range []string{"before", "after"} {
		p := timeout(plan("", 5, time.Hour), time.Hour)
		p.Step.MaxRequests = int64(15 * most)
		all["interrupted while the server hangs, "+name+" the end"] = promise{plan: p, engine: Engine{Grace: 50 * ms},
			server: func(s *server, n, _ int64) act {
				switch {
				case n <= 10:
					return act{}
				case n == 15:
					s.cancel(errEnough)
				}
				return act{wait: forever}
			}, want: "all=10 sent=15 cut=5 failed=0 warn.interrupted=1", exact: "-",
			also: func(t *testing.T, l bench.Load, _ *server, _ bool) {
				testenv.Equal(t, fmt.Sprint(l.Warnings[0].Kind, l.Warnings[0].Values["requests"]), "interrupted5")
			}}
	}
	for name, step := range map[string]bench.Step{
		"rate": {Rate: 1000}, "slow rate": {Rate: .1}, "users": {Arrivals: &bench.Arrivals{Users: 1000, Over: 30 * time.Second, Requests: 2}},
	} {
		step.MaxConnections, step.Duration = 5, time.Hour
		all["interrupted with a "+name] = promise{plan: timeout(open(step), time.Hour), engine: Engine{Grace: 20 * ms},
			server: func(s *server, _, _ int64) act { return act{does: func() { s.cancel(errEnough) }, wait: forever} },
			want:   "sent>=1 sent<=5 all=0 failed=0 scheduled=sent+dropped cut=sent"}
	}
	// Requests are sent when they are scheduled, at the given rate.
	wave := 700 + 500*.25/(2*math.Pi)*(1-math.Cos(2*math.Pi*.7/.25))
	for name, of := range map[string]struct {
		step bench.Step
		want float64 // in 700 ms
	}{
		"constant": {bench.Step{Rate: 1000}, 700}, "slow": {bench.Step{Rate: 1000. / 7}, 100}, "ramp": {bench.Step{Rate: 500, RampTo: 1500}, 700},
		"wave": {bench.Step{Rate: 1000, Wave: &bench.Wave{Amplitude: 500, Period: 250 * ms}}, wave},
	} {
		of.step.Duration = 700 * ms
		all["schedule, "+name] = promise{plan: open(of.step), server: after(3 * ms), engine: Engine{Window: 100 * ms},
			want:  "all=sent answered=all failed=0 elapsed=700",
			exact: fmt.Sprintf("planned>=%g planned<=%g all=scheduled late=0 waited=0 lagmax=0 max~3", of.want-1, of.want+1)}
		of.step.MaxRequests, of.step.Duration = 200, time.Hour
		all["bounded schedule, "+name] = promise{plan: open(of.step), server: after(ms),
			want: "scheduled=200 sent=200 ok=200 planned=200 answered=200 waited=0 dropped=0 open>=1 open<=connections"}
	}
	// With at least as many connections as places, the contender's rate is measured, in each window and overall.
	for _, connections := range []int{25, 50, 300} {
		rate := 20 * min(50, connections)
		all[fmt.Sprint("50 places, ", connections, " connections")] = promise{plan: plan("", connections, 3*time.Second), prepare: func(_ *Plan, s *server) { s.script = places(50, 50*ms) },
			want: "-", exact: fmt.Sprint("rate~", rate), also: func(t *testing.T, l bench.Load, s *server, _ bool) {
				testenv.Equal(t, l.Succeeded, s.between(l.Started, l.Elapsed), "responses in the interval")
				for i, w := range l.Windows {
					testenv.Check(t, math.Abs(w.Throughput()/float64(rate)-1) < .03, "window %d: %.1f/s, want %d", i, w.Throughput(), rate)
				}
			}}
	}
	return all
}

func timeout(p Plan, d time.Duration) Plan { p.Timeout = d; return p }

func ramped(p Plan, from int) Plan { p.Step.RampFrom = from; return p }

// steadyFlight checks that no warning is about the number of requests in flight.
func steadyFlight(t *testing.T, l bench.Load, _ *server, exact bool) {
	testenv.Check(t, !exact || len(aboutInFlight(l.Warnings)) == 0, "%v", l.Warnings)
}

// places returns a script of n places: a request takes one for exactly delay, and queues while all are taken.
func places(n int, delay time.Duration) script {
	free := make(chan time.Time, n) // when each became free
	for range n {
		free <- time.Time{}
	}
	return func(*server, int64, int64) act {
		began := time.Now()
		if since := <-free; since.After(began) {
			began = since
		}
		free <- began.Add(delay)
		return act{wait: time.Until(began.Add(delay))}
	}
}

// hangs is a dialler that gets no response.
func hangs(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func failsThenHangs(times int) func(context.Context, string, string) (net.Conn, error) {
	dials := make(chan bool, times)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		select {
		case dials <- true:
			return nil, errors.New("no")
		default:
			return hangs(ctx, network, address)
		}
	}
}

// The promises of a step, in every loop, and to the nanosecond in virtual time.
func TestPromises(t *testing.T) {
	all := promises()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := limits.Check(2 * of.plan.Step.Connections); err != nil { // the server's ends are in this process, too
				t.Skip("SKIP: ", err)
			}
			if of.exact != "-" {
				inVirtualTime(t, of.server, func(t *testing.T, e Engine, s *server) { of.meets(t, e, s, true) })
			}
			if of.want != "-" {
				inEachLoop(t, of.server, func(t *testing.T, e Engine, s *server) { of.meets(t, e, s, false) })
			}
		})
	}
}

func (of promise) meets(t *testing.T, e Engine, s *server, exact bool) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s.mu.Lock() // respond has it, too
	s.cancel = cancel
	s.mu.Unlock()
	p, own := of.plan, of.engine
	if p.BaseURL, own.Name = s.url, e.Name; own.Dial == nil {
		own.Dial = e.Dial
	}
	if own.sleep == nil {
		own.sleep = e.sleep
	}
	if of.refused {
		if s.die(); !exact {
			p.BaseURL = "http://" + refusing(t)
		}
	}
	if of.prepare != nil {
		of.prepare(&p, s)
	}
	s.hook(&p)
	var l bench.Load
	if l = runUntil(ctx, t, own, p); exact {
		testenv.Contains(t, l.Warnings.Join("|"), of.says)
		holds(t, l, s, of.exact)
	}
	holds(t, l, s, strings.TrimPrefix(of.want, "-"))
	if of.also != nil {
		of.also(t, l, s, exact)
	}
}
