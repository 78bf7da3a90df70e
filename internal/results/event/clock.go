package event

import (
	"slices"
	"time"

	"locbench/internal/bench"
)

// Clock has times of day that continue evenly: what this machine's clock showed at the beginning,
// plus what has passed since on the monotonic clock. A clock that is set in mid-run would otherwise
// tear the readings of a step apart once they are on disk, where only times of day are left. Times
// that come from elsewhere, without a monotonic reading, stay as they are.
type Clock struct{ base time.Time }

// NewClock makes one that begins at now, which must come from time.Now.
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

// Event returns e with its times by this clock.
func (c Clock) Event(e bench.Event) bench.Event {
	switch e := e.(type) {
	case bench.StepEnded:
		r := &e.Result
		r.Load.Started = c.At(r.Load.Started)
		r.Before, r.After = set(c, r.Before, usageAt), set(c, r.After, usageAt)
		r.HostBefore, r.HostAfter = c.hostAndStore(r.HostBefore), c.hostAndStore(r.HostAfter)
		r.Samples = slices.Clone(r.Samples)
		for i := range r.Samples {
			r.Samples[i].At = c.At(r.Samples[i].At)
		}
		return e
	case bench.UsageRead:
		e.Usage.At = c.At(e.Usage.At)
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

// set returns a copy of p with its time, which at finds, by the clock.
func set[T any](c Clock, p *T, at func(*T) *time.Time) *T {
	if p == nil {
		return nil
	}
	moved := *p
	*at(&moved) = c.At(*at(&moved))
	return &moved
}

func usageAt(u *bench.Usage) *time.Time { return &u.At }

func (c Clock) hostAndStore(b *bench.HostReading) *bench.HostReading {
	if b == nil {
		return nil
	}
	return &bench.HostReading{
		Host:  set(c, b.Host, func(h *bench.HostUsage) *time.Time { return &h.At }),
		Store: set(c, b.Store, func(u *bench.StoreUsage) *time.Time { return &u.At }),
	}
}
