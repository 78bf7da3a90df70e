package load

import (
	"context"
	"sync"
	"time"

	"locbench/internal/bench"
)

const (
	pollEvery = 20 * time.Millisecond // how often the rate that somebody asks for is looked up
	maxLine   = 1 << 20               // requests that wait for a connection; more are dropped at once
	warmOpen  = 10 * time.Millisecond // the requests of so long a time have connections before the clock starts
)

// openLoop sends requests when they are due, on connections of which there are no more than a bound.
//
// A request that is due takes a connection that is free, or a new one. With all in use it waits in line, which is counted: as
// late when it is sent at last, or as dropped when it has waited for as long as a request may take, when the line is full, or
// when the step ends. So each that came due is either sent or dropped.
type openLoop struct {
	*transport
	plan    Plan
	rec     *recorder
	timeout time.Duration
	users   bool // each job is a user with a connection of its own
	most    int  // connections

	mu      sync.Mutex
	idle    []*worker // last in, first out: as few connections as will do
	workers int
	line    ring
	ended   bool
	empty   chan struct{} // closed when all have been served after noMore
	noMore  bool
	wg      sync.WaitGroup
}

// worker is a goroutine with a slot.
type worker struct {
	slot *slot
	work chan job // of capacity 1: who takes a worker from the idle ones may send without waiting
}

// job is one request, or one user with several.
type job struct {
	due      time.Time
	requests int
	held     bool // it waited in line
}

func newOpenLoop(t *transport, plan Plan, most int) *openLoop {
	t.rec.users = plan.Step.Arrivals != nil
	l := &openLoop{
		transport: t, plan: plan, rec: t.rec, timeout: plan.Timeout, users: plan.Step.Arrivals != nil, most: most, empty: make(chan struct{}),
	}
	for _, s := range t.slots {
		l.workers++
		l.idle = append(l.idle, &worker{slot: s, work: make(chan job, 1)})
	}
	return l
}

// early is how many connections an open loop of s opens before the clock starts: for users none, as theirs are new.
func early(s bench.Step, most int) int {
	if s.Arrivals != nil {
		return 0
	}
	return min(max(int(s.Rate*warmOpen.Seconds()), 1), most)
}

// run sends until the step's duration is over or the sending has been stopped, and returns when all is drained.
func (l *openLoop) run(ctx context.Context) {
	plan := l.plan
	for _, w := range l.idle {
		l.wg.Go(func() { l.wait(ctx, w) })
	}
	var wg sync.WaitGroup
	// A goroutine of its own, because it sleeps on a thread of its own.
	wg.Go(func() {
		nap := newNap()
		defer nap.close()
		if plan.Step.Arrivals != nil {
			l.arrive(ctx, nap, *plan.Step.Arrivals)
		} else {
			l.pace(ctx, nap, plan)
		}
	})
	wg.Wait()
	l.rec.stop()
	l.end()
	l.wg.Wait()
}

// pace sends by the schedule of a rate.
func (l *openLoop) pace(ctx context.Context, nap *nap, plan Plan) {
	s := newSchedule(plan.Step, plan.Rate)
	started := l.rec.started
	s.poll(0)
	defer func() {
		if s.changed {
			l.note(func(a *account) { a.final = s.rate(s.at) })
		}
	}()
	for n := int64(0); plan.Step.MaxRequests == 0 || n < plan.Step.MaxRequests; {
		s.origin = float64(l.rec.interval.from.Load())
		end := plan.Step.Duration
		if !l.rec.bounded {
			end = time.Duration(l.rec.interval.to.Load())
		}
		due, now := s.next(), time.Since(started)
		if due >= end && now >= end {
			return
		}
		if due <= now && due < end {
			if l.stopped() {
				return
			}
			l.note(func(a *account) { a.comesDue(l.rec.interval.of(int64(due)), 1, s.rate(s.at)) })
			l.give(ctx, job{due: started.Add(due), requests: 1})
			s.take()
			n++
			continue
		}
		if !nap.until(started.Add(min(due, end, now+pollEvery)), l.rec.halted) {
			return
		}
		// Not beyond what is due by now: that was due at the old rate.
		s.poll(min(time.Since(started), s.next()))
	}
}

// arrive sends users, and returns when all have been served or the sending has been stopped.
func (l *openLoop) arrive(ctx context.Context, nap *nap, a bench.Arrivals) {
	started := l.rec.started
	for i := range a.Users {
		due := started.Add(time.Duration(float64(i) / float64(a.Users) * float64(a.Over)))
		if !nap.until(due, l.rec.halted) {
			return
		}
		l.note(func(c *account) { c.comesDue(l.rec.interval.of(int64(due.Sub(started))), int64(a.Requests), 0) })
		l.give(ctx, job{due: due, requests: a.Requests})
	}
	l.mu.Lock()
	l.noMore = true
	l.signalEmpty()
	l.mu.Unlock()
	select {
	case <-l.empty:
	case <-l.rec.halted:
	}
}

func (l *openLoop) stopped() bool {
	select {
	case <-l.rec.halted:
		return true
	default:
		return false
	}
}

// give hands a job to a connection, or puts it in line.
func (l *openLoop) give(ctx context.Context, j job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(j.due)
	if n := len(l.idle); n > 0 {
		w := l.idle[n-1]
		l.idle = l.idle[:n-1]
		w.work <- j
		l.used()
		return
	}
	if l.workers < l.most {
		l.workers++
		w := &worker{slot: l.add(), work: make(chan job, 1)}
		if !l.users {
			l.adopt(w.slot)
		}
		w.work <- j
		l.wg.Go(func() { l.wait(ctx, w) })
		l.used()
		return
	}
	j.held = true
	if !l.line.push(j, maxLine) {
		l.drops(j.requests, true)
	}
}

// expire drops those at the head of the line that have waited for too long by now.
func (l *openLoop) expire(now time.Time) {
	for {
		j, ok := l.line.peek()
		if !ok || now.Sub(j.due) <= l.timeout {
			return
		}
		l.line.pop()
		l.drops(j.requests, true)
	}
}

// wait is the life of a worker.
func (l *openLoop) wait(ctx context.Context, w *worker) {
	for j := range w.work {
		for ok := true; ok; j, ok = l.next(w) {
			l.serve(ctx, w.slot, j)
		}
	}
}

// serve makes the requests of a job.
func (l *openLoop) serve(ctx context.Context, s *slot, j job) {
	if l.users {
		defer s.close()
	}
	l.exchange(ctx, s, j.due, j.held)
	for n := j.requests - 1; n > 0; n-- {
		// What a user asks next is due as soon as the answer before is there.
		if l.stopped() {
			l.drops(n, false)
			return
		}
		l.exchange(ctx, s, s.last, false)
	}
}

// next is the next job in line; without any, w is free.
func (l *openLoop) next(w *worker) (job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line.n > 0 {
		l.expire(time.Now())
	}
	if j, ok := l.line.pop(); ok {
		return j, true
	}
	if l.ended {
		close(w.work)
		return job{}, false
	}
	l.idle = append(l.idle, w)
	l.signalEmpty()
	return job{}, false
}

// used notes how many connections are in use.
func (l *openLoop) used() {
	l.note(func(a *account) { a.mostOpen = max(a.mostOpen, l.workers-len(l.idle)) })
}

// drops notes requests that are never sent; held, because they waited for a connection.
func (l *openLoop) drops(requests int, held bool) {
	l.note(func(a *account) { a.drops(l.rec.interval.of(l.rec.now()), int64(requests), held) })
}

// note changes the counters of the loop.
func (l *openLoop) note(change func(*account)) {
	l.account.mu.Lock()
	defer l.account.mu.Unlock()
	change(l.account)
}

func (l *openLoop) signalEmpty() {
	if l.noMore && len(l.idle) == l.workers {
		l.noMore = false // once
		close(l.empty)
	}
}

// end drops the line and sends the workers home.
func (l *openLoop) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.note(func(a *account) { a.backlog = int64(l.workers - len(l.idle) + l.line.n) })
	for j, ok := l.line.pop(); ok; j, ok = l.line.pop() {
		l.drops(j.requests, true)
	}
	for _, w := range l.idle {
		close(w.work)
	}
	l.idle = nil
}

// ring is a line of jobs, first in, first out.
type ring struct {
	jobs []job
	head int
	n    int
}

// push tells whether there was room for one more than n jobs.
func (r *ring) push(j job, most int) bool {
	if r.n >= most {
		return false
	}
	if r.n == len(r.jobs) {
		bigger := make([]job, max(64, 2*r.n))
		for i := range r.n {
			bigger[i] = r.jobs[(r.head+i)%len(r.jobs)]
		}
		r.jobs, r.head = bigger, 0
	}
	r.jobs[(r.head+r.n)%len(r.jobs)] = j
	r.n++
	return true
}

func (r *ring) peek() (job, bool) {
	if r.n == 0 {
		return job{}, false
	}
	return r.jobs[r.head], true
}

func (r *ring) pop() (job, bool) {
	j, ok := r.peek()
	if ok {
		r.head = (r.head + 1) % len(r.jobs)
		r.n--
	}
	return j, ok
}
