package fast

import (
	"math"
	"time"

	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/load/workload"
)

// sendBatch is how many scheduled requests are sent before responses are read.
const sendBatch = 64

// openShard adds to a shard what an open loop needs: the schedule, the free connections, and the
// queue of jobs that wait for one. Package portable says what happens to them. Times are ns since
// the start of the step.
type openShard struct {
	s       *shard
	feed    *workload.Feed
	initial int
	free    []int32 // indices of free connections; last in, first out
	queue   workload.Queue

	realtime               bool  // this thread has realtime priority
	checkedAt, idleAtCheck int64 // when the load was checked last, and shard.idle at that time
}

// priorityInterval is how often the thread's load is checked, which decides its priority: ordinary
// after a load above lowerFrom, realtime again after one below raiseBelow. A poll for events counts
// as idle time even if it does not wait, so no thread reads 100%.
const (
	priorityInterval = 50 * int64(time.Millisecond)
	lowerFrom        = 0.9
	raiseBelow       = 0.6
)

// setRealtime gives this thread realtime priority, so requests are sent on schedule even while the
// contender uses every CPU; or takes it back.
func (o *openShard) setRealtime(on bool) {
	if on {
		thread.Prefer()
	} else {
		thread.Ordinary()
	}
	o.realtime = on
}

// adjustPriority lowers the priority of a saturated client, so it takes no CPU from the contender,
// nor from a store that shares the client's CPUs.
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
	o.feed = workload.NewFeed(s.rec, s.step)
	return o
}

// users reports whether each job is a user with its own connection.
func (o *openShard) users() bool { return o.s.step.Arrivals != nil }

// run sends until the schedule or the sending has ended, and returns when nothing is in flight.
func (o *openShard) run() {
	thread.Own()
	o.setRealtime(true)
	s := o.s
	if s.attend(); o.users() {
		s.attentive = math.MaxInt64
	}
	if s.ring != nil {
		s.useRing()
	}
	defer s.endRing()
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
		o.await(wake)
		o.adjustPriority()
		s.counters.InFlight(&s.rec.Interval, s.now(), s.active-s.resting)
		s.serve()
	}
}

// longestNap is within the time that a window waits for what ended in it.
const longestNap = int64(time.Millisecond)

// await waits for events or the next scheduled request, and for that only where no job waits for a
// connection and responses can wait for it: the kernel's time stamp ends them, and their connections
// are free before it is sent. So the thread is woken once for a request.
func (o *openShard) await(until int64) {
	s, now := o.s, o.s.now()
	naps := !s.ended && o.queue.Len() == 0 && until-now <= longestNap && now >= s.attentive
	switch {
	case s.ring != nil && naps:
		s.awaitRing(until, napping)
	case s.ring != nil:
		s.awaitRing(until, 1)
	case naps:
		o.nap(min(until, s.next), now)
	default:
		s.await(until)
	}
}

// napping is more completions than come in a nap.
const napping = ringBatch

func (o *openShard) nap(until, now int64) {
	s := o.s
	s.counters.Unlock()
	if until > now {
		s.wait.Sleep(time.Duration(until - now))
		s.idle += int64(s.rec.Overlap(now, s.now()))
	}
	s.events = s.events[:cap(s.events)]
	n, errno := pollNow(s.epoll, s.events)
	if errno != 0 {
		n = 0
	}
	s.slept, s.napped = true, true
	s.counters.Lock()
	s.events = s.events[:n]
}

// pace sends what is scheduled, and returns when to check again.
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

// give hands a job to a free connection, or queues it.
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

// expire drops the jobs at the head of the queue whose timeout has passed.
func (o *openShard) expire(now int64) {
	o.drop(now, o.queue.Expire(now-int64(o.s.timeout)), true)
}

// drop counts requests that are never sent. waited says that they waited for a connection.
func (o *openShard) drop(now, requests int64, waited bool) {
	if requests > 0 {
		o.s.counters.Drop(o.s.rec.Phase(now), requests, waited)
	}
}

// start begins the first iteration of a job on c.
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

// send sends the next request of the user of c, c.lag after its scheduled time.
func (o *openShard) send(c *conn, i int, now int64, waited bool) {
	o.s.counters.SendScheduled(o.s.rec.Phase(now), time.Duration(c.lag), waited)
	o.s.launch(c, i, now)
}

// thinkEnded sends the next request of the user of c, who has just finished thinking.
func (o *openShard) thinkEnded(c *conn, i int, now int64) {
	if o.s.ended && !c.user.Midway(true) {
		c.user.Forget()
		o.drop(now, 1, false)
		o.release(c, i, now)
		return
	}
	o.send(c, i, now, c.waited)
	c.waited = false
}

// next sends the next request of a session. It is scheduled for the arrival of the response before,
// or for the end of the think time.
func (o *openShard) next(c *conn, i int, now int64) {
	s := o.s
	s.counters.Schedule(s.rec.Phase(now), 1, s.counters.Rate)
	c.lag = 0
	if !s.think(c, now) {
		o.send(c, i, now, false)
	}
}

// release gives c the next request of its user or the next job of the queue, or frees it.
func (o *openShard) release(c *conn, i int, now int64) {
	s := o.s
	ended := s.ended || s.rec.SendingEnded(now)
	if c.user.Midway(ended) {
		s.attentive = math.MaxInt64 // its next request is scheduled for the end of the response
		o.next(c, i, now)
		return
	}
	c.user.Forget()
	if c.remaining > 0 {
		if !ended {
			// A user's next iteration is scheduled for the arrival of the response before.
			o.start(c, i, now, workload.Job{At: now, Requests: c.remaining})
			return
		}
		o.drop(now, int64(c.remaining), false)
		c.remaining = 0
	}
	if o.users() {
		s.hangUp(c) // the next user has a new connection
		c.opened = false
		c.user.Leave()
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
