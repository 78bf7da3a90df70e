package record

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A thread that the machine stops between reading the clock and announcing the interval must not
// start it in the past: others have counted that time as lead-in.
func TestIntervalBeginsWhenAllCanKnow(t *testing.T) {
	for name, stalls := range map[string][]time.Duration{
		"at once":          nil,
		"stopped once":     {10 * time.Millisecond},
		"stopped twice":    {announced, time.Second},
		"just before late": {announced - 1},
	} {
		t.Run(name, func(t *testing.T) {
			var clock, counted int64
			var v Interval
			readings := 0
			v.reset(func() int64 {
				reading := clock
				if readings%2 == 0 && readings/2 < len(stalls) {
					clock += int64(stalls[readings/2]) // stopped after this reading
					counted = clock - 1                // others looked meanwhile, before the announcement
				}
				readings++
				return reading
			})
			from := v.decideFromNow(time.Second)
			testenv.Check(t, from > counted && from == v.From() && v.To() == from+int64(time.Second),
				"from %s to %s, but what lies at %s was counted as lead-in", time.Duration(v.From()), time.Duration(v.To()), time.Duration(counted))
			testenv.Check(t, v.Phase(from-1) == LeadIn && v.Phase(from) == Measured && v.Phase(v.To()) == Drain,
				"phases %d, %d, %d around %d", v.Phase(from-1), v.Phase(from), v.Phase(v.To()), from)
		})
	}
}

// A response that arrived before the end of the interval and is seen after it was not in flight at
// the end.
func TestBacklogIsWhatEndsAfterTheInterval(t *testing.T) {
	var v Interval
	v.reset(func() int64 { return 0 })
	v.decide(100, 200)
	c := newCounters(false, 1, 0)
	record := func(end int64, kind bench.ErrorKind) {
		c.Record(&v, Exchange{Start: 10, End: end, Read: 210, Kind: kind})
	}
	record(150, "")
	c.Backlog = 4
	record(199, "")
	record(199, bench.ErrReset)
	record(201, "")
	if w := c.window; c.Backlog != 2 || w.Succeeded != 2 || c.Drain != 1 {
		t.Errorf("backlog %d, %d succeeded, %d of the drain", c.Backlog, w.Succeeded, c.Drain)
	}
}

// An exchange that is seen long after its end is not in flight in between, as far as that was counted.
func TestNotInFlight(t *testing.T) {
	var v Interval
	v.reset(func() int64 { return 0 })
	v.decide(100, 1000)
	c := newCounters(true, 1, 0)
	c.InFlight(&v, 300, 2)
	c.NotInFlight(&v, 260)
	c.NotInFlight(&v, 50) // it ended before the interval
	testenv.Equal(t, c.InFlightIntegral, 2*200-40-200)
}
