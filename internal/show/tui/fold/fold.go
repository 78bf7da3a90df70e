// Package fold turns the events of a run into what a screen shows of it. It is pure: the same
// records give the same state, whether they arrive from a running benchmark or are read from a
// folder, so every screen is tested by a slice of events.
//
// Events may come from a results folder of anybody's making: whatever they hold, the state stays
// bounded and consistent. Text in it is as it came; whoever draws it makes it harmless
// (look.Outside).
package fold

import (
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/results/event"
)

// Bounds of what is kept.
const (
	maxPoints = 20_000 // of each kind in one trial; beyond, the older half goes
	maxLog    = 2_000  // lines of one trial
	maxLines  = 2_000  // lines of the diary
	maxSteps  = 10_000 // of one trial
	maxTrials = 10_000
	maxFlags  = 1_000
	maxNotes  = 10_000 // checks, marks, warnings and interventions of one trial, of each; no honest trial has as many
)

// State is all that the screens know of a run. Of its zero value nothing is known yet.
type State struct {
	Version     uint64 // grows with every record: what was drawn for one version need not be drawn again
	Run         bench.Run
	Dir         string
	Prepared    *bench.Prepared
	Trials      []*Trial // in the order of the plan
	Current     *Trial   // the one that runs, or ran last; nil before the first
	Phase       Phase    // the one that runs, or ended last
	Estimate    event.Estimate
	Diary       []Line // what happened, in sentences
	Warnings    int    // in the diary
	Errors      int    // in the diary
	Started     time.Time
	Last        time.Time // time of the newest record
	Seq         int64
	Paused      time.Time // since when the run stands still; zero: it does not
	PauseWanted bool      // it will before the next step
	StopWanted  bool      // it ends after the running step
	Ended       *bench.RunEnded
}

// Phase is where the run stands.
type Phase struct {
	Name      bench.Phase
	Trial     *bench.Trial
	Since     time.Time
	Ended     bool
	Err, Note string
	Progress  *bench.Progress // the newest of this phase; nil without one
}

// Level says how serious a line of the diary is; Mark is somebody's own doing.
type Level int

// The levels.
const (
	Info Level = iota
	Warning
	Error
	Mark
)

// Line is one entry of the diary.
type Line struct {
	At    time.Time
	Trial *bench.Trial
	Level Level
	Text  string
}

// Trial is one life of a contender as far as it has come.
type Trial struct {
	Result    bench.TrialResult
	Number    int // from 1, in the order of the run
	Steps     []*Step
	Load      []LoadPoint
	Usage     []UsagePoint
	Flags     []Flag
	Log       []bench.LogLine
	Dropped   int64     // log lines that were left out
	Origin    time.Time // the start of the first step: second 0 of its time axis
	ReadyAt   time.Time
	lastUsage *bench.Usage
}

// Step is one step of a trial.
type Step struct {
	Index    int
	Step     bench.Step
	From, To float64       // seconds since the trial's Origin; To is 0 while it runs
	Windows  int           // closed so far
	Ran      time.Duration // by them
	Rate     float64       // requests per second that somebody has set while it runs; 0: nobody has
	Result   *bench.StepResult
}

// Running reports whether the step has not ended yet.
func (s *Step) Running() bool { return s.Result == nil }

// LoadPoint is one window of load, placed at its middle.
type LoadPoint struct {
	T                  float64 // seconds since the trial's Origin
	Throughput         float64 // successes per second
	Due                float64 // requests due per second at its end; 0: none were by a rate
	Bytes              float64 // of the bodies of successful responses, per second
	Errors             float64 // per second, of all kinds
	Kinds              map[bench.ErrorKind]int64
	Drain              bool    // nothing was sent any more: no rate
	P50, P90, P99, Max float64 // seconds; 0 where nothing succeeded
}

// UsagePoint is what lies between two readings of the counters, placed at the later one.
type UsagePoint struct {
	T, From   float64 // From is T of the reading before
	CPUs      float64 // in use between the two
	Known     bool    // CPUs is known: there was a reading before
	Throttled float64 // share of the periods in between in which the quota was used up; negative where unknown
	Used      float64 // bytes; 0 where unknown
	Peak      float64 // high-water mark since start, in bytes
}

// Flag marks a moment on the time axis.
type Flag struct {
	T    float64
	Text string
}

// Now returns the time to reckon with: of the newest record, or at while the run continues.
func (s *State) Now(at time.Time) time.Time {
	if s.Ended != nil || at.Before(s.Last) {
		return s.Last
	}
	return at
}

// Unlogged reports whether the records were made of the results, which do not say what was logged: a run
// reports its phases.
func (s *State) Unlogged() bool { return s.Current != nil && s.Phase.Name == "" }

// Step returns the step that runs or ran last in the current trial; nil before the first.
func (s *State) Step() *Step {
	if s.Current == nil || len(s.Current.Steps) == 0 {
		return nil
	}
	return s.Current.Steps[len(s.Current.Steps)-1]
}

// Loading reports whether a step runs right now.
func (s *State) Loading() bool {
	st := s.Step()
	return s.Ended == nil && st != nil && st.Running() && s.Current.Result.State == bench.TrialRunning
}

// Trial finds a trial by its name; nil if the plan has none such.
func (s *State) Trial(l bench.Trial) *Trial {
	if i := slices.IndexFunc(s.Trials, func(trial *Trial) bool { return trial.Result.Trial == l }); i >= 0 {
		return s.Trials[i]
	}
	return nil
}

// Results returns the trials that have begun, as package stats wants them.
func (s *State) Results() []bench.TrialResult {
	var out []bench.TrialResult
	for _, trial := range s.Trials {
		if trial.Result.State != bench.TrialPending && trial.Result.State != "" {
			out = append(out, trial.Result)
		}
	}
	return out
}

// Checks counts the outcomes of the trial's checks.
func (l *Trial) Checks() (passed, failed, skipped int) {
	for _, c := range l.Result.Checks {
		switch c.Status {
		case bench.CheckFailed:
			failed++
		case bench.CheckSkipped:
			skipped++
		default:
			passed++
		}
	}
	return passed, failed, skipped
}

// Limits returns those that the trial runs under.
func (l *Trial) Limits() bench.Limits {
	if l.Result.Instance == nil || !l.Result.Instance.LimitsEnforced {
		return bench.Limits{}
	}
	return l.Result.Instance.Limits
}

// Seconds returns at on the trial's time axis.
func (l *Trial) Seconds(at time.Time) float64 {
	if l.Origin.IsZero() {
		return 0
	}
	return at.Sub(l.Origin).Seconds()
}

// Span returns the stretch of the time axis that has something to show.
func (l *Trial) Span() float64 {
	end := 0.0
	if n := len(l.Load); n > 0 {
		end = max(end, l.Load[n-1].T)
	}
	if n := len(l.Usage); n > 0 {
		end = max(end, l.Usage[n-1].T)
	}
	for _, s := range l.Steps {
		end = max(end, s.To, s.From)
	}
	return end
}
