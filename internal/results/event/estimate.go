package event

import (
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

// Without returns WithoutBuilds if a run builds contenders before its first trial, else "".
func Without(builds int) string {
	if builds > 0 {
		return WithoutBuilds
	}
	return ""
}

// Total returns the assumed time of all trials of p.
func Total(p bench.Profile) time.Duration {
	each, first := Overhead(p)
	return time.Duration(len(p.Contenders)) * (first + time.Duration(p.Rounds)*(p.LoadDuration()+each))
}

// Estimate is the time that a run still needs: the load to come and the mean overhead so far. It
// depends only on events, so the plain text and the dashboard agree.
type Estimate struct {
	started   time.Time
	load      time.Duration            // load of one trial
	assumed   time.Duration            // overhead of a trial, until one has ended
	check     time.Duration            // of the checks that launch a contender, once each
	checking  time.Duration            // of those in the running trials
	launched  bool                     // the trial that started last has launched its contender
	unchecked map[bench.Selection]bool // contenders without these checks
	steps     []time.Duration
	plan      []bench.TrialEntry
	trials    int           // trials to come, with the running ones
	done      int           // trials that this process has seen from start to end
	overhead  time.Duration // total overhead of those
	running   int           // running trials: several with interleaving
	began     int           // trials that began together
	complete  int           // complete ones among them
	trialAt   time.Time     // start of the first of them
	stepAt    time.Time
	step      int // running step; -1 before the first

	before  time.Duration        // until the first trial; 0 once that has started
	builds  int                  // before the first trial; none once that has started
	begun   map[bench.Trial]bool // trials that have started
	share   float64              // the highest one at an event
	ceiling time.Duration        // what was left at the last event
	capped  bool                 // nothing has happened since then by which more may be left
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
	switch ev := rec.Event.(type) {
	case bench.RunStarted:
		each, first := Overhead(ev.Run.Profile)
		*e = Estimate{started: rec.At, load: ev.Run.Profile.LoadDuration(), assumed: each, check: first,
			unchecked: map[bench.Selection]bool{}, step: -1, plan: ev.Run.Trials, before: Before(ev.Run.Profile),
			builds: ev.Run.Builds}
		for _, s := range ev.Run.Profile.Steps {
			e.steps = append(e.steps, s.Duration)
		}
		for _, l := range ev.Run.Trials {
			if l.State != bench.TrialComplete {
				e.trials++
				e.unchecked[of(l.Trial)] = true
			}
		}
	case bench.TrialStarted:
		e.before, e.builds = 0, 0
		if rec.Trial != nil {
			if e.begun[*rec.Trial] { // it is tried again
				e.capped = false
			}
			if e.begun == nil {
				e.begun = map[bench.Trial]bool{}
			}
			e.begun[*rec.Trial] = true
		}
		if e.running == 0 {
			e.trialAt, e.began, e.complete, e.checking = rec.At, 0, 0, 0
		}
		e.running++
		e.began++
		e.step, e.launched = -1, false
	case bench.InstanceStarted:
		e.launched = true
	case bench.PhaseEnded:
		if ev.Phase != bench.PhaseCheck || e.launched || rec.Trial == nil {
			break
		}
		e.checking += ev.Took
		e.check = ev.Took
		delete(e.unchecked, of(*rec.Trial))
	case bench.StepStarted:
		if ev.Index != e.step {
			e.step, e.stepAt = ev.Index, rec.At
		}
	case bench.TrialEnded:
		if ev.State == bench.TrialComplete {
			e.complete++
		}
		e.trials--
		if e.running = max(e.running-1, 0); e.running > 0 {
			break
		}
		if e.complete == e.began && !e.trialAt.IsZero() {
			e.done += e.complete
			e.overhead += max(0, rec.At.Sub(e.trialAt)-time.Duration(e.complete)*e.load-e.checking)
		}
		e.trialAt = time.Time{}
	case bench.Resumed:
		if rec.Trial != nil && ev.Took > 0 && !e.trialAt.IsZero() {
			e.trialAt = e.trialAt.Add(min(ev.Took, rec.At.Sub(e.trialAt))) // pauses are not part of the overhead
		}
		e.capped = false
	case bench.ChangedManually:
		if ev.Control.Kind == bench.ControlSkipContender && rec.Trial != nil {
			e.trials -= e.later(*rec.Trial)
			delete(e.unchecked, of(*rec.Trial))
		}
		e.capped = false
	case bench.RunEnded:
		e.trials = 0
	}
}

func of(t bench.Trial) bench.Selection {
	return bench.Selection{Contender: t.Contender, Variant: t.Variant}
}

// later returns the number of planned trials of the same contender after this trial.
func (e *Estimate) later(trial bench.Trial) (n int) {
	at := slices.IndexFunc(e.plan, func(l bench.TrialEntry) bool { return l.Trial == trial })
	for _, l := range e.plan[at+1:] {
		same := l.Trial.Contender == trial.Contender && l.Trial.Variant == trial.Variant
		if at >= 0 && l.State != bench.TrialComplete && same {
			n++
		}
	}
	return n
}

// perTrial returns the expected overhead of a trial.
func (e *Estimate) perTrial() time.Duration {
	if e.done == 0 {
		return e.assumed
	}
	return e.overhead / time.Duration(e.done)
}

// Total returns the estimated time of all trials to come, and of what is before the first.
func (e *Estimate) Total() time.Duration {
	return e.before + time.Duration(e.trials)*(e.load+e.perTrial()) + time.Duration(len(e.unchecked))*e.check
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
	if e.trials <= 0 {
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
	if e.trials <= 0 {
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
	if !e.trialAt.IsZero() {
		running := time.Duration(max(e.running, 1))
		if e.step >= 0 && e.step < len(e.steps) {
			left -= running * e.perTrial()
			for _, d := range e.steps[:e.step] {
				left -= running * d
			}
			left -= min(at.Sub(e.stepAt), running*e.steps[e.step])
		} else {
			left -= min(at.Sub(e.trialAt)-e.checking, running*e.perTrial())
		}
	}
	return max(left, 0)
}
