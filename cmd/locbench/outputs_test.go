//go:build unix

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/report"
	"github.com/locbench/locbench/internal/show/tui/browse"
	tuicompare "github.com/locbench/locbench/internal/show/tui/compare"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// alternating returns ten rounds of two alternating contenders on a machine whose speed changes
// between rounds, by up to a factor of two: b is slower by 10%, which only the pairs show. One
// trial of b was aborted.
func alternating() (bench.Run, []bench.TrialResult) {
	run := bench.Run{Schema: bench.SchemaVersion, State: bench.RunComplete}
	run.Profile = bench.Profile{Name: "interleaved", Rounds: 10, Runtime: bench.RuntimeProcess, Interleave: 100 * time.Millisecond}
	run.Profile.Steps = []bench.Step{{Name: "8 connections", Connections: 8, Duration: 10 * time.Second}}
	run.Profile.Requests = []bench.Request{{Name: "get", Method: "GET", Path: "/"}}
	run.Machine.CPUs = 8
	rng := rand.New(rand.NewPCG(2, 2))
	var trials []bench.TrialResult
	for round := range run.Profile.Rounds {
		machine, since := 1+rng.Float64(), time.Unix(1_800_000_000, int64(round))
		for i, name := range []string{"a", "b"} {
			rate := 10_000 * machine * []float64{1, .9}[i] * (1 + .01*rng.NormFloat64())
			trial := bench.TrialResult{Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: name, Round: round + 1}, State: bench.TrialComplete}
			trial.Service = bench.Service{Name: name}
			trial.Instance = &bench.InstanceInfo{Runtime: bench.RuntimeProcess}
			step := bench.StepResult{Step: run.Profile.Steps[0], Interleave: &bench.Interleave{Length: run.Profile.Interleave, Count: 100, Since: since, With: []string{"other"}}}
			step.Load = bench.Load{Succeeded: int64(10 * rate), Sent: int64(10 * rate), Elapsed: 10 * time.Second}
			step.Load.Latency = bench.Latencies{Count: 1, P50: time.Millisecond, P99: time.Duration(1e12 / rate)}
			trial.Steps = []bench.StepResult{step}
			if name == "b" && round == 2 {
				trial.State, trial.Steps = bench.TrialAborted, nil
			}
			run.Trials = append(run.Trials, bench.TrialEntry{Trial: trial.Trial, State: trial.State})
			trials = append(trials, trial)
		}
	}
	for _, name := range []string{"a", "b"} {
		run.Profile.Contenders = append(run.Profile.Contenders, bench.Selection{Contender: name})
	}
	return run, trials
}

// TestOutputs_Leader has a run with one aborted trial: all outputs drop its round for both
// contenders and pair the others.
func TestOutputs_Leader(t *testing.T) {
	run, trials := alternating()
	a := analysis.Of(run, trials)
	var text, markdown, html bytes.Buffer
	testenv.OK(t, plain.End(&text, a, nil, 160, false))
	testenv.OK(t, report.Markdown(&markdown, a, report.Options{}))
	testenv.OK(t, report.HTML(&html, a, report.Options{}))
	r := compare.Pair(a.Contenders[0], a.Contenders[1], nil, compare.Options{})
	if row := r.Rows[0]; !row.Paired || len(row.Old.Rounds) != 9 || row.Verdict != stats.Worse {
		t.Errorf("comparison: %+v", row)
	}
	folders := tuitest.Folders{{Dir: "results/interleaved", Run: run, Trials: trials}}
	screen := tuicompare.New("results/interleaved", "results/interleaved", folders)
	screen.Update(ui.Resized{Width: 200, Height: 50})
	tuitest.Settle(screen, screen.Init(), nil)
	view := strings.Join(tuitest.View(screen, tuitest.Size{Width: 200, Height: 50}, ui.NewLook(ui.LookOptions{NoColor: true}), time.Now()), "\n")
	for output, c := range map[string]struct{ got, want string }{
		"text":      {text.String(), "peak throughput   10,836/s  9,932/s   −9.4% (−10.1% to −8.6%)  ✗ worse"},
		"Markdown":  {markdown.String(), "| peak throughput | 10,836/s | 9,932/s | −9.4% (−10.1% to −8.6%) | ✗ worse |"},
		"report":    {html.String(), "9 rounds in pairs, 95% CI; lowest p 0.0078 (Holm, 2 measures)"},
		"dashboard": {view, "A is better: −9.4% (−10.1% to −8.6%)"},
	} {
		t.Run(output, func(t *testing.T) {
			if !strings.Contains(c.got, c.want) {
				t.Errorf("%q is not in\n%s", c.want, c.got)
			}
		})
	}
}

// TestOutputs_Agree walks the outputs of real runs: each has the same text for a measure of a
// contender.
func TestOutputs_Agree(t *testing.T) {
	whole := []measure.ID{measure.Throughput, measure.StartUp, measure.Cost}
	var every []measure.ID
	for _, m := range measure.All() {
		every = append(every, m.ID)
	}
	for name, first := range map[string][]measure.ID{ // what the table of the first screen has
		"locations": {measure.Throughput, measure.StartUp, measure.Cost, measure.MemoryPeak}, "delay-matrix": {measure.Cost},
		"cold-warm": {measure.StartUp, measure.P50, measure.Cost}, "burst": {measure.P99, measure.Max, measure.StartUp, measure.Cost},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("..", "..", "testdata", "results", name)
			run, trials, err := results.Read(dir)
			testenv.OK(t, err)
			a := analysis.Of(run, trials)
			var text, md, page bytes.Buffer
			testenv.OK(t, plain.End(&text, a, nil, 0, true))
			testenv.OK(t, report.Markdown(&md, a, report.Options{}))
			testenv.OK(t, report.HTML(&page, a, report.Options{}))
			screen := browse.New(browse.Options{Source: tuitest.Folders{{Dir: dir, Run: run, Trials: trials}}})
			tuitest.Settle(screen, screen.Init(), nil)
			dashboard := tuitest.Text(screen, tuitest.Size{Width: 200, Height: 50}, time.Now())
			above, below, _ := strings.Cut(md.String(), "## All results")
			screenful, rest, _ := strings.Cut(page.String(), "<h2>All results</h2>")
			table, _, _ := strings.Cut(rest, "</table>")
			for _, c := range a.Contenders {
				for output, of := range map[string]struct {
					text     string
					row      string // of the contender
					measures []measure.ID
				}{
					"text":            {text.String(), `(?m)^.*\b` + c.Label + ` .*$`, first},
					"Markdown":        {above, `(?m)^\|.*\b` + c.Label + ` .*$`, first},
					"report":          {screenful, `<th scope="row"[^>]*>(?:<i [^>]*></i>)?` + c.Label + `.*`, first},
					"all in Markdown": {below, `(?m)^\|.*$`, every},
					"all in report":   {table, `<td data-label="` + c.Label + `"[^>]*>[^<]*`, every},
					"dashboard":       {dashboard, `(?m)^.*\b` + c.Label + ` .*$`, whole},
				} {
					rows := strings.Join(regexp.MustCompile(of.row).FindAllString(of.text, -1), "\n")
					for _, id := range of.measures {
						m := measure.Get(id)
						r := m.Contender(c.Contender)
						want := strings.ReplaceAll(m.Text(r), "<", "&lt;")
						if r.Known && !strings.Contains(strings.NewReplacer(`\$`, "$", `\~`, "~").Replace(rows), want) {
							t.Errorf("%s: %s of %s is %s, not in %q", output, m.Name, c.Label, want, rows)
						}
					}
				}
			}
		})
	}
}

// The published results can be read, and the tables of docs/published.md can be made from them.
func TestPublishedResults(t *testing.T) {
	for name, want := range map[string]struct {
		contenders int
		section    string
	}{
		"locations":    {4, "## All results"},
		"delay-matrix": {9, "| contender | 0 ms | 10 ms |"},
		"cold-warm":    {2, "## First requests"},
		"burst":        {12, "| contender | p99 | failed |"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("..", "..", "testdata", "results", name)
			run, trials, err := results.Read(dir)
			if err != nil || len(trials) != want.contenders || run.Profile.Name != name || run.State == bench.RunRunning {
				t.Fatalf("%d trials of %s, %s, %v", len(trials), run.Profile.Name, run.State, err)
			}
			var md, html bytes.Buffer
			testenv.OK(t, report.Markdown(&md, analysis.Of(run, trials), report.Options{}))
			testenv.OK(t, report.HTML(&html, analysis.Of(run, trials), report.Options{}))
			if !strings.Contains(md.String(), want.section) {
				t.Errorf("no %q in\n%s", want.section, md.String())
			}
			page, err := os.ReadFile(filepath.Join("..", "..", "docs", "published.md"))
			if err != nil || !strings.Contains(string(page), "testdata/results/"+name) {
				t.Errorf("docs/published.md does not say where its table comes from: testdata/results/%s", name)
			}
		})
	}
}
