package phases

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/wire"
	"locbench/internal/safe"
)

// Bounds on answers, which are hostile; others are those of package wire.
const (
	maxBody  = 64 << 20 // bytes
	maxError = 300      // bytes of a reason
)

// line is an open connection.
type line struct {
	conn  net.Conn
	in    *bufio.Reader
	bound *io.LimitedReader
	first time.Time // when the first byte after await came
}

// Read notes when the first byte comes.
func (l *line) Read(p []byte) (int, error) {
	n, err := l.conn.Read(p)
	if n > 0 && l.first.IsZero() {
		l.first = time.Now()
	}
	return n, err
}

// clock divides a time into phases: each reading ends one.
type clock struct{ began, last time.Time }

// lap is the time since the last reading.
func (c *clock) lap(now time.Time) time.Duration {
	d := now.Sub(c.last)
	c.last = now
	return d
}

// ask makes one request. The error is ctx's.
func (a *asker) ask(ctx context.Context) (bench.RequestPhases, error) {
	req, err := a.request()
	if err != nil {
		return bench.RequestPhases{}, err
	}
	var raw bytes.Buffer
	if err := req.Write(&raw); err != nil {
		return bench.RequestPhases{}, fmt.Errorf("request %q: %w", a.plan.Request.Name, err)
	}
	own, cancel := context.WithTimeout(ctx, a.plan.Timeout)
	defer cancel()
	now := time.Now()
	c := &clock{began: now, last: now}
	var r bench.RequestPhases
	err = a.exchange(own, c, &r, req, raw.Bytes())
	r.Total = c.last.Sub(c.began)
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err != nil {
		a.close()
		r.Err = reason(err)
	}
	return r, nil
}

func reason(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	return safe.Line(err.Error(), maxError)
}

// exchange fills in r as far as the request comes; whatever phase it fails in ends with that.
func (a *asker) exchange(ctx context.Context, c *clock, r *bench.RequestPhases, req *http.Request, raw []byte) error {
	if a.line == nil {
		r.New = true
		if err := a.open(ctx, c, r); err != nil {
			return err
		}
	}
	l := a.line
	deadline, _ := ctx.Deadline()
	if err := l.conn.SetDeadline(deadline); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	l.first = time.Time{}
	l.bound.N = wire.MaxHead
	c.last = time.Now()
	if r.New {
		c.last = c.began.Add(r.Name + r.Connect + r.TLS) // what lies between belongs to the writing, so that the phases add up
	} else {
		c.began = c.last
	}
	_, err := l.conn.Write(raw)
	r.Send = c.lap(time.Now())
	if err != nil {
		return err
	}
	resp, err := l.answer(req)
	if l.first.IsZero() {
		r.FirstByte = c.lap(time.Now())
		return noAnswer(err)
	}
	r.FirstByte = c.lap(l.first)
	defer func() { r.Receive = c.lap(time.Now()) }()
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r.Status = resp.StatusCode
	l.bound.N = maxBody
	if r.Bytes, err = io.Copy(io.Discard, resp.Body); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	if want := cmp.Or(a.plan.Request.ExpectStatus, http.StatusOK); resp.StatusCode != want {
		err = fmt.Errorf("status %d, expected %d", resp.StatusCode, want)
	}
	if resp.Close {
		a.close()
	}
	return err
}

func noAnswer(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("closed without an answer")
	}
	return err
}

// answer reads the head of the answer, behind interim ones.
func (l *line) answer(req *http.Request) (*http.Response, error) {
	for range wire.MaxInterim {
		resp, err := http.ReadResponse(l.in, req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
	return nil, fmt.Errorf("more than %d interim answers", wire.MaxInterim)
}

// open opens a connection: name, TCP, TLS.
func (a *asker) open(ctx context.Context, c *clock, r *bench.RequestPhases) error {
	host, port, err := net.SplitHostPort(a.target.Address)
	addresses := []net.IP{net.ParseIP(host)}
	if err == nil && addresses[0] == nil {
		addresses, err = a.plan.Resolve(ctx, host)
		r.Name = c.lap(time.Now())
	}
	if err != nil {
		return err
	}
	var conn net.Conn
	err = errors.New("the name has no address")
	for _, ip := range addresses {
		if conn, err = a.plan.Dial(ctx, "tcp", net.JoinHostPort(ip.String(), port)); err == nil {
			break
		}
	}
	r.Connect = c.lap(time.Now())
	if err != nil {
		return err
	}
	if a.target.TLS != nil {
		secure := tls.Client(conn, a.target.TLS)
		err := secure.HandshakeContext(ctx)
		r.TLS = c.lap(time.Now())
		if err != nil {
			_ = conn.Close()
			return err
		}
		conn = secure
	}
	l := &line{conn: conn}
	l.bound = &io.LimitedReader{R: l, N: wire.MaxHead}
	l.in = bufio.NewReader(l.bound)
	a.line = l
	return nil
}
