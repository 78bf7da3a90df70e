package event

import (
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// course is a made-up run: what its parts take in truth.
type course struct {
	open, restore, check, start, lost time.Duration
}

// follow plays a run of two contenders and a database, one after the other, with a step of 8 s, and
// calls see each second, until all trials have ended.
func (c course) follow(rounds int, events func(int) []bench.Event, see func(e *Estimate, at time.Time, what string)) (took time.Duration) {
	p := bench.Profile{
		Contenders: []bench.Selection{{Contender: "a"}, {Contender: "b"}}, Rounds: rounds, Runtime: bench.RuntimeDocker,
		Needs: []bench.NeedSpec{{Name: "db", From: bench.NeedContainer, Restarts: true}}, Steps: []bench.Step{{Duration: 8 * time.Second}},
		Checks: bench.CheckSpec{Lifecycle: []string{bench.CheckThreads}},
	}
	run := bench.Run{Profile: p}
	for round := range rounds {
		for _, sel := range p.Contenders {
			run.Trials = append(run.Trials, bench.TrialEntry{Trial: bench.Trial{Contender: sel.Contender, Round: round + 1}})
		}
	}
	var e Estimate
	began := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	at := began
	var trial *bench.Trial
	after := func(d time.Duration, ev bench.Event) {
		for to := at.Add(d); at.Before(to); {
			at = at.Add(min(time.Second, to.Sub(at)))
			see(&e, at, fmt.Sprintf("%v, %v before a %T", trial, to.Sub(at), ev))
		}
		e.Apply(bench.Record{At: at, Trial: trial, Event: ev})
		see(&e, at, fmt.Sprintf("%v, %T", trial, ev))
	}
	after(0, bench.RunStarted{Run: run})
	after(c.open, bench.Prepared{})
	for i := range run.Trials {
		trial = &run.Trials[i].Trial
		after(0, bench.TrialStarted{})
		after(c.restore, bench.PhaseEnded{Phase: bench.PhaseRestore, Took: c.restore})
		if i < 2 {
			after(c.check, bench.PhaseEnded{Phase: bench.PhaseCheck, Took: c.check})
		}
		after(c.start, bench.InstanceStarted{})
		after(0, bench.StepStarted{})
		for _, ev := range events(i) {
			after(0, ev)
		}
		after(8*time.Second+c.lost, bench.TrialEnded{State: bench.TrialComplete})
	}
	return at.Sub(began)
}

func none(int) []bench.Event { return nil }

// TestEstimateNeverGrows: whatever the parts of a run take, what is left does not grow from one
// moment to a later one, unless a trial is tried again, or the run changed by hand; the share that is
// over never falls.
func TestEstimateNeverGrows(t *testing.T) {
	usual := course{open: opening, restore: restore, check: 6 * time.Second, start: time.Second}
	for name, c := range map[string]struct {
		course
		events func(int) []bench.Event
		grows  bool
	}{
		"as assumed":       {usual, none, false},
		"slow restores":    {course{20 * time.Second, 7 * time.Second, 12 * time.Second, 3 * time.Second, 0}, none, false},
		"quick restores":   {course{time.Second, time.Second, time.Second, time.Second, 0}, none, false},
		"steps that lag":   {course{opening, restore, time.Second, time.Second, 4 * time.Second}, none, false},
		"a stalled client": {course{opening, restore, time.Second, time.Second, 2 * time.Minute}, none, false},
		"a trial again": {course{opening, 9 * time.Second, time.Second, time.Second, 0}, func(trial int) []bench.Event {
			return map[int][]bench.Event{2: {bench.TrialEnded{State: bench.TrialFailed}, bench.TrialStarted{}}}[trial]
		}, true},
		"changed by hand": {course{opening, 9 * time.Second, time.Second, time.Second, 0}, func(trial int) []bench.Event {
			return map[int][]bench.Event{2: {bench.ChangedManually{}}}[trial]
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			last, grew, share := time.Duration(-1), "", 0.
			c.follow(6, c.events, func(e *Estimate, at time.Time, what string) {
				left, ok := e.Left(at)
				testenv.Check(t, e.Share(at) >= share && e.Share(at) <= 1, "%s: share from %v to %v", what, share, e.Share(at))
				share = e.Share(at)
				if ok && last >= 0 && left > last {
					grew = fmt.Sprintf("%s: from %v to %v", what, last, left)
				}
				if last = left; !ok {
					last = -1
				}
			})
			testenv.Equal(t, grew != "", c.grows, grew)
		})
	}
}

// TestEstimateWords: what is left is "over" the estimate once it is more than twice as much.
func TestEstimateWords(t *testing.T) {
	for lost, want := range map[time.Duration]string{0: "about 1m51s left", 7 * time.Second: "about 2m28s left", time.Minute: "over 2m28s left"} {
		trials, said := 0, ""
		usual := course{open: opening, restore: restore, check: time.Second, start: time.Second, lost: lost}
		usual.follow(6, func(int) []bench.Event { trials++; return nil }, func(e *Estimate, at time.Time, _ string) {
			if trials == 4 && said == "" {
				said = e.Words(at, "about ")
			}
		})
		testenv.Equal(t, said, want, lost.String())
	}
}

// TestEstimateWithNeeds: opening, restores and checks are in the estimate at the start, and what is
// left after some rounds is that of the trials before.
func TestEstimateWithNeeds(t *testing.T) {
	assumed := course{open: opening, restore: restore, check: threadStarts*containerStartCheck + restore, start: containerStartStop}
	for name, c := range map[string]struct {
		course
		off float64 // most difference of the first estimate
	}{
		"as assumed":     {assumed, 0.01},
		"quick restores": {course{time.Second, 2 * time.Second, 4 * time.Second, time.Second, 0}, 0.25},
		"slow restores":  {course{9 * time.Second, 7 * time.Second, 9 * time.Second, time.Second, 0}, 0.25},
	} {
		t.Run(name, func(t *testing.T) {
			first, late, trials := time.Duration(-1), time.Duration(0), 0
			var lateAt, began time.Time
			took := c.follow(6, func(int) []bench.Event { trials++; return nil }, func(e *Estimate, at time.Time, _ string) {
				if left, ok := e.Left(at); ok && first < 0 {
					first, began = left, at
				} else if ok && trials == 10 && lateAt.IsZero() {
					late, lateAt = left, at
				}
			})
			testenv.Check(t, float64((first-took).Abs()) <= c.off*float64(took), "at first %v, it took %v", first, took)
			rest := took - lateAt.Sub(began)
			testenv.Check(t, float64((late-rest).Abs()) <= .1*float64(rest), "in the tenth trial %v, it took %v", late, rest)
		})
	}
}

// TestEstimateOfBuilds: builds whose last times are known are in the estimate, others are named as
// not in it. After them what is left is that of the trials, and it never grows.
func TestEstimateOfBuilds(t *testing.T) {
	for name, c := range map[string]struct {
		builds  bench.Builds
		took    time.Duration // by all builds
		first   time.Duration // left at the start
		without string
	}{
		"nothing to build": {bench.Builds{}, 0, 20 * time.Second, ""},
		"as last time":     {bench.Builds{Count: 2, Last: 30 * time.Second}, 30 * time.Second, 50 * time.Second, ""},
		"quicker":          {bench.Builds{Count: 1, Last: 30 * time.Second}, 2 * time.Second, 50 * time.Second, ""},
		"slower":           {bench.Builds{Count: 1, Last: 30 * time.Second}, 5 * time.Minute, 50 * time.Second, ""},
		"the first time":   {bench.Builds{Count: 2}, time.Minute, 20 * time.Second, WithoutBuilds},
	} {
		var e Estimate
		trial := bench.Trial{Contender: "a", Round: 1}
		at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
		e.Apply(bench.Record{At: at, Event: bench.RunStarted{Run: bench.Run{Builds: c.builds, Trials: []bench.TrialEntry{{Trial: trial}},
			Profile: bench.Profile{Runtime: bench.RuntimeURL, Steps: []bench.Step{{Duration: 20 * time.Second}}}}}})
		last, _ := e.Left(at)
		testenv.Equal(t, fmt.Sprint(e.Total(), last, e.Without()), fmt.Sprint(c.first, c.first, c.without), name)
		for end := at.Add(c.took); at.Before(end); {
			at = at.Add(time.Second)
			left, ok := e.Left(at)
			testenv.Check(t, ok && left <= last, "%s: %v left after %v", name, left, last)
			last = left
		}
		e.Apply(bench.Record{At: at, Trial: &trial, Event: bench.TrialStarted{}})
		left, _ := e.Left(at)
		testenv.Equal(t, fmt.Sprint(left, e.Without()), fmt.Sprint(20*time.Second, ""), name)
	}
}

// TestEstimateOfCourses: what is left of the trials to come is their planned time, times what those that have ended
// took of theirs, also of two that run at the same time. Checks that launch a contender are in its first trial only.
func TestEstimateOfCourses(t *testing.T) {
	a1, b1, a2, b2 := bench.Trial{Contender: "a", Round: 1}, bench.Trial{Contender: "b", Round: 1}, bench.Trial{Contender: "a", Round: 2}, bench.Trial{Contender: "b", Round: 2}
	type moment struct {
		after time.Duration
		trial bench.Trial
		event bench.Event
		left  time.Duration // 0: not looked at
	}
	const s, ms = time.Second, time.Millisecond
	const alone, interleaved, checked = 20*s + 900*ms, 10*s + 900*ms + s, 10*s + 400*ms // with start and stop, and switches
	started, ended := bench.TrialStarted{}, bench.TrialEnded{State: bench.TrialComplete}
	check := func(took time.Duration) bench.Event { return bench.PhaseEnded{Phase: bench.PhaseCheck, Took: took} }
	for name, c := range map[string]struct {
		profile bench.Profile
		trials  []bench.Trial
		first   time.Duration // left at the start
		course  []moment
	}{
		"of 25 s each": {bench.Profile{Steps: []bench.Step{{Duration: 10 * s}, {Duration: 10 * s}}}, []bench.Trial{a1, a2, {Contender: "a", Round: 3}}, 3 * alone, []moment{
			{0, a1, started, 0}, {15 * s, a1, bench.StepStarted{Index: 1}, 3*alone - 15*s},
			{10 * s, a1, ended, 2 * alone}, // 2 × 25 measured would be more than before
			{0, a2, started, 0}, {time.Hour, a2, bench.StepStarted{Index: 1}, 0},
			{time.Hour, a2, bench.WindowClosed{}, 25 * s}, // a trial that exceeds its time has 0 s left
		}},
		"interleaved": {bench.Profile{Interleave: s, Steps: []bench.Step{{Duration: 10 * s}}}, []bench.Trial{a1, b1, a2, b2}, 4 * interleaved, []moment{
			{0, a1, started, 0}, {3 * s, b1, started, 0}, {3 * s, b1, bench.StepStarted{}, 0}, {0, a1, bench.StepStarted{}, 0},
			{10 * s, a1, bench.WindowClosed{}, 4*interleaved - 16*s},
			{10 * s, b1, bench.StepEnded{}, 0}, {2 * s, b1, ended, 0},
			{2 * s, a1, ended, 2 * interleaved}, // both took 30 s, 20 s of it load: it would be 30 s, and does not grow
		}},
		"with checks": {bench.Profile{Runtime: bench.RuntimeProcess, Steps: []bench.Step{{Duration: 10 * s}},
			Checks: bench.CheckSpec{Lifecycle: []string{bench.CheckThreads}}}, []bench.Trial{a1, b1, a2, b2}, 4*checked + 2*300*ms, []moment{
			{0, a1, started, 0}, {6 * s, a1, check(6 * s), 0}, {s, a1, bench.InstanceStarted{}, 0}, {s, a1, check(s), 0}, // of the running contender
			{10 * s, a1, ended, 3*checked + 300*ms}, // it does not grow
			{0, b1, started, 0}, {6 * s, b1, check(6 * s), 0}, {2 * s, b1, bench.InstanceStarted{}, 0}, {10 * s, b1, ended, 2 * (10 + 2) * s},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var e Estimate
			run := bench.Run{Profile: c.profile}
			for _, trial := range c.trials {
				run.Trials = append(run.Trials, bench.TrialEntry{Trial: trial})
			}
			at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
			for i, m := range append([]moment{{0, bench.Trial{}, bench.RunStarted{Run: run}, c.first}}, c.course...) {
				at = at.Add(m.after)
				e.Apply(bench.Record{At: at, Trial: &m.trial, Event: m.event})
				left, ok := e.Left(at)
				testenv.Check(t, m.left == 0 || ok && left.Round(ms) == m.left, "moment %d: %v left, want %v", i, left, m.left)
			}
		})
	}
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
