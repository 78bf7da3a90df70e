package estimate

import (
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/units"
)

// TestEstimate follows a run whose legs take 20 s of load and 5 s besides.
func TestEstimate(t *testing.T) {
	var e Run
	run := bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Duration: 10 * time.Second}, {Duration: 10 * time.Second}}}, Legs: make([]bench.LegEntry, 3)}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	tell := func(after time.Duration, ev bench.Event) {
		at = at.Add(after)
		e.Apply(bench.Record{At: at, Event: ev})
	}
	left := func(want string) {
		t.Helper()
		d, ok := e.Left(at)
		if got := units.Approx(d); !ok || got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	tell(0, bench.RunStarted{Run: run})
	left("1m24s") // 3 × (20 + 8, a guess)
	tell(0, bench.LegStarted{})
	tell(5*time.Second, bench.StepStarted{Index: 0})
	left("1m16s") // 20 + 2 × 28
	tell(10*time.Second, bench.StepStarted{Index: 1})
	left("1m06s")
	tell(10*time.Second, bench.LegEnded{State: bench.LegComplete})
	left("50s") // 2 × (20 + 5, seen)
	tell(0, bench.LegStarted{})
	tell(time.Hour, bench.StepStarted{Index: 1})
	tell(time.Hour, bench.WindowClosed{})
	left("25s") // a step that takes longer than planned is never less than nothing
}
