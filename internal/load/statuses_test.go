package load

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// limiter responds to one in five requests with 200, to the others with 429.
func limiter() func(http.ResponseWriter, *http.Request) int {
	var served atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) int {
		if served.Add(1)%5 == 0 {
			return hello(w, r)
		}
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, "slow down")
		return http.StatusTooManyRequests
	}
}

// counted429 compares the statuses of a result with what the server sent: 200 and 429 only.
func counted429(t *testing.T, l bench.Load, server *counting) (ok, rejected int64) {
	t.Helper()
	server.answered(t, 200, l.Statuses[200])
	server.answered(t, 429, l.Statuses[429])
	if l.Statuses.Total() != l.Sent || len(l.Statuses) != 2 {
		t.Errorf("statuses %s of %d sent", l.Statuses, l.Sent)
	}
	return l.Statuses[200], l.Statuses[429]
}

func TestRejectedRequestsAreNoThroughput(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request  bench.Request
		rejected bool
		failed   bool
	}{
		"200 or 429":           {request: bench.Request{ExpectStatus: 200, MoreStatuses: []int{429}}, rejected: true},
		"429 or 200":           {request: bench.Request{ExpectStatus: 429, MoreStatuses: []int{200}}, rejected: true},
		"both are success":     {request: bench.Request{ExpectStatus: 200, MoreStatuses: []int{429}, Success: []int{200, 429}}},
		"only 200 is expected": {request: bench.Request{ExpectStatus: 200}, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(t *testing.T, l bench.Load, server *counting) {
				t.Helper()
				ok, others := counted429(t, l, server)
				wantRejected, wantFailed := int64(0), int64(0)
				switch {
				case test.rejected:
					wantRejected = others
				case test.failed:
					wantFailed = others
				default:
					ok += others
				}
				if l.AllSucceeded() != ok || l.Rejected.Total() != wantRejected || l.Rejected[429] != wantRejected || l.FailedTotal() != wantFailed {
					t.Errorf("%d succeeded, rejected %s, failed %v; want %d, %d, %d", l.AllSucceeded(), l.Rejected, l.Failed, ok, wantRejected, wantFailed)
				}
				var inWindows int64
				for _, w := range l.Windows {
					inWindows += w.Rejected
				}
				if inWindows != wantRejected {
					t.Errorf("windows have %d rejected of %d", inWindows, wantRejected)
				}
				if test.rejected && (l.ErrorRate() != 0 || l.RejectedShare() < .5) {
					t.Errorf("error rate %g, rejected %g", l.ErrorRate(), l.RejectedShare())
				}
			}
			eachWay(t, func(t *testing.T, e Engine, open bool) {
				server := newCounting(t, limiter())
				p := counted(server.URL, 4, 1000)
				if open {
					p = openCounted(server.URL, 5000, 16, 500)
				}
				test.request.Name, test.request.Path = "get", "/?id={id}"
				p.Requests = []bench.Request{test.request}
				check(t, run(t, e, p), server)
			})
		})
	}
}

// A measured interval of some time: what is before and after it is counted, too, and windows have
// what is within.
func TestRejectedRequestsOfASlicedStep(t *testing.T) {
	for name, interleave := range map[string]bench.Interleaving{"whole": nil, "interleaved": &interleaving{length: 20 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				server := newCounting(t, limiter())
				p := plan(server.URL, 4, 100*time.Millisecond)
				p.Interleave = interleave
				p.Requests[0].MoreStatuses = []int{429}
				e.Window = 20 * time.Millisecond
				l := run(t, e, p)
				ok, rejected := counted429(t, l, server)
				if l.AllSucceeded() != ok || l.Rejected[429] != rejected || rejected == 0 {
					t.Errorf("%d succeeded, rejected %s; the server sent %d and %d", l.AllSucceeded(), l.Rejected, ok, rejected)
				}
			})
		})
	}
}

// Each request of a mix has its own counts, closed and open, in each protocol. Only expected
// statuses are checked, redirects are not followed, and errors close no connections.
func TestStatusesByRequest(t *testing.T) {
	t.Parallel()
	statuses := map[string]int{"/gone": 404, "/limited": 429, "/broken": 500, "/good": 200, "/moved": 302, "/empty": 204}
	kinds := map[int]bench.ErrorKind{500: "5xx", 302: "3xx", 204: "2xx"}
	respond := func(w http.ResponseWriter, r *http.Request) int {
		w.Header().Set("Location", "/good")
		w.WriteHeader(statuses[r.URL.Path])
		io.WriteString(w, "twelve\x1bbytes")
		return statuses[r.URL.Path]
	}
	check := func(t *testing.T, e Engine, server *counting, change func(p *Plan)) {
		t.Helper()
		p := counted(server.URL, 3, 900)
		p.Requests = []bench.Request{
			{Name: "gone", ExpectStatus: 404}, {Name: "limited", ExpectStatus: 200, MoreStatuses: []int{429, 503}},
			{Name: "broken"}, {Name: "good"}, {Name: "moved"}, {Name: "empty"},
		}
		for i := range p.Requests {
			p.Requests[i].Path, p.Requests[i].Weight = "/"+p.Requests[i].Name, 1
		}
		p.CheckEvery, p.Check = 1, func(a Response) error {
			if a.Status != 200 && a.Status != 404 {
				return errors.New("checked")
			}
			return nil
		}
		change(&p)
		l := run(t, e, p)
		want := bench.Statuses{}
		for _, status := range statuses {
			want[status] = server.count(status)
		}
		good := want[200] + want[404]
		if l.Statuses.Total() != 900 || !maps.Equal(l.Statuses, want) {
			t.Errorf("statuses %s, the server sent %s", l.Statuses, want)
		}
		if !maps.Equal(l.Rejected, bench.Statuses{429: want[429]}) || l.AllSucceeded() != good || l.Checked != good {
			t.Errorf("rejected %s, failed %v, %d succeeded, %d checked", l.Rejected, l.Failed, l.AllSucceeded(), l.Checked)
		}
		for status, kind := range kinds {
			if l.Failed[kind] != want[status] {
				t.Errorf("%d of kind %s, the server sent %d", l.Failed[kind], kind, want[status])
			}
		}
		if got, want := l.Examples["5xx"], "500 Internal Server Error twelve bytes"; got != want {
			t.Errorf("example %q, want %q", got, want)
		}
		for _, r := range l.Requests {
			status := statuses["/"+r.Name]
			n, rejected, succeeded, failed := want[status], int64(0), int64(0), int64(0)
			switch {
			case status == 429:
				rejected = n
			case kinds[status] != "":
				failed = n
			default:
				succeeded = n
			}
			if !maps.Equal(r.Statuses, bench.Statuses{status: n}) || r.Rejected.Total() != rejected ||
				r.Failed[kinds[status]] != failed || r.Succeeded != succeeded || r.Bytes != 12*succeeded || r.Latency.Count != succeeded {
				t.Errorf("%+v; the server sent %d", r, n)
			}
		}
		if p.Step.Connections > 0 {
			server.opened(t, 3)
		}
	}
	eachWay(t, func(t *testing.T, e Engine, open bool) {
		check(t, e, newCounting(t, respond), func(p *Plan) {
			if open {
				p.Step.Connections, p.Step.Rate = 0, 3000
			}
		})
	})
	t.Run("HTTP/2", func(t *testing.T) {
		server, e := newHTTP2(t, false, respond)
		check(t, e, server, func(p *Plan) { p.HTTP2 = true })
	})
}

// Requests without a complete response have no status.
func TestStatusesAreOfCompleteResponses(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(429)
			io.WriteString(w, "short")
			return 429
		})
		p := counted(server.URL, 2, 20)
		p.Requests[0].MoreStatuses = []int{429}
		if l := run(t, e, p); l.FailedTotal() != 20 || len(l.Statuses)+len(l.Rejected) != 0 {
			t.Errorf("statuses %s, rejected %s, failed %v", l.Statuses, l.Rejected, l.Failed)
		}
	})
}

// A rejected response is not compared, no value is saved of it, and its session ends.
func TestARejectedResponseEndsItsSession(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		var served, ordered atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			switch {
			case r.URL.Path != "/cart":
				ordered.Add(1)
				return hello(w, r)
			case served.Add(1)%2 == 0:
				io.WriteString(w, `{"id": 7}`)
				return 200
			}
			w.WriteHeader(429)
			return 429
		})
		p := counted(server.URL, 4, 600)
		p.Sessions = []bench.Session{{Name: "shop", Weight: 1}}
		p.Requests = []bench.Request{
			{Name: "cart", Session: "shop", Path: "/cart", ExpectStatus: 200, MoreStatuses: []int{429},
				Save: []bench.Save{{Name: "cart", From: bench.FromJSON, Of: "id"}}},
			{Name: "order", Session: "shop", Path: "/order/{cart}", ExpectStatus: 200},
		}
		p.CheckEvery = 1
		p.Check = func(a Response) error {
			if a.Status == 429 {
				return errors.New("a rejected response is compared")
			}
			return nil
		}
		l := run(t, e, p)
		rejected := l.Rejected[429]
		if rejected == 0 || l.FailedTotal() > 0 || l.Statuses[429] != rejected || server.count(429) != rejected {
			t.Errorf("rejected %s of %s, failed %v: %v", l.Rejected, l.Statuses, l.Failed, l.Examples)
		}
		one := l.Sessions[0]
		if one.Rejected != rejected || one.Completed != ordered.Load() || one.Begun != one.Completed+rejected || len(one.Failed) > 0 {
			t.Errorf("session %+v; the server sent %d and got %d orders", one, rejected, ordered.Load())
		}
	})
}

// Once reports no error for a rejected response, and ends the session.
func TestOnceWithARejectedResponse(t *testing.T) {
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		w.WriteHeader(429)
		return 429
	})
	p := plan(server.URL, 1, 0)
	p.Requests[0].MoreStatuses = []int{429}
	p.Check = func(Response) error { return errors.New("compared") }
	asked := 0
	if err := (Engine{}).Once(t.Context(), p, func(Asked) { asked++ }); err != nil || asked != 1 {
		t.Errorf("%d sent, %v", asked, err)
	}
}
