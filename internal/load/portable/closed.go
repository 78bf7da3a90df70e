package portable

import (
	"context"
	"sync"
	"time"

	"locbench/internal/load/record"
	"locbench/internal/load/wire"
)

// runClosed sends the next request on each connection as soon as the response has arrived.
func (l *Loop) runClosed(ctx context.Context) {
	var wg sync.WaitGroup
	for i, s := range l.slots {
		wg.Go(func() {
			l.awaitBeginning(i)
			for s.user.Midway() || l.maySend() && l.begin(s) {
				if s.user.Midway() {
					l.pause(s.user.Think())
				}
				if _, failed := l.exchange(ctx, s, 0, false); !failed {
					s.failures = 0
					continue
				}
				s.failures++
				l.pause(wire.BackOff(s.failures))
			}
		})
	}
	wg.Wait()
}

// maySend reports whether a connection may send one more request.
func (l *Loop) maySend() bool {
	if l.rec.Bounded() {
		return l.rec.MaySend()
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
