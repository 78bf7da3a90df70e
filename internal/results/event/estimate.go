package event

import (
	"maps"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// The assumed times of the parts of a trial without its load, until a trial has ended: those of the
// embedded contender on two CPUs, between those when idle (0.5 s a container, 0.35 s a check, 8%
// for switches) and busy ones (1.4 s, 1 s, 15%). Services that start or stop slowly take longer.
const (
	suiteCheck = 600 * time.Millisecond

	processStartStop  = 400 * time.Millisecond // start, readiness, setup, stop
	processStartCheck = 100 * time.Millisecond // a start by a lifecycle check

	containerStartStop  = 900 * time.Millisecond
	containerStartCheck = 600 * time.Millisecond

	// restore is until the needs of a trial, or of all trials of an interleaved round, are ready again,
	// all at the same time: from 2 s when idle to 7 s.
	restore = 4 * time.Second
	// opening is until a need has started, is seeded and has stopped; images are already there.
	opening = 5 * time.Second

	threadStarts = 3  // how often the check of the threads starts the contender
	switching    = 10 // % of the load's time that switches between interleaved contenders take
)

// Overhead returns the assumed time of a trial of p without its load: start, checks, switches of
// interleaved load, stop, and restore of needs. first is what the first trial of a contender takes in addition: the
// checks that launch it.
func Overhead(p bench.Profile) (each, first time.Duration) {
	startStop, start := containerStartStop, containerStartCheck
	switch traits := p.Runtime.Traits(); {
	case traits.AlreadyRunning:
		startStop, start = 0, 0
	case traits.OnHost:
		startStop, start = processStartStop, processStartCheck
	}
	each = startStop + time.Duration(len(p.Checks.Suites))*suiteCheck
	if p.Interleave > 0 {
		each += p.LoadDuration() * switching / 100
	}
	restarts := slices.ContainsFunc(p.Needs, func(n bench.NeedSpec) bool { return n.Restarts })
	if restarts && p.Interleave > 0 {
		each += restore / time.Duration(max(2, len(p.Contenders))) // one that is interleaved with itself has two trials
	} else if restarts {
		each += restore
	}
	for _, name := range p.Checks.Lifecycle {
		switch name {
		case bench.CheckThreads:
			first += threadStarts * start
		case bench.CheckNoEnvironment, bench.CheckNoNeeds:
			first += start
		}
	}
	if restarts && first > 0 {
		first += restore // not at the same time; the measured contender does not begin with what these checks have written
	}
	return each, first
}

// Before returns the assumed time before the first trial without builds: until all needs have
// started and are seeded.
func Before(p bench.Profile) time.Duration {
	var own time.Duration
	for _, n := range p.Needs {
		if n.From.Traits().Container {
			own += opening
		}
	}
	return own
}

// WithoutBuilds is what is said after a time that builds are not part of.
const WithoutBuilds = ", without builds"

// Without returns WithoutBuilds if what the builds before a run take is not known, else "".
func Without(b bench.Builds) string {
	if b.Count > 0 && b.Last == 0 {
		return WithoutBuilds
	}
	return ""
}

// Total returns the assumed time of all trials of p.
func Total(p bench.Profile) time.Duration {
	each, first := Overhead(p)
	return time.Duration(len(p.Contenders)) * (first + time.Duration(p.Rounds)*(p.LoadDuration()+each))
}

// Estimate is the time that a run still needs: the planned time of the trials to come, times what
// those that have ended took of theirs. It depends only on events, so the plain text and the
// dashboard agree.
type Estimate struct {
	started time.Time
	before  time.Duration                 // until the first trial; 0 once that has started
	builds  bench.Builds                  // before the first trial; none once that has started
	planned map[bench.Trial]time.Duration // of each trial, without
	first   time.Duration                 // the checks before the first one of a contender
	new     map[bench.Selection]bool      // contenders without these checks
	ahead   map[bench.Trial]bool          // trials to come, with the running ones

	running  int           // several with interleaving
	since    time.Time     // start of the first of them, later by checks and pauses
	together time.Duration // planned for the running ones
	over     time.Duration // planned for those that have ended since then
	whole    bool          // of these all are complete

	took, ended time.Duration // real and planned time of the trials that were seen from start to end

	share   float64       // the highest one at an event
	ceiling time.Duration // what was left at the last event
	capped  bool          // nothing has happened since then by which more may be left
}

// mostLate is the factor above which an estimate that is not kept is only the least time.
const mostLate = 2

// Apply adds one event.
func (e *Estimate) Apply(rec bench.Record) {
	before, known := e.Left(rec.At)
	e.share, e.capped = e.Share(rec.At), known
	e.apply(rec)
	left := e.uncapped(rec.At)
	if e.capped {
		left = min(left, before)
	}
	e.ceiling, e.capped = left, true
}

func (e *Estimate) apply(rec bench.Record) {
	var trial bench.Trial
	if rec.Trial != nil {
		trial = *rec.Trial
	}
	switch ev := rec.Event.(type) {
	case bench.RunStarted:
		p := ev.Run.Profile
		*e = Estimate{started: rec.At, before: Before(p) + ev.Run.Builds.Last, builds: ev.Run.Builds,
			planned: map[bench.Trial]time.Duration{}, ahead: map[bench.Trial]bool{}, new: map[bench.Selection]bool{}}
		var each time.Duration
		each, e.first = Overhead(p)
		for _, l := range ev.Run.Trials {
			e.planned[l.Trial] = p.LoadDuration() + each
			if l.State != bench.TrialComplete {
				e.ahead[l.Trial], e.new[l.Trial.Selection()] = true, true
			}
		}
	case bench.TrialStarted:
		e.before, e.builds = 0, bench.Builds{}
		if _, known := e.planned[trial]; known && !e.ahead[trial] { // it is tried again
			e.ahead[trial], e.capped = true, false
		}
		if e.running == 0 {
			e.since, e.together, e.over, e.whole = rec.At, 0, 0, true
		}
		e.running++
		e.together += e.planned[trial]
	case bench.PhaseEnded:
		if ev.Phase == bench.PhaseCheck && e.new[trial.Selection()] {
			delete(e.new, trial.Selection())
			e.since = e.since.Add(ev.Took)
		}
	case bench.TrialEnded:
		delete(e.ahead, trial)
		e.together -= e.planned[trial]
		e.over += e.planned[trial]
		e.whole = e.whole && ev.State == bench.TrialComplete
		if e.running = max(e.running-1, 0); e.running == 0 && e.whole {
			e.took += max(0, rec.At.Sub(e.since))
			e.ended += e.over
		}
	case bench.Resumed:
		e.since = e.since.Add(ev.Took) // pauses are not part of a trial
		e.capped = false
	case bench.ChangedManually:
		if ev.Control.Kind == bench.ControlSkipContender {
			maps.DeleteFunc(e.ahead, func(t bench.Trial, _ bool) bool { return t != trial && t.Selection() == trial.Selection() })
			delete(e.new, trial.Selection())
		}
		e.capped = false
	case bench.RunEnded:
		clear(e.ahead)
	}
}

// scaled returns a planned time by what the trials that have ended took of theirs.
func (e *Estimate) scaled(d time.Duration) time.Duration {
	if e.ended == 0 {
		return d
	}
	return time.Duration(float64(d) * float64(e.took) / float64(e.ended))
}

// Total returns the estimated time of all trials to come, and of what is before the first.
func (e *Estimate) Total() time.Duration {
	var ahead time.Duration
	for t := range e.ahead {
		ahead += e.planned[t]
	}
	return e.before + e.scaled(ahead) + time.Duration(len(e.new))*e.first
}

// Without returns what is said after Total and Left; "" once all is built.
func (e *Estimate) Without() string { return Without(e.builds) }

// Elapsed returns the time since the run, or its resumed part, was started.
func (e *Estimate) Elapsed(at time.Time) time.Duration {
	if e.started.IsZero() {
		return 0
	}
	return at.Sub(e.started)
}

// Share returns the share of the run that is over, from 0 to 1. It never falls.
func (e *Estimate) Share(at time.Time) float64 {
	left, _ := e.Left(at)
	ran := e.Elapsed(at)
	if len(e.ahead) == 0 {
		return e.share
	}
	return max(e.share, float64(ran)/float64(max(1, ran+left)))
}

// Words returns what is left: "about 3m left", or "over 3m left" if it is more than twice as much by
// now, and Without; "" if no trial is to come. about is the first word.
func (e *Estimate) Words(at time.Time, about string) string {
	left, ok := e.Left(at)
	switch {
	case !ok:
		return ""
	case e.Late(at):
		about = "over "
	}
	return about + units.Approx(left) + " left" + e.Without()
}

// Late reports whether more than twice as much is left as Left returns, which does not grow.
func (e *Estimate) Late(at time.Time) bool {
	left, ok := e.Left(at)
	return ok && e.uncapped(at) > mostLate*left
}

// Left returns the estimated time left; ok is false if no trial is to come. It never grows, but if a
// trial is tried again, or the run was changed by hand.
func (e *Estimate) Left(at time.Time) (left time.Duration, ok bool) {
	if len(e.ahead) == 0 {
		return 0, false
	}
	left = e.uncapped(at)
	if e.capped {
		left = min(left, e.ceiling)
	}
	return left, true
}

// uncapped returns what is left by the times of the trials that have ended, which may be more than
// it was.
func (e *Estimate) uncapped(at time.Time) time.Duration {
	left := e.Total() - min(e.before, e.Elapsed(at))
	if e.running > 0 {
		left -= max(0, min(at.Sub(e.since), e.scaled(e.together)))
	}
	return max(left, 0)
}
