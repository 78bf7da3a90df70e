package load

import (
	"context"
	"sync"
	"time"

	"locbench/internal/bench"
)

// closedLoop is the portable closed loop: a goroutine for each connection.
type closedLoop struct {
	*transport
	step bench.Step
}

func (t closedLoop) run(ctx context.Context) {
	var wg sync.WaitGroup
	for i, s := range t.slots {
		wg.Go(func() {
			t.awaitBeginning(i)
			for t.maySend() {
				if !t.exchange(ctx, s, time.Time{}, false) {
					s.failures = 0
					continue
				}
				s.failures++
				t.pause(backOff(s.failures))
			}
		})
	}
	wg.Wait()
}

// maySend says whether a connection may ask once more.
func (t closedLoop) maySend() bool {
	if t.rec.bounded {
		return t.rec.maySend()
	}
	return !t.rec.sendingEnded(t.rec.now())
}

// awaitBeginning waits until connection i begins to ask, or the sending has ended.
func (t closedLoop) awaitBeginning(i int) {
	known := t.rec.paced
	if i >= beforeRamp(t.step) {
		known = t.rec.decided
	}
	if t.rec.beginning(t.step, i) == undecided {
		select {
		case <-known:
		case <-t.rec.halted:
			return
		}
	}
	t.pause(time.Duration(t.rec.beginning(t.step, i) - t.rec.now()))
}

// backOff is how long a connection waits after failures attempts in a row to open it.
func backOff(failures int) time.Duration {
	return min(time.Millisecond<<min(failures-1, 10), 100*time.Millisecond)
}

// pause waits, but not beyond the end of the sending.
func (t *transport) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	begin := t.rec.now()
	defer func() {
		t.account.mu.Lock()
		defer t.account.mu.Unlock()
		t.account.rested += t.rec.interval.overlap(begin, t.rec.now())
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.rec.halted:
	}
}
