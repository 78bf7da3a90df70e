package portable

import (
	"context"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/workload"
)

// OpenLoop sends requests when they are due, on connections of which there are no more than a
// bound.
//
// A request that is due takes a connection that is free, or a new one. With all in use it waits in
// a queue, which is counted: as late when it is sent at last, or as dropped when it has waited for
// as long as a request may take, when the queue is full, or when the step ends. So each that came
// due is either sent or dropped.
type OpenLoop struct {
	*transport
	users bool // each job is a user with a connection of its own
	most  int  // connections

	mu      sync.Mutex
	idle    []*worker // last in, first out: as few connections as will do
	workers int
	queue   workload.Queue
	ended   bool
	empty   chan struct{} // closed when all have been served after noMore
	noMore  bool
	wg      sync.WaitGroup
}

// worker is a goroutine with a slot.
type worker struct {
	slot *slot
	work chan workload.Job // of capacity 1: an idle worker is sent a job without waiting
}

// NewOpen makes an open loop with at most so many connections.
func NewOpen(c Config, most int) *OpenLoop {
	t := newTransport(c, workload.Early(c.Step, most))
	l := &OpenLoop{transport: t, users: c.Step.Arrivals != nil, most: most, empty: make(chan struct{})}
	for _, s := range t.slots {
		l.workers++
		l.idle = append(l.idle, &worker{slot: s, work: make(chan workload.Job, 1)})
	}
	return l
}

// Run sends until the step's duration is over or the sending has been stopped, and returns when all
// is drained.
func (l *OpenLoop) Run(ctx context.Context) {
	for _, w := range l.idle {
		l.wg.Go(func() { l.wait(ctx, w) })
	}
	var wg sync.WaitGroup
	// A goroutine of its own, because it sleeps on a thread of its own.
	wg.Go(func() {
		nap := newNap(l.Sleep)
		defer nap.close()
		if l.Step.Arrivals != nil {
			l.arrive(ctx, nap, *l.Step.Arrivals)
		} else {
			l.pace(ctx, nap)
		}
	})
	wg.Wait()
	l.Recorder.Stop()
	l.end()
	l.wg.Wait()
}

// pace sends by the schedule of a rate.
func (l *OpenLoop) pace(ctx context.Context, nap *nap) {
	s := workload.NewSchedule(l.Step, l.Rate)
	started := l.Recorder.Time(0)
	s.Poll(0)
	defer func() {
		if s.Changed() {
			l.note(func(c *record.Counters) { c.Final = s.Rate() })
		}
	}()
	for n := int64(0); l.Step.MaxRequests == 0 || n < l.Step.MaxRequests; {
		s.Begins(l.Recorder.From())
		end := l.Step.Duration
		if !l.Recorder.Bounded() {
			end = time.Duration(l.Recorder.To())
		}
		due, now := s.Next(), time.Since(started)
		if due >= end && now >= end {
			return
		}
		if due <= now && due < end {
			if l.Recorder.Stopped() {
				return
			}
			l.note(func(c *record.Counters) { c.ComeDue(l.Recorder.Phase(int64(due)), 1, s.Rate()) })
			l.give(ctx, workload.Job{Due: started.Add(due), Requests: 1})
			s.Take()
			n++
			continue
		}
		if !nap.until(started.Add(min(due, end, now+workload.PollEvery)), l.Recorder.Halted()) {
			return
		}
		// Not beyond what is due by now: that was due at the old rate.
		s.Poll(min(time.Since(started), s.Next()))
	}
}

// arrive sends users, and returns when all have been served or the sending has been stopped.
func (l *OpenLoop) arrive(ctx context.Context, nap *nap, a bench.Arrivals) {
	started := l.Recorder.Time(0)
	for i := range a.Users {
		due := started.Add(time.Duration(float64(i) / float64(a.Users) * float64(a.Over)))
		if !nap.until(due, l.Recorder.Halted()) {
			return
		}
		l.note(func(c *record.Counters) { c.ComeDue(l.Recorder.Phase(l.Recorder.At(due)), int64(a.Requests), 0) })
		l.give(ctx, workload.Job{Due: due, Requests: a.Requests})
	}
	l.mu.Lock()
	l.noMore = true
	l.signalEmpty()
	l.mu.Unlock()
	select {
	case <-l.empty:
	case <-l.Recorder.Halted():
	}
}

// give hands a job to a connection, or lets it wait in the queue.
func (l *OpenLoop) give(ctx context.Context, j workload.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(j.Due)
	if n := len(l.idle); n > 0 {
		w := l.idle[n-1]
		l.idle = l.idle[:n-1]
		w.work <- j
		l.used()
		return
	}
	if l.workers < l.most {
		l.workers++
		w := &worker{slot: l.add(), work: make(chan workload.Job, 1)}
		if !l.users {
			l.reuse(w.slot)
		}
		w.work <- j
		l.wg.Go(func() { l.wait(ctx, w) })
		l.used()
		return
	}
	j.Held = true
	if !l.queue.Push(j) {
		l.drops(j.Requests, true)
	}
}

// expire drops those at the head of the queue that have waited for too long by now.
func (l *OpenLoop) expire(now time.Time) {
	for {
		j, ok := l.queue.Peek()
		if !ok || now.Sub(j.Due) <= l.Timeout {
			return
		}
		l.queue.Pop()
		l.drops(j.Requests, true)
	}
}

// wait serves jobs until there are no more.
func (l *OpenLoop) wait(ctx context.Context, w *worker) {
	for j := range w.work {
		for ok := true; ok; j, ok = l.next(w) {
			l.serve(ctx, w.slot, j)
		}
	}
}

// serve makes the requests of a job.
func (l *OpenLoop) serve(ctx context.Context, s *slot, j workload.Job) {
	if l.users {
		defer func() {
			s.close()
			s.ever = false // the next user has a connection of its own
		}()
	}
	l.exchange(ctx, s, j.Due, j.Held)
	for n := j.Requests - 1; n > 0; n-- {
		// What a user asks next is due as soon as the answer before is there.
		if l.Recorder.Stopped() {
			l.drops(n, false)
			return
		}
		l.exchange(ctx, s, s.last, false)
	}
}

// next is the next job in the queue; without any, w is free.
func (l *OpenLoop) next(w *worker) (workload.Job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue.Len() > 0 {
		l.expire(time.Now())
	}
	if j, ok := l.queue.Pop(); ok {
		return j, true
	}
	if l.ended {
		close(w.work)
		return workload.Job{}, false
	}
	l.idle = append(l.idle, w)
	l.signalEmpty()
	return workload.Job{}, false
}

// used notes how many connections are in use.
func (l *OpenLoop) used() {
	l.note(func(c *record.Counters) { c.MostOpen = max(c.MostOpen, l.workers-len(l.idle)) })
}

// drops notes requests that are never sent; held, because they waited for a connection.
func (l *OpenLoop) drops(requests int, held bool) {
	l.note(func(c *record.Counters) { c.Drop(l.Recorder.Phase(l.Recorder.Now()), int64(requests), held) })
}

// note changes the counters of the loop.
func (l *OpenLoop) note(change func(*record.Counters)) {
	l.counters.Lock()
	defer l.counters.Unlock()
	change(l.counters)
}

func (l *OpenLoop) signalEmpty() {
	if l.noMore && len(l.idle) == l.workers {
		l.noMore = false // once
		close(l.empty)
	}
}

// end drops what waits and lets the workers end.
func (l *OpenLoop) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.note(func(c *record.Counters) {
		l.counted, c.Backlog = true, int64(l.workers-len(l.idle)+l.queue.Len())
	})
	for j, ok := l.queue.Pop(); ok; j, ok = l.queue.Pop() {
		l.drops(j.Requests, true)
	}
	for _, w := range l.idle {
		close(w.work)
	}
	l.idle = nil
}
