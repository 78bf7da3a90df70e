package workload

import (
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
)

// Feed returns the scheduled jobs of an open loop, and counts them: requests at a rate, or users.
// It belongs to one goroutine.
type Feed struct {
	step     bench.Step
	rec      *record.Recorder
	schedule *Schedule // nil: users
	given    int64     // requests or users returned so far
	over     bool
}

// PollEvery is how often an open loop looks whether its end is known by now.
const PollEvery = 20 * time.Millisecond

// NewFeed returns the feed of a step.
func NewFeed(rec *record.Recorder, s bench.Step) *Feed {
	f := &Feed{step: s, rec: rec}
	if s.Arrivals == nil {
		f.schedule = NewSchedule(s)
	}
	return f
}

// Next returns a job scheduled at now or earlier, and counts it in c. If ok is false, there is none
// before wake.
func (f *Feed) Next(now int64, c *record.Counters) (j Job, wake int64, ok bool) {
	if f.schedule == nil {
		return f.nextUser(now, c)
	}
	f.schedule.Begins(f.rec.From())
	scheduled, end := int64(f.schedule.Next()), f.end()
	switch {
	case f.step.MaxRequests > 0 && f.given >= f.step.MaxRequests, scheduled >= end && now >= end:
		f.over = true
		return Job{}, math.MaxInt64, false
	case scheduled >= end:
		return Job{}, end, false
	case scheduled > now:
		return Job{}, min(scheduled, now+int64(PollEvery)), false
	}
	c.Schedule(f.rec.Phase(scheduled), 1, f.schedule.Rate())
	f.schedule.Take()
	f.given++
	return Job{At: scheduled, Requests: 1}, 0, true
}

func (f *Feed) nextUser(now int64, c *record.Counters) (j Job, wake int64, ok bool) {
	a := f.step.Arrivals
	if f.given == int64(a.Users) {
		f.over = true
		return Job{}, math.MaxInt64, false
	}
	scheduled := int64(float64(f.given) / float64(a.Users) * float64(a.Over))
	if scheduled > now {
		return Job{}, scheduled, false
	}
	c.Schedule(f.rec.Phase(scheduled), int64(a.Requests), 0)
	f.given++
	return Job{At: scheduled, Requests: a.Requests}, 0, true
}

// Over reports whether all jobs have been returned.
func (f *Feed) Over() bool { return f.over }

// end returns when the schedule ends, record.Undecided in the lead-in.
func (f *Feed) end() int64 {
	if f.rec.Bounded() {
		return int64(f.step.Duration)
	}
	return f.rec.To()
}
