package event

import (
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// TestEstimate follows a run whose trials take 20 s of load and 5 s besides.
func TestEstimate(t *testing.T) {
	var e Estimate
	run := bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Duration: 10 * time.Second}, {Duration: 10 * time.Second}}}, Trials: make([]bench.TrialEntry, 3)}
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
	tell(0, bench.TrialStarted{})
	tell(5*time.Second, bench.StepStarted{Index: 0})
	left("1m16s") // 20 + 2 × 28
	tell(10*time.Second, bench.StepStarted{Index: 1})
	left("1m06s")
	tell(10*time.Second, bench.TrialEnded{State: bench.TrialComplete})
	left("50s") // 2 × (20 + 5, seen)
	tell(0, bench.TrialStarted{})
	tell(time.Hour, bench.StepStarted{Index: 1})
	tell(time.Hour, bench.WindowClosed{})
	left("25s") // a step that takes longer than planned is never less than nothing
}

// TestEstimateOfARunChangedByHand: a pause is no overhead, and a contender that was skipped has no later
// trials.
func TestEstimateOfARunChangedByHand(t *testing.T) {
	var e Estimate
	a1, b1, a2, b2 := bench.Trial{Contender: "a", Round: 1}, bench.Trial{Contender: "b", Round: 1}, bench.Trial{Contender: "a", Round: 2}, bench.Trial{Contender: "b", Round: 2}
	run := bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Duration: 10 * time.Second}}}, Trials: []bench.TrialEntry{{Trial: a1}, {Trial: b1}, {Trial: a2}, {Trial: b2}}}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	tell := func(after time.Duration, trial *bench.Trial, ev bench.Event) {
		at = at.Add(after)
		e.Apply(bench.Record{At: at, Trial: trial, Event: ev})
	}
	tell(0, nil, bench.RunStarted{Run: run})
	tell(0, &a1, bench.TrialStarted{})
	tell(2*time.Second, &a1, bench.Paused{})
	tell(time.Hour, &a1, bench.Resumed{Took: time.Hour})
	tell(0, &a1, bench.StepStarted{})
	tell(10*time.Second, &a1, bench.TrialEnded{State: bench.TrialComplete})
	if left, _ := e.Left(at); left != 3*12*time.Second {
		t.Errorf("%v left after a trial of 12 s and a pause of an hour, want 36 s", left)
	}
	tell(0, &b1, bench.TrialStarted{})
	tell(0, &b1, bench.ChangedManually{Control: bench.Control{Kind: bench.ControlSkipContender}})
	tell(0, &b1, bench.TrialEnded{State: bench.TrialAborted})
	if left, ok := e.Left(at); !ok || left != 12*time.Second {
		t.Errorf("%v left, want 12 s: b does not run again", left)
	}
}

// TestEstimateOfInterleaving: two contenders that take turns need as long as one after the other.
func TestEstimateOfInterleaving(t *testing.T) {
	var e Estimate
	a1, b1, a2, b2 := bench.Trial{Contender: "a", Round: 1}, bench.Trial{Contender: "b", Round: 1}, bench.Trial{Contender: "a", Round: 2}, bench.Trial{Contender: "b", Round: 2}
	run := bench.Run{Profile: bench.Profile{Interleave: time.Second, Steps: []bench.Step{{Duration: 10 * time.Second}}}, Trials: []bench.TrialEntry{{Trial: a1}, {Trial: b1}, {Trial: a2}, {Trial: b2}}}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	tell := func(after time.Duration, trial *bench.Trial, ev bench.Event) {
		at = at.Add(after)
		e.Apply(bench.Record{At: at, Trial: trial, Event: ev})
	}
	left := func(want time.Duration) {
		t.Helper()
		if got, ok := e.Left(at); !ok || got != want {
			t.Errorf("%v left, want %v", got, want)
		}
	}
	tell(0, nil, bench.RunStarted{Run: run})
	left(4 * (10 + 8) * time.Second) // 8 s besides: a guess
	tell(0, &a1, bench.TrialStarted{})
	tell(3*time.Second, &b1, bench.TrialStarted{})
	tell(3*time.Second, &b1, bench.StepStarted{})
	tell(0, &a1, bench.StepStarted{})
	tell(10*time.Second, &a1, bench.WindowClosed{})
	left(10*time.Second + 2*(10+8)*time.Second)
	tell(10*time.Second, &b1, bench.StepEnded{})
	tell(2*time.Second, &b1, bench.TrialEnded{State: bench.TrialComplete})
	tell(2*time.Second, &a1, bench.TrialEnded{State: bench.TrialComplete})
	left(2 * (10 + 5) * time.Second) // 30 s for both of them, 20 of which were load
}
