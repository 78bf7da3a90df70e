package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// ErrOnRequest is wrapped by the error of Run when a control has ended the run: bench.ControlStop
// or bench.ControlAbort.
var ErrOnRequest = errors.New("stopped on request")

// onRequest is why something has ended, in words; it counts as ErrOnRequest.
type onRequest string

func (e onRequest) Error() string        { return string(e) }
func (e onRequest) Is(target error) bool { return target == ErrOnRequest }

var (
	errSkipped error = errors.New(bench.AbortedSkipped) // cause of the end of a trial, or of a step
	errAborted error = onRequest("aborted by the user")
	errStopped error = onRequest("stopped by the user")
)

// maxChanges bounds how many changes of the rate a warning names.
const maxChanges = 8

// steering is what has been asked of the run, and what runs that could obey. Controls come in at
// any moment from its own goroutine; the runner reports to it what begins and ends.
type steering struct {
	publish func(*bench.Trial, bench.Event)
	endRun  context.CancelCauseFunc

	mu      sync.Mutex
	changed chan struct{} // closed, and made again, when hold or stop change
	hold    bool          // a pause is wanted, or under way
	stop    bool          // the run is to end after the running step
	over    bool          // no trial is left to run
	missed  error         // a threshold that ends the run
	skipped map[bench.Selection]bool
	running *controlled   // the trial that runs; of several that take turns the one whose turn it is
	shared  []*controlled // all that take turns
}

// controlled is what controls can act on of a trial.
type controlled struct {
	trial    *bench.Trial // that runs
	endTrial context.CancelCauseFunc
	whole    bool // the trial has run all its steps, or is stopping already: it can only end by itself
	step     *steered
}

type steered struct {
	index   int
	step    bench.Step
	end     context.CancelCauseFunc
	began   time.Time
	skip    bool
	rate    atomic.Uint64 // bits of the rate that was asked for; 0: the step's own
	changes []string
	more    int // changes that are not in changes
}

func (s *steering) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// share says who takes turns from now on; nil: nobody.
func (s *steering) share(trials []*controlled) {
	s.locked(func() { s.shared, s.running = trials, &controlled{} })
}

func (s *steering) turnTo(trial *controlled) { s.locked(func() { s.running = trial }) }

// eachStep does something to all steps that run: several where contenders take turns.
func (s *steering) eachStep(do func(*steered)) {
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
	why, obey := s.response(c)
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

// answer says why c, which is valid, cannot be obeyed now, or how it is.
func (s *steering) response(c bench.Control) (why string, obey func()) {
	refuse := func(when bool, text string) {
		if when {
			why = cmp.Or(why, text)
		}
	}
	now := s.running
	idle := now.step == nil
	switch obey = func() {}; c.Kind { // a note is on record, and that is all
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
			s.eachStep(func(step *steered) {
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
			if !now.whole {
				now.endTrial(errSkipped)
			}
		}
	case bench.ControlStop:
		refuse(s.stop, "the run is already stopping")
		refuse(s.over, "nothing to stop: the run is ending")
		obey = func() {
			s.stop, s.hold = true, false
			s.wake()
			if idle && !now.whole {
				s.endRun(errStopped)
			}
		}
	case bench.ControlRate:
		refuse(idle, "rate unchanged: no step is running")
		if !idle && now.step.step.Rate == 0 {
			return fmt.Sprintf("rate unchanged: step %d (%s) has no rate",
				now.step.index+1, now.step.step.Name), nil
		}
		obey = func() { s.eachStep(func(step *steered) { step.change(c.Rate) }) }
	case bench.ControlAbort:
		obey = func() { s.endRun(errAborted) }
	}
	return why, obey
}

func (s *steering) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// held reports whether a pause is wanted, and returns what is closed when that changes.
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

// beginTrial puts a trial under control at the moment of its event: who has seen it begin can skip it.
func (s *steering) beginTrial(trial *bench.Trial, e bench.TrialStarted, end context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running.trial, s.running.endTrial, s.running.whole = trial, end, false
	s.publish(trial, e)
}

// finishTrial ends the control of the trial. last says that none comes after it.
func (s *steering) finishTrial(last bool) {
	s.locked(func() { *s.running, s.over = controlled{}, last })
}

// beginStep puts a step of the running trial under control, as beginTrial does a trial.
func (s *steering) beginStep(e bench.StepStarted, end context.CancelCauseFunc) *steered {
	s.mu.Lock()
	defer s.mu.Unlock()
	step := &steered{index: e.Index, step: e.Step, end: end, began: time.Now()}
	s.running.step = step
	s.publish(s.running.trial, e)
	return step
}

func (s *steering) startClock() {
	s.locked(func() {
		if step := s.running.step; step != nil {
			step.began = time.Now()
		}
	})
}

// finishStep ends the control of the step. last says that the trial has no other.
func (s *steering) finishStep(last bool) {
	s.locked(func() { s.running.step, s.running.whole = nil, last })
}

// closing says that the trial is being stopped: what is asked for now must not hide why it ended.
func (s *steering) closing() { s.locked(func() { s.running.whole = true }) }

// missThreshold ends the run after the running step.
func (s *steering) missThreshold(err error) { s.locked(func() { s.missed = err }) }

// ended returns the threshold that ends the run; nil for none.
func (s *steering) ended() (missed error) {
	s.locked(func() { missed = s.missed })
	return missed
}

// change is called under the lock of the steering.
func (r *steered) change(rate float64) {
	r.rate.Store(math.Float64bits(rate))
	if len(r.changes) == maxChanges {
		r.more++
		return
	}
	after := units.Duration(time.Since(r.began))
	r.changes = append(r.changes, fmt.Sprintf("to %s/s after %s", units.Rate(rate), after))
}

// wanted returns the rate that was asked for, in requests per second; 0: the step's own.
func (r *steered) wanted() float64 { return math.Float64frombits(r.rate.Load()) }

// pause stands still for as long as somebody wants it, and returns how long that was; 0 when nobody
// does. It ends early when ctx does, or when died is closed; whoever calls it asks for either. trial
// is nil between two trials.
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

func selection(l bench.Trial) bench.Selection {
	return bench.Selection{Contender: l.Contender, Variant: l.Variant}
}
