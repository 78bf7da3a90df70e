package load

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Every request of a step that may keep them all is kept, with the status and length of its
// response, and its time encloses what the server noted: closed loop and open, on one connection,
// as the requests of both then come in the same order.
func TestKeptRequestsAreThoseOfTheServer(t *testing.T) {
	eachWay(t, func(t *testing.T, e Engine, open bool) {
		var arrived, ended []time.Time
		s := newSite(t, func(r *visit) string {
			arrived = append(arrived, time.Now())
			status := "200"
			if r.n%5 == 0 {
				status = "503"
			}
			ended = append(ended, time.Now())
			return status + "\n\n" + strings.Repeat("x", r.n)
		})
		p := counted(s.URL, 1, 60)
		if open {
			p = openCounted(s.URL, 2000, 1, 60)
		}
		p.Step.KeepRequests = 1000
		p.Requests = []bench.Request{{Name: "one", Path: "/one", Weight: 1, ExpectStatus: 200}, {Name: "two", Path: "/two", Weight: 2, ExpectStatus: 200}}
		l := run(t, e, p)
		holds(t, l, s, "kept=sent asked=sent sent+dropped=60")
		testenv.Equal(t, l.KeptOf, l.Sent)
		for i, k := range l.Kept {
			line := fmt.Sprintf("GET /%s %d", k.Request, k.Status)
			testenv.Check(t, line == s.lines[i] && k.Bytes == int64(i+1) && (k.Error == "5xx") == (k.Status == 503),
				"request %d: %+v, the server has %s", i, k, s.lines[i])
			start := l.Started.Add(k.Start)
			// A stamp of the kernel is read from another clock.
			early := l.Stamped == 0 && start.Add(k.Latency).Before(ended[i])
			testenv.Check(t, !start.Add(k.Lag).After(arrived[i]) && !early && k.Lag >= 0 && (open || k.Lag == 0),
				"request %d: sent %s after its start, it arrived %s and its response went %s after that; it took %s", i, k.Lag, arrived[i].Sub(start), ended[i].Sub(start), k.Latency)
		}
	})
}

// Requests without a response are kept with their errors, and in an open loop from the scheduled
// time too.
func TestKeptFailures(t *testing.T) {
	address := "http://" + refusing(t)
	for name, p := range map[string]Plan{"closed": counted(address, 2, 6), "open": openCounted(address, 1000, 2, 6)} {
		p.Step.KeepRequests = 10
		eachOf(t, loops(), func(t *testing.T, e Engine) {
			l := run(t, e, p)
			holds(t, l, nil, "kept=sent sent>0")
			var lag time.Duration
			for _, k := range l.Kept {
				lag += k.Lag
				testenv.Check(t, k.Error == bench.ErrRefused && k.Status == 0 && k.Latency >= k.Lag, "%+v", k)
			}
			testenv.Check(t, name == "closed" || lag > 0, "no failure has its delay from scheduled to sent")
		})
	}
}
