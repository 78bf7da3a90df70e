// Package event carries what happens in a run from its one publisher to any number of subscribers.
//
// Publishing never waits for a subscriber: each has a queue and its own goroutine, so a
// slow terminal or disk cannot slow the load. What events mean is in package bench; what is done
// with them is the subscribers' affair.
package event

import (
	"slices"
	"sync"
	"time"

	"locbench/internal/bench"
)

// queueLimit bounds one subscriber's backlog. Beyond it events that only serve the eye are dropped;
// at about one event a second that is more than a day late.
const queueLimit = 100_000

// Stream numbers events and hands them to the subscribers, to each in the same order. The zero
// value is not usable: New.
type Stream struct {
	now  func() time.Time
	mask func(bench.Event) bench.Event // nil: events go out as they come

	mu      sync.Mutex
	changed *sync.Cond // an event more, the end, or a subscriber that has none left
	seq     int64
	subs    []*subscription
	closed  bool
}

// New makes a stream that takes the time from now.
func New(now func() time.Time) *Stream {
	s := &Stream{now: now}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Mask lets every event pass through f before anybody sees it. It is called before the first event,
// and f may be called from any goroutine.
func (s *Stream) Mask(f func(bench.Event) bench.Event) { s.mask = f }

// Continue makes the next event carry the number seq+1; a resumed run continues to count where it
// stopped.
func (s *Stream) Continue(seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq = max(s.seq, seq)
}

// Subscribe calls handle for every later event, one after the other, in a goroutine that ends with
// Close.
func (s *Stream) Subscribe(handle func(bench.Record)) {
	sub := &subscription{done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs = append(s.subs, sub)
	go func() {
		defer close(sub.done)
		for batch := s.next(sub); batch != nil; batch = s.next(sub) {
			for _, rec := range batch {
				handle(rec)
			}
			s.mu.Lock()
			sub.first = 0
			s.changed.Broadcast()
			s.mu.Unlock()
		}
	}()
}

// next waits for events; nil: there will be none any more.
func (s *Stream) next(sub *subscription) []bench.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(sub.queue) == 0 && !s.closed {
		s.changed.Wait()
	}
	batch := sub.queue
	sub.queue = nil
	if len(batch) > 0 {
		sub.first = batch[0].Seq
	}
	return batch
}

// Settle returns when every subscriber has handled what was published before. It is not for the load, nor for
// subscribers.
func (s *Stream) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.seq
	behind := func(sub *subscription) bool {
		return sub.first > 0 && sub.first <= last || len(sub.queue) > 0 && sub.queue[0].Seq <= last
	}
	for slices.ContainsFunc(s.subs, behind) {
		s.changed.Wait()
	}
}

// Publish appends an event. trial is nil when the event concerns the whole run. After Close it does
// nothing.
func (s *Stream) Publish(trial *bench.Trial, e bench.Event) {
	if s.mask != nil {
		e = s.mask(e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.seq++
	rec := bench.Record{Seq: s.seq, At: s.now(), Trial: trial, Event: e}
	for _, sub := range s.subs {
		if len(sub.queue) < queueLimit || !ephemeral(e) {
			sub.queue = append(sub.queue, rec)
		}
	}
	s.changed.Broadcast()
}

// Close ends the stream and returns when every subscriber has handled all that was published.
func (s *Stream) Close() {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	subs := s.subs
	s.mu.Unlock()
	for _, sub := range subs {
		<-sub.done
	}
}

type subscription struct {
	queue []bench.Record // under the stream's lock
	first int64          // number of the first event in hand, 0 for none; under the lock
	done  chan struct{}
}

// ephemeral events repeat in later ones or serve the eye alone: a hopelessly slow subscriber can do
// without them.
func ephemeral(e bench.Event) bool {
	switch e.(type) {
	case bench.LogLines, bench.Progress, bench.WindowClosed, bench.UsageRead:
		return true
	}
	return false
}
