package event

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEverySubscriberSeesEveryEventInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Now)
		var fast, slow []int64
		s.Subscribe(func(r bench.Record) { fast = append(fast, r.Seq) })
		s.Subscribe(func(r bench.Record) { time.Sleep(time.Second); slow = append(slow, r.Seq) })
		for range 1000 {
			s.Publish(nil, bench.Notice{Text: "x"})
		}
		s.Close()
		s.Publish(nil, bench.Notice{Text: "after the end"})
		for name, got := range map[string][]int64{"fast": fast, "slow": slow} {
			testenv.Need(t, len(got) == 1000, "%s subscriber saw %d events, want 1000", name, len(got))
			for i, seq := range got {
				testenv.Need(t, seq == int64(i+1), "%s subscriber: event %d has number %d", name, i, seq)
			}
		}
	})
}

// TestPublishDoesNotWaitForASubscriber: synctest reaches the timeout only if all goroutines wait.
func TestPublishDoesNotWaitForASubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Now)
		release := make(chan struct{})
		var kept, notices int
		s.Subscribe(func(r bench.Record) {
			<-release
			kept++
			if _, ok := r.Event.(bench.Notice); ok {
				notices++
			}
		})
		published := make(chan struct{})
		go func() {
			defer close(published)
			for range 3 * queueLimit {
				s.Publish(nil, bench.Progress{})
			}
			s.Publish(nil, bench.Notice{Text: "matters"})
		}()
		select {
		case <-published:
		case <-time.After(30 * time.Second):
			t.Fatal("Publish waited for a subscriber that does not read")
		}
		close(release)
		s.Close()
		testenv.Equal(t, notices, 1, "the notice was dropped")
		if kept > 2*queueLimit+2 { // a batch that is being handled, and a full queue
			t.Errorf("backlog of %d events, bound is %d", kept, 2*queueLimit)
		}
	})
}

func TestContinue(t *testing.T) {
	s := New(time.Now)
	s.Continue(41)
	var seq int64
	s.Subscribe(func(r bench.Record) { seq = r.Seq })
	s.Publish(nil, bench.Notice{})
	s.Close()
	testenv.Equal(t, seq, 42, "number")
}

// Settle waits only for events that were published before.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Now)
		s.Settle() // without subscribers
		handled, held := int64(0), make(chan struct{})
		s.Subscribe(func(r bench.Record) {
			if r.Seq > 2 {
				<-held
			}
			handled = r.Seq
		})
		s.Publish(nil, bench.TrialStarted{})
		s.Publish(nil, bench.TrialStarted{})
		s.Settle()
		testenv.Equal(t, handled, 2)
		s.Publish(nil, bench.TrialStarted{})
		settled := false
		go func() {
			s.Settle()
			settled = true
		}()
		synctest.Wait()
		testenv.Check(t, !settled, "settled before the event was handled")
		s.Publish(nil, bench.TrialStarted{})
		held <- struct{}{}
		synctest.Wait()
		testenv.Check(t, settled && handled == 3, "settled %v with %d events handled", settled, handled)
		close(held)
		s.Close()
		s.Settle()
	})
}

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
	e := bench.StepEnded{Result: bench.StepResult{Before: a, After: b, Samples: []bench.Usage{*a}, HostAfter: &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: base}}}}}
	wall := NewClock(base.Round(0)) // its times have no monotonic reading
	timed := bench.RequestsTimed{FirstRequests: bench.FirstRequests{Started: base}}
	at := wall.Event(timed).(bench.RequestsTimed).FirstRequests.Started
	testenv.Check(t, at == base.Round(0), "the first requests began at %v", at)
	got := c.Event(e).(bench.StepEnded).Result
	testenv.Check(t, got.Before != a && got.After.At.Sub(got.Before.At) == time.Second && got.HostAfter.Needs["db"] != e.Result.HostAfter.Needs["db"],
		"%+v", got)
}

// TestEstimate follows a run whose trials take 25 s instead of the planned 20.9.
func TestEstimate(t *testing.T) {
	var e Estimate
	run := bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Duration: 10 * time.Second}, {Duration: 10 * time.Second}}}}
	for round := range 3 {
		run.Trials = append(run.Trials, bench.TrialEntry{Trial: bench.Trial{Contender: "a", Round: round + 1}})
	}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	apply := func(after time.Duration, round int, ev bench.Event) {
		at = at.Add(after)
		e.Apply(bench.Record{At: at, Trial: &bench.Trial{Contender: "a", Round: round}, Event: ev})
	}
	left := func(want string) {
		t.Helper()
		d, ok := e.Left(at)
		got := units.Approx(d)
		testenv.Check(t, ok && got == want, "%s, want %s", got, want)
	}
	apply(0, 0, bench.RunStarted{Run: run})
	left("1m03s") // 3 × (20 + the assumed 0.9)
	apply(0, 1, bench.TrialStarted{})
	apply(15*time.Second, 1, bench.StepStarted{Index: 1})
	left("48s")
	apply(10*time.Second, 1, bench.TrialEnded{State: bench.TrialComplete})
	left("42s") // 2 × 25 measured would be more than before
	apply(0, 2, bench.TrialStarted{})
	apply(time.Hour, 2, bench.StepStarted{Index: 1})
	apply(time.Hour, 2, bench.WindowClosed{})
	left("25s") // a trial that exceeds its time has 0 s left
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
	left(4*assumed - 16*time.Second)
	apply(10*time.Second, &b1, bench.StepEnded{})
	apply(2*time.Second, &b1, bench.TrialEnded{State: bench.TrialComplete})
	apply(2*time.Second, &a1, bench.TrialEnded{State: bench.TrialComplete})
	left(2 * assumed) // both took 30 s, 20 s of it load: it would be 30 s, and does not grow
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
	left("after the first trial", 4*10400*time.Millisecond-10400*time.Millisecond+300*time.Millisecond) // as before: it does not grow
	apply(0, &b1, bench.TrialStarted{})
	apply(6*time.Second, &b1, bench.PhaseEnded{Phase: bench.PhaseCheck, Took: 6 * time.Second})
	apply(2*time.Second, &b1, bench.InstanceStarted{})
	apply(10*time.Second, &b1, bench.TrialEnded{State: bench.TrialComplete})
	left("after both", 2*(10+2)*time.Second)
}
