package event

import (
	"slices"
	"time"

	"locbench/internal/bench"
)

// LegOverhead is what a leg is thought to take besides its load until one has been seen.
const LegOverhead = 8 * time.Second

// Estimate is how long a run will still take, from its plan and from what its finished legs have taken:
// the load to come, and the mean overhead of a leg so far. It is a fold over events, so that the plain
// text and the dashboard say the same.
type Estimate struct {
	started  time.Time
	load     time.Duration // of one leg
	steps    []time.Duration
	plan     []bench.LegEntry
	legs     int // to come, the running one included
	done     int // seen from start to end in this process
	overhead time.Duration
	alive    int       // legs that run: several where contenders take turns
	whole    int       // of those that have begun together, the ones that were complete
	began    int       // how many those are
	legAt    time.Time // when the first of them began
	stepAt   time.Time
	step     int // running step; -1 before the first
}

// Apply takes in one event.
func (e *Estimate) Apply(rec bench.Record) {
	switch ev := rec.Event.(type) {
	case bench.RunStarted:
		*e = Estimate{started: rec.At, load: ev.Run.Profile.LoadDuration(), step: -1, plan: ev.Run.Legs}
		for _, s := range ev.Run.Profile.Steps {
			e.steps = append(e.steps, s.Duration)
		}
		for _, l := range ev.Run.Legs {
			if l.State != bench.LegComplete {
				e.legs++
			}
		}
	case bench.LegStarted:
		if e.alive == 0 {
			e.legAt, e.began, e.whole = rec.At, 0, 0
		}
		e.alive++
		e.began++
		e.step = -1
	case bench.StepStarted:
		if ev.Index != e.step {
			e.step, e.stepAt = ev.Index, rec.At
		}
	case bench.LegEnded:
		if ev.State == bench.LegComplete {
			e.whole++
		}
		e.legs--
		if e.alive = max(e.alive-1, 0); e.alive > 0 {
			break
		}
		if e.whole == e.began && !e.legAt.IsZero() {
			e.done += e.whole
			e.overhead += max(0, rec.At.Sub(e.legAt)-time.Duration(e.whole)*e.load)
		}
		e.legAt = time.Time{}
	case bench.Resumed:
		if rec.Leg != nil && ev.Took > 0 && !e.legAt.IsZero() {
			e.legAt = e.legAt.Add(min(ev.Took, rec.At.Sub(e.legAt))) // a pause is not an overhead of legs to come
		}
	case bench.Intervened:
		if ev.Control.Kind == bench.ControlSkipContender && rec.Leg != nil {
			e.legs -= e.later(*rec.Leg)
		}
	case bench.RunEnded:
		e.legs = 0
	}
}

// later counts the planned legs of the contender of leg that come after it.
func (e *Estimate) later(leg bench.Leg) (n int) {
	at := slices.IndexFunc(e.plan, func(l bench.LegEntry) bool { return l.Leg == leg })
	for _, l := range e.plan[at+1:] {
		if at >= 0 && l.State != bench.LegComplete && l.Leg.Contender == leg.Contender && l.Leg.Variant == leg.Variant {
			n++
		}
	}
	return n
}

// perLeg is the expected overhead of a leg.
func (e *Estimate) perLeg() time.Duration {
	if e.done == 0 {
		return LegOverhead
	}
	return e.overhead / time.Duration(e.done)
}

// Total is the time that all legs to come are thought to take.
func (e *Estimate) Total() time.Duration { return time.Duration(e.legs) * (e.load + e.perLeg()) }

// Elapsed is the time since the run, or its resumed part, was started.
func (e *Estimate) Elapsed(at time.Time) time.Duration {
	if e.started.IsZero() {
		return 0
	}
	return at.Sub(e.started)
}

// Left is the time that is thought to be left; ok is false when there is nothing to come.
func (e *Estimate) Left(at time.Time) (left time.Duration, ok bool) {
	if e.legs <= 0 {
		return 0, false
	}
	left = e.Total()
	if !e.legAt.IsZero() {
		alive := time.Duration(max(e.alive, 1))
		if e.step >= 0 && e.step < len(e.steps) {
			left -= alive * e.perLeg()
			for _, d := range e.steps[:e.step] {
				left -= alive * d
			}
			left -= min(at.Sub(e.stepAt), alive*e.steps[e.step])
		} else {
			left -= min(at.Sub(e.legAt), alive*e.perLeg())
		}
	}
	return max(left, 0), true
}
