//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
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
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/cli"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/report"
	tuirun "github.com/locbench/locbench/internal/show/tui/run"
	"github.com/locbench/locbench/internal/show/tui/runs"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// sided is a contender of a made-up run.
type sided struct {
	label  string
	speed  float64
	cpu    time.Duration // per request
	change func(*bench.TrialResult)
}

// rounds returns rounds at 4, 16 and 64 connections. Their values are spread unevenly, so medians,
// means, and values of all requests differ.
func (c sided) rounds(n int) (all []bench.TrialResult) {
	spread := []float64{1, 1.02, .97, 1.11, .99, 1.01, 1.05, .98}
	for i := range n {
		by := spread[(i+len(c.label))%len(spread)]
		var steps []bench.StepResult
		for k, share := range []float64{.5, 1, .9} {
			successes := int64(200 * share * c.speed * by)
			s := benchtest.Step(successes, benchtest.Of(benchtest.Closed(4<<(2*k))), benchtest.CPU(time.Duration(float64(c.cpu)/by)*time.Duration(successes)))
			for _, kind := range []string{"GET /list", "POST /bookings"} {
				each, h := time.Duration(float64(int(4)<<k)*float64(time.Millisecond)/c.speed/by/by), hdr.New()
				for i := range successes / 2 {
					h.Record(each * time.Duration(successes+i) / time.Duration(successes))
				}
				s.Load.Requests = append(s.Load.Requests, bench.RequestLoad{Name: kind, Outcomes: bench.Outcomes{Succeeded: successes / 2}, Latency: h.Latencies()})
			}
			s.Load.Latency = s.Load.Requests[0].Latency
			s.After.Memory = &bench.Memory{Used: int64(40e6 * by), Peak: int64(50e6 * by * by)}
			steps = append(steps, s)
		}
		t := benchtest.Trial(c.label, i+1, steps...)
		up := time.Duration(20e6 / by)
		t.StartUp = &up
		t.Instance = &bench.InstanceInfo{PID: 1, LimitsEnforced: true, StartedAt: benchtest.Start()}
		if c.change != nil {
			c.change(&t)
		}
		all = append(all, t)
	}
	return all
}

// madeUp returns a run of these contenders.
func madeUp(rounds int, all ...sided) (bench.Run, []bench.TrialResult) {
	var trials []bench.TrialResult
	for _, one := range all {
		trials = append(trials, one.rounds(rounds)...)
	}
	return benchtest.Run(trials...), trials
}

// outputs are what all outputs say about a run.
type outputs struct {
	text, summary, page, dashboard string
	comparison, comment            string // of the first two contenders
}

func outputsOf(t *testing.T, run bench.Run, trials []bench.TrialResult) outputs {
	t.Helper()
	a := analysis.Of(run, trials)
	var text, summary, page, comparison, comment bytes.Buffer
	testenv.OK(t, plain.End(&text, conclusion.Of(a, nil), 0))
	testenv.OK(t, report.Markdown(&summary, a, report.Options{}))
	testenv.OK(t, report.HTML(&page, a, report.Options{}))
	all := a.InProfile()
	r, err := compare.Compare(compare.Set{Run: a, Contender: all[0].Label}, compare.Set{Run: a, Contender: all[1].Label}, compare.Options{})
	testenv.OK(t, err)
	testenv.OK(t, r.Text(&comparison, 0))
	testenv.OK(t, r.Markdown(&comment, nil))
	dir := "results/made-up"
	live := frame(t, tuirun.New(tuirun.Options{Session: tuitest.Finished(dir, tuitest.OfResults(run, trials, dir))}))
	return outputs{text.String(), summary.String(), page.String(), live, comparison.String(), comment.String()}
}

// spaced returns a text with single spaces, without the marks of verdicts.
func spaced(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("✓", "", "✗", "", `\`, "", "│", "").Replace(s)), " ")
}

// All outputs begin with the same statement about a run.
func TestOutputs_FirstStatement(t *testing.T) {
	fails := func(t *bench.TrialResult) {
		t.State, t.Failure, t.Steps = bench.TrialFailed, "the contender died: exit code 1", nil
	}
	late := func(t *bench.TrialResult) {
		for i := range t.Steps {
			l := &t.Steps[i].Load
			*l = bench.Load{Definition: l.Definition, Started: l.Started, Elapsed: l.Elapsed, Counts: bench.Counts{Sent: 2, Lead: 1, Drain: 1}, FirstResponse: 15 * time.Second}
		}
	}
	leaks := func(t *bench.TrialResult) {
		for i := range t.Steps {
			s := &t.Steps[i]
			s.Warnings = bench.Warnings{{Kind: bench.WarnMemoryGrowth, Text: "memory use grew by 2.05 KiB per request",
				Values: map[string]float64{bench.GrowthRate: 2100}}}
		}
	}
	paired := func(t *bench.TrialResult) { // but for the third round, in which it was aborted
		since := benchtest.Start().Add(time.Duration(t.Trial.Round) * time.Hour)
		for i := range t.Steps {
			benchtest.Interleaved(since, "a", "b")(&t.Steps[i])
		}
	}
	aborted := func(t *bench.TrialResult) {
		if paired(t); t.Trial.Round == 3 {
			t.State, t.Steps = bench.TrialAborted, nil
		}
	}
	needs := func(t *bench.TrialResult) {
		for i := range t.Steps {
			s := &t.Steps[i]
			s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: benchtest.Start(), Source: "cgroup v2"}}}
			s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: benchtest.Start().Add(benchtest.Length),
				Source: "cgroup v2", CPU: bench.Duration(benchtest.Length)}}}
		}
	}
	cpu := 50 * time.Microsecond
	same := func(label string) sided { return sided{label, 10, cpu, nil} }
	for name, c := range map[string]struct {
		rounds int
		all    []sided
		change func(*bench.Run)
		want   string
	}{
		"better":                 {6, []sided{same("a"), {"b", 30, cpu, nil}}, nil, "b: peak throughput ×"},
		"worse":                  {6, []sided{same("a"), {"b", 5, cpu, nil}}, nil, "b: peak throughput ×0.5"},
		"undecided":              {6, []sided{same("a"), same("bb")}, nil, "No significant change from a to bb"},
		"one round":              {1, []sided{same("a"), {"b", 30, cpu, nil}}, nil, "Cannot tell yet: b "},
		"the second is excluded": {6, []sided{same("a"), {"b", 10, cpu, fails}}, nil, "Run a: the only one of 2"},
		"the first is excluded":  {6, []sided{{"a", 10, cpu, fails}, same("b")}, nil, "Run b: the only one of 2"},
		"both are excluded":      {6, []sided{{"a", 10, cpu, fails}, {"b", 10, cpu, fails}}, nil, "No contender can be compared"},
		"nothing in one":         {6, []sided{same("a"), {"b", 10, cpu, late}}, nil, "b: no request ended within any step"},
		"nothing in both":        {6, []sided{{"a", 10, cpu, late}, {"b", 10, cpu, late}}, nil, "a and b: no request ended within any step"},
		"a leak":                 {6, []sided{same("a"), {"b", 30, cpu, leaks}}, nil, "b: memory use grew by 2.05 KiB per request"},
		"other limits": {6, []sided{same("a"), {"b", 5, cpu, nil}}, func(r *bench.Run) {
			r.Profile.Limits = bench.Limits{CPUs: 1}
			r.Profile.Settings = []bench.Settings{{Selection: bench.Selection{Contender: "b"}, Limits: bench.Limits{CPUs: .5}}}
		}, "b under 0.5 CPUs, a under 1 CPU: ×0.5"},
		"a need is the limit": {6, []sided{{"a", 10, cpu, needs}, {"b", 30, cpu, needs}}, func(r *bench.Run) {
			r.Profile.Needs = []bench.NeedSpec{{Name: "db", From: bench.NeedContainer}}
		}, "b: peak throughput ×"},
		"an aborted round drops its pair": {9, []sided{{"a", 10, cpu, paired}, {"b", 9, cpu, aborted}}, func(r *bench.Run) {
			r.Profile.Interleave = 100 * time.Millisecond
		}, "b: peak throughput 10.0% lower (10.0% to 10.0%), worse"},
		"three": {6, []sided{{"a", 30, cpu, nil}, same("b"), same("cc")}, nil, "a has the highest throughput: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, trials := madeUp(c.rounds, c.all...)
			if c.change != nil {
				c.change(&run)
			}
			o := outputsOf(t, run, trials)
			first, _, _ := strings.Cut(o.text, "\n")
			testenv.Check(t, strings.HasPrefix(first, c.want), "run: %q", first)
			page := regexp.MustCompile(`<section id="conclusion"[^>]*>\s*<p>([^<]*)</p>`).FindStringSubmatch(o.page)
			testenv.Need(t, page != nil, "no conclusion in the report")
			testenv.Equal(t, spaced(html.UnescapeString(page[1])), spaced(first), "report")
			summary, _, _ := strings.Cut(o.summary, "\n")
			testenv.Equal(t, spaced(summary), "### test: "+spaced(first), "summary.md")
			testenv.Check(t, strings.Contains(spaced(o.dashboard), spaced(first)), "dashboard: no %q in\n%s", first, o.dashboard)
			comparison, _, _ := strings.Cut(o.comparison, "\n")
			comment, _, _ := strings.Cut(o.comment, "\n")
			testenv.Equal(t, spaced(comment), "### "+spaced(comparison), "comment")
			a := analysis.Of(run, trials)
			if len(c.all) == 2 {
				testenv.Equal(t, spaced(comparison), spaced(first), "compare")
				if run.Profile.Interleave > 0 {
					row := compare.Pair(a.Contenders[0], a.Contenders[1], nil, compare.Options{}).Rows[0]
					testenv.Check(t, row.Paired && len(row.Old.Rounds) == c.rounds-1, "%+v", row)
					testenv.Contains(t, o.page, "8 rounds in pairs, 95% CI")
				}
				return
			}
			// the leader and the next one are compared with the same ratio
			next := slices.IndexFunc(a.Contenders, func(c analysis.Contender) bool { return strings.Contains(first, " of "+c.Label+" (") })
			testenv.Need(t, next > 0, "no next one in %q", first)
			r := compare.Pair(a.Contenders[next], a.Contenders[0], nil, compare.Options{}).Rows[0].Ratio
			testenv.Check(t, strings.Contains(first, fmt.Sprintf("%.3g times that of %s (%.3g to %.3g)", r.Estimate, a.Contenders[next].Label, r.Low, r.High)),
				"compare: %+v, run: %q", r, first)
		})
	}
}

// All outputs have the known causes of a change after the verdict, and a next step that does not repeat
// them.
func TestOutputs_Why(t *testing.T) {
	logs := func(t *bench.TrialResult) {
		for i := range t.Steps {
			s := &t.Steps[i]
			s.Before.Log, s.After.Log = &bench.Log{}, &bench.Log{Lines: s.Load.Succeeded}
			if t.Trial.Contender == "b" {
				s.After.Log.Bytes = 150 * s.Load.Succeeded
				s.Load.Requests[1].Latency = benchtest.Latencies(s.Load.Requests[1].Succeeded, 90*time.Millisecond)
			}
		}
	}
	run, trials := madeUp(8, sided{"a", 10, 50 * time.Microsecond, logs}, sided{"b", 9, 60 * time.Microsecond, logs})
	o := outputsOf(t, run, trials)
	why := compare.Pair(analysis.Of(run, trials).Contenders[0], analysis.Of(run, trials).Contenders[1], nil, compare.Options{}).Why()
	testenv.Need(t, len(why) == 2, "%q", why)
	testenv.Contains(t, why[0], "Mostly POST /bookings: p50 ×")
	testenv.Equal(t, why[1], "b logs 150 B per request, a 0 B.")
	page, _, _ := strings.Cut(o.page, "</section>") // the first screen
	for output, text := range map[string]string{"text": o.text, "summary.md": o.summary, "dashboard": o.dashboard, "compare": o.comparison,
		"comment": o.comment, "report": html.UnescapeString(page)} {
		for _, line := range why {
			testenv.Equal(t, strings.Count(spaced(text), spaced(line)), 1, output+": "+line)
		}
		before, _, _ := strings.Cut(text, "<details>") // of Markdown, where the rest is folded
		testenv.Check(t, strings.Contains(spaced(before), spaced(why[1])), "%s: folded", output)
	}
	testenv.Contains(t, o.text, "Look at what b logs\n")
}

// TestOutputs_Agree: all outputs have the same text for a measure of a contender, of published and of
// made-up runs. The tables of docs/published.md can be made from the published ones.
func TestOutputs_Agree(t *testing.T) {
	var every []measure.ID
	for _, m := range measure.All() {
		every = append(every, m.ID)
	}
	cpu, most := 5*time.Millisecond, []measure.ID{measure.Throughput, measure.StartUp, measure.Cost, measure.MemoryPeak}
	for name, c := range map[string]struct {
		first   []measure.ID // in the table of the first screen; none if that is a comparison
		trials  int
		section string  // of summary.md
		all     []sided // of a made-up run
	}{
		"locations":    {most, 4, "## All results", nil},
		"delay-matrix": {[]measure.ID{measure.Cost}, 9, "| contender | 0 ms | 10 ms |", nil},
		"cold-warm":    {[]measure.ID{measure.StartUp, measure.P50, measure.Cost}, 2, "## First requests", nil},
		"burst":        {[]measure.ID{measure.P99, measure.Max, measure.StartUp, measure.Cost}, 12, "| contender | p99 | failed |", nil},
		"other peak": {nil, 12, "## All results", []sided{{"left", 10, cpu, nil}, {"right", 8, cpu,
			func(t *bench.TrialResult) { t.Steps[1].Load.Succeeded /= 2 }}}},
		"three": {most, 18, "## All results", []sided{{"left", 10, cpu, nil}, {"right", 8, cpu, nil}, {"other", 5, cpu, nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, trials := madeUp(6, c.all...)
			dir := filepath.Join(root, "testdata", "results", name)
			if c.all != nil {
				dir = folder(t, run, trials)
			} else {
				testenv.Contains(t, readPage(t, "docs/published.md"), "testdata/results/"+name)
			}
			run, trials, err := results.Read(dir)
			testenv.Need(t, err == nil && len(trials) == c.trials && run.State != bench.RunRunning, "%d trials of a run that is %s, %v", len(trials), run.State, err)
			a := analysis.Of(run, trials)
			var text, long, md, page bytes.Buffer
			testenv.OK(t, plain.End(&text, conclusion.Of(a, nil), 0))
			testenv.OK(t, plain.End(&long, conclusion.Of(a, nil), 0, a.Ordered()...))
			testenv.OK(t, report.Markdown(&md, a, report.Options{}))
			testenv.OK(t, report.HTML(&page, a, report.Options{}))
			testenv.Contains(t, md.String(), c.section)
			dashboard := frame(t, runs.New(runs.Options{Source: tuitest.Folders{{Dir: dir, Run: run, Trials: trials}}}))
			above, below, _ := strings.Cut(md.String(), "## All results")
			screenful, rest, _ := strings.Cut(page.String(), "<h2>All results</h2>")
			table, _, _ := strings.Cut(rest, "</table>")
			for _, c2 := range a.Contenders {
				for output, of := range map[string]struct {
					text     string
					row      string // of the contender
					measures []measure.ID
				}{
					"text":            {text.String(), `(?m)^.*\b` + c2.Label + ` .*$`, c.first},
					"Markdown":        {above, `(?m)^\|.*\b` + c2.Label + ` .*$`, c.first},
					"report":          {screenful, `<th scope="row"[^>]*>(?:<i [^>]*></i>)?` + c2.Label + `.*`, c.first},
					"all in Markdown": {below, `(?m)^\|.*$`, every},
					"all in report":   {table, `<td data-label="` + c2.Label + `"[^>]*>[^<]*`, every},
					"dashboard":       {dashboard, `(?m)^.*\b` + c2.Label + ` .*$`, c.first},
				} {
					rows := strings.Join(regexp.MustCompile(of.row).FindAllString(of.text, -1), "\n")
					for _, id := range of.measures {
						m := measure.Get(id)
						r := m.Contender(c2.Contender)
						want := strings.ReplaceAll(m.Text(r), "<", "&lt;")
						if r.Known && !strings.Contains(strings.NewReplacer(`\$`, "$", `\~`, "~").Replace(rows), want) {
							t.Errorf("%s: %s of %s is %s, not in %q", output, m.Name, c2.Label, want, rows)
						}
					}
				}
				for _, s := range c2.Steps {
					rows := strings.Join(regexp.MustCompile(`(?m)^ *`+regexp.QuoteMeta(s.Step.Name)+` .*$`).FindAllString(long.String(), -1), "\n")
					for _, id := range []measure.ID{measure.Throughput, measure.P50, measure.P99} {
						if r := measure.Get(id).Over(s); r.Known && !s.Step.WarmUp && !strings.Contains(rows, measure.Get(id).Unit.Cell(r.Value)) {
							t.Errorf("%s of %s, %s is %v, not in %q", id, c2.Label, s.Step.Name, r.Value, rows)
						}
					}
				}
			}
			comparisonsAgree(t, dir, a)
			if c.all == nil { // of one round, whose values are those of all requests
				exportsAgree(t, dir, a)
				historyAgrees(t, dir, a)
			}
		})
	}
}

// frame returns the first frame of a page.
func frame(t *testing.T, page ui.Page) (text string) {
	t.Helper()
	tuitest.Page{New: func(*testing.T) ui.Page { return page }}.Play(t, tuitest.Size{Width: 200, Height: 60}, tuitest.Look{},
		func(p *tuitest.Program) { text = p.Frame() })
	return text
}

// folder writes the run as a results folder.
func folder(t *testing.T, run bench.Run, trials []bench.TrialResult) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, trial := range trials {
		testenv.OK(t, results.WriteJSON(filepath.Join(dir, run.Trials[i].File), trial))
	}
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, results.RunFile), run))
	return dir
}

// ran returns the exit code of a command, and what it prints.
func ran(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv})
	return code, out.String(), errs.String()
}

// printed returns the standard output of a command, which must succeed.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := ran(t, args...)
	testenv.Need(t, code == 0, "%q: exit code %d: %s", args, code, errs)
	return out
}

// exportsAgree compares each measure of each step in the CSV export. Its JSON has the same rows (internal/results/export).
func exportsAgree(t *testing.T, dir string, a *analysis.Run) {
	table := testenv.Must(csv.NewReader(strings.NewReader(printed(t, "export", dir, "--format", "csv"))).ReadAll())(t)
	compared := 0
	for _, cells := range table[1:] {
		row := map[string]string{}
		for k, name := range table[0] {
			row[name] = cells[k]
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
	testenv.Check(t, compared >= 15*len(table[1:]), "only %d values of %d steps were compared", compared, len(table)-1)
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
	rows := testenv.Must(csv.NewReader(strings.NewReader(printed(t, "history", dir, "--format", "csv"))).ReadAll())(t)
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
			got := testenv.Must(strconv.ParseFloat(inCSV[[2]string{c.Label, string(f.Measure)}], 64))(t)
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
			if len(old.Rounds) < 2 { // else the JSON has the median of rounds, the texts that of all requests
				holds(t, "old "+before.Label, m, row.Old.Median, old)
				holds(t, "new "+after.Label, m, row.New.Median, fresh)
			}
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
