// Package event carries the events of a run from its publisher to any number of subscribers.
//
// Publishing never waits for a subscriber: each has a queue and its own goroutine, so a slow
// terminal or disk cannot slow the load down. Package bench defines the events.
package event

import (
	"slices"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// queueLimit bounds the backlog of a subscriber; beyond it, ephemeral events are dropped. With
// about one event per second it holds more than a day.
const queueLimit = 100_000

// Stream numbers events and passes them to all subscribers in the same order. New returns one.
type Stream struct {
	now  func() time.Time
	mask func(bench.Event) bench.Event // nil: events are unchanged

	mu      sync.Mutex
	changed *sync.Cond // a new event, the end, or a subscriber with an empty queue
	seq     int64
	subs    []*subscription
	closed  bool
}

// New returns a stream with the times of now.
func New(now func() time.Time) *Stream {
	s := &Stream{now: now}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Mask replaces every event by f of it, before any subscriber sees it. Call it before the first
// event; f may run in any goroutine.
func (s *Stream) Mask(f func(bench.Event) bench.Event) { s.mask = f }

// Masked returns e as subscribers see it. Mask what is cut before it is published.
func (s *Stream) Masked(e bench.Event) bench.Event {
	if s.mask == nil {
		return e
	}
	return s.mask(e)
}

// Continue makes seq+1 the number of the next event, for a resumed run.
func (s *Stream) Continue(seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq = max(s.seq, seq)
}

// Subscribe calls handle for every later event, one at a time, in a goroutine that Close ends.
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

// next waits for events and returns them; nil after the end of the stream.
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

// Settle returns once every subscriber has handled all events published before the call.
// Subscribers and the load must not call it.
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

// Publish appends an event. trial is nil for events of the whole run. After Close it does nothing.
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

// Close ends the stream and returns once every subscriber has handled all events.
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
	queue []bench.Record // guarded by Stream.mu
	first int64          // number of the first event being handled, 0 for none; guarded by Stream.mu
	done  chan struct{}
}

// ephemeral reports whether a very slow subscriber can miss e: it is repeated or only shown live.
func ephemeral(e bench.Event) bool {
	switch e.(type) {
	case bench.LogLines, bench.Progress, bench.WindowClosed, bench.WindowGrew, bench.UsageRead:
		return true
	}
	return false
}

// Clock returns times of day that advance evenly: the machine's time at the beginning plus the time
// since then on the monotonic clock. Files hold only times of day; setting the machine's clock
// would separate the readings of a step. Times without a monotonic reading are unchanged.
type Clock struct{ base time.Time }

// NewClock returns a clock that begins at now, which must come from time.Now.
func NewClock(now time.Time) Clock { return Clock{now} }

// Now returns the time of day.
func (c Clock) Now() time.Time { return c.At(time.Now()) }

// At returns the time of day at t.
func (c Clock) At(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return c.base.Add(t.Sub(c.base))
}

// Event returns e with the times of this clock.
func (c Clock) Event(e bench.Event) bench.Event {
	switch e := e.(type) {
	case bench.StepEnded:
		r := &e.Result
		r.Load.Started = c.At(r.Load.Started)
		r.Before, r.After = set(c, r.Before, usageAt), set(c, r.After, usageAt)
		r.HostBefore, r.HostAfter = c.hostAndNeeds(r.HostBefore), c.hostAndNeeds(r.HostAfter)
		r.Samples = slices.Clone(r.Samples)
		for i := range r.Samples {
			r.Samples[i].At = c.At(r.Samples[i].At)
		}
		return e
	case bench.RequestsTimed:
		e.FirstRequests.Started = c.At(e.FirstRequests.Started)
		return e
	case bench.UsageRead:
		e.Usage.At = c.At(e.Usage.At)
		e.Needs = c.needs(e.Needs)
		return e
	case bench.MarkRead:
		e.Mark.Usage.At = c.At(e.Mark.Usage.At)
		return e
	case bench.IncidentOccurred:
		e.Incident.At = c.At(e.Incident.At)
		return e
	case bench.InstanceStarted:
		e.Info.StartedAt = c.At(e.Info.StartedAt)
		return e
	}
	return e
}

// set returns a copy of p whose time is that of the clock; at returns the time's place in p.
func set[T any](c Clock, p *T, at func(*T) *time.Time) *T {
	if p == nil {
		return nil
	}
	moved := *p
	*at(&moved) = c.At(*at(&moved))
	return &moved
}

func usageAt(u *bench.Usage) *time.Time { return &u.At }

func (c Clock) hostAndNeeds(b *bench.HostReading) *bench.HostReading {
	if b == nil {
		return nil
	}
	return &bench.HostReading{Host: set(c, b.Host, func(h *bench.HostUsage) *time.Time { return &h.At }), Needs: c.needs(b.Needs)}
}

func (c Clock) needs(all map[string]*bench.NeedUsage) (moved map[string]*bench.NeedUsage) {
	for name, u := range all {
		if moved == nil {
			moved = map[string]*bench.NeedUsage{}
		}
		moved[name] = set(c, u, func(u *bench.NeedUsage) *time.Time { return &u.At })
	}
	return moved
}
