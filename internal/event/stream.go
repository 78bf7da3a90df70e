// Package event carries what happens in a run from its one publisher to any number of subscribers.
//
// Publishing never waits for a subscriber: each has a queue and a goroutine of its own, so that a
// slow terminal or disk cannot slow the load. What events mean is in package bench; what is done
// with them is the subscribers' affair.
package event

import (
	"sync"
	"time"

	"locbench/internal/bench"
)

// queueLimit bounds one subscriber's backlog. Beyond it events that only serve the eye are dropped;
// at about one event a second that is more than a day behind.
const queueLimit = 100_000

// Stream numbers events and hands them to the subscribers, to each in the same order. The zero
// value is not usable: New.
type Stream struct {
	now func() time.Time

	mask func(bench.Event) bench.Event // nil: events go out as they come

	mu     sync.Mutex
	seq    int64
	subs   []*subscription
	closed bool
}

// New makes a stream that takes the time from now.
func New(now func() time.Time) *Stream { return &Stream{now: now} }

// Mask lets every event pass through f before anybody sees it. It is called before the first event,
// and f may be called from any goroutine.
func (s *Stream) Mask(f func(bench.Event) bench.Event) { s.mask = f }

// Continue makes the next event carry the number seq+1; a resumed run goes on counting where it
// stopped.
func (s *Stream) Continue(seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq = max(s.seq, seq)
}

// Subscribe calls handle for every later event, one after the other, in a goroutine that ends with
// Close.
func (s *Stream) Subscribe(handle func(bench.Record)) {
	sub := &subscription{handle: handle, done: make(chan struct{})}
	sub.wake = sync.NewCond(&sub.mu)
	go sub.run()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs = append(s.subs, sub)
	if s.closed {
		sub.end()
	}
}

// Publish appends an event. leg is nil when the event concerns the whole run. After Close it does
// nothing.
func (s *Stream) Publish(leg *bench.Leg, e bench.Event) {
	if s.mask != nil {
		e = s.mask(e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.seq++
	rec := bench.Record{Seq: s.seq, At: s.now(), Leg: leg, Event: e}
	for _, sub := range s.subs {
		sub.push(rec)
	}
}

// Close ends the stream and returns when every subscriber has handled all that was published.
func (s *Stream) Close() {
	s.mu.Lock()
	s.closed = true
	subs := s.subs
	for _, sub := range subs {
		sub.end()
	}
	s.mu.Unlock()
	for _, sub := range subs {
		<-sub.done
	}
}

type subscription struct {
	handle func(bench.Record)
	done   chan struct{}

	mu    sync.Mutex
	wake  *sync.Cond
	queue []bench.Record
	ended bool
}

func (s *subscription) push(rec bench.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= queueLimit && ephemeral(rec.Event) {
		return
	}
	s.queue = append(s.queue, rec)
	s.wake.Signal()
}

func (s *subscription) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.wake.Signal()
}

func (s *subscription) run() {
	defer close(s.done)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.ended {
			s.wake.Wait()
		}
		batch := s.queue
		s.queue = nil
		s.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, rec := range batch {
			s.handle(rec)
		}
	}
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
