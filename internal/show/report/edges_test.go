package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
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
		"nothing":     {want: []string{"### ✗ locbench: No results: no trial was run.", "No checks."}},
		"empty trial": {trials: []bench.TrialResult{{}}, want: []string{"| – | – | – | – | – | – | – | – | – | – | – | 0 of 1 |"}},
		"not started": {trials: []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialFailed, Failure: "did not start"}}, want: []string{"### a-1: failed", "- did not start"}},
		"interrupted": {run: bench.Run{Trials: []bench.TrialEntry{{State: bench.TrialPending}, {State: bench.TrialComplete}}}, want: []string{"**Run incomplete: 1 of 2 trials did not finish.**"}},
		"no limits": {trials: []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: 1}, Instance: &bench.InstanceInfo{Limits: bench.Limits{CPUs: 1.5}, LimitsNote: "no cgroup may be made"}}},
			want: []string{"**Limits not enforced: no cgroup may be made** (a-1)"}},
		"unlimited by plan":   {trials: []bench.TrialResult{{Instance: &bench.InstanceInfo{}}}},
		"no requests":         {trials: step(func(*bench.StepResult) {})},
		"took no time":        {trials: step(func(s *bench.StepResult) { s.Load.Elapsed, s.Load.Succeeded = 0, 5 })},
		"only errors":         {trials: step(func(s *bench.StepResult) { s.Load.Failed = map[bench.ErrorKind]int64{"5xx": 7} }), want: []string{"| 100% |", "100% (5xx 7)"}},
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
		{Index: 0, Step: bench.Step{Connections: 1, WarmUp: true}, Load: bench.Load{Elapsed: time.Second, Succeeded: 10}},
		{Index: 2, Step: bench.Step{Connections: 4}, Load: bench.Load{Elapsed: time.Second, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 3}}, Aborted: "died"},
	}}
	run := bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Connections: 1, WarmUp: true}, {Connections: 2}, {Connections: 4}}}}
	l := newLayout(analysis.Of(run, []bench.TrialResult{trial}))
	all := map[string]chart{}
	for _, c := range newCharts(run, l) {
		all[c.ID] = c
	}
	cells := func(id string) string {
		var c []string
		for _, r := range all[id].Rows {
			c = append(c, r.Label+": "+strings.Join(r.Cells, " "))
		}
		return strings.Join(c, "; ")
	}
	for id, want := range map[string]string{
		"throughput":  "w1: 10.0/s; 2: –; 4: 0/s †",
		"errors":      "w1: 0; 2: –; 4: 100% (timeout 3) †",
		"p50":         "w1: –; 2: –; 4: –",
		"cpu":         "w1: –; 2: –; 4: –",
		"memory-peak": "w1: –; 2: –; 4: –",
		"throttling":  "w1: –; 2: –; 4: –",
		"start-up":    "start-up: –",
		"cumulative":  "before: –; w1: –; 2: –; 4: –",
	} {
		t.Run(id, func(t *testing.T) { testenv.Equal(t, cells(id), want, id) })
	}
	testenv.Check(t, all["cpu"].Empty && !all["throughput"].Empty, "a chart is empty only without any value")
	made, _ := all["throughput"].option()
	option := testenv.Must(json.MarshalIndent(made, "", "  "))(t)
	testenv.Golden(t, "testdata/throughput-option.json", string(option)+"\n")
}

func TestChecksFramed(t *testing.T) {
	p, f := bench.CheckPassed, bench.CheckFailed
	for _, c := range []struct {
		name   string
		status []bench.CheckStatus // one per trial; "" if it was not run
		framed string
	}{
		{"all equal", []bench.CheckStatus{p, p, p}, "..."},
		{"one differs", []bench.CheckStatus{p, f, p}, ".x."},
		{"most failed", []bench.CheckStatus{f, f, p}, "..x"},
		{"no most frequent", []bench.CheckStatus{p, f}, "xx"},
		{"not run is not compared", []bench.CheckStatus{p, "", p}, "..."},
		{"alone", []bench.CheckStatus{"", f}, ".."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var trials []bench.TrialResult
			for i, s := range c.status {
				trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: i + 1}}
				if s != "" {
					trial.Checks = []bench.CheckResult{{Group: "get", Name: "known city", Status: s}}
				}
				trials = append(trials, trial)
			}
			table := checks(newLayout(analysis.Of(bench.Run{}, trials)))
			got := ""
			for _, cell := range table.Groups[0].Rows[0].Cells {
				if cell.Framed {
					got += "x"
				} else {
					got += "."
				}
			}
			testenv.Equal(t, got, c.framed, c.name)
		})
	}
}

// Contenders are in the order of the profile, variants apart, rounds in order, in whichever order
// the files were read.
func TestOrder(t *testing.T) {
	run := bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: "z"}, {Contender: "k", Variant: "netty"}, {Contender: "k", Variant: "jetty"}}}}
	var trials []bench.TrialResult
	for _, trial := range []bench.Trial{{Contender: "k", Variant: "jetty", Round: 2}, {Contender: "other", Round: 1}, {Contender: "k", Variant: "netty", Round: 1}, {Contender: "z", Round: 10}, {Contender: "k", Variant: "jetty", Round: 1}, {Contender: "z", Round: 2}} {
		trials = append(trials, bench.TrialResult{Trial: trial})
	}
	var got []string
	for _, c := range newLayout(analysis.Of(run, trials)).columns {
		got = append(got, c.Name())
	}
	want := "z-2 z-10 k.netty-1 k.jetty-1 k.jetty-2 other-1"
	testenv.Check(t, strings.Join(got, " ") == want, "%s, want %s", strings.Join(got, " "), want)
	testenv.Equal(t, trials[0].Trial.Contender, "k", "the caller's slice was sorted")
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
