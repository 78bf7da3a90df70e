// Package portable has the engine that runs on every system: vegeta's Attacker, whose workers send
// through a RoundTripper with exact times, the reader of http1 and net/http's connections for
// HTTP/2. It also times single requests phase by phase.
package portable

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

// Config is what New makes a loop from.
type Config struct {
	Target      wire.Target
	Step        bench.Step
	Connections int           // the maximum in an open loop
	Timeout     time.Duration // timeout of one request
	DialTime    time.Duration // for opening all connections before the clock starts
	HTTP2       bool
	Mix         *workload.Mix
	Recorder    *record.Recorder
	Keep        *wire.Kept // nil: connections are closed after the step
	KeepAll     bool       // keep each response whole
	// Dial opens connections; nil is a plain net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Sleep sleeps until a request is scheduled, for a few milliseconds at most; nil is the most
	// exact way of this system, in real time.
	Sleep func(time.Duration)
}

// Loop makes exchanges, each on a slot, and records their results: no pipelining. After a redirect
// comes an exchange like any other. An exchange includes the body.
type Loop struct {
	conf           Config
	rec            *record.Recorder
	counters       *record.Counters // counters of all connections
	inFlight       int              // requests in flight; guarded by the lock of the counters
	backlogCounted bool             // the backlog has been counted; guarded by the lock of the counters
	open           *openPacer       // nil in a closed loop
	ctx            context.Context  // of Run
	base           string           // URL of the contender without a path

	mu     sync.Mutex // guards the two lists
	slots  []*slot
	unused []*slot // last in, first out, to use few connections

	cutNow atomic.Bool
}

// New makes the loop of a step.
func New(c Config) *Loop {
	l := &Loop{conf: c, rec: c.Recorder, counters: c.Recorder.NewCounters()}
	l.base = (&url.URL{Scheme: c.Target.Scheme(), Host: c.Target.Address}).String() // escapes the zone of an address
	n := c.Connections
	if c.Step.Open() {
		n = workload.InitialConnections(c.Step, n)
	}
	for range n {
		l.add()
	}
	l.unused = slices.Clone(l.slots)
	slices.Reverse(l.unused)
	if c.Step.Open() {
		l.open = newOpenPacer(l)
	}
	return l
}

// add makes one more slot.
func (l *Loop) add() *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &slot{index: len(l.slots)}
	l.slots = append(l.slots, s)
	return s
}

// key returns the name under which connections are kept.
func (l *Loop) key() string {
	how := "TCP"
	if l.conf.HTTP2 {
		how = "HTTP/2"
	} else if l.conf.Target.TLS != nil {
		how = "TLS"
	}
	return how + " to " + l.conf.Target.Address
}

// Connect opens the connections before the clock starts, as far as possible within DialTime. The
// later connections of a ramp open when they start: a contender may close an unused connection.
func (l *Loop) Connect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.conf.DialTime)
	defer cancel()
	deadline := time.Now().Add(l.conf.Timeout)
	todo := make(chan *slot)
	var wg sync.WaitGroup
	for range min(wire.Dialers, len(l.slots)) {
		wg.Go(func() {
			for s := range todo {
				// The first request meets a failure again, and only then is it counted.
				s.opened = wire.Opened(l.connect(ctx, s, deadline))
			}
		})
	}
	for i, s := range l.slots {
		if ctx.Err() != nil {
			break
		}
		if !l.reuse(s) && l.rec.BeginsEarly(i) {
			todo <- s
		}
	}
	close(todo)
	wg.Wait()
}

// Cut ends all exchanges in flight on open connections. Those being opened end with the context of
// exchange.
func (l *Loop) Cut() {
	l.cutNow.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.slots {
		s.mu.Lock()
		if s.conn != nil {
			_ = s.conn.SetDeadline(time.Unix(1, 0))
		}
		s.mu.Unlock()
	}
}

// reuse gives s a kept connection, if there is one.
func (l *Loop) reuse(s *slot) bool {
	for {
		conn, ok := l.conf.Keep.Take(l.key()).(net.Conn)
		if !ok {
			return false
		}
		if watch(conn)() {
			conn.Close()
			continue
		}
		s.use(conn)
		s.opened = true
		return true
	}
}

// Close closes all connections, or keeps them for the next step. Call it when nothing is in flight.
func (l *Loop) Close() {
	for _, s := range l.slots {
		s.mu.Lock()
		if s.conn != nil && l.conf.Keep != nil && !l.cutNow.Load() {
			l.conf.Keep.Put(l.key(), s.conn)
			s.conn = nil
		}
		s.mu.Unlock()
		s.close()
	}
}

func (l *Loop) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l.conf.Dial != nil {
		return l.conf.Dial(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// connect opens a connection, with a TLS handshake if the contender uses TLS.
func (l *Loop) connect(ctx context.Context, s *slot, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if l.conf.HTTP2 {
		conn, err := l.connectHTTP2(ctx)
		if err == nil {
			s.use(conn)
		}
		return err
	}
	conn, err := l.dial(ctx, "tcp", l.conf.Target.Address)
	if err == nil && l.conf.Target.TLS != nil {
		conn, err = handshake(ctx, conn, l.conf.Target.TLS)
	}
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(deadline); err != nil {
		conn.Close()
		return err
	}
	s.use(conn)
	return nil
}

// underTLS is the connection under TLS.
type underTLS struct {
	net.Conn
	noWait bool // Read does not wait; see goneTLS
}

// handshake returns TLS over conn. If the handshake fails, it closes conn.
func handshake(ctx context.Context, conn net.Conn, c *tls.Config) (net.Conn, error) {
	secure := tls.Client(&underTLS{Conn: conn}, c)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return secure, nil
}
