package portable

import (
	"context"
	"math"
	"sync"

	"locbench/internal/load/record"
	"locbench/internal/load/workload"
)

// openLoop sends requests on schedule, over a bounded number of connections.
//
// A scheduled request takes a free connection, or opens one. If all are in use, it waits in a
// queue. It counts as late when it is sent from there, and as dropped when its timeout passes, when
// the queue is full, or when the step ends. So each scheduled request is either sent or dropped.
type openLoop struct {
	loop  *Loop
	users bool           // each job is a user with its own connection
	feed  *workload.Feed // guarded by the lock of the counters

	mu       sync.Mutex
	idle     []*worker // last in, first out, to use few connections
	workers  int
	queue    workload.Queue
	ended    bool
	empty    chan struct{} // closed when all users have been served after allGiven
	allGiven bool
	wg       sync.WaitGroup
}

// worker is a goroutine with a slot.
type worker struct {
	slot *slot
	work chan workload.Job // capacity 1: sending to an idle worker never blocks
}

func newOpenLoop(l *Loop) *openLoop {
	o := &openLoop{
		loop: l, users: l.conf.Step.Arrivals != nil, empty: make(chan struct{}),
		feed: workload.NewFeed(l.rec, l.conf.Step, l.conf.Rate),
	}
	for _, s := range l.slots {
		o.workers++
		o.idle = append(o.idle, &worker{slot: s, work: make(chan workload.Job, 1)})
	}
	return o
}

// run sends the step's requests, as Loop.Run does.
func (o *openLoop) run(ctx context.Context) {
	for _, w := range o.idle {
		o.wg.Go(func() { o.wait(ctx, w) })
	}
	var wg sync.WaitGroup
	wg.Go(func() { o.send(ctx) }) // in its own goroutine, because it sleeps on its own thread
	wg.Wait()
	o.loop.rec.Stop()
	o.end()
	o.wg.Wait()
}

// send hands out jobs on schedule until there are no more and all users have been served, or until
// sending is stopped.
func (o *openLoop) send(ctx context.Context) {
	nap := newNap(o.loop.conf.Sleep)
	defer nap.close()
	rec := o.loop.rec
	for !rec.Stopped() && !o.feed.Over() {
		var j workload.Job
		var wake int64
		var scheduled bool
		o.loop.note(func(c *record.Counters) { j, wake, scheduled = o.feed.Next(rec.Now(), c) })
		if scheduled {
			o.give(ctx, j)
		} else if !o.feed.Over() && !nap.until(rec.Time(wake), rec.Halted()) {
			return
		}
	}
	if !o.users {
		return
	}
	o.mu.Lock()
	o.allGiven = true
	o.signalEmpty()
	o.mu.Unlock()
	select {
	case <-o.empty:
	case <-rec.Halted():
	}
}

// give hands a job to a connection, or queues it.
func (o *openLoop) give(ctx context.Context, j workload.Job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire(j.At)
	if n := len(o.idle); n > 0 {
		w := o.idle[n-1]
		o.idle = o.idle[:n-1]
		w.work <- j
		o.noteConnections()
		return
	}
	if o.workers < o.loop.conf.Connections {
		o.workers++
		w := &worker{slot: o.loop.add(), work: make(chan workload.Job, 1)}
		if !o.users {
			o.loop.reuse(w.slot)
		}
		w.work <- j
		o.wg.Go(func() { o.wait(ctx, w) })
		o.noteConnections()
		return
	}
	j.Waited = true
	if !o.queue.Push(j) {
		o.drop(int64(j.Requests), true)
	}
}

// expire drops the jobs at the head of the queue whose timeout has passed.
func (o *openLoop) expire(now int64) {
	o.drop(o.queue.Expire(now-int64(o.loop.conf.Timeout)), true)
}

// wait serves jobs until there are no more.
func (o *openLoop) wait(ctx context.Context, w *worker) {
	for j := range w.work {
		for ok := true; ok; j, ok = o.next(w) {
			o.serve(ctx, w.slot, j)
		}
	}
}

// serve sends the requests of a job.
func (o *openLoop) serve(ctx context.Context, s *slot, j workload.Job) {
	if o.users {
		defer func() {
			s.close()
			s.opened = false // the next user has a new connection
		}()
	}
	rec := o.loop.rec
	scheduled, waited := j.At, j.Waited
	for n := j.Requests; n > 0; n-- {
		// A user's next iteration is scheduled for the arrival of the response before.
		before := rec.Now()
		if n < j.Requests && rec.Stopped() || !o.loop.begin(s) {
			o.drop(int64(n), false)
			return
		}
		if s.user.Think() > 0 {
			scheduled += rec.Now() - before
		}
		scheduled, _ = o.loop.exchange(ctx, s, scheduled, waited)
		for waited = false; s.user.Midway(); {
			o.loop.note(func(c *record.Counters) { c.Schedule(rec.Phase(scheduled), 1, c.Rate) })
			if think := s.user.Think(); think > 0 {
				o.loop.pause(think)
				scheduled = rec.Now()
			}
			scheduled, _ = o.loop.exchange(ctx, s, scheduled, false)
		}
	}
}

// next returns the next job in the queue. If there is none, w becomes idle.
func (o *openLoop) next(w *worker) (workload.Job, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.queue.Len() > 0 {
		o.expire(o.loop.rec.Now())
	}
	if j, ok := o.queue.Pop(); ok {
		return j, true
	}
	if o.ended {
		close(w.work)
		return workload.Job{}, false
	}
	o.idle = append(o.idle, w)
	o.signalEmpty()
	return workload.Job{}, false
}

// noteConnections records how many connections are in use.
func (o *openLoop) noteConnections() {
	o.loop.note(func(c *record.Counters) { c.MaxOpenConnections = max(c.MaxOpenConnections, o.workers-len(o.idle)) })
}

// drop counts requests that are never sent. waited says that they waited for a connection.
func (o *openLoop) drop(requests int64, waited bool) {
	if requests > 0 {
		o.loop.note(func(c *record.Counters) { c.Drop(o.loop.rec.Phase(o.loop.rec.Now()), requests, waited) })
	}
}

func (o *openLoop) signalEmpty() {
	if o.allGiven && len(o.idle) == o.workers {
		o.allGiven = false // close it only once
		close(o.empty)
	}
}

// end drops the queued jobs and lets the workers end.
func (o *openLoop) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.loop.note(func(c *record.Counters) {
		o.loop.backlogCounted, c.Backlog = true, int64(o.workers-len(o.idle)+o.queue.Len())
	})
	o.drop(o.queue.Expire(math.MaxInt64), true)
	for _, w := range o.idle {
		close(w.work)
	}
	o.idle = nil
}
