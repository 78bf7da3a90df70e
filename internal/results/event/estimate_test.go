package event

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/testenv"
)

// TestEstimate follows a run whose trials take 20 s of load and 5 s of overhead.
func TestEstimate(t *testing.T) {
	var e Estimate
	run := bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Duration: 10 * time.Second}, {Duration: 10 * time.Second}}}, Trials: make([]bench.TrialEntry, 3)}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	apply := func(after time.Duration, ev bench.Event) {
		at = at.Add(after)
		e.Apply(bench.Record{At: at, Event: ev})
	}
	left := func(want string) {
		t.Helper()
		d, ok := e.Left(at)
		got := units.Approx(d)
		testenv.Check(t, ok && got == want, "%s, want %s", got, want)
	}
	apply(0, bench.RunStarted{Run: run})
	left("1m03s") // 3 × (20 + the assumed 0.9)
	apply(0, bench.TrialStarted{})
	apply(5*time.Second, bench.StepStarted{Index: 0})
	left("1m02s") // 20 + 2 × 20.9
	apply(10*time.Second, bench.StepStarted{Index: 1})
	left("52s")
	apply(10*time.Second, bench.TrialEnded{State: bench.TrialComplete})
	left("50s") // 2 × (20 + 5 measured)
	apply(0, bench.TrialStarted{})
	apply(time.Hour, bench.StepStarted{Index: 1})
	apply(time.Hour, bench.WindowClosed{})
	left("25s") // a step that exceeds its time has 0 s left
}

// TestEstimateOfARunChangedByHand: a pause adds no overhead, a skipped contender no later trials.
func TestEstimateOfARunChangedByHand(t *testing.T) {
	var e Estimate
	a1, b1, a2, b2 := bench.Trial{Contender: "a", Round: 1}, bench.Trial{Contender: "b", Round: 1}, bench.Trial{Contender: "a", Round: 2}, bench.Trial{Contender: "b", Round: 2}
	run := bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Duration: 10 * time.Second}}}, Trials: []bench.TrialEntry{{Trial: a1}, {Trial: b1}, {Trial: a2}, {Trial: b2}}}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	apply := func(after time.Duration, trial *bench.Trial, ev bench.Event) {
		at = at.Add(after)
		e.Apply(bench.Record{At: at, Trial: trial, Event: ev})
	}
	apply(0, nil, bench.RunStarted{Run: run})
	apply(0, &a1, bench.TrialStarted{})
	apply(2*time.Second, &a1, bench.Paused{})
	apply(time.Hour, &a1, bench.Resumed{Took: time.Hour})
	apply(0, &a1, bench.StepStarted{})
	apply(10*time.Second, &a1, bench.TrialEnded{State: bench.TrialComplete})
	if left, _ := e.Left(at); left != 3*12*time.Second {
		t.Errorf("%v left after a trial of 12 s and a pause of an hour, want 36 s", left)
	}
	apply(0, &b1, bench.TrialStarted{})
	apply(0, &b1, bench.ChangedManually{Control: bench.Control{Kind: bench.ControlSkipContender}})
	apply(0, &b1, bench.TrialEnded{State: bench.TrialAborted})
	left, ok := e.Left(at)
	testenv.Check(t, ok && left == 12*time.Second, "%v left, want 12 s: b does not run again", left)
}

// TestEstimateOfInterleaving checks that two interleaved contenders take as long as in sequence.
func TestEstimateOfInterleaving(t *testing.T) {
	var e Estimate
	a1, b1, a2, b2 := bench.Trial{Contender: "a", Round: 1}, bench.Trial{Contender: "b", Round: 1}, bench.Trial{Contender: "a", Round: 2}, bench.Trial{Contender: "b", Round: 2}
	run := bench.Run{Profile: bench.Profile{Interleave: time.Second, Steps: []bench.Step{{Duration: 10 * time.Second}}}, Trials: []bench.TrialEntry{{Trial: a1}, {Trial: b1}, {Trial: a2}, {Trial: b2}}}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	apply := func(after time.Duration, trial *bench.Trial, ev bench.Event) {
		at = at.Add(after)
		e.Apply(bench.Record{At: at, Trial: trial, Event: ev})
	}
	left := func(want time.Duration) {
		t.Helper()
		got, ok := e.Left(at)
		testenv.Check(t, ok && got == want, "%v left, want %v", got, want)
	}
	apply(0, nil, bench.RunStarted{Run: run})
	const assumed = 10*time.Second + 900*time.Millisecond + time.Second // with start, stop and switches
	left(4 * assumed)
	apply(0, &a1, bench.TrialStarted{})
	apply(3*time.Second, &b1, bench.TrialStarted{})
	apply(3*time.Second, &b1, bench.StepStarted{})
	apply(0, &a1, bench.StepStarted{})
	apply(10*time.Second, &a1, bench.WindowClosed{})
	left(10*time.Second + 2*assumed)
	apply(10*time.Second, &b1, bench.StepEnded{})
	apply(2*time.Second, &b1, bench.TrialEnded{State: bench.TrialComplete})
	apply(2*time.Second, &a1, bench.TrialEnded{State: bench.TrialComplete})
	left(2 * (10 + 5) * time.Second) // both took 30 s, 20 s of it load
}

// TestAssumedTimes pins the estimate of the comparison that `profiles new` writes.
func TestAssumedTimes(t *testing.T) {
	p := bench.Profile{
		Contenders: make([]bench.Selection, 2), Rounds: 8, Steps: []bench.Step{{Duration: 8 * time.Second}}, Interleave: 100 * time.Millisecond,
		Checks: bench.CheckSpec{Lifecycle: []string{bench.CheckImageSize, bench.CheckThreads, bench.CheckStillResponds, bench.CheckStops}},
	}
	for _, c := range []struct {
		name    string
		runtime bench.Runtime
		change  func(*bench.Profile)
		want    time.Duration
	}{
		{"processes", bench.RuntimeProcess, nil, 2*300*time.Millisecond + 16*(8800+400)*time.Millisecond},
		{"containers", bench.RuntimeDocker, nil, 2*1800*time.Millisecond + 16*(8800+900)*time.Millisecond},
		{"running services", bench.RuntimeURL, nil, 16 * 8800 * time.Millisecond},
		{"one after the other", bench.RuntimeDocker, func(p *bench.Profile) { p.Interleave = 0 }, 2*1800*time.Millisecond + 16*(8000+900)*time.Millisecond},
		{"all checks", bench.RuntimeDocker, func(p *bench.Profile) {
			p.Checks = bench.CheckSpec{Lifecycle: bench.LifecycleChecks(), Suites: []string{"locations"}}
		}, 2*3*time.Second + 16*(8800+900+600)*time.Millisecond},
	} {
		p := p
		p.Runtime = c.runtime
		if c.change != nil {
			c.change(&p)
		}
		testenv.Equal(t, Total(p), c.want, c.name)
	}
}

// TestEstimateOfChecksOnce: the checks that launch a contender are in its first trial only, so they
// are not expected in the later ones.
func TestEstimateOfChecksOnce(t *testing.T) {
	var e Estimate
	a1, b1, a2, b2 := bench.Trial{Contender: "a", Round: 1}, bench.Trial{Contender: "b", Round: 1}, bench.Trial{Contender: "a", Round: 2}, bench.Trial{Contender: "b", Round: 2}
	run := bench.Run{Profile: bench.Profile{
		Runtime: bench.RuntimeProcess, Steps: []bench.Step{{Duration: 10 * time.Second}},
		Checks: bench.CheckSpec{Lifecycle: []string{bench.CheckThreads}},
	}, Trials: []bench.TrialEntry{{Trial: a1}, {Trial: b1}, {Trial: a2}, {Trial: b2}}}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	apply := func(after time.Duration, trial *bench.Trial, ev bench.Event) {
		at = at.Add(after)
		e.Apply(bench.Record{At: at, Trial: trial, Event: ev})
	}
	left := func(when string, want time.Duration) {
		t.Helper()
		got, _ := e.Left(at)
		testenv.Check(t, got == want, "%s: %v left, want %v", when, got, want)
	}
	apply(0, nil, bench.RunStarted{Run: run})
	left("at first", 4*(10*time.Second+400*time.Millisecond)+2*300*time.Millisecond)
	apply(0, &a1, bench.TrialStarted{})
	apply(6*time.Second, &a1, bench.PhaseEnded{Phase: bench.PhaseCheck, Took: 6 * time.Second})
	apply(time.Second, &a1, bench.InstanceStarted{})
	apply(time.Second, &a1, bench.PhaseEnded{Phase: bench.PhaseCheck, Took: time.Second}) // of the running contender
	apply(10*time.Second, &a1, bench.TrialEnded{State: bench.TrialComplete})
	left("after the first trial", 3*(10+2)*time.Second+6*time.Second)
	apply(0, &b1, bench.TrialStarted{})
	apply(6*time.Second, &b1, bench.PhaseEnded{Phase: bench.PhaseCheck, Took: 6 * time.Second})
	apply(2*time.Second, &b1, bench.InstanceStarted{})
	apply(10*time.Second, &b1, bench.TrialEnded{State: bench.TrialComplete})
	left("after both", 2*(10+2)*time.Second)
}
