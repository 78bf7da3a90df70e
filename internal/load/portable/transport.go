// Package portable has the loops that run everywhere: a goroutine for each connection, over
// net/http's reader for HTTP/1.1 and its connections for HTTP/2.
package portable

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// idleTime is after which a connection is looked at before it is used: the contender may have
// closed it.
const idleTime = 20 * time.Millisecond

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

// transport makes the exchanges over HTTP/1.1, each on a slot: no pipelining, no redirects, no
// retries. An exchange includes the body; its outcome is recorded here.
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
	failures int                  // dials failed in a row
	answered bool                 // it has had its first answer
	body     []byte               // of an answer that is checked; nil: it is not, or is too long
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
// wire.DialTime. It returns how many are open then.
func (t *transport) Connect(ctx context.Context) (opened int) {
	ctx, cancel := context.WithTimeout(ctx, min(wire.DialTime, t.Timeout))
	defer cancel()
	deadline := time.Now().Add(t.Timeout)
	n := len(t.slots)
	todo := make(chan *slot)
	var wg sync.WaitGroup
	for range min(wire.Dialers, n) {
		wg.Go(func() {
			for s := range todo {
				if t.reuse(s) {
					continue
				}
				// A failure is met again, and then counted, by the first request.
				_ = t.open(ctx, s, deadline)
			}
		})
	}
	for _, s := range t.slots[:n] {
		if ctx.Err() != nil {
			break
		}
		todo <- s
	}
	close(todo)
	wg.Wait()
	for _, s := range t.slots {
		if s.conn != nil {
			opened++
		}
	}
	return opened
}

// Places is the number of connections that there may be so far.
func (t *transport) Places() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.slots)
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

// exchange sends the next request of the mix on s, reads the whole answer and records what came of
// it. due, if not zero, is when it should have been sent, and held tells that it then had to wait
// for a connection. ctx bounds the opening of the connection.
func (t *transport) exchange(ctx context.Context, s *slot, due time.Time, held bool) (dialFailed bool) {
	r, out, drawn := t.Mix.Next(s.out[:0])
	s.out = out
	if s.conn != nil && !due.IsZero() && time.Since(s.last) > idleTime && gone(s.conn) {
		s.close()
	}
	began := time.Now()
	x := record.Exchange{Request: r.Index, Start: t.Recorder.At(began)}
	if !due.IsZero() {
		x.Lag = began.Sub(due)
	}
	t.starts(x, held)
	deadline := began.Add(t.Timeout)
	var err error
	if s.conn == nil {
		if err = t.open(ctx, s, deadline); err == nil {
			t.connected()
		}
		dialFailed = err != nil
	} else if !t.HTTP2 {
		err = s.conn.SetDeadline(deadline)
	}
	// Between SetDeadline and here cut may have come; if it comes later, it sets the deadline
	// itself.
	if err == nil && t.cutNow.Load() {
		err = context.Canceled
	}
	s.body = nil
	if drawn.Check {
		s.body = []byte{}
	}
	keep := false
	if err == nil {
		keep, err = t.ask(ctx, s, r, &x, deadline)
	}
	s.last = time.Now()
	x.End = t.Recorder.At(s.last)
	x.Read = x.End
	if !keep {
		s.close()
	}
	switch {
	case err != nil && t.cutNow.Load():
		t.cutOff(x)
		return false
	case err != nil:
		// It overrides an unwanted status.
		x.Kind, x.Example = wire.Classify(err), wire.Example(err.Error())
	case x.Kind == "" && s.body != nil:
		x.Checked, x.Kind, x.Example = t.Mix.Verdict(r, drawn, s.body)
	}
	t.ended(s, x)
	return dialFailed
}

// starts counts a request as sent.
func (t *transport) starts(x record.Exchange, held bool) {
	t.counters.Lock()
	defer t.counters.Unlock()
	t.count(x.Start, 1)
	if t.Recorder.Open {
		t.counters.SendDue(t.Recorder.Phase(x.Start), x.Lag, held)
	} else {
		t.counters.Sent++
	}
}

// ended counts an exchange on s.
func (t *transport) ended(s *slot, x record.Exchange) {
	t.counters.Lock()
	defer t.counters.Unlock()
	t.count(x.End, -1)
	t.counters.Record(&t.Recorder.Interval, x)
	if t.Recorder.Open || !s.answered {
		s.answered = true
		t.Recorder.Answered(x.End, time.Duration(x.End-x.Start), t.Timeout)
	}
}

// cutOff counts an exchange that the end of ctx has cut off.
func (t *transport) cutOff(x record.Exchange) {
	t.counters.Lock()
	defer t.counters.Unlock()
	t.count(x.End, -1)
	t.counters.CutOff(&t.Recorder.Interval, x.Start, x.End)
}

// count takes in that from now on more requests are in flight. The caller holds the lock of the
// counters.
func (t *transport) count(now int64, more int) {
	t.counters.InFlight(&t.Recorder.Interval, now, t.flying)
	t.flying += more
	if !t.counted && t.Recorder.Stopped() {
		t.counted = true
		t.counters.Backlog = int64(t.flying - more)
	}
}

func (t *transport) connected() {
	t.counters.Lock()
	defer t.counters.Unlock()
	t.counters.Opened++
}

// ask sends the request in s.out and reads its answer.
func (t *transport) ask(ctx context.Context, s *slot, r *workload.Request, x *record.Exchange, deadline time.Time) (keep bool, err error) {
	if t.HTTP2 {
		return t.exchange2(ctx, s, r, x, deadline)
	}
	if _, err := s.conn.Write(s.out); err != nil {
		return false, err
	}
	return s.answer(r.Asked, r.Status, x)
}

// ReadAnswer reads one answer to req as the loops do, with what they record of it; keep is whether
// the connection could be used again.
func ReadAnswer(in io.Reader, req *http.Request, want int) (x record.Exchange, keep bool, err error) {
	limit := &limitedReader{r: in}
	s := &slot{limit: limit, br: bufio.NewReader(limit)}
	keep, err = s.answer(req, want, &x)
	return x, keep, err
}

// answer reads the answer to req. A status other than want is put into x; an incomplete answer is
// an error.
func (s *slot) answer(req *http.Request, want int, x *record.Exchange) (keep bool, err error) {
	var resp *http.Response
	for i := 0; ; i++ {
		s.limit.n = wire.MaxHead
		resp, err = http.ReadResponse(s.br, req)
		if err != nil {
			return false, s.limit.cause(err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		if i == wire.MaxInterim {
			return false, fmt.Errorf("more than %d interim answers", wire.MaxInterim)
		}
	}
	// A body may be of any length: the time-out bounds it and nothing of it is kept.
	s.limit.n = math.MaxInt64
	n := 0
	if resp.StatusCode != want {
		n, err = readSome(resp.Body, s.sample[:])
		x.Kind, x.Example = wire.Class(resp.StatusCode), wire.Example(strings.TrimSpace(resp.Status+" "+string(s.sample[:n])))
	}
	if err == nil && s.body != nil && n == 0 {
		s.body, err = io.ReadAll(io.LimitReader(resp.Body, workload.MaxChecked+1))
		if n = len(s.body); n > workload.MaxChecked {
			s.body = nil
		}
	}
	if err == nil {
		x.Bytes, err = io.Copy(io.Discard, resp.Body)
		x.Bytes += int64(n)
	}
	if err != nil && err != io.EOF {
		return false, wire.BodyError{Err: s.limit.cause(err)}
	}
	// Bytes that nobody asked for make the next answer unreadable.
	return !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols && s.br.Buffered() == 0, nil
}

// readSome fills p as far as the body goes. Unlike io.ReadFull it keeps apart the end of the body
// (io.EOF) and its being cut short, which the body tells only once.
func readSome(body io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = body.Read(p[n:])
		n += m
	}
	return n, err
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
		secure := tls.Client(conn, t.Target.TLS)
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

// limitedReader fails once n bytes have been read; n is set anew for each part of an answer. It
// keeps the error that ended the reading, since parsers tell a connection that ended too early as
// one mistake or another of syntax.
type limitedReader struct {
	r   io.Reader
	n   int64
	err error
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.n <= 0 {
		l.err = fmt.Errorf("headers of the answer over %d bytes", wire.MaxHead)
		return 0, l.err
	}
	if int64(len(p)) > l.n {
		p = p[:l.n]
	}
	n, err := l.r.Read(p)
	l.n -= int64(n)
	l.err = err
	return n, err
}

// cause is the error of the connection behind what a parser made of it, or that of the parser.
func (l *limitedReader) cause(err error) error {
	switch l.err {
	case nil:
		return err
	case io.EOF:
		return wire.ErrClosed
	}
	return l.err
}
