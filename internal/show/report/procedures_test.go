package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func procedureTrial(name string, round int, steps ...bench.StepResult) bench.TrialResult {
	up := 20 * time.Millisecond
	for i := range steps {
		steps[i].Index = i
	}
	return bench.TrialResult{
		Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: name, Round: round}, State: bench.TrialComplete, StartUp: &up, Steps: steps,
		Artifact: bench.Artifact{ImageSize: 5 << 20, BuildTime: 3 * time.Second},
	}
}

func oneRequest(request string, succeeded int64, inFlight float64) bench.StepResult {
	return bench.StepResult{
		Step: bench.Step{Name: "2000 connections, " + request, Connections: 2000, Request: request, Duration: 10 * time.Second},
		Load: bench.Load{Elapsed: 10 * time.Second, Sent: succeeded, Scheduled: succeeded, Succeeded: succeeded, InFlight: inFlight},
	}
}

// The matrix has a column for each request, and requests in flight next to the throughput.
func TestMatrix(t *testing.T) {
	run := bench.Run{Schema: bench.SchemaVersion, Profile: bench.Profile{Name: "delay-matrix", Rounds: 3, Contenders: []bench.Selection{{Contender: "a"}, {Contender: "b"}}}}
	var trials []bench.TrialResult
	for round, n := range []int64{80_000, 60_000, 70_000} {
		trials = append(trials, procedureTrial("a", round+1, oneRequest("0 ms", n, 1990), oneRequest("500 ms", 39_000, 1975)))
	}
	failing := oneRequest("0 ms", 1000, 12)
	failing.Load.Failed = map[bench.ErrorKind]int64{bench.ErrReset: 1000}
	trials = append(trials, procedureTrial("b", 1, failing))
	for _, s := range trials[0].Steps {
		run.Profile.Steps = append(run.Profile.Steps, s.Step)
	}
	var html, md bytes.Buffer
	testenv.OK(t, HTML(&html, analysis.Of(run, trials), Options{}))
	testenv.OK(t, Markdown(&md, analysis.Of(run, trials), Options{}))
	testenv.Contains(t, strings.ReplaceAll(md.String(), nbsp, " "), "## Throughput by request, 2,000 connections",
		"| Contender | 0 ms | 500 ms |",
		"| a | 7,000/s (6,000 to 8,000, 1,990 in flight) | 3,900/s (3,900 to 3,900, 1,975 in flight) |",
		"| b | 100/s (12.0 in flight, 50.0% errors) | – |")
	testenv.Contains(t, html.String(), `<section id="matrix">`, `"name":"request"`, `"0 ms","500 ms"`)
}

// With one request in all steps there is no matrix.
func TestNoMatrix(t *testing.T) {
	trial := procedureTrial("a", 1, oneRequest("0 ms", 1, 1), oneRequest("0 ms", 1, 1))
	for _, p := range procedures(newLayout(analysis.Of(bench.Run{}, []bench.TrialResult{trial}))) {
		testenv.Check(t, p.ID != "matrix", "%+v", p)
	}
}

func TestArrivals(t *testing.T) {
	step := bench.StepResult{
		Step: bench.Step{Name: "4000 users over 5s", Arrivals: &bench.Arrivals{Users: 4000, Over: 5 * time.Second, Requests: 2}, Duration: time.Minute},
		Load: bench.Load{
			Elapsed: 8200 * time.Millisecond, Scheduled: 8000, Sent: 8000, Succeeded: 7990, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 10},
			LatencyOf: bench.FromScheduled, Latency: fixtureLatencies(40*time.Millisecond, 7990),
		},
	}
	run := bench.Run{Schema: bench.SchemaVersion, Profile: bench.Profile{Name: "burst", Rounds: 1, Contenders: []bench.Selection{{Contender: "a"}}, Steps: []bench.Step{step.Step}}}
	var md bytes.Buffer
	testenv.OK(t, Markdown(&md, analysis.Of(run, []bench.TrialResult{procedureTrial("a", 1, step), procedureTrial("late", 1)}), Options{}))
	got := strings.ReplaceAll(md.String(), nbsp, " ")
	for _, want := range []string{
		"## 4,000 users over 5.00 s", "| a | 7,990 | 10 (timeout 10) | 27.2 ms |", "974/s | 20.0 ms | 3.00 s | 5.00 MiB |", // 7990 / 8.2 s, not / 9 s
		"| late | – | – |", "2 requests each", "from the scheduled time",
	} {
		testenv.Contains(t, got, want)
	}
}

// Each request of a mix has its own row, with the rounds' histograms merged.
func TestBreakdown(t *testing.T) {
	step := func(n int64, d time.Duration) bench.StepResult {
		return bench.StepResult{
			Step: bench.Step{Name: "8 connections", Connections: 8, Duration: time.Second},
			Load: bench.Load{Elapsed: time.Second, Succeeded: 2 * n, Latency: fixtureLatencies(d, 2*n), Requests: []bench.RequestLoad{
				{Name: "get", Succeeded: n, Latency: fixtureLatencies(d, n)},
				{Name: "search", Succeeded: n, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: n}, Latency: fixtureLatencies(4*d, n)},
			}},
		}
	}
	trials := []bench.TrialResult{procedureTrial("a", 1, step(100, time.Millisecond)), procedureTrial("a", 2, step(300, time.Millisecond))}
	run := bench.Run{Schema: bench.SchemaVersion, Profile: bench.Profile{Name: "mix", Rounds: 2, Contenders: []bench.Selection{{Contender: "a"}}, Steps: []bench.Step{trials[0].Steps[0].Step}}}
	l := newLayout(analysis.Of(run, trials))
	p, ok := breakdown(l)
	testenv.Need(t, ok && len(p.Table.Rows) == 2, "%+v", p)
	get, search := p.Table.Rows[0].Cells, p.Table.Rows[1].Cells
	if get[0].Main != "get" || get[2].Main != "400" || search[2].Main != "400" || search[3].Main != percent(.5) || search[3].Small[0] != "unexpected body 400" || get[4].Main == search[4].Main {
		t.Errorf("%+v", p.Table.Rows)
	}
}

// The page reports the bottleneck of each step and contender, and at peak.
func TestBounds(t *testing.T) {
	one := oneRequest("0 ms", 80_000, 8)
	one.Before = &bench.Usage{Throttling: &bench.Throttling{}}
	one.After = &bench.Usage{CPU: 14700 * time.Millisecond, Throttling: &bench.Throttling{Periods: 100, Throttled: 61, Time: 4100 * time.Millisecond}}
	trial := procedureTrial("a", 1, one)
	trial.Instance = &bench.InstanceInfo{PID: 1, LimitsEnforced: true, Limits: bench.Limits{CPUs: 1.5}}
	run := bench.Run{Schema: bench.SchemaVersion, Machine: bench.Machine{CPUs: 4}, Profile: bench.Profile{Name: "q", Rounds: 1, Contenders: []bench.Selection{{Contender: "a"}}, Steps: []bench.Step{one.Step}}}
	var html bytes.Buffer
	testenv.OK(t, HTML(&html, analysis.Of(run, []bench.TrialResult{trial}), Options{}))
	testenv.Contains(t, html.String(), `<section id="bottlenecks">`, `<th scope="col">Step</th>`,
		"<small>bound by quota</small>", "98% of 1.5 CPUs, 61 of 100 periods throttled")
}
