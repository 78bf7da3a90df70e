package load

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// A user begins no iteration before the pace of the one before is over: here each user has one in
// the whole step. A session is not interrupted, and a pace of a single request is the same.
func TestPaceKeepsIterationsApart(t *testing.T) {
	t.Parallel()
	for _, session := range []bool{true, false} {
		eachWay(t, func(t *testing.T, e Engine, arrivals bool) {
			server := newCounting(t, hello)
			p := plan(server.URL, 4, 50*time.Millisecond)
			if arrivals {
				p.Step.Connections, p.Step.Arrivals = 0, &bench.Arrivals{Users: 4, Over: time.Millisecond, Requests: 9}
			}
			p.Requests = []bench.Request{{Name: "a", Path: "/a", Weight: 1, Pace: time.Hour}}
			want := int64(4)
			if session {
				p.Sessions = []bench.Session{{Name: "s", Weight: 1, Pace: time.Hour}}
				p.Requests = []bench.Request{{Name: "a", Path: "/a", Session: "s"}, {Name: "b", Path: "/b", Session: "s"}}
				want = 8
			}
			l := run(t, e, p)
			if arrivals { // a user who arrives after a machine stall may find the step at its end
				want = min(want, l.Sent)
			}
			if server.answered(t, 200, want); l.Sent != want || l.Overran != 0 {
				t.Errorf("%d sent, want %d; %d of %d longer than the pace", l.Sent, want, l.Overran, l.Paced)
			}
		})
	}
}

// An iteration that takes longer than its pace is counted, and the next one begins at once.
func TestPaceOverrun(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		server := newCounting(t, sleeps(2*time.Millisecond))
		p := counted(server.URL, 4, 40)
		p.Requests[0].Pace = time.Microsecond
		// All but the first one of each connection in use.
		if l := run(t, e, p); l.Paced < 36 || l.Paced > 39 || l.Overran != l.Paced || !l.Warnings.Has(bench.WarnPace) {
			t.Errorf("%d of %d longer than the pace, want 36 of 36; %s", l.Overran, l.Paced, l.Warnings)
		}
	})
}
