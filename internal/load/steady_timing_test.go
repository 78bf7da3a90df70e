//go:build acceptance && timing && linux

package load

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/testenv"
)

// timedLoops measures with each of the loops on a machine without stalls of 20 ms.
func timedLoops(t *testing.T, all []driver, measure func(t testing.TB, e Engine) error) {
	t.Helper()
	eachOf(t, all, func(t *testing.T, e Engine) {
		testenv.Judge(t, 4, 20*ms, func(t testing.TB) error { return measure(t, e) })
	})
}

// The rate of closed loops is that of a server whose rate is known, with half as many connections as
// places up to ten times as many; and Little's law holds. Such a server leaves the client idle.
func TestSaturatedThroughput(t *testing.T) {
	for _, c := range []struct {
		places      int
		delay       time.Duration
		connections int
	}{{50, 50 * ms, 25}, {50, 50 * ms, 500}, {100, 250 * ms, 700}} {
		t.Run(fmt.Sprintf("%d x %s/%d connections", c.places, c.delay, c.connections), func(t *testing.T) {
			if err := limits.Check(2 * c.connections); err != nil {
				t.Skip("SKIP: ", err)
			}
			timedLoops(t, loops(), func(t testing.TB, e Engine) error {
				s := newServer(t, places(c.places, c.delay)).listen(t)
				l := run(t, e, timeout(plan(s.url, c.connections, 3*time.Second), wire.DefaultTimeout))
				holds(t, l, s, "answered=all sent=all")
				rate := float64(min(c.places, c.connections)) / c.delay.Seconds()
				var b bounds
				b.near(l.Throughput(), float64(s.between(l.Started, l.Elapsed))/l.Elapsed.Seconds(), rate, .01)
				for _, w := range l.Windows {
					if w.Length >= 900*ms {
						b.near(w.Throughput(), float64(s.between(l.Started.Add(w.Start), w.Length))/w.Length.Seconds(), rate, .03)
					}
				}
				flying := l.Throughput() * l.Latency.Mean.Seconds()
				b.check(math.Abs(flying/l.InFlight-1) <= .1, "throughput × mean latency is %.1f, in flight were %.1f", flying, l.InFlight)
				b.check(l.Saturation <= .8 && (l.Loop == bench.LoopVegeta || l.Saturation > 0), "saturation %g", l.Saturation)
				return b.err()
			})
		})
	}
}

// near checks a rate against that of the server's journal, and the server's highest one.
func (b *bounds) near(got, journal, most, share float64) {
	b.check(math.Abs(got/journal-1) <= share && got <= (1+share)*most, "%.1f/s, by the server's journal %.1f/s, at most %.1f/s", got, journal, most)
}

// A contender that stalls for one second at 1,000 requests per second is late for a thousand of
// them, whether or not the client sent any meanwhile. A request scheduled u after the beginning of
// a stall of S, and served at μ per second after it, waits for S − u + 1000 u / μ.
func TestStallShowsInLatencyFromScheduled(t *testing.T) {
	timedLoops(t, loops(), func(t testing.TB, e Engine) error { return stalls(t, e, newServer(t, nil).listen(t)) })
}

// Each open loop keeps its schedule, whether its rate is constant or not.
func TestScheduleIsKept(t *testing.T) {
	for name, of := range promises() {
		if strings.HasPrefix(name, "schedule, ") {
			t.Run(name, func(t *testing.T) {
				timedLoops(t, loops(), func(t testing.TB, e Engine) error {
					s := newServer(t, of.server).listen(t)
					p := of.plan
					p.BaseURL = s.url
					var b bounds
					planned, _, _ := strings.Cut(of.exact, " all=")
					b.holds(t, run(t, e, p), s, planned+" dropped=0")
					return b.err()
				})
			})
		}
	}
}
