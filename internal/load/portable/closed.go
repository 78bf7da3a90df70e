package portable

import (
	"context"
	"sync"
	"time"

	"locbench/internal/load/record"
	"locbench/internal/load/wire"
)

// ClosedLoop asks again on each connection as soon as it has its answer: a goroutine for each.
type ClosedLoop struct{ *transport }

// NewClosed makes a closed loop with so many connections.
func NewClosed(c Config, connections int) ClosedLoop {
	return ClosedLoop{newTransport(c, connections)}
}

// Run sends until the recorder is stopped and returns when all is drained. ctx bounds the opening
// of connections.
func (t ClosedLoop) Run(ctx context.Context) {
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
				t.pause(wire.BackOff(s.failures))
			}
		})
	}
	wg.Wait()
}

// maySend says whether a connection may ask once more.
func (t ClosedLoop) maySend() bool {
	if t.Recorder.Bounded() {
		return t.Recorder.MaySend()
	}
	return !t.Recorder.SendingEnded(t.Recorder.Now())
}

// awaitBeginning waits until connection i begins to ask, or the sending has ended.
func (t ClosedLoop) awaitBeginning(i int) {
	rec := t.Recorder
	if rec.Beginning(i) == record.Undecided {
		select {
		case <-rec.BeginningKnown(i):
		case <-rec.Halted():
			return
		}
	}
	t.pause(time.Duration(rec.Beginning(i) - rec.Now()))
}

// pause waits, but not beyond the end of the sending.
func (t *transport) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	rec := t.Recorder
	begin := rec.Now()
	defer func() {
		t.counters.Lock()
		defer t.counters.Unlock()
		t.counters.Rested += rec.Overlap(begin, rec.Now())
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-rec.Halted():
	}
}
