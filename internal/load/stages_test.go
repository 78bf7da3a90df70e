package load

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/workload"
)

// sleeps is a handler that answers so much later.
func sleeps(d time.Duration) func(http.ResponseWriter, *http.Request) int {
	return func(http.ResponseWriter, *http.Request) int {
		time.Sleep(d)
		return http.StatusOK
	}
}

// Each kind of a mix has books of its own, which add up to the step's.
func TestRunTellsKindsOfRequestsApart(t *testing.T) {
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		status := http.StatusOK
		switch r.URL.Path {
		case "/slow":
			time.Sleep(20 * time.Millisecond)
		case "/bad":
			status = http.StatusTeapot
			w.WriteHeader(status)
		}
		_, _ = w.Write([]byte("twelve bytes"))
		return status
	})
	p := plan(server.URL, 4, time.Minute)
	p.Step.MaxRequests = 600
	p.Requests = []bench.Request{
		{Name: "fast", Path: "/fast", Weight: 3}, {Name: "slow", Path: "/slow", Weight: 1}, {Name: "bad", Path: "/bad", Weight: 2}, {Name: "never", Path: "/never", Weight: 1},
	}
	p.Requests = p.Requests[:3]
	for _, open := range []bool{false, true} {
		if open {
			p.Step.Connections, p.Step.Rate = 0, 500
		}
		l := run(t, Engine{}, p)
		if len(l.Requests) != 3 {
			t.Fatalf("%d kinds: %+v", len(l.Requests), l.Requests)
		}
		var sum bench.RequestLoad
		sum.Failed = map[bench.ErrorKind]int64{}
		for _, r := range l.Requests {
			sum.Succeeded += r.Succeeded
			sum.Bytes += r.Bytes
			sum.Latency.Count += r.Latency.Count
			for kind, n := range r.Failed {
				sum.Failed[kind] += n
			}
		}
		if sum.Succeeded != l.Succeeded || sum.Bytes != l.Bytes || sum.Latency.Count != l.Latency.Count || sum.Failed["4xx"] != l.Failed["4xx"] {
			t.Errorf("the kinds add up to %+v, the step is %d, %d bytes, failed %v", sum, l.Succeeded, l.Bytes, l.Failed)
		}
		fast, slow, bad := l.Requests[0], l.Requests[1], l.Requests[2]
		if fast.Name != "fast" || fast.Succeeded < 2*slow.Succeeded || slow.Latency.Min < 20*time.Millisecond || bad.Succeeded != 0 || bad.Failed["4xx"] == 0 {
			t.Errorf("%+v", l.Requests)
		}
	}
}

// A step may ask one request of the mix alone; then the step is its breakdown.
func TestRunAsksOneRequestOfTheMix(t *testing.T) {
	var other atomic.Int64
	server := newCounting(t, func(_ http.ResponseWriter, r *http.Request) int {
		if r.URL.Path != "/b" {
			other.Add(1)
		}
		return http.StatusOK
	})
	p := plan(server.URL, 2, time.Minute)
	p.Step.MaxRequests, p.Step.Request = 50, "b"
	p.Requests = []bench.Request{{Name: "a", Path: "/a", Weight: 5}, {Name: "b", Path: "/b"}}
	if l := run(t, Engine{}, p); l.Succeeded != 50 || other.Load() != 0 || l.Requests != nil {
		t.Errorf("%d succeeded, %d others asked, %v", l.Succeeded, other.Load(), l.Requests)
	}
	p.Step.Request = "c"
	if _, err := workload.NewMix(p.spec()); err == nil || !strings.Contains(err.Error(), `no request is called "c"`) {
		t.Errorf("error %v", err)
	}
}

// In a ramp the connections join in one after the other, evenly.
func TestRunRampsConnections(t *testing.T) {
	const n, from = 20, 2
	var asked [n + 1]atomic.Int64 // by tenths of the step
	began := atomic.Int64{}
	server := newCounting(t, func(http.ResponseWriter, *http.Request) int {
		now := time.Now().UnixNano()
		began.CompareAndSwap(0, now)
		if i := (now - began.Load()) / int64(100*time.Millisecond); i < n {
			asked[i].Add(1)
		}
		time.Sleep(10 * time.Millisecond)
		return http.StatusOK
	})
	p := plan(server.URL, n, time.Second)
	p.Step.RampFrom = from
	l := run(t, Engine{}, p)
	// With evenly rising connections the mean in flight is that of the two ends.
	if want := float64(n+from) / 2; l.InFlight < 0.7*want || l.InFlight > 1.15*want {
		t.Errorf("%.1f in flight, want about %.1f", l.InFlight, want)
	}
	if asked[8].Load() < 2*asked[1].Load() {
		t.Errorf("%d requests in the second tenth, %d in the ninth", asked[1].Load(), asked[8].Load())
	}
	if strings.Contains(l.Warnings.Join("\n"), "in flight") {
		t.Errorf("connections that wait for their turn count as the client's fault: %q", l.Warnings)
	}
}

// Two books are kept of what is in flight in an open loop, and they agree.
func TestOpenLoopObeysLittlesLaw(t *testing.T) {
	server := newCounting(t, sleeps(20*time.Millisecond))
	p := plan(server.URL, 0, time.Second)
	p.Step.Rate = 400
	l := run(t, Engine{}, p)
	if text := l.Warnings.Join("\n"); strings.Contains(text, "mean latency is") || l.InFlight < 7 {
		t.Errorf("%.2f in flight, %s", l.InFlight, text)
	}
}
