package load

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxHead    = 1 << 20 // bytes of status line and headers of an answer; the contender is hostile
	maxInterim = 8       // 1xx answers before the real one
	dialers    = 64      // connections being opened at the same time before the step
	dialTime   = 3 * time.Second
	idleTime   = 20 * time.Millisecond // after which a connection is looked at before it is used: the contender may have closed it
)

// transport makes the exchanges over HTTP/1.1, each on a slot: no pipelining, no redirects, no retries. An exchange includes
// the body; its outcome is recorded here.
type transport struct {
	engine  Engine
	network target
	http2   bool
	timeout time.Duration
	mix     *mix
	rec     *recorder
	account *account // of all connections
	flying  int      // requests in flight; its lock is the account's

	mu    sync.Mutex // guards the list
	slots []*slot

	cutNow atomic.Bool
}

// target is what connections are opened to.
type target struct {
	address string      // host:port
	tls     *tls.Config // nil: in clear
}

func (t target) scheme() string {
	if t.tls != nil {
		return "https"
	}
	return "http"
}

// slot is the place of one connection, which is opened anew when it has been closed.
type slot struct {
	mu       sync.Mutex // guards conn against cut
	conn     net.Conn   // nil: not open
	limit    *limitedReader
	br       *bufio.Reader
	out      []byte    // the request
	sample   [120]byte // the start of the body of an unwanted answer
	failures int       // dials failed in a row
	answered bool      // it has had its first answer
	body     []byte    // of the answer where it is to be checked; nil: it is not, or too long
	last     time.Time // when the last exchange ended
}

// newTransport makes the transport with slots for connections.
func newTransport(e Engine, plan Plan, m *mix, rec *recorder, connections int) *transport {
	t := &transport{
		engine: e, network: newTarget(e, plan), timeout: plan.Timeout, mix: m, rec: rec, http2: plan.HTTP2, account: newAccount(rec.open, m),
	}
	rec.accounts = append(rec.accounts, t.account)
	for range connections {
		t.add()
	}
	return t
}

func newTarget(e Engine, plan Plan) (t target) {
	// newMix has seen that it parses.
	base, _ := url.Parse(plan.BaseURL)
	port := base.Port()
	if base.Scheme == "https" {
		config := e.TLS.Clone()
		if config == nil {
			config = &tls.Config{}
		}
		if config.ServerName == "" {
			config.ServerName = base.Hostname()
		}
		config.NextProtos = []string{"http/1.1"}
		if plan.HTTP2 {
			config.NextProtos = nil // net/http adds it
		}
		t.tls = config
		if port == "" {
			port = "443"
		}
	} else if port == "" {
		port = "80"
	}
	t.address = net.JoinHostPort(base.Hostname(), port)
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
	if t.http2 {
		return "HTTP/2 to " + t.network.address
	}
	if t.network.tls != nil {
		return "TLS to " + t.network.address
	}
	return "TCP to " + t.network.address
}

// connect opens the connections before the clock starts, as far as that is possible within dialTime. It returns
// how many are open then.
func (t *transport) connect(ctx context.Context) (opened int) {
	ctx, cancel := context.WithTimeout(ctx, min(dialTime, t.timeout))
	defer cancel()
	deadline := time.Now().Add(t.timeout)
	n := len(t.slots)
	todo := make(chan *slot)
	var wg sync.WaitGroup
	for range min(dialers, n) {
		wg.Go(func() {
			for s := range todo {
				if t.adopt(s) {
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

func (t *transport) places() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.slots)
}

// cut ends all exchanges in flight on open connections; those still being opened end with the context of exchange.
func (t *transport) cut() {
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

// adopt lets s have a connection that has been kept.
func (t *transport) adopt(s *slot) bool {
	for {
		conn, ok := t.engine.Keep.take(t.key()).(net.Conn)
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

// close closes all connections, or keeps them for the next step; call it when all is drained.
func (t *transport) close() {
	for _, s := range t.slots {
		s.mu.Lock()
		if s.conn != nil && t.engine.Keep != nil && !t.cutNow.Load() {
			t.engine.Keep.put(t.key(), s.conn)
			s.conn = nil
		}
		s.mu.Unlock()
		s.close()
	}
}

// exchange sends the next request of the mix on s, reads the whole answer and records what came of it. due, if not zero, is
// when it should have been sent, and held tells that it then had to wait for a connection. ctx bounds the opening of the
// connection.
func (t *transport) exchange(ctx context.Context, s *slot, due time.Time, held bool) (dialFailed bool) {
	r, out, drawn := t.mix.next(s.out[:0])
	s.out = out
	if s.conn != nil && !due.IsZero() && time.Since(s.last) > idleTime && gone(s.conn) {
		s.close()
	}
	began := time.Now()
	x := exchange{request: r, start: int64(began.Sub(t.rec.started))}
	if !due.IsZero() {
		x.lag = began.Sub(due)
	}
	t.starts(x, held)
	deadline := began.Add(t.timeout)
	var err error
	if s.conn == nil {
		if err = t.open(ctx, s, deadline); err == nil {
			t.connected()
		}
		dialFailed = err != nil
	} else if !t.http2 {
		err = s.conn.SetDeadline(deadline)
	}
	// Between SetDeadline and here cut may have come; if it comes later, it sets the deadline itself.
	if err == nil && t.cutNow.Load() {
		err = context.Canceled
	}
	s.body = nil
	if drawn.check {
		s.body = []byte{}
	}
	keep := false
	if err == nil {
		keep, err = t.ask(ctx, s, r, &x, deadline)
	}
	s.last = time.Now()
	x.end = int64(s.last.Sub(t.rec.started))
	x.read = x.end
	if !keep {
		s.close()
	}
	switch {
	case err != nil && t.cutNow.Load():
		t.cutOff(x)
		return false
	case err != nil:
		// It overrides an unwanted status.
		x.kind, x.example = classify(err), bound(err.Error())
	case x.kind == "" && s.body != nil:
		x.checked, x.kind, x.example = t.mix.verdict(r, drawn, s.body)
	}
	t.ended(s, x)
	return dialFailed
}

// starts counts a request as sent.
func (t *transport) starts(x exchange, held bool) {
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	t.count(x.start, 1)
	if t.rec.open {
		t.account.sends(t.rec.interval.of(x.start), x.lag, held)
	} else {
		t.account.sent++
	}
}

// ended counts an exchange on s.
func (t *transport) ended(s *slot, x exchange) {
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	t.count(x.end, -1)
	t.account.record(&t.rec.interval, x)
	if t.rec.open || !s.answered {
		s.answered = true
		t.rec.answered(x.end, time.Duration(x.end-x.start), t.timeout)
	}
}

// cutOff counts an exchange that the end of ctx has cut off.
func (t *transport) cutOff(x exchange) {
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	t.count(x.end, -1)
	t.account.cut++
	t.account.shared += t.rec.interval.overlap(x.start, x.end)
}

// count takes in that from now on more requests are in flight. The caller holds the account's lock.
func (t *transport) count(now int64, more int) {
	t.account.addInFlight(&t.rec.interval, now, t.flying)
	t.flying += more
	if t.account.backlog < 0 && t.rec.end.Load() > 0 {
		t.account.backlog = int64(t.flying - more)
	}
}

func (t *transport) connected() {
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	t.account.opened++
}

// ask sends the request in s.out and reads its answer.
func (t *transport) ask(ctx context.Context, s *slot, r *request, x *exchange, deadline time.Time) (keep bool, err error) {
	if t.http2 {
		return t.exchange2(ctx, s, r, x, deadline)
	}
	if _, err := s.conn.Write(s.out); err != nil {
		return false, err
	}
	return s.answer(r.asked, r.status, x)
}

// answer reads the answer to req. A status other than want is put into x; an incomplete answer is an error.
func (s *slot) answer(req *http.Request, want int, x *exchange) (keep bool, err error) {
	var resp *http.Response
	for i := 0; ; i++ {
		s.limit.n = maxHead
		resp, err = http.ReadResponse(s.br, req)
		if err != nil {
			return false, s.limit.cause(err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		if i == maxInterim {
			return false, fmt.Errorf("more than %d interim answers", maxInterim)
		}
	}
	// A body may be of any length: the time-out bounds it and nothing of it is kept.
	s.limit.n = math.MaxInt64
	n := 0
	if resp.StatusCode != want {
		n, err = readSome(resp.Body, s.sample[:])
		x.kind, x.example = class(resp.StatusCode), bound(strings.TrimSpace(resp.Status+" "+string(s.sample[:n])))
	}
	if err == nil && s.body != nil && n == 0 {
		s.body, err = io.ReadAll(io.LimitReader(resp.Body, maxChecked+1))
		if n = len(s.body); n > maxChecked {
			s.body = nil
		}
	}
	if err == nil {
		x.bytes, err = io.Copy(io.Discard, resp.Body)
		x.bytes += int64(n)
	}
	if err != nil && err != io.EOF {
		return false, bodyError{s.limit.cause(err)}
	}
	// Bytes that nobody asked for make the next answer unreadable.
	return !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols && s.br.Buffered() == 0, nil
}

// readSome fills p as far as the body goes. Unlike io.ReadFull it keeps apart the end of the body (io.EOF) and its being cut
// short, which the body tells only once.
func readSome(body io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = body.Read(p[n:])
		n += m
	}
	return n, err
}

func (t *transport) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if t.engine.Dial != nil {
		return t.engine.Dial(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// open dials, and shakes hands where the contender speaks TLS.
func (t *transport) open(ctx context.Context, s *slot, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if t.http2 {
		conn, err := t.open2(ctx)
		if err == nil {
			s.use(conn)
		}
		return err
	}
	conn, err := t.dial(ctx, "tcp", t.network.address)
	if err != nil {
		return err
	}
	if t.network.tls != nil {
		secure := tls.Client(conn, t.network.tls)
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
	s.limit = &limitedReader{r: conn, n: maxHead}
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

// limitedReader fails once n bytes have been read; n is set anew for each part of an answer. It keeps the error that ended
// the reading, since parsers tell a connection that ended too early as one mistake or another of syntax.
type limitedReader struct {
	r   io.Reader
	n   int64
	err error
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.n <= 0 {
		l.err = fmt.Errorf("headers of the answer over %d bytes", maxHead)
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

// The ends of a connection before those of an answer.
var (
	errClosed       = fmt.Errorf("the contender closed the connection before the whole answer was there: %w", io.ErrUnexpectedEOF)
	errClosedInBody = bodyError{errClosed}
)

// cause is the error of the connection behind what a parser made of it, or that of the parser.
func (l *limitedReader) cause(err error) error {
	switch l.err {
	case nil:
		return err
	case io.EOF:
		return errClosed
	}
	return l.err
}
