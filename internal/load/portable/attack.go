package portable

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

// errNotSent is what vegeta gets for a tick whose job was dropped.
var errNotSent = errors.New("dropped before it was sent")

// answered is what vegeta gets for each unit whose last exchange did not fail. Nothing uses its
// results: the recorder has them.
var answered = &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}

// Run sends until the step is over or the recorder is stopped, and returns when nothing is in
// flight. ctx bounds opening connections.
//
// vegeta's Attacker has the workers and paces them: a worker takes a tick, calls target for what to
// send, and passes it to RoundTrip. A hit is a unit: a single request, a session from its first
// request to its last, or all iterations of a user.
func (l *Loop) Run(ctx context.Context) {
	l.ctx = ctx
	var pacer vegeta.Pacer = closedPacer{l}
	if l.open != nil {
		pacer = l.open
	}
	workers := uint64(max(len(l.slots), 1))
	a := vegeta.NewAttacker(
		vegeta.Workers(workers), vegeta.MaxWorkers(uint64(l.conf.Connections)),
		vegeta.Client(&http.Client{Transport: l}),
	)
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		l.watch(done)
		a.Stop()
	}()
	for range a.Attack(l.target, pacer, 0, "") {
		// The recorder has the results.
	}
	if l.open != nil {
		l.rec.Stop()
	}
	close(done)
	<-watched
}

// watch returns when sending has ended, or done is closed.
func (l *Loop) watch(done <-chan struct{}) {
	if l.open != nil {
		l.open.watch(done)
		return
	}
	select {
	case <-l.rec.Halted():
	case <-done:
	}
}

// closedPacer paces a closed loop: a free connection sends at once.
type closedPacer struct{ loop *Loop }

// Pace returns no wait, and stop when sending has ended.
func (p closedPacer) Pace(time.Duration, uint64) (wait time.Duration, stop bool) {
	rec := p.loop.rec
	return 0, rec.Stopped() || rec.SliceOver(rec.Now()) || !rec.Bounded() && rec.SendingEnded(rec.Now())
}

// Rate returns 0: the contender decides.
func (p closedPacer) Rate(time.Duration) float64 { return 0 }

var endOfHead = []byte("\r\n\r\n")

// target is the Targeter: it begins the next unit on a free connection. The fragment of the URL,
// which is never sent, is the number of the connection. The URL has no path: vegeta parses it, and
// could not parse each path that is sent unescaped. An error of it ends the attack.
func (l *Loop) target(t *vegeta.Target) error {
	s, err := l.next()
	if err != nil || s == nil {
		t.Method, t.URL = http.MethodGet, l.base
		return err
	}
	_, body, _ := bytes.Cut(s.out, endOfHead)
	s.url = strconv.AppendInt(append(append(s.url[:0], l.base...), "/#"...), int64(s.index), 10)
	t.Method, t.URL, t.Body = s.request.Method, string(s.url), body
	return nil
}

// next begins the next unit. It returns no slot if the tick's job was dropped, and an error if
// there is nothing more to send.
func (l *Loop) next() (*slot, error) {
	job := workload.Job{Requests: 1}
	if l.open != nil {
		var ok bool
		if job, ok = l.open.next(); !ok {
			return nil, nil
		}
	}
	s := l.take()
	s.job = job
	if l.open == nil {
		l.awaitBeginning(s.index)
	}
	if l.open == nil && !l.maySend(s) || !l.begin(s) {
		if l.open != nil {
			l.open.drop(job.Requests)
		}
		l.free(s)
		return nil, vegeta.ErrNoTargets
	}
	return s, nil
}

// RoundTrip sends the requests of the unit that target has begun, and records each. It sends the
// bytes of the mix: neither the headers of net/http nor vegeta's own.
func (l *Loop) RoundTrip(req *http.Request) (*http.Response, error) {
	i, err := strconv.Atoi(req.URL.Fragment)
	if err != nil {
		return nil, errNotSent
	}
	l.mu.Lock()
	s := l.slots[i]
	l.mu.Unlock()
	defer l.free(s)
	for s.job.Requests--; ; s.job.Requests-- {
		err = l.iterate(s)
		if l.open == nil && s.job.Requests == 0 && l.rec.Owes(&s.iterating) {
			s.job.Requests++ // no other unit may come for this connection
		}
		if s.job.Requests == 0 {
			break
		}
		// A user's next iteration is scheduled for the arrival of the response before.
		if l.rec.Stopped() || !l.begin(s) {
			if l.open != nil {
				l.open.drop(s.job.Requests)
			}
			break
		}
	}
	if l.open != nil && l.open.users {
		s.close()
		s.opened = false // the next user has a new connection
		s.user.Leave()
	}
	if err != nil {
		return nil, err
	}
	return answered, nil
}

// iterate sends the requests of the iteration that s has begun. The error is that of the last one.
func (l *Loop) iterate(s *slot) (err error) {
	for {
		var dialFailed bool
		if dialFailed, err = l.exchange(s); l.open == nil && dialFailed {
			s.failures++
			l.pause(wire.BackOff(s.failures))
		} else {
			s.failures = 0
		}
		if !s.user.Midway(l.rec.Stopped()) {
			s.user.Forget()
			return err
		}
		if l.open != nil {
			l.note(func(c *record.Counters) { c.Schedule(l.rec.Phase(s.job.At), 1, c.Rate) })
		}
		if think := s.user.Think(); think > 0 {
			l.pause(think)
			s.job.At = l.rec.Now()
		}
		if !s.user.Midway(l.rec.Stopped()) { // it waited to be repeated
			if s.user.Forget(); l.open != nil {
				l.open.drop(1)
			}
			return err
		}
		s.request, s.out = l.conf.Mix.Write(&s.user, s.out[:0])
	}
}

// begin draws the next iteration of the user of s, lets the user think, and writes the first
// request. It returns false if there are no more iterations.
func (l *Loop) begin(s *slot) bool {
	if err := l.conf.Mix.Begin(&s.user); err != nil {
		l.rec.Fail(err)
		return false
	}
	if think := s.user.Think(); think > 0 {
		before := l.rec.Now()
		l.pause(think)
		s.job.At += l.rec.Now() - before
		if l.rec.Stopped() {
			s.user.Forget()
			return false
		}
	}
	s.request, s.out = l.conf.Mix.Write(&s.user, s.out[:0])
	return true
}

// take returns a free slot, the one that was used last; if there is none, a new one.
func (l *Loop) take() *slot {
	l.mu.Lock()
	var s *slot
	if n := len(l.unused) - 1; n >= 0 {
		s, l.unused = l.unused[n], l.unused[:n]
	}
	inUse := len(l.slots) - len(l.unused)
	l.mu.Unlock()
	if s == nil {
		s = l.add()
		inUse++
		if !l.open.users {
			l.reuse(s)
		}
	}
	if l.open != nil {
		l.note(func(c *record.Counters) { c.MaxOpenConnections = max(c.MaxOpenConnections, inUse) })
	}
	return s
}

// free lets the next unit take s.
func (l *Loop) free(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unused = append(l.unused, s)
}

// inUse returns how many slots are taken.
func (l *Loop) inUse() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.slots) - len(l.unused)
}

// maySend reports whether a connection may begin an iteration.
func (l *Loop) maySend(s *slot) bool {
	if l.conf.Step.MaxRequests > 0 {
		return l.rec.MaySend()
	}
	if l.rec.Bounded() {
		return !l.rec.Stopped() && l.rec.MayIterate(&s.iterating, l.rec.Now())
	}
	return !l.rec.SendingEnded(l.rec.Now())
}

// awaitBeginning waits until connection i may start, or sending has ended.
func (l *Loop) awaitBeginning(i int) {
	if l.rec.Beginning(i) == record.Undecided {
		select {
		case <-l.rec.BeginningKnown(i):
		case <-l.rec.Halted():
			return
		}
	}
	l.pause(time.Duration(l.rec.Beginning(i) - l.rec.Now()))
}

// pause waits, at most until sending ends.
func (l *Loop) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	begin := l.rec.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.rec.Halted():
	}
	l.note(func(c *record.Counters) { c.BackoffTime += l.rec.Overlap(begin, l.rec.Now()) })
}
