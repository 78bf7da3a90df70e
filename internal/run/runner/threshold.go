package runner

import (
	"errors"
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
)

// ErrThreshold is wrapped by Run's error if missed thresholds have stopped trials or the run.
var ErrThreshold = errors.New("stopped: threshold missed")

// missed is a missed threshold that stops the trial or the run.
type missed struct {
	scope bench.Scope
	text  string
}

func (m missed) Error() string      { return "threshold missed: " + m.text }
func (missed) Is(target error) bool { return target == ErrThreshold }

// checkThresholds adds the results of the thresholds to a finished step, unless it was aborted. It
// returns the missed threshold that stops the trial or the run; nil if none does. After the
// last step of a trial there is no trial to stop, and after the last trial no run.
func (l *trialRun) checkThresholds(res *bench.StepResult) (stop *missed) {
	if res.Aborted != "" {
		return nil
	}
	last := l.lastStep(res.Index)
	for _, t := range l.cfg.Run.Profile.Thresholds {
		if !t.AppliesTo(res.Index, res.Step) {
			continue
		}
		conditions, err := profile.ParseConditions(t.Condition)
		if err != nil { // unexpected: Run gets a valid profile
			l.notice("warning", fmt.Sprintf("threshold not checked: %v", err))
			continue
		}
		stops := t.Stop == bench.ScopeTrial && !last || t.Stop == bench.ScopeRun && !(last && l.isLast)
		for _, r := range conditions.Check(res.Load) {
			if !r.Passed && stops {
				r.Stopped = t.Stop
				if stop == nil || stop.scope == bench.ScopeTrial && t.Stop == bench.ScopeRun {
					stop = &missed{t.Stop, r.Text}
				}
			}
			res.Thresholds = append(res.Thresholds, r)
		}
	}
	return stop
}
