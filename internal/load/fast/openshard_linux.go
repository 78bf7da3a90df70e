package fast

import (
	"math"
	"time"

	"locbench/internal/load/record"
	"locbench/internal/load/workload"
	"locbench/internal/thread"
)

// sendBatch is how many requests that are due are sent before answers are looked at.
const sendBatch = 64

// openShard is what a shard of an open loop has besides: the schedule, the connections that are
// free, and the queue of those for whom there is none; see portable.OpenLoop for what becomes of
// them. Times are ns since the start of the step.
type openShard struct {
	*shard
	schedule *workload.Schedule // of a rate
	given    int64              // requests, or users
	early    int
	free     []int32 // last in, first out
	queue    workload.Queue

	preferred          bool  // this thread runs before all others
	lookedAt, idleThen int64 // when the load was looked at last, and what idle was then
}

// priorityInterval is how often the thread's load is looked at again, which decides whether it runs
// before all others: no longer when it was busy for more than lowerFrom of that time, and again
// when for less than raiseBelow. A look for events costs some time even if it does not wait: a
// thread without any pause is not seen at all.
const (
	priorityInterval = 50 * int64(time.Millisecond)
	lowerFrom        = 0.9
	raiseBelow       = 0.6
)

// prefer lets this thread run before all others, so that what is due is sent when it is due, also
// while the contender wants every CPU; or no more.
func (o *openShard) prefer(on bool) {
	if on {
		thread.Prefer()
	} else {
		thread.Ordinary()
	}
	o.preferred = on
}

// yield sees to it that a client which is saturated does not take a CPU from the contender, nor
// from a store that shares the client's.
func (o *openShard) yield() {
	now := o.now()
	took := now - o.lookedAt
	if took < priorityInterval {
		return
	}
	busy := 1 - float64(o.idle-o.idleThen)/float64(took)
	o.lookedAt, o.idleThen = now, o.idle
	switch {
	case o.preferred && busy > lowerFrom:
		o.prefer(false)
	case !o.preferred && busy < raiseBelow:
		o.prefer(true)
	}
}

func newOpenShard(s *shard) *openShard {
	o := &openShard{shard: s, early: workload.Early(s.step, len(s.conns))}
	for i := range s.conns {
		o.free = append(o.free, int32(len(s.conns)-1-i))
	}
	if s.step.Arrivals == nil {
		o.schedule = workload.NewSchedule(s.step, s.loop.Rate)
	}
	return o
}

// run sends until the schedule or the sending has ended, and returns when nothing is in flight any
// more.
func (o *openShard) run() {
	thread.Own()
	o.prefer(true)
	s := o.shard
	s.counters.Lock()
	defer s.counters.Unlock()
	s.next = math.MaxInt64
	s.events = s.events[:0]
	if o.schedule != nil {
		o.schedule.Poll(0)
	}
	for {
		wake := int64(math.MaxInt64)
		if !s.ended {
			var more bool
			if wake, more = o.pace(); !more {
				s.loop.Recorder.Stop()
			}
			if s.loop.Recorder.Stopped() {
				s.ended = true
				o.counters.Backlog = int64(s.active + o.queue.Len())
				o.dropQueue()
			}
		}
		if s.ended && s.active == 0 {
			return
		}
		if s.loop.cutNow.Load() {
			s.cutAll()
			return
		}
		s.await(wake)
		o.yield()
		o.counters.InFlight(&s.loop.Recorder.Interval, o.now(), s.active)
		s.serve()
	}
}

// pace sends what is due, and returns when to look again; more is false when no request comes any
// more.
func (o *openShard) pace() (wake int64, more bool) {
	if o.schedule == nil {
		return o.arrive()
	}
	step := &o.step
	o.schedule.Begins(o.loop.Recorder.From())
	for range sendBatch {
		now := o.now()
		due, end := int64(o.schedule.Next()), o.end()
		switch {
		case step.MaxRequests > 0 && o.given >= step.MaxRequests:
			return 0, false
		case due >= end:
			return end, now < end
		case due > now:
			o.change(now)
			return min(int64(o.schedule.Next()), now+int64(workload.PollEvery)), true
		}
		o.counters.ComeDue(o.phase(due), 1, o.schedule.Rate())
		o.schedule.Take()
		o.given++
		o.give(due, 1, now)
	}
	return 0, true
}

// end is when the schedule ends, record.Undecided in the lead-in.
func (o *openShard) end() int64 {
	if o.loop.Recorder.Bounded() {
		return int64(o.step.Duration)
	}
	return o.loop.Recorder.To()
}

// change takes in a rate that somebody asks for.
func (o *openShard) change(now int64) {
	o.schedule.Poll(time.Duration(now))
	if o.schedule.Changed() {
		o.counters.Final = o.schedule.Rate()
	}
}

// arrive is pace for users: it ends when all have been served.
func (o *openShard) arrive() (wake int64, more bool) {
	a := o.step.Arrivals
	for range sendBatch {
		if o.given == int64(a.Users) {
			return math.MaxInt64, o.active > 0 || o.queue.Len() > 0
		}
		now := o.now()
		due := int64(float64(o.given) / float64(a.Users) * float64(a.Over))
		if due > now {
			return due, true
		}
		o.counters.ComeDue(o.phase(due), int64(a.Requests), 0)
		o.given++
		o.give(due, a.Requests, now)
	}
	return 0, true
}

// give hands what is due to a free connection, or lets it wait in the queue.
func (o *openShard) give(due int64, requests int, now int64) {
	o.expire(now)
	if n := len(o.free); n > 0 {
		i := int(o.free[n-1])
		o.free = o.free[:n-1]
		c := &o.conns[i]
		o.active++
		o.counters.MostOpen = max(o.counters.MostOpen, o.active)
		o.start(c, i, now, due, requests, false)
		return
	}
	if !o.queue.Push(workload.Job{Due: o.clock(due), Requests: requests, Held: true}) {
		o.counters.Drop(o.phase(now), int64(requests), true)
	}
}

func (o *openShard) clock(at int64) time.Time { return o.loop.Recorder.Time(at) }

func (o *openShard) phase(at int64) record.Phase { return o.loop.Recorder.Phase(at) }

// expire drops those at the head of the queue that have waited for too long by now.
func (o *openShard) expire(now int64) {
	for {
		j, ok := o.queue.Peek()
		if !ok || o.clock(now).Sub(j.Due) <= o.loop.Timeout {
			return
		}
		o.queue.Pop()
		o.counters.Drop(o.phase(now), int64(j.Requests), true)
	}
}

// start sends the first of requests on c.
func (o *openShard) start(c *conn, i int, now, due int64, requests int, held bool) {
	c.lag, c.left = now-due, requests-1
	o.counters.SendDue(o.phase(now), time.Duration(c.lag), held)
	o.launch(c, i, now)
}

// release gives c the next request of its user, the next in the queue, or sets it free.
func (o *openShard) release(c *conn, i int, now int64) {
	ended := o.ended || o.loop.Recorder.SendingEnded(now)
	if c.left > 0 {
		if !ended {
			// What a user asks next is due as soon as the answer before is there.
			o.start(c, i, now, now, c.left, false)
			return
		}
		o.counters.Drop(o.phase(now), int64(c.left), false)
		c.left = 0
	}
	if o.schedule == nil {
		o.hangUp(c) // the next user has a connection of its own
		c.ever = false
	}
	if !ended {
		o.expire(now)
		if j, ok := o.queue.Pop(); ok {
			o.start(c, i, now, o.loop.Recorder.At(j.Due), j.Requests, true)
			return
		}
	}
	o.retire(c)
	o.free = append(o.free, int32(i))
}

func (o *openShard) dropQueue() {
	now := o.now()
	for j, ok := o.queue.Pop(); ok; j, ok = o.queue.Pop() {
		o.counters.Drop(o.phase(now), int64(j.Requests), true)
	}
}
