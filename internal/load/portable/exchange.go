package portable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// longRequest is from how many bytes on the response is read while the request is sent: a contender
// need not take all of it.
const longRequest = 16 << 10

// begin lets the user of s, who has begun nothing, begin the next thing, and think; false where nothing can be
// begun any more.
func (l *Loop) begin(s *slot) bool {
	if err := l.conf.Mix.Begin(&s.user); err != nil {
		l.rec.Fail(err)
		return false
	}
	l.pause(s.user.Think())
	if l.rec.Stopped() && s.user.Think() > 0 {
		s.user.Forget()
		return false
	}
	return true
}

// exchange sends the next request of the user of s, who has begun something, reads the whole response and records
// what came of it. In an open loop, due is when it should have been sent, and held says that it then had to wait
// for a connection. ctx bounds the opening of the connection.
func (l *Loop) exchange(ctx context.Context, s *slot, scheduled int64, waited bool) (ended int64, dialFailed bool) {
	var r *workload.Request
	r, s.out = l.conf.Mix.Write(&s.user, s.out[:0])
	if s.conn != nil && gone(s.conn) {
		s.close()
	}
	began := time.Now()
	x := record.Exchange{Request: r.Index, Start: l.rec.At(began)}
	if l.open != nil {
		x.Lag = time.Duration(x.Start - scheduled)
	}
	l.starts(x, waited)
	deadline := began.Add(cmp.Or(r.Timeout, l.conf.Timeout))
	reused := s.conn != nil
	keep, dialFailed, err := l.roundTrip(ctx, s, r, &x, deadline)
	if reused && s.mayRepeat(r, err) && !l.cutNow.Load() {
		s.close()
		x.Kind, x.Example, x.Bytes = "", "", 0
		keep, dialFailed, err = l.roundTrip(ctx, s, r, &x, deadline)
	}
	x.End = l.rec.Now()
	x.Read = x.End
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
		return x.End, false
	case err != nil:
		// It overrides an unwanted status.
		x.Kind, x.Example = wire.Classify(err), wire.Example(err.Error())
	case x.Kind == "" && s.keep:
		x.Checked, x.Kind, x.Example = l.conf.Mix.CheckResponse(&s.user, r, s.kept())
	}
	session, step, last := s.user.Done(x.Kind != "")
	x.Session, x.First, x.Last = session, step == 0, last
	l.ended(s, x)
	return x.End, dialFailed
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
		c.Record(&l.rec.Interval, x)
		if l.open != nil || !s.answered {
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

// count takes in that from now on more requests are in flight. The caller holds the lock of the
// counters.
func (l *Loop) countInFlight(now int64, more int) {
	l.counters.InFlight(&l.rec.Interval, now, l.inFlight)
	l.inFlight += more
	if !l.backlogCounted && l.rec.Stopped() {
		l.backlogCounted = true
		l.counters.Backlog = int64(l.inFlight - more)
	}
}

// mayRepeat says whether the request on s may be sent once more, over a new connection, where the
// one on which it was sent had been open before. That is when the connection has ended without an
// answer, as the contender may have closed it while the request was on its way (see
// wire.Repeatable), or when it has not got the request for sure.
func (s *slot) mayRepeat(r *workload.Request, err error) bool {
	switch {
	case err == nil:
		return s.gaveUp // and the request was on its way
	case errors.Is(err, errNotTaken):
		return true
	}
	return s.limit.read == 0 && r.Repeatable && wire.Classify(err) == bench.ErrReset
}

// ask sends the request in s.out and reads its response, on a connection that it opens where there is
// none.
func (l *Loop) roundTrip(
	ctx context.Context, s *slot, r *workload.Request, x *record.Exchange, deadline time.Time,
) (keep, dialFailed bool, err error) {
	s.keep, s.gaveUp = l.keepAll || s.user.Keeps(), false
	if s.conn == nil {
		err = l.connect(ctx, s, deadline)
		if dialFailed = !wire.Opened(err); !dialFailed {
			if s.opened {
				l.note(func(c *record.Counters) { c.Reopened++ })
			}
			s.opened = true
		}
	} else if s.limit.read = 0; !l.conf.HTTP2 {
		err = s.conn.SetDeadline(deadline)
	}
	// Between SetDeadline and here cut may have come; if it comes later, it sets the deadline
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

// exchange1 returns the way of a request whose bytes are in s.out, and of its response, over HTTP/1.1.
func (s *slot) exchangeHTTP1(r *workload.Request, x *record.Exchange) (keep bool, err error) {
	if len(s.out) >= longRequest {
		return s.exchangeLong(r, x)
	}
	n, err := s.conn.Write(s.out)
	if err != nil && wire.Classify(err) != bench.ErrReset {
		return false, err
	}
	// If the contender has closed the connection there may be a response before that.
	keep, failed := s.response(r, x)
	if failed != nil && err != nil && n == 0 && s.limit.read == 0 {
		failed = fmt.Errorf("%w: %w", errNotTaken, err)
	}
	return keep && err == nil, failed
}

// exchangeLong returns exchange1 for a long request. The response may come before all of it is sent, which
// then is not sent.
func (s *slot) exchangeLong(r *workload.Request, x *record.Exchange) (keep bool, err error) {
	conn, sent := s.conn, make(chan error, 1)
	go func() {
		_, err := conn.Write(s.out)
		sent <- err
	}()
	keep, err = s.response(r, x)
	_ = conn.SetWriteDeadline(time.Unix(1, 0))
	return <-sent == nil && keep, err
}
