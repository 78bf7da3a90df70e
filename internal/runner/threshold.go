package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locbench/internal/bench"
	"locbench/internal/slo"
)

// ErrThreshold is wrapped by the error of Run when legs were cut short by thresholds that ask for
// that, and nothing else went wrong.
var ErrThreshold = errors.New("ended early, since a threshold was missed")

// missed is why a step, a leg or the run ends: a threshold that asks for that.
type missed struct {
	scope bench.Scope
	text  string
}

func (m missed) Error() string      { return "threshold missed: " + m.text }
func (missed) Is(target error) bool { return target == ErrThreshold }

// ranks orders what a threshold ends, from less to more.
func rank(s bench.Scope) int {
	switch s {
	case bench.ScopeStep:
		return 1
	case bench.ScopeLeg:
		return 2
	case bench.ScopeRun:
		return 3
	}
	return 0
}

// judged is a threshold of the running step.
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

// watchWindow gives one more window to the thresholds of the running step; the first that is missed
// ends it.
func watchWindow(all []*judged, w bench.Window, end context.CancelCauseFunc) {
	for _, j := range all {
		for _, watch := range j.watches {
			if watch.Add(w) {
				judgement, _ := watch.Judgement()
				end(missed{j.Stop, judgement.Text + overWindow(judgement.Window)})
			}
		}
	}
}

func overWindow(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return " over " + d.String()
}

// judge puts on record what has become of the thresholds in a finished step, and returns what is to
// end; nil when nothing is. last says that the leg has no other step, lastLeg that the run has no
// other leg: there is nothing to cut short then.
func judge(all []*judged, res *bench.StepResult, cut, last, lastLeg bool) *missed {
	var stop *missed
	for _, j := range all {
		for _, judgement := range j.objective.Judge(j.Window, *res) {
			ends := j.Stop == bench.ScopeStep && cut || j.Stop == bench.ScopeLeg && (cut || !last) || j.Stop == bench.ScopeRun && (cut || !last || !lastLeg)
			if !judgement.Passed && ends {
				judgement.Stopped = j.Stop
				if stop == nil || rank(j.Stop) > rank(stop.scope) {
					stop = &missed{j.Stop, judgement.Text + overWindow(judgement.Window)}
				}
			}
			res.Thresholds = append(res.Thresholds, judgement)
		}
	}
	return stop
}

// allThresholds tells whether nothing but thresholds has cut legs short.
func allThresholds(failures []error) bool {
	for _, err := range failures {
		if !errors.Is(err, ErrThreshold) {
			return false
		}
	}
	return true
}
