package event

import (
	"slices"
	"time"

	"locbench/internal/bench"
)

// TrialOverhead is what a trial is thought to take besides its load until one has been seen.
const TrialOverhead = 8 * time.Second

// Estimate is how long a run will still take, from its plan and from what its finished trials have taken:
// the load to come, and the mean overhead of a trial so far. It is a fold over events, so the plain
// text and the dashboard say the same.
type Estimate struct {
	started  time.Time
	load     time.Duration // of one trial
	steps    []time.Duration
	plan     []bench.TrialEntry
	trials   int // to come, the running one included
	done     int // seen from start to end in this process
	overhead time.Duration
	alive    int       // trials that run: several where contenders take turns
	whole    int       // of those that have begun together, the ones that were complete
	began    int       // how many those are
	trialAt  time.Time // when the first of them began
	stepAt   time.Time
	step     int // running step; -1 before the first
}

// Apply takes in one event.
func (e *Estimate) Apply(rec bench.Record) {
	switch ev := rec.Event.(type) {
	case bench.RunStarted:
		*e = Estimate{started: rec.At, load: ev.Run.Profile.LoadDuration(), step: -1, plan: ev.Run.Trials}
		for _, s := range ev.Run.Profile.Steps {
			e.steps = append(e.steps, s.Duration)
		}
		for _, l := range ev.Run.Trials {
			if l.State != bench.TrialComplete {
				e.trials++
			}
		}
	case bench.TrialStarted:
		if e.alive == 0 {
			e.trialAt, e.began, e.whole = rec.At, 0, 0
		}
		e.alive++
		e.began++
		e.step = -1
	case bench.StepStarted:
		if ev.Index != e.step {
			e.step, e.stepAt = ev.Index, rec.At
		}
	case bench.TrialEnded:
		if ev.State == bench.TrialComplete {
			e.whole++
		}
		e.trials--
		if e.alive = max(e.alive-1, 0); e.alive > 0 {
			break
		}
		if e.whole == e.began && !e.trialAt.IsZero() {
			e.done += e.whole
			e.overhead += max(0, rec.At.Sub(e.trialAt)-time.Duration(e.whole)*e.load)
		}
		e.trialAt = time.Time{}
	case bench.Resumed:
		if rec.Trial != nil && ev.Took > 0 && !e.trialAt.IsZero() {
			e.trialAt = e.trialAt.Add(min(ev.Took, rec.At.Sub(e.trialAt))) // a pause is not an overhead of trials to come
		}
	case bench.ChangedManually:
		if ev.Control.Kind == bench.ControlSkipContender && rec.Trial != nil {
			e.trials -= e.later(*rec.Trial)
		}
	case bench.RunEnded:
		e.trials = 0
	}
}

// later counts the planned trials of the contender of trial that come after it.
func (e *Estimate) later(trial bench.Trial) (n int) {
	at := slices.IndexFunc(e.plan, func(l bench.TrialEntry) bool { return l.Trial == trial })
	for _, l := range e.plan[at+1:] {
		if at >= 0 && l.State != bench.TrialComplete && l.Trial.Contender == trial.Contender && l.Trial.Variant == trial.Variant {
			n++
		}
	}
	return n
}

// perTrial returns the expected overhead of a trial.
func (e *Estimate) perTrial() time.Duration {
	if e.done == 0 {
		return TrialOverhead
	}
	return e.overhead / time.Duration(e.done)
}

// Total returns the time that all trials to come are thought to take.
func (e *Estimate) Total() time.Duration { return time.Duration(e.trials) * (e.load + e.perTrial()) }

// Elapsed returns the time since the run, or its resumed part, was started.
func (e *Estimate) Elapsed(at time.Time) time.Duration {
	if e.started.IsZero() {
		return 0
	}
	return at.Sub(e.started)
}

// Left returns the time that is thought to be left; ok is false when there is nothing to come.
func (e *Estimate) Left(at time.Time) (left time.Duration, ok bool) {
	if e.trials <= 0 {
		return 0, false
	}
	left = e.Total()
	if !e.trialAt.IsZero() {
		alive := time.Duration(max(e.alive, 1))
		if e.step >= 0 && e.step < len(e.steps) {
			left -= alive * e.perTrial()
			for _, d := range e.steps[:e.step] {
				left -= alive * d
			}
			left -= min(at.Sub(e.stepAt), alive*e.steps[e.step])
		} else {
			left -= min(at.Sub(e.trialAt), alive*e.perTrial())
		}
	}
	return max(left, 0), true
}
