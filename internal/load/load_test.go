package load

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/limits"
)

// What the client records is what the server has answered, over exactly as many connections.
func TestRunCountsWhatTheServerAnswered(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		for connections, requests := range map[int]int64{1: 100, 2: 100, 3: 1, 4: 3, 16: 300, 200: 800, 2048: 4096} {
			t.Run(fmt.Sprint(connections), func(t *testing.T) {
				// The server's ends of the connections are in this process, too.
				if err := limits.Check(2 * connections); err != nil {
					t.Skip(err)
				}
				server := newCounting(t, hello)
				l := run(t, e, counted(server.URL, connections, requests))
				server.answered(t, 200, requests)
				if l.Sent != requests || l.Scheduled != requests || l.Succeeded != requests || l.Lead+l.Drain+l.Cut != 0 {
					t.Errorf("%d scheduled, %d sent, %d succeeded and %d outside of the interval, %d cut off, failed %v; want %d", l.Scheduled, l.Sent, l.Succeeded, l.Lead+l.Drain, l.Cut, l.Failed, requests)
				}
				if l.Bytes != 5*l.Succeeded {
					t.Errorf("%d bytes in %d responses of 5", l.Bytes, l.Succeeded)
				}
				server.opened(t, min(requests, int64(connections)))
				if l.Elapsed <= 0 || l.Started.IsZero() || l.ClientCPU <= 0 {
					t.Errorf("elapsed %s, started %s, client CPU %s", l.Elapsed, l.Started, l.ClientCPU)
				}
			})
		}
	})
}

// The selected loop is the one that runs.
func TestRunNamesItsLoop(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		l := run(t, e, counted(newCounting(t, hello).URL, 2, 10))
		if !strings.HasSuffix(t.Name(), "/"+l.Loop) {
			t.Errorf("the loop is %q", l.Loop)
		}
	})
	want := bench.EngineFast
	if FastApplies(false, false) != nil {
		want = bench.EngineVegeta
	}
	for _, name := range []bench.Engine{"", bench.EngineAuto} {
		if l := run(t, Engine{Name: name}, counted(newCounting(t, hello).URL, 2, 10)); l.Engine() != want {
			t.Errorf("engine %q: the loop is %q", name, l.Loop)
		}
	}
}

// Engine fast sends nothing where it does not apply, and says why; auto has vegeta for that.
func TestFastDoesNotApply(t *testing.T) {
	plain := newCounting(t, hello)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }))
	defer secure.Close()
	http2 := counted(plain.URL, 1, 1)
	http2.HTTP2 = true
	for want, p := range map[string]Plan{"it has no TLS": counted(secure.URL, 1, 1), "it has no HTTP/2": http2} {
		for _, name := range []bench.Engine{bench.EngineFast, bench.EngineEpoll} {
			l, err := Engine{Name: name}.Run(t.Context(), p, nil)
			if err == nil || !strings.Contains(err.Error(), "engine "+string(name)+": "+want) || l.Sent != 0 {
				t.Errorf("%s: %d sent, %v; want %q", name, l.Sent, err, want)
			}
		}
	}
	plain.answered(t, 200, 0)
}

// With a bounded number of requests all of them are measured, whatever happens to them.
func TestBoundedRequestsAreAllMeasured(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		t.Parallel() // it waits for a timeout
		var asked atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			if asked.Add(1) == 20 {
				<-r.Context().Done()
				return 0
			}
			return hello(w, r)
		})
		p := counted(server.URL, 4, 100)
		// The others are answered at once; a machine stall may turn one of them into a timeout,
		// which must then be counted as such.
		p.Timeout = time.Second
		var hooks ends
		hooks.hook(&p)
		l := run(t, e, p)
		if hooks.String() != "start end" || l.Sent != 100 || l.Succeeded+l.Timeouts.Count != 100 || l.Timeouts.Count < 1 || l.Lead+l.Drain != 0 {
			t.Errorf("called: %s; %d sent, %d succeeded, %d before and %d after, failed: %v", &hooks, l.Sent, l.Succeeded, l.Lead, l.Drain, l.Failed)
		}
	})
}

func TestRunSpeaksTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshakes fail on purpose
	server.StartTLS()
	defer server.Close()
	p := counted(server.URL, 2, 40)
	trusted := Engine{TLS: server.Client().Transport.(*http.Transport).TLSClientConfig}
	if l := run(t, trusted, p); l.Succeeded != 40 || l.Loop != bench.LoopVegeta {
		t.Errorf("%d succeeded with the loop %s, failed: %v %v", l.Succeeded, l.Loop, l.Failed, l.Examples)
	}
	p.Step.MaxRequests = 4
	if l := run(t, Engine{}, p); l.Succeeded != 0 || l.FailedTotal() != 4 || !strings.Contains(l.Examples[bench.ErrOther], "certificate") {
		t.Errorf("%d succeeded with an unknown certificate, failed: %v %v", l.Succeeded, l.Failed, l.Examples)
	}
}

// An address with a zone is loaded like any other by engine vegeta, whose requests have it in a
// URL.
func TestRunOfAnAddressWithAZone(t *testing.T) {
	l, err := net.Listen("tcp", "[::1%lo]:0")
	if err != nil {
		t.Skip("SKIP: no IPv6 with zones: ", err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	server.Listener = l
	server.Start()
	defer server.Close()
	url := fmt.Sprintf("http://[::1%%25lo]:%d", l.Addr().(*net.TCPAddr).Port)
	if got := run(t, Engine{Name: bench.EngineVegeta}, counted(url, 2, 40)); got.Succeeded != 40 {
		t.Errorf("%d succeeded, failed: %v %v", got.Succeeded, got.Failed, got.Examples)
	}
}
