package portable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// longRequest is from how many bytes on the answer is read while the request is sent: a contender
// need not take all of it.
const longRequest = 16 << 10

// exchange sends the next request of the mix on s, reads the whole answer and records what came of
// it. due, if not zero, is when it should have been sent, and held tells that it then had to wait
// for a connection. ctx bounds the opening of the connection.
func (t *transport) exchange(ctx context.Context, s *slot, due time.Time, held bool) (dialFailed bool) {
	r, out, drawn := t.Mix.Next(s.out[:0])
	s.out = out
	if s.conn != nil && gone(s.conn) {
		s.close()
	}
	began := time.Now()
	x := record.Exchange{Request: r.Index, Start: t.Recorder.At(began)}
	if !due.IsZero() {
		x.Lag = began.Sub(due)
	}
	t.starts(x, held)
	deadline := began.Add(t.Timeout)
	again := s.conn != nil
	keep, dialFailed, err := t.ask(ctx, s, r, drawn, &x, deadline)
	if again && s.mayRepeat(r, err) && !t.cutNow.Load() {
		s.close()
		x.Kind, x.Example, x.Bytes = "", "", 0
		keep, dialFailed, err = t.ask(ctx, s, r, drawn, &x, deadline)
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

// connected counts a connection of s that the contender has opened.
func (t *transport) connected(s *slot) {
	t.counters.Lock()
	defer t.counters.Unlock()
	if s.ever {
		t.counters.Reopened++
	}
	s.ever = true
}

// mayRepeat tells whether the request on s may be sent once more, over a new connection, where the
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

// ask sends the request in s.out and reads its answer, on a connection that it opens where there is
// none.
func (t *transport) ask(
	ctx context.Context, s *slot, r *workload.Request, drawn workload.Drawn, x *record.Exchange, deadline time.Time,
) (keep, dialFailed bool, err error) {
	s.body, s.gaveUp = nil, false
	if drawn.Check {
		s.body = []byte{}
	}
	if s.conn == nil {
		err = t.open(ctx, s, deadline)
		if dialFailed = !wire.Opened(err); !dialFailed {
			t.connected(s)
		}
	} else if s.limit.read = 0; !t.HTTP2 {
		err = s.conn.SetDeadline(deadline)
	}
	// Between SetDeadline and here cut may have come; if it comes later, it sets the deadline
	// itself.
	if err == nil && t.cutNow.Load() {
		err = context.Canceled
	}
	switch {
	case err != nil:
	case t.HTTP2:
		keep, err = t.exchange2(ctx, s, r, x, deadline)
	default:
		keep, err = s.exchange1(r, x)
	}
	return keep, dialFailed, err
}

// exchange1 is the way of a request whose bytes are in s.out, and of its answer, over HTTP/1.1.
func (s *slot) exchange1(r *workload.Request, x *record.Exchange) (keep bool, err error) {
	if len(s.out) >= longRequest {
		return s.exchangeLong(r, x)
	}
	n, err := s.conn.Write(s.out)
	if err != nil && wire.Classify(err) != bench.ErrReset {
		return false, err
	}
	// If the contender has closed the connection there may be an answer before that.
	keep, failed := s.answer(r.Asked, r.Status, x)
	if failed != nil && err != nil && n == 0 && s.limit.read == 0 {
		failed = fmt.Errorf("%w: %w", errNotTaken, err)
	}
	return keep && err == nil, failed
}

// exchangeLong is exchange1 for a long request. The answer may come before all of it is sent, which
// then is not sent.
func (s *slot) exchangeLong(r *workload.Request, x *record.Exchange) (keep bool, err error) {
	conn, sent := s.conn, make(chan error, 1)
	go func() {
		_, err := conn.Write(s.out)
		sent <- err
	}()
	keep, err = s.answer(r.Asked, r.Status, x)
	_ = conn.SetWriteDeadline(time.Unix(1, 0))
	return <-sent == nil && keep, err
}
