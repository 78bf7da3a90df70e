package event

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Times with a monotonic reading keep their distance, other times are unchanged, and so is the
// original event.
func TestClock(t *testing.T) {
	base := time.Now()
	c := NewClock(base)
	later := base.Add(3 * time.Second)
	testenv.Check(t, c.At(later).Equal(later), "%v became %v", later, c.At(later))
	elsewhere := time.Date(2031, 1, 2, 3, 4, 5, 6, time.UTC)
	testenv.Check(t, c.At(elsewhere).Equal(elsewhere), "%v became %v", elsewhere, c.At(elsewhere))
	testenv.Check(t, c.At(time.Time{}).IsZero(), "the zero time is not zero any more")
	a, b := &bench.Usage{At: base}, &bench.Usage{At: base.Add(time.Second)}
	e := bench.StepEnded{Result: bench.StepResult{Before: a, After: b, Samples: []bench.Usage{*a}, HostAfter: &bench.HostReading{Store: &bench.StoreUsage{At: base}}}}
	wall := NewClock(base.Round(0)) // its times have no monotonic reading
	timed := bench.RequestsTimed{FirstRequests: bench.FirstRequests{Started: base}}
	at := wall.Event(timed).(bench.RequestsTimed).FirstRequests.Started
	testenv.Check(t, at == base.Round(0), "the first requests began at %v", at)
	got := c.Event(e).(bench.StepEnded).Result
	if got.Before == a || got.After.At.Sub(got.Before.At) != time.Second || got.HostAfter.Store == e.Result.HostAfter.Store {
		t.Errorf("%+v", got)
	}
}
