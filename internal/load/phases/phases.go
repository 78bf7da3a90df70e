// Package phases times single requests phase by phase: look-up of the name, TCP handshake, TLS
// handshake, writing, first byte, last byte.
//
// It asks by itself, from one goroutine over a connection of its own, rather than through net/http
// with httptrace: there the writing and the reading belong to two more goroutines, whose waking up
// (tens of microseconds on a busy machine) would be in the phases. The answer is read by net/http's
// parser, with the moment of its first byte taken where the bytes come in. HTTP/1.1 only, no proxy,
// no redirects, nothing is tried again.
package phases

import (
	"bufio"
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
	"locbench/internal/load/workload"
	"locbench/internal/safe"
)

// DefaultTimeout bounds a request where the plan does not.
const DefaultTimeout = 10 * time.Second

// Plan says what is asked and how often.
type Plan struct {
	BaseURL  string // of the contender, without a slash at the end; http or https
	Request  bench.Request
	IDs      []int64       // of the data set, for {id}; drawn as in the load
	Requests int           // after the first: so many on its connection, and so many on new ones
	Timeout  time.Duration // of one request with all its phases; 0 is DefaultTimeout
	Seed     uint64        // of the ids

	TLS     *tls.Config                                                          // for https; nil checks certificates against those of the system
	Resolve func(ctx context.Context, host string) ([]net.IP, error)             // looks names up; nil is the system's resolver
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil is a plain net.Dialer
}

// Measure asks the first request and those after it, one after the other. A request that fails is a
// result: its Err says why. The error is about the plan, or ctx's.
func Measure(ctx context.Context, plan Plan) (bench.Phases, error) {
	out := bench.Phases{Request: plan.Request.Name}
	a, err := newAsker(plan)
	if err != nil {
		return out, err
	}
	defer a.close()
	if out.First, err = a.ask(ctx); err != nil {
		return out, err
	}
	for _, all := range []*[]bench.RequestPhases{&out.Kept, &out.New} {
		for range plan.Requests {
			if all == &out.New {
				a.close()
			}
			r, err := a.ask(ctx)
			if err != nil {
				return out, err
			}
			*all = append(*all, r)
		}
	}
	return out, nil
}

// asker makes requests on one connection, and opens another when that is gone.
type asker struct {
	plan   Plan
	target wire.Target
	mix    *workload.Mix // of the one request
	raw    []byte        // of the last request
	line   *line
}

func newAsker(plan Plan) (*asker, error) {
	mix, err := workload.NewMix(workload.Spec{
		BaseURL: plan.BaseURL, Step: bench.Step{Connections: 1, Duration: time.Second},
		Requests: []bench.Request{plan.Request}, IDs: plan.IDs, Seed: plan.Seed,
	})
	if err != nil {
		return nil, err
	}
	plan.Timeout = cmp.Or(max(plan.Timeout, 0), DefaultTimeout)
	if plan.Resolve == nil {
		plan.Resolve = func(ctx context.Context, host string) ([]net.IP, error) {
			return net.DefaultResolver.LookupIP(ctx, "ip", host)
		}
	}
	if plan.Dial == nil {
		plan.Dial = (&net.Dialer{}).DialContext
	}
	return &asker{plan: plan, target: wire.NewTarget(plan.BaseURL, plan.TLS, false), mix: mix}, nil
}

// close ends the connection; the next request opens another.
func (a *asker) close() {
	if a.line != nil {
		_ = a.line.conn.Close()
		a.line = nil
	}
}

// Bounds on answers, which are hostile; others are those of package wire.
const (
	maxBody  = 64 << 20 // bytes
	maxError = 300      // bytes of a reason
)

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

func (c *clock) lap(now time.Time) time.Duration {
	d := now.Sub(c.last)
	c.last = now
	return d
}

// ask makes one request. The error is ctx's.
func (a *asker) ask(ctx context.Context) (bench.RequestPhases, error) {
	var asked *workload.Request
	asked, a.raw, _ = a.mix.Take(a.raw[:0])
	own, cancel := context.WithTimeout(ctx, a.plan.Timeout)
	defer cancel()
	now := time.Now()
	c := &clock{began: now, last: now}
	var r bench.RequestPhases
	err := a.exchange(own, c, &r, asked)
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
func (a *asker) exchange(ctx context.Context, c *clock, r *bench.RequestPhases, asked *workload.Request) error {
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
	_, err := l.conn.Write(a.raw)
	r.Send = c.lap(time.Now())
	if err != nil {
		return err
	}
	resp, err := l.answer(asked.Asked)
	if l.first.IsZero() {
		r.FirstByte = c.lap(time.Now())
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("closed without an answer")
		}
		return err
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
	if resp.StatusCode != asked.Status {
		err = fmt.Errorf("status %d, expected %d", resp.StatusCode, asked.Status)
	}
	if resp.Close {
		a.close()
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
