package load

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// truth collects durations that somebody else than the engine has measured.
type truth struct {
	mu sync.Mutex
	h  *hdr.Histogram
}

func newTruth() *truth { return &truth{h: hdr.New()} }

func (t *truth) record(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.h.Record(d)
}

func (t *truth) latencies() bench.Latencies {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.h.Latencies()
}

// agreement finds out whether p50 … p99.9 are within 1 % or 50 µs of the truth (times slack). On a machine with other work to do, any
// attempt may meet a stall between the two clocks, so the best attempt counts for each quantile. A systematic error is in
// all of them.
type agreement map[string]float64

// add takes in one attempt and tells whether all quantiles have agreed by now.
func (a agreement) add(got, want bench.Latencies) bool {
	agreed := true
	for _, q := range []struct {
		name      string
		got, want time.Duration
	}{
		{"p50", got.P50, want.P50}, {"p75", got.P75, want.P75}, {"p90", got.P90, want.P90},
		{"p95", got.P95, want.P95}, {"p99", got.P99, want.P99}, {"p99.9", got.P999, want.P999},
	} {
		allowed := slack * max(q.want/100, 50*time.Microsecond)
		share := float64((q.got - q.want).Abs()) / float64(allowed)
		if best, ok := a[q.name]; !ok || share < best {
			a[q.name] = share
		}
		agreed = agreed && a[q.name] <= 1
	}
	return agreed
}

// timed measures each exchange at the border between the engine and the socket: from the call that writes the request to the
// return of the last call that reads its answer. Nothing but the engine's own accounting lies between that and its figures.
type timed struct {
	net.Conn
	sent, read time.Time
	truth      *truth
}

func (c *timed) flush() {
	if !c.sent.IsZero() && !c.read.IsZero() {
		c.truth.record(c.read.Sub(c.sent))
	}
	c.sent, c.read = time.Time{}, time.Time{}
}

func (c *timed) Write(p []byte) (int, error) {
	c.flush()
	c.sent = time.Now()
	return c.Conn.Write(p)
}

func (c *timed) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read = time.Now()
	return n, err
}

func (c *timed) Close() error {
	c.flush()
	return c.Conn.Close()
}

func TestLatencyAgreesWithTheSocket(t *testing.T) {
	const attempts = 10
	for _, connections := range []int{1, 16} {
		server := newCounting(t, hello)
		best := agreement{}
		for i := 1; ; i++ {
			socket := newTruth()
			l := run(t, Engine{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &timed{Conn: conn, truth: socket}, nil
			}}, plan(server.URL, connections, 400*time.Millisecond))
			want := socket.latencies()
			if want.Count != l.Succeeded {
				t.Fatalf("%d succeeded, the sockets saw %d", l.Succeeded, want.Count)
			}
			if best.add(l.Latency, want) {
				t.Logf("%d connections, shares of the allowed deviation after %d attempts: %v", connections, i, best)
				break
			}
			if i == attempts {
				t.Fatalf("%d connections, shares of the allowed deviation after %d attempts: %v", connections, i, best)
			}
		}
	}
}
