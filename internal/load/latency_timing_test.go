//go:build acceptance && timing && linux

package load

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/load/fast"
	"github.com/locbench/locbench/internal/testenv"
)

// delays are the known delays of a server, by index of the request.
var delays = []struct {
	name string
	of   func(n int64) time.Duration
}{
	{"constant 5 ms", func(int64) time.Duration { return 5 * time.Millisecond }},
	{"bimodal 2 and 30 ms", func(n int64) time.Duration {
		if n%8 == 0 {
			return 30 * time.Millisecond
		}
		return 2 * time.Millisecond
	}},
	{"heavy tail from 1 ms", func(n int64) time.Duration {
		// Pareto with α = 1.5, by the rank of the request in a sequence that fills (0, 1) evenly.
		_, u := math.Modf(float64(n) * math.Phi)
		return min(time.Duration(float64(time.Millisecond)/math.Pow(1-u, 1/1.5)), 200*time.Millisecond)
	}},
	{"spread over 1 to 20 ms", func(n int64) time.Duration { return time.Millisecond * time.Duration(1+n*7%20) }},
}

// stampedServer sends each response after the delay of its index. Its true latency is the time from
// the kernel's receive timestamp until just before writing the response. Only what the kernel needs
// for a packet lies between that and the client's latency; no wake-up does.
type stampedServer struct {
	url       string
	truth     atomic.Pointer[truth]
	n         atomic.Int64
	unstamped atomic.Int64 // requests without a kernel timestamp
	delay     func(n int64) time.Duration
}

func newStampedServer(t testing.TB, delay func(n int64) time.Duration) *stampedServer {
	s := &stampedServer{delay: delay}
	s.url = accepting(t, func(conn net.Conn) {
		defer conn.Close()
		s.serve(t, conn.(*net.TCPConn))
	}).url
	return s
}

func (s *stampedServer) serve(t testing.TB, conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Error(err)
		return
	}
	raw.Control(func(fd uintptr) { fast.EnableStamps(int(fd)) })
	var reader fast.StampReader
	buffer := make([]byte, 4096)
	for {
		var n int
		var at int64
		var errno syscall.Errno
		// Each request is small enough to arrive in one piece.
		err := raw.Read(func(fd uintptr) bool {
			n, at, errno = reader.Read(int32(fd), buffer)
			return errno != syscall.EAGAIN
		})
		if err != nil || errno != 0 || n == 0 {
			return
		}
		if at == 0 {
			at = time.Now().UnixNano()
			s.unstamped.Add(1)
		}
		time.Sleep(s.delay(s.n.Add(1)) - time.Duration(time.Now().UnixNano()-at)) // and more: the true time is measured
		// Before writing: afterwards the client may have the response already. It cannot have it
		// later than writing ends, as loopback delivers within the call.
		truth := s.truth.Load()
		truth.recordSince(at)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
		truth.recordMost(at)
	}
}

// keepStamping keeps a socket with timestamps open while the test runs.
func keepStamping(t *testing.T) {
	conn := testenv.Must(net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}))(t)
	t.Cleanup(func() { conn.Close() })
	raw := testenv.Must(conn.SyscallConn())(t)
	raw.Control(func(fd uintptr) { fast.EnableStamps(int(fd)) })
}

// truth collects durations measured outside the engine.
type truth struct {
	mu sync.Mutex
	h  *hdr.Histogram
	// most has the upper bound of each duration, if known: the machine may stop the measuring
	// thread between reading the clock and the event. It counts from the quantile mostFrom on.
	most     *hdr.Histogram
	mostFrom float64
}

func newTruth() *truth { return &truth{h: hdr.New(), most: hdr.New()} }

// recordSince records the time from at (ns since 1970) until now. It reads the clock under the
// lock; otherwise the wait for the lock would be in the client's value and not in this one.
func (t *truth) recordSince(at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.h.Record(time.Duration(time.Now().UnixNano() - at))
}

// recordMost records the time until now as the upper bound of the last duration.
func (t *truth) recordMost(at int64) {
	d := time.Duration(time.Now().UnixNano() - at)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most.Record(d)
}

// bounded waits until there are as many upper bounds as durations.
func (t *truth) bounded(tb testing.TB) {
	testenv.Until(tb, 10*time.Second, "the server has noted all that it has written", func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.most.Count() == t.h.Count()
	})
}

// merge adds what another one has collected.
func (t *truth) merge(h, most *hdr.Histogram) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.h.Merge(h)
	t.most.Merge(most)
}

func (t *truth) count() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.h.Count()
}

// share returns the largest distance of p50 … p99.9 from the truth, as a share of the permitted
// one: 1% or 50 µs.
func share(got bench.Latencies, want *truth) (worst float64) {
	want.mu.Lock()
	defer want.mu.Unlock()
	for q, got := range map[float64]time.Duration{0.5: got.P50, 0.75: got.P75, 0.9: got.P90, 0.95: got.P95, 0.99: got.P99, 0.999: got.P999} {
		low, high := want.h.Quantile(q), want.h.Quantile(q)
		if want.most.Count() > 0 && q >= want.mostFrom {
			high = want.most.Quantile(q)
		}
		worst = max(worst, float64(max(got-high, low-got, 0))/float64(max(high/100, 50*time.Microsecond)))
	}
	return worst
}

// An attempt measures several steps, and most must agree in all quantiles: in any one the scheduler
// may run another thread between the two clocks. A systematic error of the engine is in all of
// them.
const (
	latencySteps = 5
	latencyAgree = 3
)

// agree measures the steps of an attempt.
func agree(t testing.TB, step func() float64) error {
	var shares []float64
	agreed := 0
	for range latencySteps {
		worst := step()
		shares = append(shares, worst)
		if worst <= 1 {
			agreed++
		}
	}
	t.Logf("largest share of the allowed deviation in each step: %.2g", shares)
	if agreed < latencyAgree {
		return fmt.Errorf("%d of %d steps agreed in all quantiles; largest share of the allowed deviation in each: %.2g", agreed, latencySteps, shares)
	}
	return nil
}

func TestShareIsOfAllQuantiles(t *testing.T) {
	want := newTruth()
	for i := range 1000 {
		want.h.Record(time.Duration(i+1) * time.Millisecond)
	}
	got := want.h.Latencies()
	right := share(got, want)
	got.P50 += 4 * ms // of 500 ms
	near := share(got, want)
	got.P50 -= 104 * ms
	early := share(got, want)
	got.P50, got.P999 = got.P50+100*ms, got.P999+100*ms
	if late := share(got, want); right > 1 || near > 1 || early <= 1 || late <= 1 {
		t.Errorf("right %g, near %g, early %g, late %g", right, near, early, late)
	}
}

// The bar: p50 to p99.9 within 1% or 50 µs (on an idle machine) of the server's values, in both
// loops for Linux. In between is what the kernel does with two packets.
func TestLatencyAgreesWithTheServer(t *testing.T) {
	for _, delay := range delays {
		t.Run(delay.name, func(t *testing.T) {
			eachOf(t, loops()[:2], func(t *testing.T, e Engine) {
				// The kernel starts to stamp some time after the first socket enables it, and stops
				// after the last.
				keepStamping(t)
				testenv.Judge(t, 6, 5*time.Millisecond, func(t testing.TB) error {
					s := newStampedServer(t, delay.of)
					s.truth.Store(newTruth())
					run(t, e, plan(s.url, 2, 100*time.Millisecond))
					s.unstamped.Store(0)
					return agree(t, func() float64 {
						s.truth.Store(newTruth())
						// A bounded number: all responses are measured, without a lead-in.
						l := run(t, e, counted(s.url, 2, 200))
						want := s.truth.Load()
						want.bounded(t)
						if answered := want.count(); answered != l.AllSucceeded() {
							t.Fatalf("%d succeeded, the server answered %d", l.Succeeded, answered)
						}
						n := s.unstamped.Load()
						testenv.Need(t, n <= 0, "the kernel does not tell when %d requests came in", n)
						if l.Stamped < l.Succeeded/4 { // those of the other connection often come right after
							t.Fatalf("of %d responses the kernel reported the arrival of only %d", l.Succeeded, l.Stamped)
						}
						return share(l.Latency, want)
					})
				})
			})
		})
	}
}

// timed measures each exchange between the engine and the socket: from the call that writes the
// request to the return of the last call that reads its response. Only the engine's own accounting
// lies between that and its results, and no lock: each connection has histograms, as the engine's
// clock already runs while the last exchange is recorded.
//
// At most, an exchange lasts from the end of the last response to the start of the next request:
// the engine reads its clock in between, and the kernel may stop it before or after that.
type timed struct {
	net.Conn
	before, sent, read time.Time // the last response's end, and the exchange under way
	h, most            *hdr.Histogram
	truth              *truth
}

func newTimed(conn net.Conn, truth *truth) *timed {
	return &timed{Conn: conn, before: time.Now(), h: hdr.New(), most: hdr.New(), truth: truth}
}

func (c *timed) flush() {
	if !c.sent.IsZero() && !c.read.IsZero() {
		c.h.Record(c.read.Sub(c.sent))
		c.most.Record(time.Since(c.before))
		c.before = c.read
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
	c.truth.merge(c.h, c.most)
	c.h.Reset() // closed twice, counted once
	c.most.Reset()
	return c.Conn.Close()
}

// Only engine vegeta can use a connection that reads the clock itself;
// TestLatencyAgreesWithTheServer compares the loops for Linux with the server's timestamps.
//
// The clients and the server use all CPUs here, so the kernel also takes one away between the two
// readings of the clock, for some milliseconds each. From p90 on, where those requests are (at 16
// connections ten and more of 10,000), the engine's value may lie anywhere between the socket's and
// its upper bound. Below that it must be the socket's: an engine that counts its own work as the
// service's fails there.
func TestVegetaLatencyAgreesWithTheSocket(t *testing.T) {
	for _, connections := range []int{1, 16} {
		t.Run(fmt.Sprint(connections), func(t *testing.T) {
			testenv.Judge(t, 6, 20*time.Millisecond, func(t testing.TB) error {
				server := newServer(t, nil).listen(t)
				return agree(t, func() float64 {
					socket := newTruth()
					socket.mostFrom = 0.9
					// All exchanges of the sockets are measured, without a lead-in.
					l := run(t, Engine{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
						conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
						if err != nil {
							return nil, err
						}
						return newTimed(conn, socket), nil
					}}, counted(server.url, connections, 10_000))
					testenv.Need(t, l.Loop == bench.LoopVegeta, "the loop is %q", l.Loop)
					saw := socket.count()
					testenv.Need(t, saw == l.AllSucceeded(), "%d succeeded, the sockets saw %d", l.Succeeded, saw)
					return share(l.Latency, socket)
				})
			})
		})
	}
}
