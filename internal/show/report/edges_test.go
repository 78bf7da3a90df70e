package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Results with missing or senseless values give a report, and it shows no missing value as 0.
func TestEdges(t *testing.T) {
	second := time.Second
	step := func(change func(*bench.StepResult)) []bench.TrialResult {
		s := bench.StepResult{Step: bench.Step{Connections: 2, Duration: second}, Load: bench.Load{Elapsed: second}}
		change(&s)
		return []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete, Steps: []bench.StepResult{s}}}
	}
	for name, c := range map[string]struct {
		run    bench.Run
		trials []bench.TrialResult
		want   []string // in the Markdown
	}{
		"nothing":     {want: []string{"### ✗ locbench: No results: no trial was run."}},
		"empty trial": {trials: []bench.TrialResult{{}}, want: []string{"| complete rounds | 0 of 1 |", "| peak step | – |"}},
		"not started": {trials: []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialFailed, Failure: "did not start"}}, want: []string{"### a-1: failed", "- did not start"}},
		"interrupted": {run: bench.Run{Trials: []bench.TrialEntry{{State: bench.TrialPending}, {State: bench.TrialComplete}}}, want: []string{"Failures: 1 of 2 trials did not finish."}},
		"no limits": {trials: []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: 1}, Instance: &bench.InstanceInfo{Limits: bench.Limits{CPUs: 1.5}, LimitsNote: "no cgroup may be made"}}},
			want: []string{"⚠ Limits of a not enforced in 1 of 1 round (no cgroup may be made)"}},
		"unlimited by plan":   {trials: []bench.TrialResult{{Instance: &bench.InstanceInfo{}}}},
		"no requests":         {trials: step(func(*bench.StepResult) {})},
		"took no time":        {trials: step(func(s *bench.StepResult) { s.Load.Elapsed, s.Load.Succeeded = 0, 5 })},
		"only errors":         {trials: step(func(s *bench.StepResult) { s.Load.Failed = map[bench.ErrorKind]int64{"5xx": 7} }), want: []string{"100% (5xx 7)"}},
		"counters go back":    {trials: step(func(s *bench.StepResult) { s.Before, s.After = &bench.Usage{CPU: second}, &bench.Usage{} })},
		"negative counts":     {trials: step(func(s *bench.StepResult) { s.Load.Succeeded, s.Load.Latency.Count = -5, -5 })},
		"far away step index": {trials: step(func(s *bench.StepResult) { s.Index = math.MaxInt })},
		"negative step index": {trials: step(func(s *bench.StepResult) { s.Index = -3 })},
		"infinite rate": {trials: step(func(s *bench.StepResult) {
			s.Step = bench.Step{Rate: math.Inf(1)}
			s.Load.Succeeded = math.MaxInt64
			s.Load.Elapsed = 1
		})},
		"arrivals": {trials: step(func(s *bench.StepResult) {
			s.Step = bench.Step{Arrivals: &bench.Arrivals{Users: 4000, Over: 5 * second}}
		})},
		"round below one": {trials: []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: -7}, StartUp: &second}}},
	} {
		t.Run(name, func(t *testing.T) {
			md := markdown(t, c.run, c.trials)
			testenv.Contains(t, md, c.want...)
			testenv.Check(t, name != "unlimited by plan" || !strings.Contains(md, "not enforced"),
				"a run without limits has a warning about limits")
			doc := render(t, c.run, c.trials)
			bad := regexp.MustCompile(`NaN|[+-]?Inf\b|%!`).Find(withoutScripts(t, doc))
			testenv.Check(t, bad == nil, "the report says %s", bad)
		})
	}
}

func withoutScripts(t *testing.T, doc []byte) []byte {
	t.Helper()
	lib := testenv.Must(library())(t)
	ours := joined(scripts)
	return bytes.Replace(bytes.Replace(doc, lib, nil, 1), ours, nil, 1)
}

// A missing value is a gap in the chart and a dash in the table; a measured 0 is a 0.
func TestMissingIsNotZero(t *testing.T) {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: 2}, Steps: []bench.StepResult{
		{Index: 0, Step: bench.Step{Connections: 1, WarmUp: true}, Load: bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: 10}}},
		{Index: 2, Step: bench.Step{Connections: 4}, Load: bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 3}}}, Aborted: "died"},
	}}
	run := bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Connections: 1, WarmUp: true}, {Connections: 2}, {Connections: 4}}}}
	trials := []bench.TrialResult{trial, trial}
	trials[1].Trial.Contender, trials[1].Steps = "b", []bench.StepResult{
		{Index: 1, Step: bench.Step{Connections: 2}, Load: bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: 20}}},
		{Index: 2, Step: bench.Step{Connections: 4}, Load: bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 3}}}},
	}
	ch := chartOf(t, run, trials, "throughput")
	var cells []string
	for _, r := range ch.Values.Rows {
		cells = append(cells, r.Cells[0].Text+": "+r.Cells[1].Text+" "+r.Cells[2].Text)
	}
	// An excluded contender is last.
	testenv.Equal(t, cells, []string{"2 connections: 20.0 –", "4 connections: 0 –"})
	for _, other := range newCharts(newLayout(analysis.Of(run, trials))) {
		testenv.Check(t, other.ID != "cpu" && other.ID != "p50", "%s is a chart without any value", other.ID)
	}
	option := testenv.Must(json.MarshalIndent(ch.drawn().Option, "", "  "))(t)
	testenv.Golden(t, "testdata/throughput-option.json", string(option)+"\n")
}

// chartOf returns a chart of a run.
func chartOf(t *testing.T, run bench.Run, trials []bench.TrialResult, id string) chart {
	t.Helper()
	all := newCharts(newLayout(analysis.Of(run, trials)))
	i := slices.IndexFunc(all, func(c chart) bool { return c.ID == id })
	testenv.Need(t, i >= 0, "no chart %s", id)
	return all[i]
}

// Outcomes of a check are summed up for each contender; groups without a failure are folded.
func TestChecks(t *testing.T) {
	p, f, skipped := bench.CheckPassed, bench.CheckFailed, bench.CheckSkipped
	for _, c := range []struct {
		name   string
		status [2][]bench.CheckStatus // of the rounds of two contenders; "" if it was not run
		want   []string
		about  string
		failed bool
	}{
		{"all passed", [2][]bench.CheckStatus{{p, p}, {p, p}}, []string{"✓", "✓"}, "1 check", false},
		{"one failed once", [2][]bench.CheckStatus{{p, f}, {p, p}}, []string{"✓ 1×, ✗ 1×", "✓"}, "1 check, 1 with different outcomes", true},
		{"one failed", [2][]bench.CheckStatus{{f, f}, {p, p}}, []string{"✗", "✓"}, "1 check, 1 with different outcomes", true},
		{"not run", [2][]bench.CheckStatus{{""}, {p}}, []string{missing, "✓"}, "1 check", false},
		{"skipped", [2][]bench.CheckStatus{{skipped}, {skipped}}, []string{"skipped", "skipped"}, "1 check", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var trials []bench.TrialResult
			for k, rounds := range c.status {
				for i, s := range rounds {
					trial := bench.TrialResult{Trial: bench.Trial{Contender: string(rune('a' + k)), Round: i + 1}}
					if s != "" {
						trial.Checks = []bench.CheckResult{{Group: "get", Name: "known city", Status: s}}
					}
					trials = append(trials, trial)
				}
			}
			g := conclusion.ChecksOf(analysis.Of(bench.Run{AcceptFailedChecks: true}, trials).Ordered()).Groups[0]
			cells := g.Table.Rows[0].Cells
			testenv.Equal(t, []string{cells[1].Text, cells[2].Text}, c.want)
			testenv.Equal(t, g.About, c.about)
			testenv.Equal(t, g.Failed, c.failed)
		})
	}
}

// A full disk is an error.
func TestWriteErrors(t *testing.T) {
	run, trials := small()
	a := analysis.Of(run, trials)
	full := errors.New("no space left on device")
	for _, room := range []int{0, 1000, 1 << 20, 1_100_000} {
		err := HTML(&disk{room, full}, a, Options{})
		testenv.Check(t, errors.Is(err, full), "with room for %d bytes: %v", room, err)
	}
	err := Markdown(&disk{10, full}, a, Options{})
	testenv.Check(t, errors.Is(err, full), "summary: %v", err)
}

type disk struct {
	room int
	err  error
}

func (d *disk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return d.room, d.err
	}
	d.room -= len(p)
	return len(p), nil
}
