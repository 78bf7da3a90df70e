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

// recordSince takes in the time from at (of the Unix epoch, in ns) until now. Now is read under the lock, since who waits for it would
// else have its wait in the client's figure and not in this one.
func (t *truth) recordSince(at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.h.Record(time.Duration(time.Now().UnixNano() - at))
}

// merge takes in what another one has collected.
func (t *truth) merge(h *hdr.Histogram) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.h.Merge(h)
}

func (t *truth) count() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.h.Count()
}

// agreement finds out whether p50 … p99.9 are within 1 % or 50 µs of the truth (times slack). On a machine with other work to do, any
// attempt may meet a stall between the two clocks, so the best attempt counts for each quantile. A systematic error is in
// all of them.
type agreement map[float64]float64

// add takes in one attempt and tells whether all quantiles have agreed by now. The share moved of all requests, but never more than a tenth of
// those beyond a quantile, may be on the one side of it by the truth and on the other by the engine.
func (a agreement) add(got bench.Latencies, want *truth, moved float64) bool {
	want.mu.Lock()
	defer want.mu.Unlock()
	agreed := true
	for q, got := range map[float64]time.Duration{0.5: got.P50, 0.75: got.P75, 0.9: got.P90, 0.95: got.P95, 0.99: got.P99, 0.999: got.P999} {
		moved := min(moved, (1-q)/10)
		low, high := want.h.Quantile(q-moved), want.h.Quantile(q+moved)
		allowed := slack * max(high/100, 50*time.Microsecond)
		share := float64(max(got-high, low-got, 0)) / float64(allowed)
		if best, ok := a[q]; !ok || share < best {
			a[q] = share
		}
		agreed = agreed && a[q] <= 1
	}
	return agreed
}

// timed measures each exchange at the border between the engine and the socket: from the call that writes the request to the
// return of the last call that reads its answer. Nothing but the engine's own accounting lies between that and its figures, and
// no lock: each connection has a histogram of its own, since the engine's clock runs already while the last exchange is put down.
type timed struct {
	net.Conn
	sent, read time.Time
	h          *hdr.Histogram
	truth      *truth
}

func (c *timed) flush() {
	if !c.sent.IsZero() && !c.read.IsZero() {
		c.h.Record(c.read.Sub(c.sent))
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
	c.truth.merge(c.h)
	c.h.Reset() // closed twice, counted once
	return c.Conn.Close()
}

// The clients and the server use all CPUs here, so that the kernel takes one away between the two readings of the clock too, for some
// milliseconds each: at p99, where such a request is ten times as slow as its neighbours, one in a thousand moves it by more than 1 %.
func TestLatencyAgreesWithTheSocket(t *testing.T) {
	const attempts, moved = 10, 0.001
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
				return &timed{Conn: conn, h: hdr.New(), truth: socket}, nil
			}}, plan(server.URL, connections, 400*time.Millisecond))
			if saw := socket.count(); saw != l.AllSucceeded() {
				t.Fatalf("%d succeeded, the sockets saw %d", l.Succeeded, saw)
			}
			if best.add(l.Latency, socket, moved) {
				t.Logf("%d connections, shares of the allowed deviation after %d attempts: %v", connections, i, best)
				break
			}
			if i == attempts {
				t.Fatalf("%d connections, shares of the allowed deviation after %d attempts: %v", connections, i, best)
			}
		}
	}
}
