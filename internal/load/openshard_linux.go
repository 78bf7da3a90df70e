package load

import (
	"math"
	"time"

	"locbench/internal/thread"
)

// sendBatch is how many requests that are due are sent before answers are looked at.
const sendBatch = 64

// openShard is what a shard of an open loop has besides: the schedule, the connections that are free, and the line of those for whom there is
// none; see openLoop for what becomes of them. Times are ns since the start of the step.
type openShard struct {
	*shard
	plan     Plan
	schedule *schedule // of a rate
	given    int64     // requests, or users
	early    int
	free     []int32 // last in, first out
	line     ring

	preferred          bool  // this thread runs before all others
	spellAt, spellIdle int64 // when this spell began, and what idle was then
}

// spell is for how long it is watched how busy the thread is before it is decided anew whether it comes before all others. It does no longer when
// it was busy for more than tiring of that time, and does again from less than rested on. A look for events costs some time even if it does
// not wait: a thread without any pause is not seen at all.
const (
	spell  = 50 * int64(time.Millisecond)
	tiring = 0.9
	rested = 0.6
)

// prefer lets this thread run before all others, so that what is due is sent when it is due, also while the contender wants every CPU; or no more.
func (o *openShard) prefer(on bool) {
	if on {
		thread.Prefer()
	} else {
		thread.Ordinary()
	}
	o.preferred = on
}

// yield sees to it that a client which is saturated does not take a CPU from the contender, nor from a store that shares the client's.
func (o *openShard) yield() {
	now := o.now()
	took := now - o.spellAt
	if took < spell {
		return
	}
	busy := 1 - float64(o.idle-o.spellIdle)/float64(took)
	o.spellAt, o.spellIdle = now, o.idle
	switch {
	case o.preferred && busy > tiring:
		o.prefer(false)
	case !o.preferred && busy < rested:
		o.prefer(true)
	}
}

func newOpenShard(s *shard, plan Plan) *openShard {
	o := &openShard{shard: s, plan: plan, early: early(plan.Step, len(s.conns))}
	for i := range s.conns {
		o.free = append(o.free, int32(len(s.conns)-1-i))
	}
	if plan.Step.Arrivals == nil {
		o.schedule = newSchedule(plan.Step, plan.Rate)
	}
	return o
}

// run sends until the schedule or the sending has ended, and returns when nothing is in flight any more.
func (o *openShard) run() {
	thread.Own()
	o.prefer(true)
	s := o.shard
	s.account.mu.Lock()
	defer s.account.mu.Unlock()
	s.next = math.MaxInt64
	s.events = s.events[:0]
	if o.schedule != nil {
		o.schedule.poll(0)
	}
	for {
		wake := int64(math.MaxInt64)
		if !s.ended {
			var more bool
			if wake, more = o.pace(); !more {
				s.loop.rec.stop()
			}
			if s.loop.rec.end.Load() > 0 {
				s.ended = true
				o.account.backlog = int64(s.active + o.line.n)
				o.dropLine()
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
		o.account.addInFlight(&s.loop.rec.interval, o.now(), s.active)
		s.serve()
	}
}

// pace sends what is due, and returns when to look again; more is false when no request comes any more.
func (o *openShard) pace() (wake int64, more bool) {
	if o.schedule == nil {
		return o.arrive()
	}
	step := &o.plan.Step
	o.schedule.origin = float64(o.loop.rec.interval.from.Load())
	for range sendBatch {
		now := o.now()
		due, end := int64(o.schedule.next()), o.end()
		switch {
		case step.MaxRequests > 0 && o.given >= step.MaxRequests:
			return 0, false
		case due >= end:
			return end, now < end
		case due > now:
			o.change(now)
			return min(int64(o.schedule.next()), now+int64(pollEvery)), true
		}
		o.account.comesDue(o.moment(due), 1, o.schedule.rate(o.schedule.at))
		o.schedule.take()
		o.given++
		o.give(due, 1, now)
	}
	return 0, true
}

// end is when the schedule ends, undecided in the lead-in.
func (o *openShard) end() int64 {
	if o.loop.rec.bounded {
		return int64(o.plan.Step.Duration)
	}
	return o.loop.rec.interval.to.Load()
}

// change takes in a rate that somebody asks for.
func (o *openShard) change(now int64) {
	o.schedule.poll(time.Duration(now))
	if o.schedule.changed {
		o.account.final = o.schedule.rate(o.schedule.at)
	}
}

// arrive is pace for users: it ends when all have been served.
func (o *openShard) arrive() (wake int64, more bool) {
	a := o.plan.Step.Arrivals
	for range sendBatch {
		if o.given == int64(a.Users) {
			return math.MaxInt64, o.active > 0 || o.line.n > 0
		}
		now := o.now()
		due := int64(float64(o.given) / float64(a.Users) * float64(a.Over))
		if due > now {
			return due, true
		}
		o.account.comesDue(o.moment(due), int64(a.Requests), 0)
		o.given++
		o.give(due, a.Requests, now)
	}
	return 0, true
}

// give hands what is due to a free connection, or puts it in line.
func (o *openShard) give(due int64, requests int, now int64) {
	o.expire(now)
	if n := len(o.free); n > 0 {
		i := int(o.free[n-1])
		o.free = o.free[:n-1]
		c := &o.conns[i]
		o.active++
		o.account.mostOpen = max(o.account.mostOpen, o.active)
		o.start(c, i, now, due, requests, false)
		return
	}
	if !o.line.push(job{due: o.clock(due), requests: requests, held: true}, maxLine) {
		o.account.drops(o.moment(now), int64(requests), true)
	}
}

func (o *openShard) clock(at int64) time.Time { return o.loop.rec.started.Add(time.Duration(at)) }

func (o *openShard) moment(at int64) moment { return o.loop.rec.interval.of(at) }

// expire drops those at the head of the line that have waited for too long by now.
func (o *openShard) expire(now int64) {
	for {
		j, ok := o.line.peek()
		if !ok || o.clock(now).Sub(j.due) <= o.loop.timeout {
			return
		}
		o.line.pop()
		o.account.drops(o.moment(now), int64(j.requests), true)
	}
}

// start sends the first of requests on c.
func (o *openShard) start(c *conn, i int, now, due int64, requests int, held bool) {
	c.lag, c.left = now-due, requests-1
	o.account.sends(o.moment(now), time.Duration(c.lag), held)
	o.launch(c, i, now)
}

// release gives c the next request of its user, the next in line, or sets it free.
func (o *openShard) release(c *conn, i int, now int64) {
	ended := o.ended || o.loop.rec.sendingEnded(now)
	if c.left > 0 {
		if !ended {
			// What a user asks next is due as soon as the answer before is there.
			o.start(c, i, now, now, c.left, false)
			return
		}
		o.account.drops(o.moment(now), int64(c.left), false)
		c.left = 0
	}
	if o.schedule == nil {
		o.hangUp(c) // the next user has a connection of its own
	}
	if !ended {
		o.expire(now)
		if j, ok := o.line.pop(); ok {
			o.start(c, i, now, int64(j.due.Sub(o.loop.rec.started)), j.requests, true)
			return
		}
	}
	o.retire(c)
	o.free = append(o.free, int32(i))
}

func (o *openShard) dropLine() {
	now := o.now()
	for j, ok := o.line.pop(); ok; j, ok = o.line.pop() {
		o.account.drops(o.moment(now), int64(j.requests), true)
	}
}
