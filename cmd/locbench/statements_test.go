//go:build unix

package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/results"
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
				each := time.Duration(float64(int(4)<<k) * float64(time.Millisecond) / c.speed / by / by)
				s.Load.Requests = append(s.Load.Requests, bench.RequestLoad{Name: kind, Succeeded: successes / 2, Latency: benchtest.Latencies(successes/2, each)})
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
	refused := func(t *bench.TrialResult) {
		for i := range t.Steps {
			l := &t.Steps[i].Load
			*l = bench.Load{Definition: l.Definition, Started: l.Started, Elapsed: l.Elapsed, Sent: 9, Failed: map[bench.ErrorKind]int64{bench.ErrRefused: 9}}
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
		"nothing in one":         {6, []sided{same("a"), {"b", 10, cpu, refused}}, nil, "b: every request failed: 162 × connection refused"},
		"nothing in both":        {6, []sided{{"a", 10, cpu, refused}, {"b", 10, cpu, refused}}, nil, "a and b: every request failed"},
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
