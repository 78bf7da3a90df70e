package portable

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/values"
)

// PhasesPlan says which request Phases sends, and how often.
type PhasesPlan struct {
	BaseURL string // URL of the contender, without a slash at the end; http or https
	Request bench.Request
	IDs     []int64 // ids of the data set for {id}; drawn as in the load

	Variables []bench.Variable
	Data      values.Data
	Life      *workload.TrialState

	Requests int           // N requests on the first one's connection, then N on new ones
	Timeout  time.Duration // timeout of one request with all its phases; 0 is wire.DefaultTimeout
	Seed     uint64        // seed for drawing ids

	TLS *tls.Config // for https; nil checks certificates against the system's
	// Resolve looks up names; nil is the system's resolver.
	Resolve func(ctx context.Context, host string) ([]net.IP, error)
	// Dial opens connections; nil is a plain net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Phases times single requests phase by phase: name lookup, TCP handshake, TLS handshake, writing,
// first byte, last byte. It sends one request after the other over HTTP/1.1, and repeats none. A
// failed request is a result: its Err says why. The error is about the plan, or ctx's.
//
// It uses one goroutine, not net/http with httptrace: there two more goroutines write and read, and
// their wake-ups (tens of microseconds on a busy machine) would be in the phases.
func Phases(ctx context.Context, plan PhasesPlan) (bench.FirstRequests, error) {
	out := bench.FirstRequests{Request: plan.Request.Name}
	a, err := newPhaseTimer(plan)
	if err != nil {
		return out, err
	}
	defer a.slot.close()
	a.began = time.Now()
	out.Started = a.began
	if out.First, err = a.measure(ctx); err != nil {
		return out, err
	}
	for _, all := range []*[]bench.RequestPhases{&out.Kept, &out.New} {
		for range plan.Requests {
			if all == &out.New {
				a.slot.close()
			}
			r, err := a.measure(ctx)
			if err != nil {
				return out, err
			}
			*all = append(*all, r)
		}
	}
	return out, nil
}

// phaseTimer sends requests on one connection, and opens another when that has ended.
type phaseTimer struct {
	plan   PhasesPlan
	target wire.Target
	mix    *workload.Mix // of one request
	slot   slot
	conn   *firstByteConn // the connection of the slot
	began  time.Time      // before the first request
}

// noted is a connection that notes when the first byte came since that was emptied.
type firstByteConn struct {
	net.Conn
	first time.Time
}

func (n *firstByteConn) Read(p []byte) (int, error) {
	m, err := n.Conn.Read(p)
	if m > 0 && n.first.IsZero() {
		n.first = time.Now()
	}
	return m, err
}

func newPhaseTimer(plan PhasesPlan) (*phaseTimer, error) {
	mix, err := workload.NewMix(workload.Plan{
		BaseURL: plan.BaseURL, Step: bench.Step{Connections: 1, Duration: time.Second},
		Requests: []bench.Request{plan.Request}, IDs: plan.IDs, Seed: plan.Seed,
		Variables: plan.Variables, Data: plan.Data, Life: plan.Life,
	})
	if err != nil {
		return nil, err
	}
	plan.Timeout = cmp.Or(max(plan.Timeout, 0), wire.DefaultTimeout)
	if plan.Resolve == nil {
		plan.Resolve = func(ctx context.Context, host string) ([]net.IP, error) {
			return net.DefaultResolver.LookupIP(ctx, "ip", host)
		}
	}
	if plan.Dial == nil {
		plan.Dial = (&net.Dialer{}).DialContext
	}
	return &phaseTimer{plan: plan, target: wire.NewTarget(plan.BaseURL, plan.TLS, false), mix: mix}, nil
}

// clock divides a time into phases: each reading ends one.
type clock struct{ began, last time.Time }

func (c *clock) lap(now time.Time) time.Duration {
	d := now.Sub(c.last)
	c.last = now
	return d
}

// measure sends one request. The error is ctx's.
func (a *phaseTimer) measure(ctx context.Context) (r bench.RequestPhases, err error) {
	var req *workload.Request
	if err := a.mix.Begin(&a.slot.user); err != nil {
		return r, err
	}
	req, a.slot.out = a.mix.Write(&a.slot.user, a.slot.out[:0])
	a.slot.user.Forget()
	own, cancel := context.WithTimeout(ctx, a.plan.Timeout)
	defer cancel()
	now := time.Now()
	c := &clock{began: now, last: now}
	err = a.exchange(own, c, &r, req)
	r.Start, r.Total = c.began.Sub(a.began), c.last.Sub(c.began)
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case err == nil:
		return r, nil
	}
	a.slot.close()
	const maxReason = 300 // bytes
	if r.Err = safe.Line(err.Error(), maxReason); wire.Classify(err) == bench.ErrTimeout {
		r.Err = "timeout"
	}
	return r, nil
}

// exchange fills in r up to the phase in which the request fails.
func (a *phaseTimer) exchange(ctx context.Context, c *clock, r *bench.RequestPhases, req *workload.Request) error {
	s := &a.slot
	if r.New = s.conn == nil; r.New {
		if err := a.open(ctx, c, r); err != nil {
			return err
		}
	}
	deadline, _ := ctx.Deadline()
	if err := s.conn.SetDeadline(deadline); err != nil {
		return err
	}
	conn := s.conn
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = conn.SetDeadline(time.Unix(1, 0))
	})
	defer func() {
		if !stop() {
			<-cut // a later one would end the next request of the connection
		}
	}()
	a.conn.first = time.Time{}
	c.last = time.Now()
	if r.New { // the time in between counts as writing, so the phases add up
		c.last = c.began.Add(r.Name + r.Connect + r.TLS)
	} else {
		c.began = c.last
	}
	_, err := conn.Write(s.out)
	r.Send = c.lap(time.Now())
	if err != nil {
		return err
	}
	var x record.Exchange
	s.got = workload.Response{}
	keep, err := s.response(req, &x)
	ended := time.Now()
	if a.conn.first.IsZero() {
		r.FirstByte = c.lap(ended)
		return err
	}
	r.FirstByte = c.lap(a.conn.first)
	r.Receive = c.lap(ended)
	r.Status, r.Bytes = s.got.Status, x.Bytes
	if err == nil && !req.Expects(s.got.Status) && !req.Follows(s.got.Status) {
		err = fmt.Errorf("status %d, expected %d", s.got.Status, req.Status)
	}
	if !keep {
		s.close()
	}
	return err
}

func (a *phaseTimer) open(ctx context.Context, c *clock, r *bench.RequestPhases) error {
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
	if err == nil && a.target.TLS != nil {
		conn, err = handshake(ctx, conn, a.target.TLS)
		r.TLS = c.lap(time.Now())
	}
	if err != nil {
		return err
	}
	a.conn = &firstByteConn{Conn: conn}
	a.slot.use(a.conn)
	return nil
}
