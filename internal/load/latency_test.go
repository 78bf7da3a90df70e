package load

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
	"locbench/internal/testenv"
)

// truth collects durations that somebody else than the engine has measured.
type truth struct {
	mu sync.Mutex
	h  *hdr.Histogram
	// most has what each can have been at most, where that is known: the machine may stop who
	// measures between the reading of the clock and what it is the time of.
	most *hdr.Histogram
}

func newTruth() *truth { return &truth{h: hdr.New(), most: hdr.New()} }

// recordSince takes in the time from at (of the Unix epoch, in ns) until now. Now is read under the
// lock, since who waits for it would else have its wait in the client's figure and not in this one.
func (t *truth) recordSince(at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.h.Record(time.Duration(time.Now().UnixNano() - at))
}

// recordMost takes in the time until now as what the last one can have been at most.
func (t *truth) recordMost(at int64) {
	d := time.Duration(time.Now().UnixNano() - at)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most.Record(d)
}

// bounded waits until as many upper bounds are known as durations.
func (t *truth) bounded(tb testing.TB) {
	testenv.Until(tb, 10*time.Second, "the server has noted all that it has written", func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.most.Count() == t.h.Count()
	})
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

// agreement finds out whether p50 … p99.9 are within 1 % or 50 µs of the truth (times slack). On a
// machine with other work to do, any attempt may meet a stall between the two clocks, so several
// are made; each counts as a whole. A systematic error of the engine is in all of them: it fails
// the test however many there are. That every attempt agrees is not proved, and cannot be on a
// machine with other work.
type agreement struct {
	full   int       // attempts in which all quantiles agreed
	worsts []float64 // of each attempt, the largest share of the allowed deviation
}

// wanted is how many attempts have to agree in all quantiles.
const wanted = 3

// add takes in one attempt, and says whether enough have agreed by now. The share moved of all
// requests, but never more than a tenth of those beyond a quantile, may be on the one side of it by
// the truth and on the other by the engine.
func (a *agreement) add(got bench.Latencies, want *truth, moved float64) bool {
	want.mu.Lock()
	defer want.mu.Unlock()
	worst := 0.
	for q, got := range map[float64]time.Duration{0.5: got.P50, 0.75: got.P75, 0.9: got.P90, 0.95: got.P95, 0.99: got.P99, 0.999: got.P999} {
		moved := min(moved, (1-q)/10)
		low, high := want.h.Quantile(q-moved), want.h.Quantile(q+moved)
		if want.most.Count() > 0 {
			high = want.most.Quantile(q + moved)
		}
		allowed := slack * max(high/100, 50*time.Microsecond)
		worst = max(worst, float64(max(got-high, low-got, 0))/float64(allowed))
	}
	a.worsts = append(a.worsts, worst)
	if worst <= 1 {
		a.full++
	}
	return a.full >= wanted
}

// String is how near the attempts came.
func (a *agreement) String() string {
	return fmt.Sprintf("%d of %d attempts agreed in all quantiles; largest share of the allowed deviation in each: %.2g", a.full, len(a.worsts), a.worsts)
}

func TestAgreementIsOfOneAttempt(t *testing.T) {
	want := newTruth()
	for i := range 1000 {
		want.h.Record(time.Duration(i+1) * time.Millisecond)
	}
	right := want.h.Latencies()
	early, late := right, right
	early.P50 += 100 * time.Millisecond
	late.P999 += 100 * time.Millisecond
	var a agreement
	for range 10 { // each quantile agrees in one of the two, but never all in one
		if a.add(early, want, 0) || a.add(late, want, 0) {
			t.Fatal("quantiles of several attempts were put together")
		}
	}
	for i := range wanted {
		if a.add(right, want, 0) != (i == wanted-1) {
			t.Fatalf("after %d attempts that agree", i+1)
		}
	}
}

// timed measures each exchange at the border between the engine and the socket: from the call that
// writes the request to the return of the last call that reads its answer. Nothing but the engine's
// own accounting lies between that and its figures, and no lock: each connection has a histogram of
// its own, since the engine's clock runs already while the last exchange is put down.
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

// The portable loop alone can be given a connection that looks at the clock by itself; what the
// loops of Linux see is held against the server's stamps in TestLatencyAgreesWithTheServer.
//
// The clients and the server use all CPUs here, so that the kernel takes one away between the two
// readings of the clock too, for some milliseconds each: at p99, where such a request is ten times
// as slow as its neighbours, one in a thousand moves it by more than 1 %.
func TestPortableLatencyAgreesWithTheSocket(t *testing.T) {
	const attempts, moved = 40, 0.001
	for _, connections := range []int{1, 16} {
		server := newCounting(t, hello)
		var all agreement
		for i := 1; ; i++ {
			socket := newTruth()
			p := plan(server.URL, connections, time.Minute)
			p.Step.MaxRequests = 10_000 // all that the sockets see is measured, without a lead-in
			l := run(t, Engine{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &timed{Conn: conn, h: hdr.New(), truth: socket}, nil
			}}, p)
			if l.Loop != "portable" {
				t.Fatalf("the loop is %q", l.Loop)
			}
			if saw := socket.count(); saw != l.AllSucceeded() {
				t.Fatalf("%d succeeded, the sockets saw %d", l.Succeeded, saw)
			}
			if all.add(l.Latency, socket, moved) {
				t.Logf("%d connections: %s", connections, &all)
				break
			}
			if i == attempts {
				t.Fatalf("%d connections: %s", connections, &all)
			}
		}
	}
}
