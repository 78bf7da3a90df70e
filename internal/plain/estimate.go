package plain

import (
	"fmt"
	"time"

	"locbench/internal/bench"
)

// legOverhead is what a leg is thought to take besides its load until one has been seen: launches for the lifecycle
// checks, start-up, HTTP checks, stopping.
const legOverhead = 8 * time.Second

// estimate keeps the time that is left: the planned load of the legs to come, and beside it the overhead that a leg has
// taken so far on the average.
type estimate struct {
	started  time.Time
	load     time.Duration // of one leg
	steps    []time.Duration
	legs     int // to come, the running one included
	done     int // seen from start to end in this process
	overhead time.Duration
	legAt    time.Time
	stepAt   time.Time
	step     int // running step; -1 before the first
}

func (e *estimate) apply(rec bench.Record) {
	switch ev := rec.Event.(type) {
	case bench.RunStarted:
		*e = estimate{started: rec.At, load: ev.Run.Profile.LoadDuration(), step: -1}
		for _, s := range ev.Run.Profile.Steps {
			e.steps = append(e.steps, s.Duration)
		}
		for _, l := range ev.Run.Legs {
			if l.State != bench.LegComplete {
				e.legs++
			}
		}
	case bench.LegStarted:
		e.legAt, e.step = rec.At, -1
	case bench.StepStarted:
		e.step, e.stepAt = ev.Index, rec.At
	case bench.LegEnded:
		if ev.State == bench.LegComplete {
			e.done++
			e.overhead += max(0, rec.At.Sub(e.legAt)-e.load)
		}
		e.legs--
		e.legAt = time.Time{}
	}
}

// perLeg is the expected overhead of a leg.
func (e *estimate) perLeg() time.Duration {
	if e.done == 0 {
		return legOverhead
	}
	return e.overhead / time.Duration(e.done)
}

func (e *estimate) total() string {
	return Approx(time.Duration(e.legs) * (e.load + e.perLeg()))
}

func (e *estimate) elapsed(at time.Time) string {
	return Approx(at.Sub(e.started).Truncate(time.Second))
}

func (e *estimate) left(at time.Time) string {
	if e.legs <= 0 {
		return ""
	}
	left := time.Duration(e.legs) * (e.load + e.perLeg())
	if !e.legAt.IsZero() {
		if e.step >= 0 && e.step < len(e.steps) {
			left -= e.perLeg()
			for _, d := range e.steps[:e.step] {
				left -= d
			}
			left -= min(at.Sub(e.stepAt), e.steps[e.step])
		} else {
			left -= min(at.Sub(e.legAt), e.perLeg())
		}
	}
	return fmt.Sprintf(", about %s left", Approx(max(left, 0)))
}
