// Package portable has the loops that run everywhere: a goroutine for each connection, over
// net/http's reader for HTTP/1.1 and its connections for HTTP/2.
package portable

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// Config is what a loop works with.
type Config struct {
	Target   wire.Target
	Step     bench.Step
	Timeout  time.Duration // of one request
	HTTP2    bool
	Rate     func() float64 // changes the rate of an open loop; may be nil
	Mix      *workload.Mix
	Recorder *record.Recorder
	Keep     *wire.Kept // nil: connections are closed with the step
	// Dial opens connections; nil is a plain net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Sleep waits until a request is due, for a few milliseconds at most; nil is what is most exact
	// on this system, in real time.
	Sleep func(time.Duration)
}

// transport makes the exchanges over HTTP/1.1, each on a slot: no pipelining, no redirects. An
// exchange includes the body; its outcome is recorded here.
type transport struct {
	Config
	counters *record.Counters // of all connections
	flying   int              // requests in flight; its lock is that of the counters
	counted  bool             // the backlog is; likewise

	mu    sync.Mutex // guards the list
	slots []*slot

	cutNow atomic.Bool
}

// slot is the place of one connection, which is opened anew when it has been closed.
type slot struct {
	mu       sync.Mutex // guards conn against cut
	conn     net.Conn   // nil: not open
	limit    *limitedReader
	br       *bufio.Reader
	out      []byte               // the request
	sample   [wire.MaxSample]byte // the start of the body of an unwanted answer
	ever     bool                 // it has been open
	failures int                  // dials failed in a row
	answered bool                 // it has had its first answer
	body     []byte               // of an answer that is checked; nil: it is not, or is too long
	gaveUp   bool                 // the contender has, waiting for a request
	last     time.Time            // when the last exchange ended
}

// newTransport makes the transport with slots for connections.
func newTransport(c Config, connections int) *transport {
	t := &transport{Config: c, counters: c.Recorder.NewCounters()}
	for range connections {
		t.add()
	}
	return t
}

// add makes one more slot.
func (t *transport) add() *slot {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &slot{}
	t.slots = append(t.slots, s)
	return s
}

// key is the name under which connections are kept.
func (t *transport) key() string {
	if t.HTTP2 {
		return "HTTP/2 to " + t.Target.Address
	}
	if t.Target.TLS != nil {
		return "TLS to " + t.Target.Address
	}
	return "TCP to " + t.Target.Address
}

// Connect opens the connections before the clock starts, as far as that is possible within
// wire.DialTime. The later connections of a ramp are opened when they begin: a contender need not
// keep a connection that is not used.
func (t *transport) Connect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(wire.DialTime, t.Timeout))
	defer cancel()
	deadline := time.Now().Add(t.Timeout)
	todo := make(chan *slot)
	var wg sync.WaitGroup
	for range min(wire.Dialers, len(t.slots)) {
		wg.Go(func() {
			for s := range todo {
				// A failure is met again, and then counted, by the first request.
				s.ever = wire.Opened(t.open(ctx, s, deadline))
			}
		})
	}
	for i, s := range t.slots {
		if ctx.Err() != nil {
			break
		}
		if !t.reuse(s) && t.Recorder.BeginsEarly(i) {
			todo <- s
		}
	}
	close(todo)
	wg.Wait()
}

// Cut ends all exchanges in flight on open connections; those still being opened end with the
// context of exchange.
func (t *transport) Cut() {
	t.cutNow.Store(true)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.slots {
		s.mu.Lock()
		if s.conn != nil {
			_ = s.conn.SetDeadline(time.Unix(1, 0))
		}
		s.mu.Unlock()
	}
}

// reuse lets s have a connection that has been kept.
func (t *transport) reuse(s *slot) bool {
	for {
		conn, ok := t.Keep.Take(t.key()).(net.Conn)
		if !ok {
			return false
		}
		if gone(conn) {
			conn.Close()
			continue
		}
		s.use(conn)
		s.ever = true
		return true
	}
}

// Close closes all connections, or keeps them for the next step; call it when all is drained.
func (t *transport) Close() {
	for _, s := range t.slots {
		s.mu.Lock()
		if s.conn != nil && t.Keep != nil && !t.cutNow.Load() {
			t.Keep.Put(t.key(), s.conn)
			s.conn = nil
		}
		s.mu.Unlock()
		s.close()
	}
}

func (t *transport) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if t.Dial != nil {
		return t.Dial(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// open dials, and shakes hands where the contender speaks TLS.
func (t *transport) open(ctx context.Context, s *slot, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if t.HTTP2 {
		conn, err := t.open2(ctx)
		if err == nil {
			s.use(conn)
		}
		return err
	}
	conn, err := t.dial(ctx, "tcp", t.Target.Address)
	if err != nil {
		return err
	}
	if t.Target.TLS != nil {
		secure := tls.Client(&below{Conn: conn}, t.Target.TLS)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return fmt.Errorf("TLS handshake: %w", err)
		}
		conn = secure
	}
	if err := conn.SetDeadline(deadline); err != nil {
		conn.Close()
		return err
	}
	s.use(conn)
	return nil
}

// below is the connection below TLS.
type below struct {
	net.Conn
	atOnce bool // it reads without waiting; see gone
}

// use lets s have an open connection.
func (s *slot) use(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
	s.limit = &limitedReader{r: conn, n: wire.MaxHead}
	if s.br == nil {
		s.br = bufio.NewReader(s.limit)
	} else {
		s.br.Reset(s.limit)
	}
}

func (s *slot) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}
