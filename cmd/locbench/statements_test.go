//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/results/export"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/report"
	tuirun "github.com/locbench/locbench/internal/show/tui/run"
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
				s.Load.Requests = append(s.Load.Requests, bench.RequestLoad{Name: kind, Succeeded: successes / 2, Latency: h.Latencies()})
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

// outputs are what all outputs say about a run.
type outputs struct {
	text, summary, page, dashboard string
	comparison, comment            string // of the first two contenders
}

func outputsOf(t *testing.T, run bench.Run, trials []bench.TrialResult) outputs {
	t.Helper()
	a := analysis.Of(run, trials)
	var text, summary, page, comparison, comment bytes.Buffer
	testenv.OK(t, plain.End(&text, a, nil, 0, true))
	testenv.OK(t, report.Markdown(&summary, a, report.Options{}))
	testenv.OK(t, report.HTML(&page, a, report.Options{}))
	all := a.InProfile()
	r, err := compare.Compare(compare.Set{Run: a, Contender: all[0].Label}, compare.Set{Run: a, Contender: all[1].Label}, compare.Options{})
	testenv.OK(t, err)
	testenv.OK(t, r.Text(&comparison, 0))
	testenv.OK(t, r.Markdown(&comment, nil))
	dir := "results/made-up"
	live := tuitest.Page{New: func(*testing.T) ui.Page {
		return tuirun.New(tuirun.Options{Session: tuitest.Finished(dir, results.Records(run, trials, dir))})
	}}
	var frame string
	live.Play(t, tuitest.Size{Width: 200, Height: 60}, tuitest.Look{}, func(p *tuitest.Program) { frame = p.Frame() })
	return outputs{text.String(), summary.String(), page.String(), frame, comparison.String(), comment.String()}
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
			*l = bench.Load{Definition: l.Definition, Started: l.Started, Elapsed: l.Elapsed, Sent: 2, Lead: 1, Drain: 1, FirstResponse: 15 * time.Second}
		}
	}
	leaks := func(t *bench.TrialResult) {
		for i := range t.Steps {
			s := &t.Steps[i]
			s.Warnings = bench.Warnings{{Kind: bench.WarnMemoryGrowth, Text: "memory use grew by 2.05 KiB per request",
				Values: map[string]float64{bench.GrowthRate: 2100}}}
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
		"three": {6, []sided{{"a", 30, cpu, nil}, same("b"), same("cc")}, nil, "a has the highest throughput: "},
	} {
		t.Run(name, func(t *testing.T) {
			var trials []bench.TrialResult
			for _, one := range c.all {
				trials = append(trials, one.rounds(c.rounds)...)
			}
			run := benchtest.Run(trials...)
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
			if len(c.all) == 2 {
				testenv.Equal(t, spaced(comparison), spaced(first), "compare")
				return
			}
			// the leader and the next one are compared with the same ratio
			a := analysis.Of(run, trials)
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
	trials := slices.Concat(sided{"a", 10, 50 * time.Microsecond, logs}.rounds(8), sided{"b", 9, 60 * time.Microsecond, logs}.rounds(8))
	run := benchtest.Run(trials...)
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

// grid is a table in an output: its heading, and the line above it.
type grid struct {
	above string
	rows  [][]string
}

var (
	wide     = regexp.MustCompile(` {2,}`)
	cells    = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	inTags   = regexp.MustCompile(`(?s)<small>.*?</small>|<[^>]*>`)
	tables   = regexp.MustCompile(`(?s)<table.*?</table>`)
	rowsOf   = regexp.MustCompile(`<tr[^>]*>`)
	headings = regexp.MustCompile(`<h[23][^>]*>([^<(]*)`)
	marks    = strings.NewReplacer("▸", "", "▾", "", "●", "", "■", "", "▲", "", `\`, "", "**", "", "│", "  ", "⠿", "", "█", "", "▏", "", "▎", "", "▍", "", "▌", "", "▋", "", "▊", "", "▉", "", "conns", "connections")
	figure   = regexp.MustCompile(`^[~≥≤ ]*([$]?[−+×]?[0-9][0-9,.]*)( ?(?:µs|ms|s|[KMG]iB|%)\b)?`)
	lineRow  = regexp.MustCompile(`^\|(.*)\|$`)
)

// grids returns the tables of a text, of Markdown or of a screen.
func grids(text string) (all []grid) {
	above, open := "", false
	for line := range strings.Lines(marks.Replace(text)) {
		line = strings.TrimSpace(line)
		split := wide.Split(line, -1)
		if row := lineRow.FindStringSubmatch(line); row != nil {
			if split = strings.Split(strings.TrimSpace(row[1]), " | "); strings.HasPrefix(row[1], "---") {
				continue
			}
		}
		switch {
		case len(split) < 3:
			above, open = line, false
		case !open:
			all, open = append(all, grid{above, [][]string{split}}), true
		default:
			last := &all[len(all)-1]
			last.rows = append(last.rows, split)
		}
	}
	return all
}

// pageGrids returns the tables of a page.
func pageGrids(page string) (all []grid) {
	for _, at := range tables.FindAllStringIndex(page, -1) {
		var g grid
		if heads := headings.FindAllStringSubmatch(page[:at[0]], -1); len(heads) > 0 {
			g.above = heads[len(heads)-1][1]
		}
		for _, row := range rowsOf.Split(page[at[0]:at[1]], -1)[1:] {
			var texts []string
			for _, cell := range cells.FindAllStringSubmatch(row, -1) {
				texts = append(texts, strings.TrimSpace(html.UnescapeString(inTags.ReplaceAllString(cell[1], ""))))
			}
			g.rows = append(g.rows, texts)
		}
		all = append(all, g)
	}
	return all
}

// placed is a value with its label, its contender and its step.
type placed struct{ label, contender, at string }

// sameLabel has one word for the words that headings and rows have for a measure.
var sameLabel = map[string]string{"req/s at peak": "throughput", "peak throughput": "throughput", "peak req/s": "throughput", "req/s": "throughput",
	"CPU per request": "CPU", "CPU time per request": "CPU", "CPU/req": "CPU", "$/1B req": "cost", "cost per 1B requests": "cost"}

// collected are the values of all outputs, with where each was seen.
type collected map[placed]map[string][]string

func (c collected) add(output, label, contender, at, value string) {
	found := figure.FindStringSubmatch(value)
	if found == nil || value == "–" {
		return
	}
	if word := sameLabel[label]; word != "" {
		label = word
	}
	key := placed{label, contender, at}
	if c[key] == nil {
		c[key] = map[string][]string{}
	}
	shown := found[1] + strings.TrimSpace(found[2])
	c[key][shown] = append(c[key][shown], output)
}

// walk adds the values of the tables of an output. pair are the two contenders that it calls old and
// new, if any.
func (c collected) walk(output string, all []grid, labels, pair []string) {
	who := func(cell string) string {
		if i := slices.Index([]string{"old", "new"}, cell); i >= 0 && pair != nil {
			return pair[i]
		}
		name, _, _ := strings.Cut(cell, " ")
		if slices.Contains(labels, name) {
			return name
		}
		return ""
	}
	for _, g := range all {
		head := g.rows[0]
		of := map[int]string{}
		for i, title := range head {
			if name := who(title); name != "" && i > 0 {
				of[i] = name
			}
		}
		heading := slices.IndexFunc(head, func(s string) bool { return strings.EqualFold(s, "contender") })
		column := func(row []string, title string) string {
			if i := slices.Index(head, title); i >= 0 && i < len(row) {
				return row[i]
			}
			return ""
		}
		peaks := map[string]string{} // of All results
		for _, row := range g.rows[1:] {
			switch label, at, _ := strings.Cut(row[0], ", "); {
			case strings.HasPrefix(head[0], "request at "):
				for _, what := range []string{"p50", "p99"} {
					for i, value := range strings.Split(column(row, what), " → ") {
						c.add(output, row[0]+" "+what, labels[i], strings.TrimPrefix(head[0], "request at "), value)
					}
				}
			case heading == 0 && column(row, "Request") != "":
				for _, what := range []string{"p50", "p99"} {
					c.add(output, column(row, "Request")+" "+what, row[0], column(row, "At"), column(row, what))
				}
			case len(of) > 0 && len(row) == len(head):
				at, _, _ = strings.Cut(at, " (")
				if strings.EqualFold(head[0], "step") { // the values of a chart
					label, at = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(g.above)), "latency "), label
				}
				for i, name := range of {
					if label == "peak step" {
						peaks[name] = row[i]
					} else if at == "" && slices.Contains([]string{"throughput", "CPU time per request", "p50", "p99"}, label) {
						c.add(output, label, name, peaks[name], row[i])
					} else {
						c.add(output, label, name, at, row[i])
					}
				}
				for _, title := range []string{"change, 95% CI", "verdict"} {
					_, change, _ := strings.Cut(": "+column(row, title), ": ")
					if _, after, ok := strings.Cut(change, ": "); ok {
						change = after
					}
					c.add(output, "change of "+label, "", "", change)
				}
			case heading >= 0 && len(row) == len(head) && who(row[heading]) != "":
				for i, title := range head {
					at := ""
					if title = strings.Replace(title, "memory", "peak memory", 1); title == "req/s at peak" {
						at = column(row, "at")
					}
					if i != heading && title != "tier" && title != "at" {
						c.add(output, title, who(row[heading]), at, row[i])
					}
				}
			case head[0] == "step" && len(row) >= 4 && who(g.above) != "":
				for _, what := range []string{"req/s", "p50", "p99", "CPU/req"} {
					if i := slices.Index(head, what); len(row) >= len(head)-1 && i < len(row) {
						c.add(output, what, who(g.above), row[0], row[i])
					}
				}
			}
		}
	}
}

// sentences adds costs and changes that are said in sentences.
func (c collected) sentences(output, text string, labels []string) {
	text = spaced(text)
	for _, name := range labels {
		for _, m := range regexp.MustCompile(`(?i)cost:?(?:</dt><dd>)? [^.]*?\b`+name+` (\$[0-9.]+)`).FindAllStringSubmatch(strings.ReplaceAll(text, "</dt><dd>", " "), -1) {
			c.add(output, "cost", name, "", m[1])
		}
	}
	if m := regexp.MustCompile(`Cost: (\$[0-9.]+) per billion requests, (\$[0-9.]+) before`).FindStringSubmatch(text); m != nil {
		c.add(output, "cost", labels[0], "", m[2])
		c.add(output, "cost", labels[1], "", m[1])
	}
	for _, m := range regexp.MustCompile(`(peak throughput|CPU per request) ([0-9.]+%) (higher|lower)`).FindAllStringSubmatch(text, -1) {
		c.add(output, "change of "+m[1], "", "", map[string]string{"higher": "+", "lower": "−"}[m[3]]+m[2])
	}
}

// inExports are the names that exports have for a label, with their unit in that of CSV.
var inExports = map[string]map[string]float64{
	"throughput":  {"throughput": 1, "locbench_step_throughput": 1},
	"p50":         {"p50_ns": 1, "locbench_step_latency_seconds 0.5": 1e9, "0.500000000000": 1e6, "hlog p50": 1},
	"p99":         {"p99_ns": 1, "locbench_step_latency_seconds 0.99": 1e9, "hlog p99": 1},
	"CPU":         {"cpu_per_request_ns": 1, "locbench_step_cpu_seconds_per_request": 1e9},
	"peak memory": {"memory_peak_bytes": 1, "locbench_step_memory_peak_bytes": 1},
	"start-up":    {"start_up_ns": 1, "locbench_trial_start_up_seconds": 1e9},
}

// exports adds the values of each round and step in all exports, and those of all rounds as a reader of
// CSV and histograms gets them.
func (c collected) exports(t *testing.T, run bench.Run, trials []bench.TrialResult) {
	rounds, merged, seen := map[placed][]float64{}, map[placed][]bench.Latencies{}, map[string]int{}
	number := func(v any) float64 { return testenv.Must(strconv.ParseFloat(fmt.Sprint(v), 64))(t) }
	connections := func(step int) string { return fmt.Sprint(4<<(2*step), " connections") }
	for _, format := range []string{"csv", "json", "prometheus", "hgrm", "hlog"} {
		add := func(contender string, round, step int, name string, value any) {
			for label, names := range inExports {
				unit, ok := names[name]
				if !ok {
					continue
				}
				v := number(value) * unit
				c.add(format, label, contender, fmt.Sprint("round ", round, ", step ", step), fmt.Sprintf("%.1f", v))
				if seen[name]++; format == "csv" {
					of := placed{label, contender, connections(step)}
					rounds[of] = append(rounds[of], v)
				}
			}
		}
		flat := func(row map[string]any) {
			for name, v := range row {
				add(fmt.Sprint(row["contender"]), int(number(row["round"])), int(number(row["step"])), name, v)
			}
		}
		for _, f := range testenv.Must(testenv.Must(export.Lookup(format))(t).Files(run, trials, export.Options{}))(t) {
			var b bytes.Buffer
			testenv.OK(t, f.Write(&b))
			contender, rest, _ := strings.Cut(f.Name, "-")
			parts := strings.Split(rest, ".") // round, step
			switch format {
			case "csv":
				all := testenv.Must(csv.NewReader(&b).ReadAll())(t)
				for _, cells := range all[1:] {
					row := map[string]any{}
					for i, name := range all[0] {
						row[name] = cells[i]
					}
					flat(row)
				}
			case "json":
				var all []map[string]any
				testenv.OK(t, json.Unmarshal(b.Bytes(), &all))
				for _, row := range all {
					flat(row)
				}
			case "prometheus":
				for _, line := range regexp.MustCompile(`(?m)^(\w+){(.*)} (\S+)$`).FindAllStringSubmatch(b.String(), -1) {
					of := map[string]string{}
					for _, pair := range regexp.MustCompile(`(\w+)="(.*?)"`).FindAllStringSubmatch(line[2], -1) {
						of[pair[1]] = pair[2]
					}
					add(of["contender"], int(number(of["round"])), int(number(of["step"])), strings.TrimSpace(line[1]+" "+of["quantile"]), line[3])
				}
			case "hgrm":
				for _, line := range regexp.MustCompile(`(?m)^ *(\S+) (0\.\d+) `).FindAllStringSubmatch(b.String(), -1) {
					step, _, _ := strings.Cut(parts[1], "-")
					add(contender, int(number(parts[0])), int(number(step))-1, line[2], line[1])
				}
			case "hlog":
				i := slices.IndexFunc(trials, func(l bench.TrialResult) bool { return l.Trial.String()+".hlog" == f.Name })
				for step, line := range regexp.MustCompile(`(?m)^\d.*,(.*)$`).FindAllStringSubmatch(b.String(), -1) {
					l := trials[i].Steps[step].Load.Latency // which are counted in no other way
					l.HDR = line[1]
					add(contender, int(number(parts[0])), step, "hlog p50", testenv.Must(hdr.Decode(l))(t).Quantile(.5).Nanoseconds())
					add(contender, int(number(parts[0])), step, "hlog p99", testenv.Must(hdr.Decode(l))(t).Quantile(.99).Nanoseconds())
					of := placed{"", contender, connections(step)}
					merged[of] = append(merged[of], l)
				}
			}
		}
	}
	for label, names := range inExports {
		for name := range names {
			testenv.Equal(t, seen[name]%(3*len(trials)), 0, "values of "+name)
			testenv.Check(t, seen[name] > 0, "no export has %s of %s", name, label)
		}
	}
	for of, values := range rounds {
		median, _ := stats.Median(values)
		switch of.label {
		case "throughput":
			c.add("csv, all rounds", of.label, of.contender, of.at, measure.PerSecond.Cell(median))
		case "CPU":
			c.add("csv, all rounds", of.label, of.contender, of.at, measure.Nanoseconds.Cell(median))
		case "start-up":
			c.add("csv, all rounds", of.label, of.contender, "", measure.Nanoseconds.Cell(median))
		case "peak memory":
			c.add("csv, all rounds", of.label, of.contender, "", measure.Bytes.Cell(slices.Max(values)))
		}
	}
	for of, all := range merged {
		h := testenv.Must(hdr.Merge(all...))(t)
		for label, q := range map[string]float64{"p50": .5, "p99": .99} {
			c.add("hlog, all rounds", label, of.contender, of.at, measure.Nanoseconds.Cell(float64(h.Quantile(q))))
		}
	}
}

// A label has one value: for a contender and a step it is the same in all outputs.
func TestOutputs_OneValue(t *testing.T) {
	cpu := 5 * time.Millisecond
	for name, all := range map[string][]sided{
		"two":        {{"a", 10, cpu, nil}, {"bb", 8, 7 * time.Millisecond, nil}},
		"other peak": {{"a", 10, cpu, nil}, {"bb", 8, cpu, func(t *bench.TrialResult) { t.Steps[1].Load.Succeeded /= 2 }}},
		"three":      {{"a", 10, cpu, nil}, {"bb", 8, cpu, nil}, {"c", 5, cpu, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			var trials []bench.TrialResult
			var labels []string
			for _, one := range all {
				trials, labels = append(trials, one.rounds(6)...), append(labels, one.label)
			}
			run := benchtest.Run(trials...)
			o, found := outputsOf(t, run, trials), collected{}
			var steps bytes.Buffer
			testenv.OK(t, plain.End(&steps, analysis.Of(run, trials), nil, 0, false))
			for output, text := range map[string]string{"text": steps.String(), "summary.md": o.summary, "dashboard": o.dashboard,
				"compare": o.comparison, "comment": o.comment, "report": o.page} {
				tables, before := grids(text), len(found)
				if output == "report" {
					tables = pageGrids(text)
				}
				values := collected{}
				values.walk(output, tables, labels, labels[:2])
				values.sentences(output, text, labels)
				for key, by := range values {
					for value, seen := range by {
						for range seen {
							found.add(output, key.label, key.contender, key.at, value)
						}
					}
				}
				testenv.Check(t, len(values) >= 8, "%s: only %d values were found, %d before", output, len(values), before)
			}
			found.exports(t, run, trials)
			several := 0
			for key, by := range found {
				outputs := 0
				for _, seen := range by {
					outputs += len(seen)
				}
				if several += min(1, outputs/2); len(by) > 1 {
					t.Errorf("%+v has several values: %v", key, by)
				}
			}
			testenv.Check(t, several >= 100, "only %d values are in several outputs", several)
		})
	}
}
