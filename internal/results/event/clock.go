package event

import (
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Clock returns times of day that advance evenly: the machine's time at the beginning plus the time
// since then on the monotonic clock. Files hold only times of day; setting the machine's clock
// would separate the readings of a step. Times without a monotonic reading are unchanged.
type Clock struct{ base time.Time }

// NewClock returns a clock that begins at now, which must come from time.Now.
func NewClock(now time.Time) Clock { return Clock{now} }

// Now returns the time of day.
func (c Clock) Now() time.Time { return c.At(time.Now()) }

// At returns the time of day at t.
func (c Clock) At(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return c.base.Add(t.Sub(c.base))
}

// Event returns e with the times of this clock.
func (c Clock) Event(e bench.Event) bench.Event {
	switch e := e.(type) {
	case bench.StepEnded:
		r := &e.Result
		r.Load.Started = c.At(r.Load.Started)
		r.Before, r.After = set(c, r.Before, usageAt), set(c, r.After, usageAt)
		r.HostBefore, r.HostAfter = c.hostAndNeeds(r.HostBefore), c.hostAndNeeds(r.HostAfter)
		r.Samples = slices.Clone(r.Samples)
		for i := range r.Samples {
			r.Samples[i].At = c.At(r.Samples[i].At)
		}
		return e
	case bench.RequestsTimed:
		e.FirstRequests.Started = c.At(e.FirstRequests.Started)
		return e
	case bench.UsageRead:
		e.Usage.At = c.At(e.Usage.At)
		e.Needs = c.needs(e.Needs)
		return e
	case bench.MarkRead:
		e.Mark.Usage.At = c.At(e.Mark.Usage.At)
		return e
	case bench.IncidentOccurred:
		e.Incident.At = c.At(e.Incident.At)
		return e
	case bench.InstanceStarted:
		e.Info.StartedAt = c.At(e.Info.StartedAt)
		return e
	}
	return e
}

// set returns a copy of p whose time is that of the clock; at returns the time's place in p.
func set[T any](c Clock, p *T, at func(*T) *time.Time) *T {
	if p == nil {
		return nil
	}
	moved := *p
	*at(&moved) = c.At(*at(&moved))
	return &moved
}

func usageAt(u *bench.Usage) *time.Time { return &u.At }

func (c Clock) hostAndNeeds(b *bench.HostReading) *bench.HostReading {
	if b == nil {
		return nil
	}
	return &bench.HostReading{Host: set(c, b.Host, func(h *bench.HostUsage) *time.Time { return &h.At }), Needs: c.needs(b.Needs)}
}

func (c Clock) needs(all map[string]*bench.NeedUsage) (moved map[string]*bench.NeedUsage) {
	for name, u := range all {
		if moved == nil {
			moved = map[string]*bench.NeedUsage{}
		}
		moved[name] = set(c, u, func(u *bench.NeedUsage) *time.Time { return &u.At })
	}
	return moved
}
