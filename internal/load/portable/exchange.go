package portable

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

// longRequest is the size in bytes from which the response is read while the request is sent: a
// contender need not read all of it.
const longRequest = 16 << 10

// exchange sends the written request of s, reads the whole response and records the result. In an
// open loop the next request of the same job is scheduled for its end. The error says why it
// failed.
func (l *Loop) exchange(s *slot) (dialFailed bool, err error) {
	r := s.request
	if s.conn != nil && s.gone() {
		s.close()
	}
	began := time.Now()
	x := record.Exchange{Request: r.Index, Start: l.rec.At(began)}
	if l.open != nil {
		x.Lag = time.Duration(x.Start - s.job.At)
	}
	l.starts(x, s.job.Waited)
	deadline := began.Add(cmp.Or(r.Timeout, l.conf.Timeout))
	reused := s.conn != nil
	keep, dialFailed, err := l.roundTrip(l.ctx, s, r, &x, deadline)
	if reused && s.mayRepeat(r, err) && !l.cutNow.Load() {
		s.close()
		if !errors.Is(err, errNotTaken) {
			l.note(func(c *record.Counters) { c.SentAgain++ })
		}
		x.Kind, x.Example, x.Bytes = "", "", 0
		keep, dialFailed, err = l.roundTrip(l.ctx, s, r, &x, deadline)
	}
	x.End = l.rec.Now()
	x.Read = x.End
	s.job.At, s.job.Waited = x.End, false
	if !keep {
		s.close()
	}
	switch {
	case err != nil && l.cutNow.Load():
		l.note(func(c *record.Counters) {
			l.countInFlight(x.End, -1)
			c.CutOff(&l.rec.Interval, x.Start, x.End)
		})
		s.user.Forget()
		return false, err
	case err != nil:
		// An error takes precedence over an unexpected status.
		x.Kind, x.Example = wire.Classify(err), wire.Example(err.Error())
	default:
		l.assess(s, r, &x)
	}
	if x.Kind != "" {
		needed := false
		l.note(func(c *record.Counters) { needed = c.NeedsExample(x.Request, x.Kind) })
		if needed {
			x.Example = l.conf.Mix.Masked(&s.user, x.Example)
		}
	}
	s.user.End(&x)
	l.ended(s, x)
	if x.Kind != "" {
		err = errors.New(x.Example)
	}
	return dialFailed, err
}

// assess puts into x whether a complete response with a checked status is rejected or unexpected.
func (l *Loop) assess(s *slot, r *workload.Request, x *record.Exchange) {
	x.Status = s.got.Status
	switch {
	case x.Kind != "":
	case r.Follows(x.Status):
		x.Kind, x.Example = l.conf.Mix.Follow(&s.user, r, s.got)
	case r.Rejects(x.Status):
		x.Rejected = true
		x.Kind, x.Example = l.conf.Mix.Repeat(&s.user, r, s.got)
	case s.keep || s.links:
		x.Checked, x.Kind, x.Example = l.conf.Mix.CheckResponse(&s.user, r, s.got)
		x.Unread = s.user.Unread
	}
}

// starts counts a request as sent.
func (l *Loop) starts(x record.Exchange, waited bool) {
	l.note(func(c *record.Counters) {
		l.countInFlight(x.Start, 1)
		if l.open != nil {
			c.SendScheduled(l.rec.Phase(x.Start), x.Lag, waited)
		} else {
			c.Sent++
		}
	})
}

// ended counts an exchange on s.
func (l *Loop) ended(s *slot, x record.Exchange) {
	l.note(func(c *record.Counters) {
		l.countInFlight(x.End, -1)
		l.rec.Iterate(c, &s.iterating, &x)
		c.Record(&l.rec.Interval, x)
		if l.open != nil {
			l.rec.Answered(x.End, 0, l.conf.Timeout)
		} else if !s.answered {
			s.answered = true
			l.rec.Answered(x.End, time.Duration(x.End-x.Start), l.conf.Timeout)
		}
	})
}

// note changes the counters of the loop.
func (l *Loop) note(change func(*record.Counters)) {
	l.counters.Lock()
	defer l.counters.Unlock()
	change(l.counters)
}

// countInFlight adds more to the requests in flight. The caller holds the lock of the counters.
func (l *Loop) countInFlight(now int64, more int) {
	l.counters.InFlight(&l.rec.Interval, now, l.inFlight)
	l.inFlight += more
	if !l.backlogCounted && l.rec.Stopped() {
		l.backlogCounted = true
		l.counters.Backlog = int64(l.inFlight - more)
	}
}

// mayRepeat reports whether the request on s may be sent once more over a new connection, given
// that its connection was open before. It may if the connection ended without a response (the
// contender may have closed it while the request was on its way, see wire.Repeatable), or if the
// contender certainly did not get it.
func (s *slot) mayRepeat(r *workload.Request, err error) bool {
	switch {
	case err == nil:
		return s.gaveUp // the contender gave up waiting while the request was on its way
	case errors.Is(err, errNotTaken):
		return true
	}
	return s.read == 0 && r.Repeatable && wire.Classify(err) == bench.ErrReset
}

// roundTrip sends the request in s.out and reads its response, opening a connection if necessary.
func (l *Loop) roundTrip(
	ctx context.Context, s *slot, r *workload.Request, x *record.Exchange, deadline time.Time,
) (keep, dialFailed bool, err error) {
	s.keep, s.links, s.gaveUp, s.read = l.conf.KeepAll || s.user.Keeps(), s.user.KeepsLinks(), false, 0
	if s.conn == nil {
		err = l.connect(ctx, s, deadline)
		if dialFailed = !wire.Opened(err); !dialFailed {
			if s.opened {
				l.note(func(c *record.Counters) { c.Reconnects++ })
			}
			s.opened = true
		}
	} else if !l.conf.HTTP2 {
		err = s.conn.SetDeadline(deadline)
	}
	// Cut may have come between SetDeadline and here; if it comes later, it sets the deadline
	// itself.
	if err == nil && l.cutNow.Load() {
		err = context.Canceled
	}
	switch {
	case err != nil:
	case l.conf.HTTP2:
		keep, err = l.exchangeHTTP2(ctx, s, r, x, deadline)
	default:
		keep, err = s.exchangeHTTP1(r, x)
	}
	return keep, dialFailed, err
}

// exchangeHTTP1 sends the request in s.out and reads its response over HTTP/1.1.
func (s *slot) exchangeHTTP1(r *workload.Request, x *record.Exchange) (keep bool, err error) {
	if len(s.out) >= longRequest {
		return s.exchangeLong(r, x)
	}
	n, err := s.conn.Write(s.out)
	if err != nil && wire.Classify(err) != bench.ErrReset {
		return false, err
	}
	// If the contender closed the connection, a response may have come before.
	keep, failed := s.response(r, x)
	if failed != nil && err != nil && n == 0 && s.read == 0 {
		failed = fmt.Errorf("%w: %w", errNotTaken, err)
	}
	return keep && err == nil, failed
}

// exchangeLong is exchangeHTTP1 for a long request. If the response comes before all of it is sent,
// the rest is not sent.
func (s *slot) exchangeLong(r *workload.Request, x *record.Exchange) (keep bool, err error) {
	conn, sent := s.conn, make(chan error, 1)
	go func() {
		_, err := conn.Write(s.out)
		sent <- err
	}()
	keep, err = s.response(r, x)
	_ = conn.SetWriteDeadline(time.Unix(1, 0))
	if <-sent == nil {
		return keep, err
	}
	if secure, ok := conn.(*tls.Conn); ok { // its Close sends an alert, and waits up to 5 s for a contender that reads nothing
		secure.NetConn().Close()
	}
	return false, err
}
