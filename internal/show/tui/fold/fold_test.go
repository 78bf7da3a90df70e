package fold_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

func apply(records []bench.Record) *fold.State {
	s := &fold.State{}
	for _, rec := range records {
		s.Apply(rec)
	}
	return s
}

func TestAFinishedRun(t *testing.T) {
	s := apply(tuitest.Records(t, "limits"))
	testenv.Need(t, s.Ended != nil && s.Ended.State == bench.RunComplete && len(s.Trials) == 4 && len(s.Results()) == 4,
		"ended %+v, %d trials, %d results", s.Ended, len(s.Trials), len(s.Results()))
	for _, trial := range s.Trials {
		if trial.Result.State != bench.TrialComplete || len(trial.Steps) != 4 || len(trial.Result.Steps) != 4 {
			t.Errorf("%s: %s, %d steps, %d results", trial.Result.Trial, trial.Result.State, len(trial.Steps), len(trial.Result.Steps))
		}
		// The points on the time axis agree with the results that the engine has computed.
		for _, step := range trial.Steps {
			sum, windows := 0.0, 0
			for _, p := range trial.Load {
				if p.T >= step.From && p.T < step.To {
					sum += p.Throughput
					windows++
				}
			}
			testenv.Need(t, windows >= 5, "%s: %d windows in a step of 6 s", step.Step.Name, windows)
			if got, want := sum/float64(windows), step.Result.Load.Throughput(); math.Abs(got-want) > 0.15*want {
				t.Errorf("%s %s: the windows send %.0f req/s, the step %.0f", trial.Result.Trial, step.Step.Name, got, want)
			}
		}
		// Under a quota of 0.4 CPUs, which was used up, no reading is much higher.
		known := 0
		for _, u := range trial.Usage {
			if !u.Known {
				continue
			}
			known++
			testenv.Check(t, u.CPUs <= 0.6 && u.Throttled <= 1 && u.Used > 0 && u.Peak >= u.Used/2,
				"%s at %.1f s: %+v", trial.Result.Trial, u.T, u)
		}
		testenv.Check(t, known >= 15, "%s: %d readings of CPU", trial.Result.Trial, known)
	}
	left, ok := s.Estimate.Left(s.Last)
	testenv.Check(t, !ok, "%v left of a run that has ended", left)
}

// TestComparedBodies: the entry of a trial counts the bodies compared in its steps.
func TestComparedBodies(t *testing.T) {
	trial := bench.Trial{Contender: "a", Round: 1}
	step := bench.StepResult{Load: bench.Load{Outcomes: bench.Outcomes{Checked: 300, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 2}}}}
	var records []bench.Record
	for i, e := range []bench.Event{
		bench.RunStarted{Run: bench.Run{Trials: []bench.TrialEntry{{Trial: trial}}}}, bench.TrialStarted{Number: 1, Of: 1},
		bench.StepEnded{Result: step}, bench.TrialEnded{State: bench.TrialComplete},
	} {
		records = append(records, bench.Record{Seq: int64(i + 1), At: time.Unix(1000, 0), Trial: &trial, Event: e})
	}
	records[0].Trial = nil
	got := apply(records).Run.Trials[0].Bodies
	testenv.Check(t, got != nil && *got == (bench.Bodies{Unexpected: 2, Compared: 300}), "%+v", got)
}

// TestOfResults: without an event log, the state has the saved results and is marked as not logged.
func TestOfResults(t *testing.T) {
	for _, name := range []string{"limits", "faults"} {
		want := apply(tuitest.Records(t, name))
		got := fold.OfResults(want.Run, want.Results(), "results/a")
		if got.Ended == nil || got.Ended.State != want.Ended.State || len(got.Trials) != len(want.Trials) || got.Dir != "results/a" {
			t.Fatalf("%s: ended %+v, %d trials in %q", name, got.Ended, len(got.Trials), got.Dir)
		}
		testenv.Check(t, got.Unlogged() && !want.Unlogged(), "%s: unlogged %v, and of the log %v", name,
			got.Unlogged(), want.Unlogged())
		for i, trial := range want.Trials {
			a, err1 := json.Marshal(got.Trials[i].Result)
			b, err2 := json.Marshal(trial.Result)
			if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: trial %s is not what its file says (%v):\n%.600s\n%.600s", name, trial.Result.Trial, err, a, b)
			}
			testenv.Check(t, len(got.Trials[i].Load) != 0 || len(trial.Load) == 0,
				"%s: trial %s has nothing to draw curves of", name, trial.Result.Trial)
		}
	}
}

func TestInTheMiddleOfAStep(t *testing.T) {
	records := tuitest.Until(tuitest.Records(t, "limits"), 3, func(rec bench.Record) bool {
		_, ok := rec.Event.(bench.StepEnded)
		return ok
	})
	s := apply(records)
	if !s.Loading() || s.Step().Index != 2 || !s.Step().Running() || s.Step().Windows == 0 || len(s.Current.Result.Steps) != 2 {
		t.Fatalf("loading %v, step %+v, %d results", s.Loading(), s.Step(), len(s.Current.Result.Steps))
	}
	testenv.Check(t, s.Phase.Name == bench.PhaseLoad && !s.Phase.Ended, "phase %+v", s.Phase)
	left, ok := s.Estimate.Left(s.Last)
	testenv.Check(t, ok && left >= 80*time.Second && left <= 130*time.Second, "%v left, %v", left, ok)
}

func TestFailures(t *testing.T) {
	s := apply(tuitest.Records(t, "faults"))
	var words []string
	for _, line := range s.Diary {
		if line.Level == plain.Error {
			words = append(words, line.Text)
		}
	}
	testenv.Contains(t, strings.Join(words, "\n"), "out of memory", "exit code 7", "check failed")
	if s.Errors != len(words) || s.Run.Trials[1].State != bench.TrialFailed && s.Run.Trials[2].State != bench.TrialFailed {
		t.Errorf("%d errors counted, %d reported; trials %+v", s.Errors, len(words), s.Run.Trials)
	}
}

// TestControls follows manual changes from the request to the end.
func TestControls(t *testing.T) {
	records := tuitest.Until(tuitest.Records(t, "limits"), 2, func(rec bench.Record) bool {
		_, ok := rec.Event.(bench.StepEnded)
		return ok
	})
	s := apply(records)
	trial := &s.Current.Result.Trial
	at := s.Last
	send := func(e bench.Event) {
		at = at.Add(time.Second)
		s.Apply(bench.Record{Seq: s.Seq + 1, At: at, Trial: trial, Event: e})
	}
	step := 1
	send(bench.ChangedManually{Control: bench.Control{Kind: bench.ControlPause}, Step: &step})
	testenv.Check(t, s.PauseRequested && s.Paused.IsZero(), "requested %v, since %v", s.PauseRequested, s.Paused)
	send(bench.Paused{})
	testenv.Check(t, !s.PauseRequested && s.Paused.Equal(at), "requested %v, since %v", s.PauseRequested, s.Paused)
	send(bench.Resumed{Took: time.Second})
	send(bench.ChangedManually{Control: bench.Control{Kind: bench.ControlSkipStep}})
	send(bench.ChangedManually{Control: bench.Control{Kind: bench.ControlStop}})
	testenv.Check(t, s.Paused.IsZero() && s.StopRequested && len(s.Current.Result.ManualChanges) == 3,
		"since %v, stop %v, %d manual changes", s.Paused, s.StopRequested, len(s.Current.Result.ManualChanges))
	n := len(s.Current.Flags)
	testenv.Check(t, n == 4 && s.Current.Flags[2].Text == "skip step", "flags %+v", s.Current.Flags)
}

// TestADeath is marked where the load ended, and what went wrong elsewhere is not.
func TestADeath(t *testing.T) {
	for _, c := range []struct {
		cause *bench.Cause
		want  int
	}{{&bench.Cause{Text: "exit code 7"}, 1}, {nil, 0}} {
		s := apply(tuitest.Until(tuitest.Records(t, "limits"), 2, func(rec bench.Record) bool {
			_, ok := rec.Event.(bench.StepEnded)
			return ok
		}))
		trial := s.Current
		s.Apply(bench.Record{At: s.Last.Add(time.Minute), Trial: &trial.Result.Trial,
			Event: bench.TrialEnded{State: bench.TrialFailed, Cause: c.cause}})
		testenv.Equal(t, len(trial.Flags), c.want, "flags")
		for _, flag := range trial.Flags {
			testenv.Equal(t, flag, fold.Flag{T: trial.Span(), Text: "✗ exit code 7"})
		}
	}
}

// TestAResumedRun keeps the complete trials with their data and begins the others again.
func TestAResumedRun(t *testing.T) {
	records := tuitest.Records(t, "limits")
	half := tuitest.Until(records, 2, func(rec bench.Record) bool {
		_, ok := rec.Event.(bench.TrialStarted)
		return ok
	})
	s := apply(half)
	first := s.Trials[0]
	again := records[0].Event.(bench.RunStarted)
	again.Run.Trials = append([]bench.TrialEntry{}, s.Run.Trials...)
	s.Apply(bench.Record{Seq: 9999, At: s.Last.Add(time.Hour), Event: again})
	testenv.Check(t, len(s.Trials) == 4 && s.Trials[0] == first && len(s.Trials[0].Steps) == 4 && s.Current == nil,
		"%d trials, the first with %d steps, current %v", len(s.Trials), len(s.Trials[0].Steps), s.Current)
}

// FuzzApply takes lines of an event log from anywhere: the state stays bounded and finite.
func FuzzApply(f *testing.F) {
	for _, rec := range tuitest.Records(f, "faults") {
		if line, err := json.Marshal(rec); err == nil && len(line) < 4000 {
			f.Add(line)
		}
	}
	f.Add([]byte(`{"seq":1,"type":"trial_started","event":{"number":1,"of":2}}` + "\n" + `{"seq":2,"type":"trial_ended","event":{"state":"complete"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s fold.State
		for i, line := range strings.Split(string(data), "\n") {
			var rec bench.Record
			if i > 100 || json.Unmarshal([]byte(line), &rec) != nil {
				continue
			}
			s.Apply(rec)
			s.Apply(rec)
		}
		s.Estimate.Left(s.Last)
		s.Loading()
		for _, trial := range s.Trials {
			trial.Checks()
			for _, p := range trial.Usage {
				testenv.Check(t, !math.IsNaN(p.T) && !math.IsInf(p.T, 0) && !math.IsNaN(p.CPUs), "%+v", p)
			}
			span := trial.Span()
			testenv.Check(t, !math.IsNaN(span), "span %v", span)
		}
	})
}

// TestAStopCancelsAPause, as in the runner.
func TestAStopCancelsAPause(t *testing.T) {
	var s fold.State
	for i, kind := range []bench.ControlKind{bench.ControlPause, bench.ControlStop} {
		s.Apply(bench.Record{Seq: int64(i + 1), Event: bench.ChangedManually{Control: bench.Control{Kind: kind}}})
	}
	testenv.Check(t, !s.PauseRequested && s.StopRequested, "pause requested %v, stop requested %v", s.PauseRequested,
		s.StopRequested)
}

// TestListsAreBounded: of an endless trial, a part is kept.
func TestListsAreBounded(t *testing.T) {
	s := &fold.State{}
	const maxNotes = 10_000
	trial := bench.Trial{Contender: "a", Round: 1}
	s.Apply(bench.Record{Event: bench.RunStarted{Run: bench.Run{Trials: []bench.TrialEntry{{Trial: trial}}}}})
	s.Apply(bench.Record{Trial: &trial, Event: bench.TrialStarted{Number: 1, Of: 1}})
	for range maxNotes + 10 {
		s.Apply(bench.Record{Trial: &trial, Event: bench.CheckDone{}})
		s.Apply(bench.Record{Trial: &trial, Event: bench.MarkRead{}})
		s.Apply(bench.Record{Trial: &trial, Event: bench.Notice{Level: "warning"}})
		s.Apply(bench.Record{Trial: &trial, Event: bench.ChangedManually{}})
	}
	r := s.Trials[0].Result
	if len(r.Checks) != maxNotes || len(r.Marks) != maxNotes || len(r.Warnings) != maxNotes || len(r.ManualChanges) != maxNotes {
		t.Errorf("%d checks, %d marks, %d warnings, %d manual changes", len(r.Checks), len(r.Marks), len(r.Warnings), len(r.ManualChanges))
	}
}

// TestInterleaving: of interleaved contenders one is shown while it runs, then another running one.
func TestInterleaving(t *testing.T) {
	a, b := bench.Trial{Contender: "a", Round: 1}, bench.Trial{Contender: "b", Round: 1}
	var records []bench.Record
	at := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	send := func(trial *bench.Trial, e bench.Event) {
		at = at.Add(time.Second)
		records = append(records, bench.Record{Seq: int64(len(records) + 1), At: at, Trial: trial, Event: e})
	}
	step := bench.Step{Name: "2 connections", Connections: 2, Duration: 2 * time.Second}
	send(nil, bench.RunStarted{Run: bench.Run{Profile: bench.Profile{Interleave: time.Second, Steps: []bench.Step{step}}, Trials: []bench.TrialEntry{{Trial: a}, {Trial: b}}}})
	for i, trial := range []*bench.Trial{&a, &b} {
		send(trial, bench.TrialStarted{Number: i + 1, Of: 2})
	}
	for _, trial := range []*bench.Trial{&b, &a} {
		send(trial, bench.StepStarted{Of: 1, Step: step})
	}
	for i := range 2 {
		for n, trial := range []*bench.Trial{&b, &a} {
			send(trial, bench.WindowClosed{Window: bench.Window{Start: time.Duration(i) * time.Second, Length: time.Second, Succeeded: int64(10 * (n + 1))}})
		}
	}
	s := apply(records)
	if s.Current.Result.Trial != b || s.Step().Ran != 2*time.Second || len(s.Trial(a).Load) != 2 || s.Trial(a).Load[0].Throughput != 20 || s.Trial(b).Load[0].Throughput != 10 {
		t.Errorf("current %s, a %+v, b %+v", s.Current.Result.Trial, s.Trial(a).Load, s.Trial(b).Load)
	}
	send(&b, bench.TrialEnded{State: bench.TrialComplete})
	send(&a, bench.StepEnded{Result: bench.StepResult{Step: step}})
	s = apply(records)
	testenv.Check(t, s.Current.Result.Trial == a, "current %s, though a is running", s.Current.Result.Trial)
}

// TestAGrowingSecond is replaced by what comes next, and counts no errors before it is over.
func TestAGrowingSecond(t *testing.T) {
	s, trial := &fold.State{}, bench.Trial{Contender: "a", Round: 1}
	send := func(e bench.Event) { s.Apply(bench.Record{At: time.Unix(100, 0), Trial: &trial, Event: e}) }
	window := func(length time.Duration, n int64) bench.Window {
		return bench.Window{Length: length, Succeeded: n, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 1}}
	}
	send(bench.TrialStarted{Number: 1, Of: 1})
	send(bench.StepStarted{Of: 1})
	send(bench.WindowGrew{Window: window(time.Second/4, 5)})
	send(bench.WindowGrew{Window: window(time.Second/2, 20)})
	testenv.Check(t, len(s.Current.Load) == 1 && s.Current.Load[0].Throughput == 40 && s.Current.Growing() &&
		s.Step().Windows == 0 && len(s.Current.Errors) == 0, "growing: %+v, errors %v", s.Current.Load, s.Current.Errors)
	send(bench.WindowClosed{Window: window(time.Second, 50)})
	testenv.Check(t, len(s.Current.Load) == 1 && s.Current.Load[0].Throughput == 50 && !s.Current.Growing() &&
		s.Step().Windows == 1 && s.Current.Errors[bench.ErrTimeout] == 1, "over: %+v, errors %v", s.Current.Load, s.Current.Errors)
	send(bench.WindowGrew{Window: window(time.Second/4, 5)})
	send(bench.StepEnded{})
	testenv.Equal(t, len(s.Current.Load), 1, "points after the step")
}

// TestResumeStartsTheCountsAgain: errors and warnings of before the resume are named as earlier.
func TestResumeStartsTheCountsAgain(t *testing.T) {
	s := &fold.State{}
	send := func(e bench.Event) { s.Apply(bench.Record{Event: e}) }
	send(bench.RunStarted{})
	send(bench.Notice{Level: "error", Text: "interrupted"})
	send(bench.Notice{Level: "warning", Text: "busy"})
	send(bench.RunStarted{Run: bench.Run{Resumed: []time.Time{time.Unix(1, 0)}}})
	testenv.Check(t, s.Errors == 0 && s.Warnings == 0, "%d errors, %d warnings", s.Errors, s.Warnings)
	send(bench.Notice{Level: "error", Text: "again"})
	send(bench.RunStarted{Run: bench.Run{Resumed: []time.Time{time.Unix(1, 0), time.Unix(2, 0)}}})
	send(bench.Notice{Level: "warning", Text: "of now"})
	testenv.Check(t, s.Errors == 0 && s.Warnings == 1, "%d errors, %d warnings", s.Errors, s.Warnings)
	for i, line := range s.Diary {
		now := i >= len(s.Diary)-3 // the resume, its folder, and what came after it
		testenv.Check(t, line.Earlier != now, "%q: earlier %v", line.Text, line.Earlier)
	}
}

// TestDiarySaysWhyNotInterleaved: the header says that a run is not interleaved, the log says why.
func TestDiarySaysWhyNotInterleaved(t *testing.T) {
	run := bench.Run{
		Profile: bench.Profile{Name: "p", Contenders: make([]bench.Selection, 5)},
		Plain:   &bench.Plain{Reason: bench.PlainContenders, Text: "5 contenders have no memory limit"},
	}
	for reason, want := range map[bench.PlainReason]int{run.Plain.Reason: 1, bench.PlainChosen: 0} {
		var s fold.State
		run.Plain.Reason = reason
		s.Apply(bench.Record{Event: bench.RunStarted{Run: run, Dir: "out"}})
		text := fmt.Sprint(s.Diary)
		testenv.Check(t, strings.Count(text, "order: not interleaved: 5 contenders have no memory limit") == want &&
			strings.Contains(text, "results: out"), "%v: %s", reason, text)
	}
}
