package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// Stage is a phase of the run before the first trial. Do returns a note for the log.
type Stage struct {
	Phase bench.Phase
	Do    func(ctx context.Context, progress func(bench.Progress)) (note string, err error)
}

// Needs are the services that the contenders need.
type Needs interface {
	// Stages prepare them.
	Stages() []Stage
	// NeedsAlive returns an error if one of a trial does not respond, with its name. Without a trial
	// it is about those that run throughout.
	NeedsAlive(ctx context.Context, of bench.Trial) (name string, err error)
	// WatchNeeds reports what others do to the needs of a trial, such as a pause, until end is called.
	WatchNeeds(of bench.Trial, report func(bench.Incident)) (end func())
	// RestoreNeeds gives them the state that they had after the stages, and returns how it had changed,
	// by their names. It is called before and after each trial, and may take RestoreTimeout.
	RestoreNeeds(ctx context.Context, r Restore) (changed string, err error)
	RestoreTimeout() time.Duration
	// Unmigrated reports whether a contender has to be started once, on what RestoreNeeds gives it,
	// before it has a seeded state.
	Unmigrated(of bench.Trial) bool
	// Migrated completes the seeded state of a contender that was ready and has been stopped.
	Migrated(ctx context.Context, of bench.Trial, progress func(bench.Progress)) (note string, err error)
}

// Restore says for which trials needs are restored.
type Restore struct {
	Ended bench.Trial // the trial that has ended; none: no need can have been lost in it
	Next  bench.Trial // none: no trial follows, or not at once
	// trials that start after the next one, before any of them is loaded. Their needs may be restored
	// at the same time; that is tried again, and its error returned, when they are the next one.
	Soon   []bench.Trial
	Starts func(need string) // called before a need starts again, with its name
}

// interruptedTimeout is the time limit for RestoreNeeds once the run was interrupted.
const interruptedTimeout = 5 * time.Second

// lostNeed returns the failure of a trial in which a need ended, or did not respond.
func lostNeed(name string, err error) causeError {
	return causeError{bench.Cause{Kind: bench.CauseNeed, Text: clip(fmt.Sprintf("lost %s: %s", name, oneLine(err)), progressBytes)}}
}

// afterTrial restores the needs for the next trial, and returns the error of a trial that ended
// with err. A need that has ended is the cause of what its contender could not do. What follows an
// interleaved trial runs already: the needs of its contender are restored before its next one.
func (l *trialRun) afterTrial(ctx context.Context, next bench.Trial, err error) error {
	if l.slot != nil {
		next = bench.Trial{}
	}
	if known, _ := errors.AsType[causeError](err); known.Kind == bench.CauseNeed {
		l.lostNeed = &known.Cause
	} else if ctx.Err() == nil {
		probe, cancel := context.WithTimeout(ctx, diagnosisTimeout)
		name, lost := l.cfg.Needs.NeedsAlive(probe, *l.trial)
		cancel()
		if lost != nil && ctx.Err() == nil {
			cause := lostNeed(name, lost)
			if l.lostNeed = &cause.Cause; err == nil {
				err = cause
			} else {
				err = fmt.Errorf("%w; %w", cause, err)
			}
		}
	}
	if failed := l.restoreNeeds(ctx, Restore{Ended: *l.trial, Next: next}, "during this trial"); err == nil {
		return failed
	}
	return err
}

// restoreNeeds reports an incident if the data of the needs has changed since the last call: what
// one contender changes, the others would read. It looks after an interrupted trial too. It returns
// an error if they may not have that state for the next trial. Needs that start again make it a
// phase of the trial.
func (l *trialRun) restoreNeeds(run context.Context, of Restore, when string) error {
	limit := l.cfg.Needs.RestoreTimeout()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(run), limit)
	defer cancel()
	defer context.AfterFunc(run, func() {
		select {
		case <-ctx.Done():
		case <-time.After(interruptedTimeout):
			cancel()
		}
	})()
	var restored []string
	began := time.Now()
	of.Starts = func(need string) {
		if restored == nil {
			l.publish(bench.PhaseStarted{Phase: bench.PhaseRestore})
		}
		restored = append(restored, need)
		l.publish(bench.Progress{Phase: bench.PhaseRestore, Text: "restoring " + need})
	}
	change, err := l.cfg.Needs.RestoreNeeds(ctx, of)
	if err != nil {
		if ctx.Err() != nil && run.Err() == nil {
			err = fmt.Errorf("not done after %s; a longer one needs `restore_timeout`: %w", units.Exact(limit), err)
		}
		err = fmt.Errorf("restore needs: %w", err)
	}
	if restored != nil {
		ended := bench.PhaseEnded{Phase: bench.PhaseRestore, Took: time.Since(began), Note: strings.Join(restored, ", ")}
		if err != nil {
			ended.Err = err.Error()
		}
		l.publish(ended)
	}
	if change != "" {
		text := "data changed " + when + ": " + change
		l.reportIncident(bench.Incident{At: time.Now(), Kind: bench.IncidentData, Text: text})
	}
	return err
}

// soon returns the trials of the round that start after an interleaved one, and launch their
// contenders.
func (r *runner) soon(s *slot) (trials []bench.Trial) {
	if s == nil {
		return nil
	}
	s.rotation.mu.Lock()
	defer s.rotation.mu.Unlock()
	for _, other := range s.rotation.slots[s.number+1:] {
		sel := selection(other.trial)
		if r.broken[sel] == nil && (r.neverReady[sel]+r.unmigrated[sel] == 0 || r.cfg.RetryNotReady) {
			trials = append(trials, other.trial)
		}
	}
	return trials
}

func (l *trialRun) readHost(ctx context.Context) *bench.HostReading {
	return l.cfg.Observer.ReadHost(ctx, *l.trial)
}

func (l *trialRun) readOwn() map[string]*bench.NeedUsage { return l.cfg.Observer.ReadOwn(*l.trial) }

// waitedOf adds the CPU time that needs of the contender itself have used since a reading, while
// other contenders were loaded.
func (r *readings) waitedOf(before map[string]*bench.NeedUsage) {
	if len(before) == 0 {
		return
	}
	for name, to := range r.own() {
		if from := before[name]; from != nil && from.Source == to.Source && to.CPU > from.CPU {
			if r.record.WaitedNeeds == nil {
				r.record.WaitedNeeds = map[string]time.Duration{}
			}
			r.record.WaitedNeeds[name] += to.CPU - from.CPU
		}
	}
}
