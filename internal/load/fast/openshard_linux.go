package fast

import (
	"math"
	"time"

	"locbench/internal/host/thread"
	"locbench/internal/load/workload"
)

// sendBatch is how many requests that are scheduled are sent before answers are looked at.
const sendBatch = 64

// openShard is what a shard of an open loop has besides: the schedule, the connections that are
// free, and the queue of those for whom there is none; see package portable for what becomes of
// them. Times are ns since the start of the step.
type openShard struct {
	s       *shard
	feed    *workload.Feed
	initial int
	free    []int32 // last in, first out
	queue   workload.Queue

	realtime               bool  // this thread runs before all others
	checkedAt, idleAtCheck int64 // when the load was looked at last, and what idle was then
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

// prefer lets this thread run before all others, so what is scheduled is sent when it is scheduled, also
// while the contender wants every CPU; or no more.
func (o *openShard) setRealtime(on bool) {
	if on {
		thread.Prefer()
	} else {
		thread.Ordinary()
	}
	o.realtime = on
}

// yield sees to it that a client which is saturated does not take a CPU from the contender, nor
// from a store that shares the client's.
func (o *openShard) adjustPriority() {
	now := o.s.now()
	took := now - o.checkedAt
	if took < priorityInterval {
		return
	}
	busy := 1 - float64(o.s.idle-o.idleAtCheck)/float64(took)
	o.checkedAt, o.idleAtCheck = now, o.s.idle
	switch {
	case o.realtime && busy > lowerFrom:
		o.setRealtime(false)
	case !o.realtime && busy < raiseBelow:
		o.setRealtime(true)
	}
}

func newOpenShard(s *shard) *openShard {
	o := &openShard{s: s, initial: workload.InitialConnections(s.step, len(s.conns))}
	for i := range s.conns {
		o.free = append(o.free, int32(len(s.conns)-1-i))
	}
	o.feed = workload.NewFeed(s.rec, s.step, s.loop.conf.Rate)
	return o
}

// users says whether each job is a user with its own connection.
func (o *openShard) users() bool { return o.s.step.Arrivals != nil }

// run sends until the schedule or the sending has ended, and returns when nothing is in flight any
// more.
func (o *openShard) run() {
	thread.Own()
	o.setRealtime(true)
	s := o.s
	s.counters.Lock()
	defer s.counters.Unlock()
	s.next = math.MaxInt64
	s.events = s.events[:0]
	for {
		wake := int64(math.MaxInt64)
		if !s.ended {
			wake = o.pace()
			if o.feed.Over() && (!o.users() || s.active == 0 && o.queue.Len() == 0) {
				s.rec.Stop()
			}
			if s.rec.Stopped() {
				s.ended = true
				s.counters.Backlog = int64(s.active - s.resting + o.queue.Len())
				o.drop(s.now(), o.queue.Expire(math.MaxInt64), true)
				s.wakeResting()
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
		o.adjustPriority()
		s.counters.InFlight(&s.rec.Interval, s.now(), s.active-s.resting)
		s.serve()
	}
}

// pace sends what is scheduled, and returns when to look again.
func (o *openShard) pace() (wake int64) {
	for range sendBatch {
		now := o.s.now()
		j, wake, ok := o.feed.Next(now, o.s.counters)
		if !ok {
			return wake
		}
		o.give(j, now)
	}
	return 0
}

// give hands what is scheduled to a free connection, or lets it wait in the queue.
func (o *openShard) give(j workload.Job, now int64) {
	o.expire(now)
	if n := len(o.free); n > 0 {
		i := int(o.free[n-1])
		o.free = o.free[:n-1]
		o.s.active++
		o.s.counters.MaxOpenConnections = max(o.s.counters.MaxOpenConnections, o.s.active)
		o.start(&o.s.conns[i], i, now, j)
		return
	}
	if j.Waited = true; !o.queue.Push(j) {
		o.drop(now, int64(j.Requests), true)
	}
}

// expire drops those at the head of the queue that have waited for too long by now.
func (o *openShard) expire(now int64) {
	o.drop(now, o.queue.Expire(now-int64(o.s.timeout)), true)
}

// drop notes requests that are never sent; held, because they waited for a connection.
func (o *openShard) drop(now, requests int64, waited bool) {
	if requests > 0 {
		o.s.counters.Drop(o.s.rec.Phase(now), requests, waited)
	}
}

// start begins the first request or session of a job on c.
func (o *openShard) start(c *conn, i int, now int64, j workload.Job) {
	c.lag, c.remaining = now-j.At, j.Requests-1
	s := o.s
	if err := s.mix.Begin(&c.user); err != nil {
		s.rec.Fail(err)
		o.drop(now, int64(j.Requests), false)
		c.remaining = 0
		o.release(c, i, now)
		return
	}
	if s.think(c, now) {
		c.waited = j.Waited
		return
	}
	o.send(c, i, now, j.Waited)
}

// send sends the next request of the user of c, which was scheduled so long ago.
func (o *openShard) send(c *conn, i int, now int64, waited bool) {
	o.s.counters.SendScheduled(o.s.rec.Phase(now), time.Duration(c.lag), waited)
	o.s.launch(c, i, now)
}

// thought lets the user of c, who has thought, ask. What is scheduled then is scheduled now.
func (o *openShard) thinkEnded(c *conn, i int, now int64) {
	if !c.user.Midway() && o.s.ended {
		c.user.Forget()
		o.drop(now, 1, false)
		o.release(c, i, now)
		return
	}
	o.send(c, i, now, c.waited)
	c.waited = false
}

// next lets a user in the middle of a session make the next request, which comes due with the response before, or
// when the user has thought.
func (o *openShard) next(c *conn, i int, now int64) {
	s := o.s
	s.counters.Schedule(s.rec.Phase(now), 1, s.counters.Rate)
	c.lag = 0
	if !s.think(c, now) {
		o.send(c, i, now, false)
	}
}

// release gives c the next request of its user, the next in the queue, or sets it free.
func (o *openShard) release(c *conn, i int, now int64) {
	s := o.s
	if c.user.Midway() {
		o.next(c, i, now)
		return
	}
	ended := s.ended || s.rec.SendingEnded(now)
	if c.remaining > 0 {
		if !ended {
			// What a user asks next is scheduled as soon as the response before is there.
			o.start(c, i, now, workload.Job{At: now, Requests: c.remaining})
			return
		}
		o.drop(now, int64(c.remaining), false)
		c.remaining = 0
	}
	if o.users() {
		s.hangUp(c) // the next user has its own connection
		c.opened = false
	}
	if !ended {
		o.expire(now)
		if j, ok := o.queue.Pop(); ok {
			o.start(c, i, now, j)
			return
		}
	}
	s.retire(c)
	o.free = append(o.free, int32(i))
}
