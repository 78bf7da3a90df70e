package load

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
)

// A pool that fills slowly keeps the first requests waiting in the lead-in: the load has it, and
// its latency does not.
func TestFirstResponse_OfAPoolThatFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = 3 * time.Second
		c := newContender(t, func(n int64) time.Duration {
			if n > 1 && n <= 9 {
				return wait
			}
			return 10 * time.Millisecond
		})
		p := plan(virtualURL, 16, time.Second)
		l := run(t, c.engine(), p)
		if l.FirstResponse.Round(time.Millisecond) != wait || l.Latency.Max.Round(time.Millisecond) != 10*time.Millisecond || l.Unserved != 0 {
			t.Errorf("the first responses took %s, then at most %s; %d without a response", l.FirstResponse, l.Latency.Max, l.Unserved)
		}
		if s := (bench.StepResult{Step: p.Step, Load: l}); !verdict.Froze(s) {
			t.Error("it is not seen as a freeze")
		}
	})
}

// Every loop has the longest first response of its connections. It is at least as long as the
// contender waited, and later requests do not count.
func TestFirstResponse_OfEachLoop(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		const first, later = 100 * time.Millisecond, 400 * time.Millisecond
		var asked atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			switch n := asked.Add(1); {
			case n <= 4:
				time.Sleep(first)
			case n > 36:
				time.Sleep(later)
			}
			return hello(w, r)
		})
		l := run(t, e, counted(server.URL, 4, 40))
		if l.FirstResponse < first || l.Latency.Max < later {
			t.Errorf("the first responses took %s, the longest one %s", l.FirstResponse, l.Latency.Max)
		}
	})
}
