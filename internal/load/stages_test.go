package load

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/workload"
)

// Each request of a mix has its own counts, which match the server's and add up to the step's.
func TestRunSeparatesKindsOfRequests(t *testing.T) {
	for name, open := range map[string]bool{"closed": false, "open": true} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				var asked [3]atomic.Int64
				server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
					status := http.StatusOK
					switch r.URL.Path {
					case "/often":
						asked[0].Add(1)
					case "/seldom":
						asked[1].Add(1)
					case "/bad":
						asked[2].Add(1)
						status = http.StatusTeapot
						w.WriteHeader(status)
					}
					_, _ = w.Write([]byte("twelve bytes"))
					return status
				})
				p := counted(server.URL, 4, 600)
				p.Requests = []bench.Request{{Name: "often", Path: "/often", Weight: 3}, {Name: "seldom", Path: "/seldom", Weight: 1}, {Name: "bad", Path: "/bad", Weight: 2}}
				if open {
					p.Step.Connections, p.Step.Rate = 0, 3000
				}
				l := run(t, e, p)
				if len(l.Requests) != 3 {
					t.Fatalf("%d kinds: %+v", len(l.Requests), l.Requests)
				}
				for i, r := range l.Requests {
					succeeded, failed := asked[i].Load(), int64(0)
					if r.Name == "bad" {
						succeeded, failed = 0, asked[i].Load()
					}
					if r.Succeeded != succeeded || r.Bytes != 12*succeeded || r.Latency.Count != succeeded || r.Failed["4xx"] != failed {
						t.Errorf("%+v, but the server got %d requests", r, asked[i].Load())
					}
				}
				if all := l.Requests[0].Succeeded + l.Requests[1].Succeeded; all != l.Succeeded || l.Succeeded+l.Failed["4xx"] != 600 || l.Bytes != 12*all {
					t.Errorf("the kinds add up to %d, the step is %d, %d bytes, failed %v", all, l.Succeeded, l.Bytes, l.Failed)
				}
				if l.Requests[0].Succeeded < 2*l.Requests[1].Succeeded {
					t.Errorf("weights 3 and 1 came to %d and %d", l.Requests[0].Succeeded, l.Requests[1].Succeeded)
				}
			})
		})
	}
}

// A step may send one request of the mix alone; then the step is its breakdown.
func TestRunSendsOneRequestOfTheMix(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		var other atomic.Int64
		server := newCounting(t, func(_ http.ResponseWriter, r *http.Request) int {
			if r.URL.Path != "/b" {
				other.Add(1)
			}
			return http.StatusOK
		})
		p := counted(server.URL, 2, 50)
		p.Step.Request = "b"
		p.Requests = []bench.Request{{Name: "a", Path: "/a", Weight: 5}, {Name: "b", Path: "/b"}}
		if l := run(t, e, p); l.Succeeded != 50 || other.Load() != 0 || l.Requests != nil {
			t.Errorf("%d succeeded, %d others asked, %v", l.Succeeded, other.Load(), l.Requests)
		}
		p.Step.Request = "c"
		if _, err := workload.NewMix(p.spec()); err == nil || !strings.Contains(err.Error(), `no request or session has the name "c"`) {
			t.Errorf("error %v", err)
		}
	})
}
