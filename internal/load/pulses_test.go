package load

import (
	"context"
	"math"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locbench/internal/bench"
)

// used is a contender that uses half a CPU while it is asked, and idle CPUs while it is not.
func used(asked *atomic.Int64, idle float64) func() (time.Duration, bool) {
	var last time.Time
	var cpu, seen int64
	return func() (time.Duration, bool) {
		now, n := time.Now(), asked.Load()
		if !last.IsZero() {
			cpus := idle
			if n > seen {
				cpus = .5
			}
			cpu += int64(cpus * float64(now.Sub(last)))
		}
		last, seen = now, n
		return time.Duration(cpu), true
	}
}

// runPulsed runs a plan in bursts, whose windows have to follow each other, and to be those that
// were reported.
func runPulsed(t *testing.T, e Engine, p Plan) bench.Load {
	t.Helper()
	var got []bench.Window
	l, err := e.Run(context.Background(), p, func(w bench.Window) { got = append(got, w) })
	if err != nil {
		t.Fatal(err)
	}
	var inWindows int64
	for i, w := range l.Windows {
		inWindows += w.Succeeded
		if i > 0 && w.Start < l.Windows[i-1].Start+l.Windows[i-1].Length {
			t.Errorf("window %d begins at %s and is %s long, the one before has ended at %s", i, w.Start, w.Length, l.Windows[i-1].Start+l.Windows[i-1].Length)
		}
	}
	if inWindows != l.Succeeded || !reflect.DeepEqual(got, l.Windows) {
		t.Errorf("%d of %d successes are in the windows, %d of %d windows were reported", inWindows, l.Succeeded, len(got), len(l.Windows))
	}
	return l
}

// A step in bursts: nothing is in flight in the rests, the connections stay, the figures are of the
// bursts, and the windows have gaps.
func TestPulses(t *testing.T) {
	const burst, rest, window = 200 * time.Millisecond, 150 * time.Millisecond, 100 * time.Millisecond
	for _, loop := range []string{"fast", "portable"} {
		for name, step := range map[string]bench.Step{"closed": {Connections: 4}, "open": {Rate: 400}} {
			t.Run(loop+" "+name, func(t *testing.T) {
				var atWork, asked atomic.Int64
				server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
					asked.Add(1)
					atWork.Add(1)
					defer atWork.Add(-1)
					time.Sleep(time.Millisecond)
					return hello(w, r)
				})
				p := plan(server.URL, 4, 0)
				p.Step = step
				p.Step.Duration, p.Step.Pulses = 800*time.Millisecond, &bench.Pulses{Burst: burst, Rest: rest}
				began, ended := 0, 0
				p.OnStart, p.OnEnd = func() { began++ }, func() { ended++ }
				cpu := used(&asked, .25)
				p.CPU = func() (time.Duration, bool) {
					if n := atWork.Load(); n != 0 && began == ended {
						t.Errorf("%d requests in flight in a rest", n)
					}
					return cpu()
				}
				l := runPulsed(t, Engine{Portable: loop == "portable", Window: window}, p)
				if began < 2 || began > 3 || ended != began || l.Rests == nil || l.Rests.Count < began-1 || l.Rests.Count > began {
					t.Fatalf("%d bursts begun, %d ended, rests %+v", began, ended, l.Rests)
				}
				if cpus, ok := l.Rests.CPUs(); !ok || math.Abs(cpus-.25) > .01 || l.Rests.Time < time.Duration(l.Rests.Count)*rest*8/10 {
					t.Errorf("%.2f CPUs in rests of %s, %v", cpus, l.Rests.Time, ok)
				}
				if l.Succeeded+l.FailedTotal() == 0 || l.Succeeded > server.count(200) || l.Elapsed < burst || l.Elapsed > time.Duration(began)*burst*3/2 {
					t.Errorf("%d succeeded in %s, the server answered %d", l.Succeeded, l.Elapsed, server.count(200))
				}
				if n := server.connections.Load(); step.Rate == 0 && n != 4 {
					t.Errorf("%d connections were opened", n)
				}
				gaps := 0
				for i, w := range l.Windows {
					if i > 0 && w.Start-l.Windows[i-1].Start-l.Windows[i-1].Length > rest/2 {
						gaps++
					}
				}
				if gaps != began-1 {
					t.Errorf("%d gaps between %d bursts", gaps, began)
				}
			})
		}
	}
}

// A step that waits until it has settled ends then, with a rest in it; one that becomes ever faster
// ends with its duration, and says so.
func TestRunEndsWhenSettled(t *testing.T) {
	const window = 100 * time.Millisecond
	server := newCounting(t, sleeps(5*time.Millisecond))
	for _, open := range []bool{false, true} {
		p := plan(server.URL, 4, time.Minute)
		p.Step.Settle = true
		if open {
			p.Step.Connections, p.Step.Rate = 0, 200
		}
		l := runPulsed(t, Engine{Window: window}, p)
		if l.Settled < leastLook*window || l.Settled > 50*time.Second || l.Rests == nil || l.Rests.Count < 1 || l.Rests.CPU != nil {
			t.Errorf("settled after %s with the rests %+v, %q", l.Settled, l.Rests, l.Warnings)
		}
		if last := l.Windows[len(l.Windows)-1]; last.Start > l.Settled {
			t.Errorf("settled after %s, and a window at %s", l.Settled, last.Start)
		}
	}
	var asked atomic.Int64
	faster := newCounting(t, func(http.ResponseWriter, *http.Request) int {
		time.Sleep(time.Duration(20e6 * math.Exp(-float64(asked.Add(1))/1200)))
		return http.StatusOK
	})
	p := plan(faster.URL, 8, 25*window)
	p.Step.Settle = true
	if l := runPulsed(t, Engine{Window: window}, p); l.Settled != 0 || !strings.Contains(l.Warnings.Join("\n"), "not settled within 2.5s") {
		t.Errorf("settled after %s, %q", l.Settled, l.Warnings)
	}
	p = plan(server.URL, 1, 5*window)
	p.Step.Settle = true
	if l := runPulsed(t, Engine{Window: window}, p); l.Settled != 0 || !strings.Contains(l.Warnings.Join("\n"), "not settled: 500ms are too short to tell, it takes 1.8s at least") {
		t.Errorf("settled after %s, %q", l.Settled, l.Warnings)
	}
}

// A service that is faster only after a rest is not called settled before it; and the rest goes on
// until the service does nothing any more.
func TestSettlesBehindTheRestThatMakesFaster(t *testing.T) {
	const window, compiles = 100 * time.Millisecond, 350 * time.Millisecond
	var last atomic.Int64
	var fast atomic.Bool
	server := newCounting(t, func(http.ResponseWriter, *http.Request) int {
		now := time.Now().UnixNano()
		if before := last.Swap(now); before > 0 && now-before > int64(compiles) {
			fast.Store(true)
		}
		d := 10 * time.Millisecond
		if fast.Load() {
			d = 5 * time.Millisecond
		}
		time.Sleep(d)
		last.Store(time.Now().UnixNano())
		return http.StatusOK
	})
	p := plan(server.URL, 4, time.Minute)
	p.Step.Settle = true
	began := time.Now()
	idle := func() float64 {
		if !fast.Load() && time.Now().UnixNano()-last.Load() < int64(compiles) {
			return 1
		}
		return 0
	}
	var at time.Time
	var cpu time.Duration
	p.CPU = func() (time.Duration, bool) {
		now := time.Now()
		if !at.IsZero() {
			cpu += time.Duration(idle() * float64(now.Sub(at)))
		}
		at = now
		return cpu, true
	}
	l := runPulsed(t, Engine{Window: window}, p)
	if !fast.Load() || l.Settled == 0 {
		t.Fatalf("fast %v, settled after %s of %s, rests %+v, %q", fast.Load(), l.Settled, time.Since(began), l.Rests, l.Warnings)
	}
	if l.Rests.Time < compiles {
		t.Errorf("rests %+v, though it was at work for %s in them", l.Rests, compiles)
	}
	slow := 0
	for _, w := range l.Windows {
		if w.Throughput() < 500 {
			slow++
		}
	}
	if slow > len(l.Windows)/2 { // a machine at work makes some of the later ones slow as well
		t.Errorf("settled after %s, though %d of %d windows were slow", l.Settled, slow, len(l.Windows))
	}
}

func TestPulsesEndWithTheContext(t *testing.T) {
	server := newCounting(t, hello)
	ctx, end := context.WithTimeout(context.Background(), 250*time.Millisecond)
	defer end()
	p := plan(server.URL, 2, time.Minute)
	p.Step.Pulses = &bench.Pulses{Burst: 100 * time.Millisecond, Rest: 30 * time.Second}
	began := time.Now()
	l, err := Engine{}.Run(ctx, p, nil)
	if err == nil || time.Since(began) > 10*time.Second || l.Succeeded == 0 || l.Rests == nil || l.Rests.Count != 1 {
		t.Errorf("%v after %s, %d succeeded, %+v", err, time.Since(began), l.Succeeded, l.Rests)
	}
}

func TestPulsesRefuse(t *testing.T) {
	two := &bench.Pulses{Burst: time.Second, Rest: time.Second}
	for _, step := range []bench.Step{
		{Connections: 8, RampFrom: 2, Duration: time.Second, Pulses: two},
		{Rate: 10, RampTo: 20, Duration: time.Second, Pulses: two},
		{Arrivals: &bench.Arrivals{Users: 1, Over: time.Second, Requests: 1}, Duration: time.Second, Settle: true},
		{Connections: 1, MaxRequests: 5, Duration: time.Second, Settle: true},
		{Connections: 1, Duration: time.Second, Pulses: &bench.Pulses{Rest: time.Second}},
	} {
		p := plan("http://127.0.0.1:1", 1, 0)
		p.Step = step
		if _, err := (Engine{}).Run(context.Background(), p, nil); err == nil || !strings.Contains(err.Error(), "in bursts") {
			t.Errorf("%+v: %v", step, err)
		}
	}
}
