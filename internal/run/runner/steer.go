package runner

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// ErrOnRequest is wrapped by the error of Run if bench.ControlStop or ControlAbort ended the run.
var ErrOnRequest = errors.New("stopped on request")

// onRequest is the reason for an end, for people; it is an ErrOnRequest.
type onRequest string

func (e onRequest) Error() string        { return string(e) }
func (e onRequest) Is(target error) bool { return target == ErrOnRequest }

var (
	errSkipped error = errors.New(bench.AbortedSkipped) // cause of the end of a trial or step
	errAborted error = onRequest("aborted by the user")
	errStopped error = onRequest("stopped by the user")
)

// steering applies controls to the run. They arrive at any moment, in their own goroutine; the
// runner reports which trials and steps begin and end.
type steering struct {
	publish func(*bench.Trial, bench.Event)
	endRun  context.CancelCauseFunc

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when hold or stop change
	hold    bool          // a pause is requested, or in progress
	stop    bool          // the run ends after the running step
	over    bool          // no trial is left
	missed  error         // a threshold that ends the run
	skipped map[bench.Selection]bool
	running *controlled   // the running trial; of interleaved trials the one that is loaded
	shared  []*controlled // all interleaved trials
}

// controlled is the part of a trial that controls change.
type controlled struct {
	trial     *bench.Trial // nil: none runs
	endTrial  context.CancelCauseFunc
	finishing bool // all steps have run, or the trial is stopping: it ends without a control
	step      *controlledStep
}

// controlledStep is the part of a step that controls change.
type controlledStep struct {
	index int
	end   context.CancelCauseFunc
	skip  bool
}

func (s *steering) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// share sets the trials that are interleaved from now on; nil: none.
func (s *steering) share(trials []*controlled) {
	s.locked(func() { s.shared, s.running = trials, &controlled{} })
}

func (s *steering) switchTo(trial *controlled) { s.locked(func() { s.running = trial }) }

// eachStep calls do for all running steps: several if trials are interleaved.
func (s *steering) eachStep(do func(*controlledStep)) {
	trials := s.shared
	if len(trials) == 0 {
		trials = []*controlled{s.running}
	}
	for _, trial := range trials {
		if trial.step != nil {
			do(trial.step)
		}
	}
}

func (s *steering) run(controls <-chan bench.Control, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case c, ok := <-controls:
			if !ok {
				return
			}
			s.take(c)
		}
	}
}

func (s *steering) take(c bench.Control) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := c.Validate(); err != nil {
		s.publish(nil, bench.Notice{Level: "warning", Text: clip(err.Error(), 200)})
		return
	}
	why, obey := s.consider(c)
	if why != "" {
		s.publish(s.running.trial, bench.Notice{Level: "info", Text: why})
		return
	}
	e := bench.ChangedManually{Control: c}
	if step := s.running.step; step != nil {
		e.Step = new(step.index)
	}
	s.publish(s.running.trial, e)
	obey()
}

// consider returns why the valid control c cannot be applied now, or a function that applies it.
func (s *steering) consider(c bench.Control) (why string, obey func()) {
	refuse := func(when bool, text string) {
		if when {
			why = cmp.Or(why, text)
		}
	}
	now := s.running
	idle := now.step == nil
	switch c.Kind {
	case bench.ControlPause:
		refuse(s.hold, "already paused, or pausing after this step")
		refuse(s.stop || s.over, "not paused: the run is ending")
		obey = func() { s.hold = true }
	case bench.ControlResume:
		refuse(!s.hold, "cannot resume: the run is not paused")
		obey = func() {
			s.hold = false
			s.wake()
		}
	case bench.ControlSkipStep:
		refuse(idle, "cannot skip: no step is running")
		refuse(!idle && now.step.skip, "already skipping this step")
		obey = func() {
			s.eachStep(func(step *controlledStep) {
				step.skip = true
				step.end(errSkipped)
			})
		}
	case bench.ControlSkipContender:
		refuse(now.trial == nil, "cannot skip: no contender is running")
		refuse(len(s.shared) > 1, "cannot skip: contenders are interleaved")
		refuse(now.trial != nil && s.skipped[selection(*now.trial)], "already skipping this contender")
		obey = func() {
			s.skipped[selection(*now.trial)] = true
			if !now.finishing {
				now.endTrial(errSkipped)
			}
		}
	case bench.ControlStop:
		refuse(s.stop, "the run is already stopping")
		refuse(s.over, "nothing to stop: the run is ending")
		obey = func() {
			s.stop, s.hold = true, false
			s.wake()
			if idle && !now.finishing {
				s.endRun(errStopped)
			}
		}
	case bench.ControlAbort:
		obey = func() { s.endRun(errAborted) }
	}
	return why, obey
}

func (s *steering) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// held reports whether a pause is requested; changed is closed when that changes.
func (s *steering) held() (hold bool, changed <-chan struct{}) {
	s.locked(func() { hold, changed = s.hold, s.changed })
	return hold, changed
}

func (s *steering) stopping() (stop bool) {
	s.locked(func() { stop = s.stop })
	return stop
}

func (s *steering) skips(sel bench.Selection) (skipped bool) {
	s.locked(func() { skipped = s.skipped[sel] })
	return skipped
}

// beginTrial makes a trial the running one together with its event: a user who sees it can skip it.
func (s *steering) beginTrial(trial *bench.Trial, e bench.TrialStarted, end context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running.trial, s.running.endTrial, s.running.finishing = trial, end, false
	s.publish(trial, e)
}

// finishTrial ends the control of the running trial. last means that no trial follows.
func (s *steering) finishTrial(last bool) {
	s.locked(func() { *s.running, s.over = controlled{}, last })
}

// beginStep makes a step of the running trial the running one together with its event, which a step that
// continues has had.
func (s *steering) beginStep(e bench.StepStarted, end context.CancelCauseFunc, continued bool) *controlledStep {
	s.mu.Lock()
	defer s.mu.Unlock()
	step := &controlledStep{index: e.Index, end: end}
	s.running.step = step
	if !continued {
		s.publish(s.running.trial, e)
	}
	return step
}

// finishStep ends the control of the running step. last means that the trial has no more steps.
func (s *steering) finishStep(last bool) {
	s.locked(func() { s.running.step, s.running.finishing = nil, last })
}

// closing marks the trial as stopping: a control must not hide why the trial ended.
func (s *steering) closing() { s.locked(func() { s.running.finishing = true }) }

// missThreshold ends the run after the running step.
func (s *steering) missThreshold(err error) { s.locked(func() { s.missed = err }) }

// ended returns the error of the threshold that ends the run; nil without one.
func (s *steering) ended() (missed error) {
	s.locked(func() { missed = s.missed })
	return missed
}

// pause waits until a requested pause, ctx or the contender ends, and returns the length of the
// pause; 0 if none is requested. trial is nil between two trials.
func (s *steering) pause(ctx context.Context, trial *bench.Trial, died <-chan struct{}) time.Duration {
	hold, changed := s.held()
	if !hold || ctx.Err() != nil {
		return 0
	}
	s.publish(trial, bench.Paused{})
	began := time.Now()
	for hold {
		select {
		case <-ctx.Done():
			hold = false
		case <-died:
			hold = false
		case <-changed:
			hold, changed = s.held()
		}
	}
	took := time.Since(began)
	s.publish(trial, bench.Resumed{Took: took})
	return took
}

func selection(t bench.Trial) bench.Selection {
	return bench.Selection{Contender: t.Contender, Variant: t.Variant}
}
