package runner

import (
	"errors"
	"fmt"

	"locbench/internal/bench"
	"locbench/internal/run/profile"
)

// ErrThreshold is wrapped by Run's error when thresholds have cut trials short, and nothing else has.
var ErrThreshold = errors.New("stopped: threshold missed")

// missed is why a trial or the run ends: a threshold that asks for that.
type missed struct {
	scope bench.Scope
	text  string
}

func (m missed) Error() string      { return "threshold missed: " + m.text }
func (missed) Is(target error) bool { return target == ErrThreshold }

// judge puts on record what has become of the thresholds in a finished step, and returns what is to
// end; nil when nothing is. After the last step of a trial there is nothing of it to cut short, nor of
// the run after that of the last trial. A step that was cut short is not judged.
func (l *trialRun) judge(res *bench.StepResult) (stop *missed) {
	if res.Aborted != "" {
		return nil
	}
	last := l.lastStep(res.Index)
	for _, t := range l.cfg.Run.Profile.Thresholds {
		if !t.AppliesTo(res.Index, res.Step) {
			continue
		}
		o, err := profile.ParseConditions(t.Condition)
		if err != nil { // profiles are checked before
			l.notice("warning", fmt.Sprintf("threshold not checked: %v", err))
			continue
		}
		ends := t.Stop == bench.ScopeTrial && !last || t.Stop == bench.ScopeRun && !(last && l.isLast)
		for _, j := range o.Judge(res.Load) {
			if !j.Passed && ends {
				j.Stopped = t.Stop
				if stop == nil || stop.scope == bench.ScopeTrial && t.Stop == bench.ScopeRun {
					stop = &missed{t.Stop, j.Text}
				}
			}
			res.Thresholds = append(res.Thresholds, j)
		}
	}
	return stop
}
