package portable

import (
	"math"
	"time"

	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/workload"
)

// openPacer is the vegeta.Pacer of an open loop. It puts each scheduled job into a queue, and
// returns from Pace when one may be sent. vegeta then waits for a worker, of which there are as
// many as connections.
//
// A job counts as late when it is sent later than scheduled, and as dropped when its timeout passes
// while it waits for a connection, when the queue is full, or when the step ends and no connection
// is free for it. So each scheduled request is either sent or dropped. The lock of the counters
// guards all fields but nap.
type openPacer struct {
	loop     *Loop
	users    bool // each job is a user with its own connection
	feed     *workload.Feed
	queue    workload.Queue
	promised int         // jobs of the queue that have a tick
	ended    bool        // sending has ended; the jobs of the queue have free connections
	nap      *thread.Nap // of vegeta's goroutine
}

func newOpenPacer(l *Loop) *openPacer {
	return &openPacer{
		loop: l, users: l.conf.Step.Arrivals != nil, feed: workload.NewFeed(l.rec, l.conf.Step),
	}
}

// Rate returns the scheduled requests per second now.
func (o *openPacer) Rate(time.Duration) (rate float64) {
	o.loop.note(func(c *record.Counters) { rate = c.Rate })
	return rate
}

// Pace returns when a job is to be sent, or with stop if no more are.
func (o *openPacer) Pace(time.Duration, uint64) (wait time.Duration, stop bool) {
	if o.nap == nil {
		o.nap = thread.NewNap(o.loop.conf.Sleep)
	}
	for {
		var wake int64
		var tick bool
		o.loop.note(func(c *record.Counters) {
			wake = o.fill(c)
			if tick = o.queue.Len() > o.promised; tick {
				o.promised++
			}
		})
		if tick {
			return 0, false
		}
		if wake == math.MaxInt64 {
			o.nap.Close()
			return 0, true
		}
		o.nap.Until(o.loop.rec.Time(wake), o.loop.rec.Halted())
	}
}

// fill puts what is scheduled until now into the queue, drops what has waited for its timeout, and
// returns when to look again; math.MaxInt64: nothing more is scheduled. With its schedule a step at
// a rate ends; users are all served first.
func (o *openPacer) fill(c *record.Counters) (wake int64) {
	if o.ended {
		o.keep(c, o.free())
		return math.MaxInt64
	}
	now := o.loop.rec.Now()
	for {
		var j workload.Job
		var ok bool
		if j, wake, ok = o.feed.Next(now, c); !ok {
			break
		}
		j.Waited = o.loop.inUse()+o.queue.Len() >= o.loop.conf.Connections
		if !o.queue.Push(j) {
			o.dropped(c, int64(j.Requests))
		}
	}
	o.dropped(c, o.queue.Expire(now-int64(o.loop.conf.Timeout)))
	if o.feed.Over() && !o.users {
		o.loop.rec.Stop()
	}
	if o.loop.rec.Stopped() {
		o.ended, wake = true, math.MaxInt64
		o.loop.backlogCounted, c.Backlog = true, int64(o.loop.inUse()+o.queue.Len())
		o.keep(c, o.free())
	}
	return wake
}

// free returns how many connections are free.
func (o *openPacer) free() int { return o.loop.conf.Connections - o.loop.inUse() }

// keep drops all jobs but the first n.
func (o *openPacer) keep(c *record.Counters, n int) {
	for i, all := 0, o.queue.Len(); all > n && i < all; i++ {
		j, _ := o.queue.Pop()
		if i < n {
			o.queue.Push(j)
		} else {
			c.Drop(o.loop.rec.Phase(o.loop.rec.Now()), int64(j.Requests), j.Waited)
		}
	}
}

// next takes the next job for a tick; ok is false if it was dropped meanwhile.
func (o *openPacer) next() (j workload.Job, ok bool) {
	o.loop.note(func(c *record.Counters) {
		o.promised--
		o.fill(c)
		j, ok = o.queue.Pop()
	})
	return j, ok
}

// watch keeps the queue up to date while vegeta waits for a worker. It returns when sending has
// ended and all that is sent has been taken; or when done is closed: what is left then is dropped.
func (o *openPacer) watch(done <-chan struct{}) {
	tick := time.NewTicker(workload.PollEvery)
	defer tick.Stop()
	halted := o.loop.rec.Halted()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-halted:
			halted = nil
		case <-done:
			over = true
		}
		o.loop.note(func(c *record.Counters) {
			o.fill(c)
			if over {
				o.keep(c, 0)
			}
			over = over || o.ended && o.queue.Len() == 0
		})
	}
}

// dropped counts requests that waited for a connection and are never sent.
func (o *openPacer) dropped(c *record.Counters, requests int64) {
	if requests > 0 {
		c.Drop(o.loop.rec.Phase(o.loop.rec.Now()), requests, true)
	}
}

// drop counts requests that are never sent for another reason.
func (o *openPacer) drop(requests int) {
	o.loop.note(func(c *record.Counters) { c.Drop(o.loop.rec.Phase(o.loop.rec.Now()), int64(requests), false) })
}
