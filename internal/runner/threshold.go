package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/slo"
)

// ErrThreshold is wrapped by Run's error when thresholds have cut legs short, and nothing else has.
var ErrThreshold = errors.New("ended early, since a threshold was missed")

// missed is why a step, a leg or the run ends: a threshold that asks for that.
type missed struct {
	scope bench.Scope
	text  string
}

func (m missed) Error() string      { return "threshold missed: " + m.text }
func (missed) Is(target error) bool { return target == ErrThreshold }

// rank orders what a threshold ends, from less to more.
func rank(s bench.Scope) int {
	return slices.Index([]bench.Scope{bench.ScopeStep, bench.ScopeLeg, bench.ScopeRun}, s)
}

type judged struct {
	bench.Threshold
	objective slo.Objective
	watches   []*slo.Watch // of those that end something while the step runs
}

// judges are the thresholds that concern a step of this leg. What cannot be read is left out:
// profiles are checked before.
func (l *life) judges(index int, step bench.Step) (all []*judged) {
	for _, t := range l.Run.Profile.Thresholds {
		if !t.Concerns(*l.leg, index, step) {
			continue
		}
		o, err := slo.Parse(t.Objective)
		if err != nil {
			l.notice("warning", fmt.Sprintf("threshold not judged: %v", err))
			continue
		}
		j := &judged{Threshold: t, objective: o}
		if t.Window > 0 && t.Stop != "" {
			for _, c := range o {
				j.watches = append(j.watches, slo.NewWatch(c, t.Window))
			}
		}
		all = append(all, j)
	}
	return all
}

// watchWindow gives a window to the thresholds of the step; the first that is missed ends it.
func watchWindow(all []*judged, w bench.Window, end context.CancelCauseFunc) {
	for _, j := range all {
		for _, watch := range j.watches {
			if watch.Add(w) {
				judgement, _ := watch.Judgement()
				end(*j.missed(judgement))
			}
		}
	}
}

func (j *judged) missed(why bench.Judgement) *missed {
	text := why.Text
	if why.Window != 0 {
		text += " over " + why.Window.String()
	}
	return &missed{j.Stop, text}
}

// judge puts on record what has become of the thresholds in a finished step, and returns what is to
// end; nil when nothing is. last says that the leg has no other step, lastLeg that the run has no
// other leg: there is nothing to cut short then.
func judge(all []*judged, res *bench.StepResult, cut, last, lastLeg bool) *missed {
	var stop *missed
	for _, j := range all {
		for _, judgement := range j.objective.Judge(j.Window, *res) {
			ends := j.Stop != "" && cut || j.Stop == bench.ScopeLeg && !last || j.Stop == bench.ScopeRun && !(last && lastLeg)
			if !judgement.Passed && ends {
				judgement.Stopped = j.Stop
				if stop == nil || rank(j.Stop) > rank(stop.scope) {
					stop = j.missed(judgement)
				}
			}
			res.Thresholds = append(res.Thresholds, judgement)
		}
	}
	return stop
}
