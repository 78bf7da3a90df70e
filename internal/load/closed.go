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
			if d := begins(t.step, i); d > 0 {
				t.pause(d)
			}
			for t.rec.maySend() {
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

// backOff is how long a connection waits after failures attempts in a row to open it.
func backOff(failures int) time.Duration {
	return min(time.Millisecond<<min(failures-1, 10), 100*time.Millisecond)
}

// pause waits, but not beyond the end of the sending.
func (t *transport) pause(d time.Duration) {
	begin := time.Now()
	defer func() { t.rec.rested(time.Since(begin)) }()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.rec.halted:
	}
}
