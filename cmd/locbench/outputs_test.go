//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/cli"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/report"
	tuicompare "github.com/locbench/locbench/internal/show/tui/compare"
	"github.com/locbench/locbench/internal/show/tui/runs"
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
	page := tuitest.Page{New: func(*testing.T) ui.Page {
		return tuicompare.New("results/interleaved", "results/interleaved", folders)
	}}
	var view string
	page.Play(t, tuitest.Size{Width: 200, Height: 50}, tuitest.Look{}, func(p *tuitest.Program) { view = p.Frame() })
	for output, c := range map[string]struct{ got, want string }{
		"text":      {text.String(), "peak throughput, 8 connections     10,945/s  9,932/s   −9.4% (−10.1% to −8.6%)  ✗ worse"},
		"Markdown":  {markdown.String(), "| peak throughput, 8 connections | 10,945/s | 9,932/s | −9.4% (−10.1% to −8.6%) | ✗ worse |"},
		"report":    {html.String(), "9 rounds in pairs, 95% CI; lowest p 0.0078 (Holm, 2 measures)"},
		"dashboard": {view, "worse: −9.4% (−10.1% to −8.6%)"},
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
			past := tuitest.Page{New: func(*testing.T) ui.Page {
				return runs.New(runs.Options{Source: tuitest.Folders{{Dir: dir, Run: run, Trials: trials}}})
			}}
			var dashboard string
			past.Play(t, tuitest.Size{Width: 200, Height: 50}, tuitest.Look{}, func(p *tuitest.Program) { dashboard = p.Frame() })
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
					"dashboard":       {dashboard, `(?m)^.*\b` + c.Label + ` .*$`, first},
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
			exportsAgree(t, dir, a)
			historyAgrees(t, dir, a)
			comparisonsAgree(t, dir, a)
		})
	}
}

// printed returns what a command prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Main(t.Context(), cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv}); code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// exportsAgree compares each measure of each step in the CSV and JSON exports.
func exportsAgree(t *testing.T, dir string, a *analysis.Run) {
	var objects []map[string]any
	numbers := json.NewDecoder(strings.NewReader(printed(t, "export", dir, "--format", "json")))
	numbers.UseNumber()
	testenv.OK(t, numbers.Decode(&objects))
	table, err := csv.NewReader(strings.NewReader(printed(t, "export", dir, "--format", "csv"))).ReadAll()
	testenv.OK(t, err)
	testenv.Equal(t, len(table), len(objects)+1, "rows")
	compared := 0
	for i, cells := range table[1:] {
		row := map[string]string{}
		for k, name := range table[0] {
			row[name] = cells[k]
			other := objects[i][name]
			if other == nil {
				other = ""
			}
			testenv.Equal(t, fmt.Sprint(other), cells[k], name+" in JSON and CSV")
		}
		label := bench.Selection{Contender: row["contender"], Variant: row["variant"]}.String()
		c := contenderOf(t, a, label)
		cell := func(m measure.Measure, r measure.Result, column string) {
			compared++
			if v, err := strconv.ParseFloat(row[column], 64); r.Known {
				testenv.Check(t, err == nil, "%s of %s: %q", column, label, row[column])
				holds(t, label+" in step "+row["step"], m, &v, r)
			}
		}
		for id, column := range map[measure.ID]string{measure.StartUp: "start_up_ns", measure.PeakTime: "time_to_peak_ns"} {
			cell(measure.Get(id), measure.Get(id).Contender(c.Contender), column)
		}
		for _, s := range c.Steps {
			for _, m := range measure.All() {
				if _, exported := row[m.CSV.Name]; exported && strconv.Itoa(s.Index) == row["step"] && s.Rounds > 0 {
					cell(m, m.Over(s), m.CSV.Name)
				}
			}
		}
	}
	testenv.Check(t, compared >= 15*len(objects), "only %d values of %d steps were compared", compared, len(objects))
}

// resultAt returns a measure of a contender at the step that an output names, such as "2 connections
// (59% of the old peak)"; without one, of whole trials. Comparison and history have complete rounds
// only, where other outputs also show the memory with which a contender was killed.
func resultAt(m measure.Measure, c analysis.Contender, at string) (r measure.Result) {
	defer func() { r.Known = r.Known && len(r.Rounds) > 0 }()
	at, _, _ = strings.Cut(at, " (")
	for _, s := range c.Steps {
		if s.Step.Name == at && !s.Step.WarmUp {
			if m.ID == measure.P99Half {
				m = measure.Get(measure.P99)
			}
			return m.Over(s)
		}
	}
	return m.Contender(c.Contender)
}

// holds requires the text of a result for a value; nil is none.
func holds(t *testing.T, what string, m measure.Measure, got *float64, want measure.Result) {
	t.Helper()
	switch {
	case (got != nil) != want.Known:
		t.Errorf("%s: %s is %v, not %+v", what, m.Name, got, want)
	case got != nil && m.Unit.Text(*got) != m.Unit.Text(want.Value):
		t.Errorf("%s: %s is %s, not %s", what, m.Name, m.Unit.Text(*got), m.Unit.Text(want.Value))
	}
}

// historyAgrees requires each measure of each contender with a complete round in each format.
func historyAgrees(t *testing.T, dir string, a *analysis.Run) {
	text, markdown := printed(t, "history", dir), printed(t, "history", dir, "--format", "md")
	rows, err := csv.NewReader(strings.NewReader(printed(t, "history", dir, "--format", "csv"))).ReadAll()
	testenv.OK(t, err)
	inCSV := map[[2]string]string{}
	for _, row := range rows[1:] {
		inCSV[[2]string{row[0], row[5]}] = row[8]
	}
	var in struct{ Contenders []compare.Series }
	testenv.OK(t, json.Unmarshal([]byte(printed(t, "history", dir, "--format", "json")), &in))
	for _, series := range in.Contenders {
		c := contenderOf(t, a, series.Contender)
		line := regexp.MustCompile(`(?m)^` + c.Label + ` +1 result\n.*\n(.*)$`).FindString(text)
		section := regexp.MustCompile(`(?m)^## ` + c.Label + `\n\n.*\n.*\n(.*)$`).FindString(markdown)
		for _, f := range series.Points[0].Values {
			m := measure.Get(f.Measure)
			want := resultAt(m, c, f.At)
			holds(t, "history of "+c.Label, m, f.Median, want)
			if !want.Known {
				testenv.Equal(t, inCSV[[2]string{c.Label, string(f.Measure)}], "", m.Name)
				continue
			}
			cell := m.Unit.Cell(want.Value)
			testenv.Check(t, strings.Contains(line, cell), "text: no %s %s in %q", m.Name, cell, line)
			testenv.Check(t, strings.Contains(section, " "+cell+" |"), "Markdown: no %s %s in %q", m.Name, cell, section)
			got, err := strconv.ParseFloat(inCSV[[2]string{c.Label, string(f.Measure)}], 64)
			testenv.OK(t, err)
			holds(t, "CSV of "+c.Label, m, &got, want)
		}
	}
	testenv.Check(t, len(in.Contenders) > 1, "history of %d contenders", len(in.Contenders))
}

// comparisonsAgree requires each measure of two neighbors in text and JSON.
func comparisonsAgree(t *testing.T, dir string, a *analysis.Run) {
	for i, after := range a.Contenders[1:] {
		before := a.Contenders[i]
		text := printed(t, "compare", dir, before.Label, after.Label)
		var in struct {
			Contenders []struct {
				Measures []struct {
					Measure  measure.ID
					At       string
					Old, New compare.Side
				}
			}
		}
		testenv.OK(t, json.Unmarshal([]byte(printed(t, "compare", dir, before.Label, after.Label, "--json")), &in))
		for _, row := range in.Contenders[0].Measures {
			m := measure.Get(row.Measure)
			at, other, two := strings.Cut(row.At, " → ")
			if !two {
				other = at
			}
			old, fresh := resultAt(m, before, at), resultAt(m, after, other)
			holds(t, "old "+before.Label, m, row.Old.Median, old)
			holds(t, "new "+after.Label, m, row.New.Median, fresh)
			line := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(m.Comparison.Title) + `.*$`).FindString(text)
			for _, want := range []measure.Result{old, fresh} {
				if cell := m.Unit.Text(want.Value); want.Known && !strings.Contains(line, " "+cell+" ") {
					t.Errorf("no %s %s in %q", m.Name, cell, line)
				}
			}
		}
	}
}

func contenderOf(t *testing.T, a *analysis.Run, label string) analysis.Contender {
	t.Helper()
	i := slices.IndexFunc(a.Contenders, func(c analysis.Contender) bool { return c.Label == label })
	testenv.Need(t, i >= 0, "no contender %q", label)
	return a.Contenders[i]
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
