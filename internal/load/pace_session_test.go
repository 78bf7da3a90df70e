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
		eachWay(t, func(t *testing.T, e Engine, open bool) {
			s := newSite(t, nil)
			p, want := plan(s.URL, 4, 50*ms), "sent=4"
			if open { // a user who arrives after a machine stall may find the step at its end
				p.Step.Connections, p.Step.Arrivals, want = 0, &bench.Arrivals{Users: 4, Over: ms, Requests: 9}, "sent<=4"
			}
			p.Requests = []bench.Request{{Name: "a", Path: "/a", Weight: 1, Pace: time.Hour}}
			if session {
				p.Sessions = []bench.Session{{Name: "s", Weight: 1, Pace: time.Hour}}
				p.Requests, want = in(bench.Request{Path: "/a"}, bench.Request{Path: "/b"}), want[:len(want)-1]+"8"
			}
			holds(t, run(t, e, p), s, want+" sent=asked all=sent overran=0")
		})
	}
}

// An iteration that takes longer than its pace is counted, and the next one begins at once.
func TestPaceOverrun(t *testing.T) {
	inEachLoop(t, after(2*ms), func(t *testing.T, e Engine, s *server) {
		p := counted(s.url, 4, 40)
		p.Requests[0].Pace = time.Microsecond
		// All but the first one of each connection in use.
		holds(t, run(t, e, p), s, "paced>=36 paced<=39 overran=paced warn.pace_not_kept=1")
	})
}
