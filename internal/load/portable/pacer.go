package portable

import (
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
// while it waits for a connection, when the queue is full, or when the step ends. So each scheduled
// request is either sent or dropped. The lock of the counters guards all fields but nap.
type openPacer struct {
	loop     *Loop
	users    bool // each job is a user with its own connection
	feed     *workload.Feed
	queue    workload.Queue
	promised int         // jobs of the queue that have a tick
	last     bool        // no tick follows; sending ends when the promised jobs are taken
	nap      *thread.Nap // of vegeta's goroutine
}

func newOpenPacer(l *Loop) *openPacer {
	return &openPacer{
		loop: l, users: l.conf.Step.Arrivals != nil, feed: workload.NewFeed(l.rec, l.conf.Step, l.conf.Rate),
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
	for !o.loop.rec.Stopped() {
		var wake int64
		var tick, over bool
		o.loop.note(func(c *record.Counters) {
			wake = o.fill(c)
			free := o.loop.conf.Connections - o.loop.inUse() - o.promised
			if over = o.feed.Over(); o.queue.Len() > o.promised && (free > 0 || o.users || !over) {
				o.promised++
				tick = true
			} else if over {
				o.last = true
				o.endIfTaken()
			}
		})
		if tick {
			return 0, false
		}
		if over || !o.nap.Until(o.loop.rec.Time(wake), o.loop.rec.Halted()) {
			break
		}
	}
	o.nap.Close()
	return 0, true
}

// endIfTaken ends sending at a rate after the last promised job; the rest of the queue is dropped.
// Users are all served first.
func (o *openPacer) endIfTaken() {
	if o.last && o.promised == 0 && !o.users {
		o.loop.rec.Stop()
	}
}

// fill puts what is scheduled until now into the queue, drops what has waited for its timeout, and
// returns when to look again.
func (o *openPacer) fill(c *record.Counters) (wake int64) {
	now := o.loop.rec.Now()
	for {
		j, wake, ok := o.feed.Next(now, c)
		if !ok {
			o.dropped(c, o.queue.Expire(now-int64(o.loop.conf.Timeout)))
			return wake
		}
		j.Waited = o.loop.inUse()+o.queue.Len() >= o.loop.conf.Connections
		if !o.queue.Push(j) {
			o.dropped(c, int64(j.Requests))
		}
	}
}

// next takes the next job for a tick; ok is false if it was dropped meanwhile.
func (o *openPacer) next() (j workload.Job, ok bool) {
	o.loop.note(func(c *record.Counters) {
		o.promised--
		if !o.loop.rec.Stopped() || o.last {
			o.dropped(c, o.queue.Expire(o.loop.rec.Now()-int64(o.loop.conf.Timeout)))
			j, ok = o.queue.Pop()
		}
		o.endIfTaken()
	})
	return j, ok
}

// watch keeps the queue up to date while vegeta waits for a worker, until sending ends. Then it
// drops the queue.
func (o *openPacer) watch() {
	tick := time.NewTicker(workload.PollEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			o.loop.note(func(c *record.Counters) { o.fill(c) })
			continue
		case <-o.loop.rec.Halted():
		}
		break
	}
	o.loop.note(func(c *record.Counters) {
		o.fill(c)
		o.loop.backlogCounted, c.Backlog = true, int64(o.loop.inUse()+o.queue.Len())
		for j, ok := o.queue.Pop(); ok; j, ok = o.queue.Pop() {
			c.Drop(o.loop.rec.Phase(o.loop.rec.Now()), int64(j.Requests), j.Waited)
		}
	})
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
