package load

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// served is what a server has noted of one request.
type served struct {
	path           string
	arrived, ended time.Time
	status         int
}

// Every request of a step that may keep them all is kept, with the status and length of its
// response, and its time encloses what the server noted: closed loop and open, on one connection,
// as the requests of both then come in the same order.
func TestKeptRequestsAreThoseOfTheServer(t *testing.T) {
	eachWay(t, func(t *testing.T, e Engine, open bool) {
		var mu sync.Mutex
		var journal []served
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			one := served{path: r.URL.Path, arrived: time.Now(), status: 200}
			mu.Lock()
			defer mu.Unlock()
			if len(journal)%5 == 4 {
				one.status = 503
			}
			one.ended = time.Now()
			journal = append(journal, one)
			w.WriteHeader(one.status)
			_, _ = w.Write([]byte(strings.Repeat("x", len(journal))))
			return one.status
		})
		p := counted(server.URL, 1, 60)
		if open {
			p = openCounted(server.URL, 2000, 1, 60)
		}
		p.Step.KeepRequests = 1000
		p.Requests = []bench.Request{{Name: "one", Path: "/one", Weight: 1, ExpectStatus: 200}, {Name: "two", Path: "/two", Weight: 2, ExpectStatus: 200}}
		l := run(t, e, p)
		mu.Lock()
		defer mu.Unlock()
		if int64(len(l.Kept)) != l.Sent || l.KeptOf != l.Sent || len(journal) != len(l.Kept) || l.Sent != 60-l.Dropped {
			t.Fatalf("%d kept of %d, %d sent, the server answered %d", len(l.Kept), l.KeptOf, l.Sent, len(journal))
		}
		for i, k := range l.Kept {
			j := journal[i]
			start := l.Started.Add(k.Start)
			sent, end := start.Add(k.Lag), start.Add(k.Latency)
			if "/"+k.Request != j.path || k.Status != j.status || k.Bytes != int64(i+1) || (k.Error == "5xx") != (j.status == 503) {
				t.Errorf("request %d: %+v, the server has %+v", i, k, j)
			}
			// A stamp of the kernel is read from another clock.
			early := l.Stamped == 0 && end.Before(j.ended)
			if sent.After(j.arrived) || early || k.Lag < 0 || !open && k.Lag != 0 {
				t.Errorf("request %d: sent %s after its start, it arrived %s and its response went %s after that; it took %s",
					i, k.Lag, j.arrived.Sub(start), j.ended.Sub(start), k.Latency)
			}
		}
	})
}

// Over many connections and several threads a step keeps the number of requests that it names, out
// of all that the server has answered.
func TestKeptRequestsOfManyConnections(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		e.Shards = 3
		server := newCounting(t, hello)
		p := counted(server.URL, 48, 3000)
		p.Step.KeepRequests = 500
		l := run(t, e, p)
		server.answered(t, 200, 3000)
		if len(l.Kept) != 500 || l.KeptOf != 3000 || !slices.IsSortedFunc(l.Kept, bench.KeptRequest.Compare) {
			t.Errorf("%d kept of %d", len(l.Kept), l.KeptOf)
		}
		for _, k := range l.Kept {
			if k.Request != "get" || k.Status != 200 || k.Bytes != 5 || k.Error != "" || k.Start < 0 || k.Latency <= 0 || k.Start+k.Latency > l.Elapsed {
				t.Errorf("%+v in a step of %s", k, l.Elapsed)
			}
		}
	})
}

// Requests without a response are kept with their errors, and in an open loop from the scheduled
// time too.
func TestKeptFailures(t *testing.T) {
	address := "http://" + refusing(t)
	for name, p := range map[string]Plan{"closed": counted(address, 2, 6), "open": openCounted(address, 1000, 2, 6)} {
		t.Run(name, func(t *testing.T) {
			p.Step.KeepRequests = 10
			eachOf(t, loops()[1:], func(t *testing.T, e Engine) {
				l := run(t, e, p)
				if int64(len(l.Kept)) != l.Sent || l.Sent == 0 {
					t.Errorf("%d kept of %d", len(l.Kept), l.Sent)
				}
				var lag time.Duration
				for _, k := range l.Kept {
					lag += k.Lag
					if k.Error != bench.ErrRefused || k.Status != 0 || k.Latency < k.Lag {
						t.Errorf("%+v", k)
					}
				}
				if name == "open" && lag == 0 {
					t.Error("no failure has its delay from scheduled to sent")
				}
			})
		})
	}
}

// The slices of an interleaved step have one sample, whose times are those of the clock.
func TestKeptRequestsOfSlices(t *testing.T) {
	const took, length, rest = 2 * time.Millisecond, 100 * time.Millisecond, 50 * time.Millisecond
	inVirtualTime(t, after(took), func(t *testing.T, e Engine, s *server) {
		p := plan(s.url, 4, 400*ms)
		p.Step.KeepRequests = 200
		p.Interleave = &interleaving{length: length, next: func() { time.Sleep(rest) }}
		var began []time.Time
		p.OnStart = func() { began = append(began, time.Now()) }
		l, err := e.Run(t.Context(), p, nil)
		if err != nil || len(began) != 4 {
			t.Fatalf("%v, %d slices", err, len(began))
		}
		if len(l.Kept) != 200 || l.KeptOf != l.Succeeded {
			t.Errorf("%d kept of %d, %d succeeded", len(l.Kept), l.KeptOf, l.Succeeded)
		}
		var of [4]int
		for _, k := range l.Kept {
			end := l.Started.Add(k.Start + k.Latency)
			i := slices.IndexFunc(began, func(at time.Time) bool { return !end.Before(at) && end.Sub(at) < length+took })
			if i < 0 {
				t.Errorf("%+v ends in no slice", k)
				continue
			}
			of[i]++
		}
		if min(of[0], of[1], of[2], of[3]) < 30 {
			t.Errorf("%v of the slices are kept", of)
		}
	})
}
