//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/results/export"
	"github.com/locbench/locbench/internal/show/plain"
	tuicompare "github.com/locbench/locbench/internal/show/tui/compare"
	"github.com/locbench/locbench/internal/show/tui/pages"
	"github.com/locbench/locbench/internal/show/tui/runs"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// empty is a made-up run in which something is 0.
type empty struct {
	name   string
	rounds int
	old    func(*bench.StepResult) // changes the steps of the contender old
	fresh  func(*bench.StepResult) // and those of the contender new
	steps  []bench.Step
	pairs  bool // the rounds are interleaved

	gate    int    // exit code of compare old new --fail-on throughput, p99
	verdict string // in the comparison
}

// empties returns these runs.
func empties() []empty {
	responds := func(*bench.StepResult) {}
	late := func(s *bench.StepResult) {
		s.Load = bench.Load{Definition: bench.Interval, Elapsed: s.Load.Elapsed, Counts: bench.Counts{Sent: 2, Lead: 1, Drain: 1},
			FirstResponse: 15 * time.Second, Windows: []bench.Window{{Length: time.Second}}}
	}
	failed := func(s *bench.StepResult) {
		late(s)
		s.Load.Lead, s.Load.Drain, s.Load.Failed = 0, 0, map[bench.ErrorKind]int64{bench.ErrRefused: 2}
	}
	timeless := func(s *bench.StepResult) { s.Load.Elapsed, s.Load.Windows = 0, nil }
	sometimes := func(s *bench.StepResult) {
		if s.Load.Succeeded%2 == 0 { // every other round
			late(s)
		}
	}
	warming := func(s *bench.StepResult) { // only the last step has a success
		if s.Step.Connections != 8 {
			late(s)
		}
	}
	one, ladder := []bench.Step{benchtest.Closed(1)}, []bench.Step{benchtest.Closed(1), benchtest.Open(500), benchtest.Closed(8)}
	return []empty{
		{"nothing in new", 6, responds, late, one, false, 4, "worse: "},
		{"nothing in new, in steps", 6, responds, late, ladder, false, 4, "worse: "},
		{"nothing in new, in pairs", 8, responds, late, one, true, 4, "worse: "},
		{"nothing in old", 6, late, responds, one, false, 5, "better: "},
		{"nothing in either", 6, late, late, ladder, false, 4, "nothing succeeded in old and new"},
		{"nothing in either, in pairs", 8, late, late, one, true, 4, "nothing succeeded in old and new"},
		{"nothing in new, one round", 1, responds, late, one, false, 4, "1 round, need"},
		{"nothing in either, one round", 1, late, late, one, false, 4, "1 round, need"},
		{"one round", 1, responds, responds, ladder, false, 5, "1 round, need"},
		{"nothing in every other round", 8, responds, sometimes, ladder, false, 5, "nothing succeeded in 4 of 8 rounds of new"},
		{"nothing in every other round, in pairs", 8, sometimes, responds, one, true, 5, "nothing succeeded in 4 of 8 rounds of old"},
		{"nothing in the first steps of both", 6, warming, warming, ladder, false, 0, "peak throughput, 8 connections"},
		{"each request of new failed", 6, responds, failed, ladder, false, 4, "new: excluded: it failed every request"},
		{"each request of both failed", 6, failed, failed, one, false, 4, "new: excluded: it failed every request"},
		{"no time in new", 6, responds, timeless, ladder, false, 4, "worse: "},
		{"no time in either", 6, timeless, timeless, one, true, 4, "nothing succeeded in old and new"},
	}
}

// made returns the run and its trials.
func (e empty) made() (bench.Run, []bench.TrialResult) {
	var trials []bench.TrialResult
	for round := range e.rounds {
		for k, change := range []func(*bench.StepResult){e.old, e.fresh} {
			var steps []bench.StepResult
			for i, of := range e.steps {
				successes := int64(1000*(i+1) + round)
				s := benchtest.Step(successes, benchtest.Of(of), benchtest.CPU(time.Duration(successes)*time.Millisecond),
					benchtest.Latency(10*time.Millisecond), benchtest.Throttled(1, 100), func(s *bench.StepResult) {
						s.After.Memory = &bench.Memory{Used: 40 << 20, Peak: 50 << 20}
						s.Load.Windows = []bench.Window{{Length: benchtest.Length, Succeeded: successes, P50: time.Millisecond,
							P90: time.Millisecond, P99: time.Millisecond, Max: time.Millisecond}}
					}, change)
				if e.pairs {
					benchtest.Interleaved(benchtest.Start().Add(time.Duration(round)*time.Hour), "old", "new")(&s)
				}
				steps = append(steps, s)
			}
			t := benchtest.Trial([]string{"old", "new"}[k], round+1, steps...)
			up := 20*time.Millisecond + time.Duration(round)
			t.StartUp = &up
			t.Instance = &bench.InstanceInfo{Runtime: bench.RuntimeProcess, PID: 1}
			trials = append(trials, t)
		}
	}
	run := benchtest.Run(trials...)
	run.ID, run.Machine.CPUs, run.Given = "empty", 2, []string{"locbench", "run", "--profile=empty"}
	run.Ended = run.Started.Add(time.Hour)
	if e.pairs {
		run.Profile.Interleave = 100 * time.Millisecond
	}
	for i, t := range trials {
		run.Trials[i].Excluded = run.ExclusionOf(t)
	}
	return run, trials
}

// resultOf returns the exit code of a command, and all that it prints.
func resultOf(t *testing.T, args ...string) (code int, all string) {
	t.Helper()
	code, out, errs := ran(t, args...)
	return code, out + errs
}

// withoutPrograms returns a report without its programs, which are not its data.
func withoutPrograms(page string) (text string) {
	for found := true; found; {
		var before string
		before, page, found = strings.Cut(page, "<script>")
		_, page, _ = strings.Cut(page, "</script>")
		text += before
	}
	return text
}

// failOn has conditions for a comparison.
const failOn = "throughput<-5%,p99>+10%"

// noNumber matches what a division by 0 leaves in a text. It begins with letters, for speed.
var noNumber = regexp.MustCompile(`NaN(\b|%)|nan\b|Inf\b|inf\b|%!.`)

// walked are all outputs of a run, by their names.
func walked(t *testing.T, run bench.Run, trials []bench.TrialResult) map[string]string {
	t.Helper()
	dir, all := folder(t, run, trials), map[string]string{}
	a := analysis.Of(run, trials)
	for _, width := range []int{0, 60, 120} {
		var text bytes.Buffer
		testenv.OK(t, plain.End(&text, conclusion.Of(a, nil), width, a.Ordered()...))
		all[fmt.Sprint("end of the run, width ", width)] = text.String()
	}
	page := filepath.Join(t.TempDir(), "report.html")
	_, all["report, Markdown"] = resultOf(t, "report", dir, "--format", "md")
	_, _ = resultOf(t, "report", dir, "--out", page)
	all["report"] = withoutPrograms(string(testenv.Must(os.ReadFile(page))(t)))
	for _, format := range []string{"text", "md", "csv", "json"} {
		_, all["history, "+format] = resultOf(t, "history", dir, "--format", format)
	}
	for name, args := range map[string][]string{
		"text": {"old", "new"}, "md": {"old", "new", "--format", "md"}, "json": {"old", "new", "--json"},
		"with force": {"old", "new", "--force"}, "the other way": {"new", "old"},
	} {
		_, all["compare, "+name] = resultOf(t, append([]string{"compare", dir, "--fail-on", failOn}, args...)...)
	}
	for _, f := range export.Formats() {
		files, err := f.Files(run, trials)
		if err != nil { // vegeta's formats need kept requests
			continue
		}
		for _, file := range files {
			var b bytes.Buffer
			testenv.OK(t, file.Write(&b))
			all["export, "+f.Name+", "+file.Name] = b.String()
		}
	}
	records := tuitest.OfResults(run, trials, dir)
	var text, lines bytes.Buffer
	asText, asJSON := plain.New(plain.Options{Out: &text, Talk: &text, Verbose: true}), plain.New(plain.Options{Out: &lines, Talk: &lines, JSON: true})
	for _, rec := range records {
		asText.Handle(rec)
		asJSON.Handle(rec)
	}
	testenv.OK(t, asText.Err())
	testenv.OK(t, asJSON.Err())
	all["events, text"], all["events, JSON"] = text.String(), lines.String()
	folders := tuitest.Folders{{Dir: dir, Run: run, Trials: trials}}
	for name, screen := range map[string]tuitest.Page{
		"run": {New: func(*testing.T) ui.Page {
			return pages.Pages{Source: folders}.Live(tuitest.Finished(dir, records), false)
		}},
		"compare": {New: func(*testing.T) ui.Page { return tuicompare.New(dir, dir, folders) }},
		"runs":    {New: func(*testing.T) ui.Page { return runs.New(runs.Options{Source: folders}) }},
	} {
		screen.Play(t, tuitest.Size{Width: 160, Height: 50}, tuitest.Look{}, func(p *tuitest.Program) {
			all["dashboard, "+name] = p.Frame()
			if name != "run" {
				return
			}
			for _, tab := range []string{"2", "3", "4", "5", "6", "1"} {
				p.Press(tab)
				all["dashboard, "+name] += "\n" + p.Frame()
			}
		})
	}
	return all
}

// TestOutputs_Nothing walks all outputs of runs in which something is 0: none has a NaN or an Inf,
// what had no success has no price, and a gate has an exit code. TestOutputs_FirstStatement has what is said first.
func TestOutputs_Nothing(t *testing.T) {
	for _, e := range empties() {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			run, trials := e.made()
			outputs := walked(t, run, trials)
			for name, text := range outputs {
				if at := noNumber.FindStringIndex(text); at != nil {
					t.Errorf("%s: %q", name, text[max(0, at[0]-80):min(len(text), at[1]+40)])
				}
				testenv.Check(t, len(text) > 20, "%s: %q", name, text)
			}
			testenv.Check(t, json.Valid([]byte(outputs["history, json"])), "%s", outputs["history, json"])
			dir := folder(t, run, trials)
			code, text := resultOf(t, "compare", dir, "old", "new", "--fail-on", failOn)
			testenv.Equal(t, code, e.gate, text)
			testenv.Check(t, strings.Contains(text, e.verdict), "no %q in\n%s", e.verdict, text)
			pass, _ := resultOf(t, "compare", dir, "old", "new", "--fail-on", failOn, "--fail-on-open", "pass")
			testenv.Equal(t, pass, e.gate%5, "with open conditions that pass")
			a := analysis.Of(run, trials)
			for _, c := range a.Contenders {
				_, nothing := c.NothingStep()
				_, peak := c.PeakStep()
				testenv.Check(t, nothing != peak && (!nothing || c.Cost == nil && !c.CostEach.Known()), "%s: nothing %v, peak %v, cost %+v",
					c.Label, nothing, peak, c.Cost)
			}
		})
	}
}
