// Package fold makes the state that the screens show from the events of a run. It is pure: the same
// records give the same state, whether they arrive from a running benchmark or are read from a
// folder, so every screen is tested with a slice of events.
//
// Events may come from a results folder of unknown origin: whatever they hold, the state stays
// bounded and consistent. Texts are kept unchanged; the screen that draws them makes them safe
// (ui.Outside).
package fold

import (
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/show/plain"
)

// Bounds of what is kept.
const (
	maxPoints = 20_000 // of each kind in one trial; beyond it, the older half is dropped
	maxLog    = 2_000  // lines of one trial
	maxLines  = 2_000  // lines of the diary
	maxSteps  = 10_000 // of one trial
	maxTrials = 10_000
	maxFlags  = 1_000
	maxKinds  = 100    // of errors of one trial
	maxNeeds  = 20     // of one trial
	maxNotes  = 10_000 // checks, marks, warnings, manual changes of one trial, each; more than any real trial has
)

// State is everything that the screens know about a run; the zero value has had no event.
type State struct {
	Version        uint64 // grows with every record: a drawing of one version stays valid until the next
	Run            bench.Run
	Dir            string
	Trials         []*Trial // in the order of the plan
	Current        *Trial   // the running trial, or the last one; nil before the first
	Phase          Phase    // the running phase, or the last one
	Estimate       event.Estimate
	Diary          []Line // the events, in sentences
	narrator       plain.Narrator
	Warnings       int // in the diary, since the run was started or resumed
	Errors         int // in the diary, since the run was started or resumed
	Started        time.Time
	Last           time.Time // time of the newest record
	Seq            int64
	Paused         time.Time // when the run was paused; zero: it is not
	PauseRequested bool      // it will before the next step
	StopRequested  bool      // it ends after the running step
	Ended          *bench.RunEnded
}

// Phase is the current phase of the run.
type Phase struct {
	Name      bench.Phase
	Trial     *bench.Trial
	Since     time.Time
	Ended     bool
	Err, Note string
	Progress  *bench.Progress // the newest of this phase; nil: none
}

// Line is one entry of the diary.
type Line struct {
	At    time.Time
	Trial *bench.Trial
	Level plain.Level
	Text  string
	// Earlier: the run was resumed after it, so it is not a problem of what runs now.
	Earlier bool
}

// Trial is the state of one trial so far.
type Trial struct {
	Result    bench.TrialResult
	Number    int // from 1, in the order of the run
	Steps     []*Step
	Load      []LoadPoint
	Usage     []UsagePoint
	Errors    map[bench.ErrorKind]int64
	Flags     []Flag
	Log       []bench.LogLine
	Dropped   int64     // log lines that were skipped
	Origin    time.Time // start of the first step: second 0 of the trial's time axis
	lastUsage *bench.Usage
	lastNeeds map[string]bench.NeedUsage // by their names
}

// Step is one step of a trial.
type Step struct {
	Index    int
	Step     bench.Step
	From, To float64       // seconds since the trial's Origin; To is 0 while the step runs
	Windows  int           // windows that have closed
	Ran      time.Duration // up to the end of the last window
	Result   *bench.StepResult
}

// Running reports whether the step has not ended yet.
func (s *Step) Running() bool { return s.Result == nil }

// LoadPoint is one window of load, placed at its middle.
type LoadPoint struct {
	T                  float64 // seconds since the trial's Origin
	Throughput         float64 // successes per second
	Rate               float64 // target rate at the end of the window, requests per second; 0: closed loop
	Bytes              float64 // of the bodies of successful responses, per second
	Errors             float64 // per second, of all kinds
	Kinds              map[bench.ErrorKind]int64
	Length             float64 // seconds
	Open               bool    // the second is not over: the next point replaces this one
	P50, P90, P99, Max float64 // seconds; 0 where nothing succeeded
}

// UsagePoint is the use between two readings of the counters, placed at the later one.
type UsagePoint struct {
	T, From   float64 // seconds since the trial's Origin; From is T of the reading before
	CPUs      float64 // in use between the two readings
	Known     bool    // CPUs is known: there was a reading before
	Throttled float64 // share of throttled periods between the readings; negative: unknown
	Used      float64 // bytes; 0 where unknown
	Peak      float64 // peak memory since start, in bytes; 0 where unknown
	// CPUs of the needs since their last reading, by their names; nil: not known
	Needs map[string]float64
}

// Flag marks a moment on the time axis.
type Flag struct {
	T    float64
	Text string
}

// OfResults returns the state of a run that has ended without a complete event log: all that its
// results hold. It has no diary and no phases.
func OfResults(run bench.Run, trials []bench.TrialResult, dir string) State {
	s := State{Version: 1, Run: run, Dir: dir, Started: run.Started, Last: run.Ended, Ended: &bench.RunEnded{State: run.State}}
	for i, r := range first(trials, maxTrials) {
		trial := &Trial{Result: r, Number: i + 1}
		for _, step := range first(r.Steps, maxSteps) {
			trial.stepStarted(step.Load.Started, bench.StepStarted{Index: step.Index, Step: step.Step})
			for _, w := range step.Load.Windows {
				trial.window(step.Index, w, false)
			}
			for _, u := range step.Samples {
				trial.usage(bench.UsageRead{Usage: u})
			}
			trial.stepEnded(step.Load.Started.Add(max(step.Load.Elapsed, step.Load.Wall)), step)
		}
		s.Trials, s.Current = append(s.Trials, trial), trial
	}
	return s
}

// Now returns at while the run continues, and the time of the newest record after its end.
func (s *State) Now(at time.Time) time.Time {
	if s.Ended != nil || at.Before(s.Last) {
		return s.Last
	}
	return at
}

// Unlogged reports whether the state comes from saved results, which hold no log and no phases.
func (s *State) Unlogged() bool { return s.Current != nil && s.Phase.Name == "" }

// Step returns the running or the last step of the current trial; nil before the first.
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

// Trial finds a trial; nil if the plan does not have it.
func (s *State) Trial(name bench.Trial) *Trial {
	if i := slices.IndexFunc(s.Trials, func(trial *Trial) bool { return trial.Result.Trial == name }); i >= 0 {
		return s.Trials[i]
	}
	return nil
}

// Results returns the results of the trials that have begun.
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
func (trial *Trial) Checks() (passed, failed, skipped int) {
	for _, c := range trial.Result.Checks {
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

// Limits returns the enforced limits of the trial.
func (trial *Trial) Limits() bench.Limits {
	if trial.Result.Instance == nil || !trial.Result.Instance.LimitsEnforced {
		return bench.Limits{}
	}
	return trial.Result.Instance.Limits
}

// Seconds returns at on the trial's time axis.
func (trial *Trial) Seconds(at time.Time) float64 {
	if trial.Origin.IsZero() {
		return 0
	}
	return at.Sub(trial.Origin).Seconds()
}

// Span returns the end of the trial's data on its time axis, in seconds.
func (trial *Trial) Span() float64 {
	end := 0.0
	if n := len(trial.Load); n > 0 {
		end = max(end, trial.Load[n-1].T)
	}
	if n := len(trial.Usage); n > 0 {
		end = max(end, trial.Usage[n-1].T)
	}
	for _, s := range trial.Steps {
		end = max(end, s.To, s.From)
	}
	return end
}
