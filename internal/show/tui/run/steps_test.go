package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// live is a real run in the middle of the 12th step of its last trial, that of kt-http4k.
func live(t *testing.T) StateMsg {
	t.Helper()
	run, trials, err := results.Read("../../../../testdata/results/locations")
	testenv.OK(t, err)
	s := fold.OfResults(run, trials, "results/locations")
	s.Ended = nil
	last := s.Trial(bench.Trial{Contender: "kt-http4k", Round: 1})
	s.Current = last
	last.Steps, last.Result.Steps, last.Result.State = last.Steps[:12], last.Result.Steps[:11], bench.TrialRunning
	step := last.Steps[11]
	step.Result, step.To = nil, 0
	step.Windows--
	until := step.From + float64(step.Windows)
	last.Load = slices.DeleteFunc(last.Load, func(p fold.LoadPoint) bool { return p.T > until })
	last.Usage = slices.DeleteFunc(last.Usage, func(p fold.UsagePoint) bool { return p.T > until })
	s.Last = last.Origin.Add(time.Duration(until * float64(time.Second)))
	return StateMsg{State: &s, Trial: last, At: s.Last}
}

func TestSteps(t *testing.T) { alone(newSteps, live(t)).Frames(t, "live-steps") }

// opened is the page of steps in a large terminal.
func opened(state StateMsg) *Steps {
	s := newSteps().(*Steps)
	s.SetSize(ui.SizeOf(120, 40), ui.NewTheme(ui.ThemeOptions{}))
	s.Update(state)
	return s
}

func press(page ui.Page, names ...string) {
	for _, name := range names {
		page.Update(tuitest.Key(name))
	}
}

// The cursor stays on the step that ended last until it is moved away, and end brings it back.
func TestSteps_Follow(t *testing.T) {
	state := live(t)
	trial := state.Trial
	running := trial.Steps[len(trial.Steps)-1]
	s := opened(state)
	testenv.Equal(t, s.step().Index, 10)
	end := func() {
		running.Result = &bench.StepResult{Index: running.Index, Step: running.Step}
		s.Update(state)
	}
	press(s, "up")
	end()
	testenv.Equal(t, s.step().Index, 9)
	press(s, "end")
	testenv.Equal(t, s.step().Index, 11)
	press(s, "up", "enter")
	s.Update(StateMsg{State: state.State, Trial: state.State.Trials[0], At: state.At})
	testenv.Check(t, !s.full && s.grid.Row() == s.newest(), "another trial begins in row %d", s.grid.Row())
	press(s, "end", "down", "down")
	testenv.Check(t, !strings.Contains(s.View(), "not started yet"), "a trial that has ended has steps to come:\n%s", s.View())
}

// A step has its own page, which scrolls where it is longer than the terminal.
func TestSteps_Alone(t *testing.T) {
	alone(newSteps, live(t)).Play(t, tuitest.Size{Width: 40, Height: 12}, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "steps 9 to 12 of 16", "lines 1 to ")
		p.Press("enter")
		testenv.Contains(t, p.Frame(), "!of 16", "step 11: 64 connections", "lines 1 to ")
		p.Press("pgdown")
		testenv.Contains(t, p.Frame(), "step 11", "p99.9 64.4 ms", "lines 5 to 13 of 13")
		p.Press("up")
		testenv.Contains(t, p.Frame(), "step 10: 32 connections")
	})
	s := opened(live(t))
	press(s, "end", "down", "down", "enter")
	testenv.Check(t, !s.full && !s.Escape(), "a step that has not begun has a page")
	press(s, "up", "enter")
	testenv.Check(t, s.Escape() && !s.Escape(), "esc closes the page of a step once")
}

// What is to say about a failed step comes first, whole, and with its example.
func TestSteps_Failed(t *testing.T) {
	s := opened(stateOf(tuitest.Records(t, "faults")))
	testenv.Contains(t, s.View(), "stopped early: the contender died: exit code 7", "12 errors",
		"10 × connection refused, first: dial tcp")
	state := live(t)
	state.Trial.Result.State = bench.TrialFailed
	s = opened(state)
	press(s, "down")
	testenv.Contains(t, s.View(), "did not end", "!running")
}

func TestTrust(t *testing.T) {
	p := bench.Profile{MaxErrors: .01, MaxUnexpected: .001}
	load := func(succeeded, errors int64) func(*bench.StepResult) {
		return func(r *bench.StepResult) {
			r.Load.Succeeded, r.Load.Failed = succeeded, map[bench.ErrorKind]int64{bench.ErrTimeout: errors}
		}
	}
	warn := func(r *bench.StepResult) { r.Warnings = bench.Warnings{{Text: "stall"}} }
	warm := func(r *bench.StepResult) { r.Step.WarmUp = true }
	for name, c := range map[string]struct {
		change []func(*bench.StepResult)
		by     verdict.Bound
		want   trust
	}{
		"good":       {nil, verdict.Quota, trusted},
		"store":      {nil, verdict.Bound("elasticsearch"), trusted},
		"machine":    {nil, verdict.Machine, caution},
		"client":     {nil, verdict.Client, caution},
		"no limit":   {nil, verdict.Unclear, caution},
		"warning":    {[]func(*bench.StepResult){warn}, verdict.Quota, caution},
		"warm-up":    {[]func(*bench.StepResult){warm, warn}, verdict.Machine, untold},
		"errors":     {[]func(*bench.StepResult){load(99, 1)}, verdict.Quota, trusted},
		"too many":   {[]func(*bench.StepResult){load(98, 2)}, verdict.Quota, failed},
		"early":      {[]func(*bench.StepResult){func(r *bench.StepResult) { r.Aborted = "skipped" }}, "", failed},
		"threshold":  {[]func(*bench.StepResult){func(r *bench.StepResult) { r.Thresholds = []bench.ThresholdResult{{}} }}, verdict.Quota, failed},
		"unexpected": {[]func(*bench.StepResult){func(r *bench.StepResult) { load(1000, 0)(r); r.Load.Checked, r.Load.Failed[bench.ErrWrong] = 150, 1 }}, verdict.Quota, failed},
	} {
		r := benchtest.Step(100)
		for _, change := range c.change {
			change(&r)
		}
		testenv.Equal(t, trustOf(p, &r, c.by), c.want, name)
	}
}

// A running step shows its last second, but all its errors.
func TestStepCell_Running(t *testing.T) {
	trial := &fold.Trial{Result: bench.TrialResult{State: bench.TrialRunning}}
	step := &fold.Step{From: 10}
	trial.Load = []fold.LoadPoint{
		{T: 9, Kinds: map[bench.ErrorKind]int64{bench.ErrTimeout: 100}},
		{T: 11, Length: 1, Throughput: 900, P99: 1, Kinds: map[bench.ErrorKind]int64{bench.ErrTimeout: 2}},
		{T: 12, Length: 1, Throughput: 1000, P99: .004, Kinds: map[bench.ErrorKind]int64{bench.ErrTimeout: 1}},
	}
	trial.Usage = []fold.UsagePoint{{T: 12, Known: true, CPUs: .5, Throttled: .25, Used: 1 << 20}}
	cell := func(id measure.ID) string { return stepCell(measure.Get(id), trial, step).Text }
	for id, want := range map[measure.ID]string{
		measure.Throughput: "1,000", measure.P99: "4.00 ms", measure.Errors: "3", measure.InUse: "0.50", measure.P999: "–",
		measure.CPURequest: "500 µs", measure.Throttled: "25.0%", measure.MemoryUsed: "1 MiB",
	} {
		testenv.Equal(t, cell(id), want, string(id))
	}
	trial.Result.State = bench.TrialAborted
	testenv.Equal(t, []string{cell(measure.Throughput), cell(measure.Errors)}, []string{"–", "3"})
}

// First responses have a column if those of any step of the trial took a second.
func TestMeasures_FirstResponses(t *testing.T) {
	for first, want := range map[time.Duration]bool{time.Second - 1: false, time.Second: true} {
		trial := &fold.Trial{}
		trial.Result.Steps = []bench.StepResult{{}, {Load: bench.Load{FirstResponse: first}}}
		is := func(m measure.Shown) bool { return m.ID == measure.First }
		testenv.Equal(t, slices.ContainsFunc(measures(measure.ScreenSteps, trial), is), want, first)
	}
}
