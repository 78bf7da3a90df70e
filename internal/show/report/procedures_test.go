package report

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
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
		Load: bench.Load{Elapsed: 10 * time.Second, Counts: bench.Counts{Sent: succeeded, Scheduled: succeeded}, Outcomes: bench.Outcomes{Succeeded: succeeded}, InFlight: inFlight},
	}
}

func TestArrivals(t *testing.T) {
	step := bench.StepResult{
		Step: bench.Step{Name: "4000 users over 5s", Arrivals: &bench.Arrivals{Users: 4000, Over: 5 * time.Second, Requests: 2}, Duration: time.Minute},
		Load: bench.Load{
			Elapsed: 8200 * time.Millisecond, Counts: bench.Counts{Scheduled: 8000, Sent: 8000}, Outcomes: bench.Outcomes{Succeeded: 7990, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 10}},
			LatencyOf: bench.FromScheduled, Latency: fixtureLatencies(40*time.Millisecond, 7990),
		},
	}
	run := bench.Run{Schema: bench.SchemaVersion, Profile: bench.Profile{Name: "burst", Rounds: 1, Contenders: []bench.Selection{{Contender: "a"}}, Steps: []bench.Step{step.Step}}}
	md := markdown(t, run, []bench.TrialResult{procedureTrial("a", 1, step), procedureTrial("late", 1)})
	got := md
	for _, want := range []string{
		"| 4,000 users over 5.00 s | ", "| throughput | 974/s | – |", // 7990 / 8.2 s, not / 9 s
		"| error rate | 0.125% (timeout 10) |", "from the scheduled time",
	} {
		testenv.Contains(t, got, want)
	}
}

// Each request of a mix has its own row, with the rounds' histograms merged.
func TestBreakdown(t *testing.T) {
	step := func(n int64, d time.Duration) bench.StepResult {
		return bench.StepResult{
			Step: bench.Step{Name: "8 connections", Connections: 8, Duration: time.Second},
			Load: bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: 2 * n}, Latency: fixtureLatencies(d, 2*n), Requests: []bench.RequestLoad{
				{Name: "get", Outcomes: bench.Outcomes{Succeeded: n}, Latency: fixtureLatencies(d, n)},
				{Name: "search", Outcomes: bench.Outcomes{Succeeded: n, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: n}}, Latency: fixtureLatencies(4*d, n)},
			}},
		}
	}
	trials := []bench.TrialResult{procedureTrial("a", 1, step(100, time.Millisecond)), procedureTrial("a", 2, step(300, time.Millisecond))}
	run := bench.Run{Schema: bench.SchemaVersion, Profile: bench.Profile{Name: "mix", Rounds: 2, Contenders: []bench.Selection{{Contender: "a"}}, Steps: []bench.Step{trials[0].Steps[0].Step}}}
	p := sectionOf(run, trials, "requests")
	testenv.Need(t, len(p.Rows) == 2, "%+v", p)
	get, search := p.Rows[0].Cells, p.Rows[1].Cells
	if get[1].Text != "get" || get[3].Text != "400" || search[3].Text != "400" || search[4].Text != units.Share(.5) || search[4].Small[0] != "unexpected body 400" || get[5].Text == search[5].Text {
		t.Errorf("%+v", p.Rows)
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
	html := string(render(t, run, []bench.TrialResult{trial}))
	testenv.Contains(t, html, `<section id="bottlenecks">`, `<th scope="col" class="left">Step</th>`,
		"quota<small>98% of 1.5 CPUs, 61 of 100 periods throttled")
}

// coldRun returns two trials of procedure C. In the second one, the first request and those on new
// connections fail.
func coldRun() (bench.Run, []bench.TrialResult) {
	ms := time.Millisecond
	request := func(isNew bool, connect, wait time.Duration) bench.RequestPhases {
		return bench.RequestPhases{New: isNew, Connect: connect, Send: ms, FirstByte: wait, Receive: ms, Total: connect + wait + 2*ms, Status: 200}
	}
	h := hdr.New()
	for i := range 100 {
		h.Record(time.Duration(i+1) * 10 * time.Microsecond)
	}
	step := bench.StepResult{
		Step: bench.Step{Name: "2 connections", Connections: 2, Duration: 2 * time.Second},
		Load: bench.Load{Elapsed: 2 * time.Second, Counts: bench.Counts{Sent: 100, Scheduled: 100}, Outcomes: bench.Outcomes{Succeeded: 100, Bytes: 2 << 20}, Latency: h.Latencies(), Windows: []bench.Window{
			{Length: time.Second, Succeeded: 40}, {Length: time.Second, Succeeded: 60},
		}},
	}
	a := procedureTrial("a", 1, step)
	a.FirstRequests = &bench.FirstRequests{
		Request: "get", First: request(true, 2*ms, 100*ms), Kept: []bench.RequestPhases{request(false, 0, 5*ms), request(false, 0, 3*ms)},
		New: []bench.RequestPhases{request(true, ms, 4*ms)},
	}
	b := procedureTrial("b", 1, step)
	b.FirstRequests = &bench.FirstRequests{
		Request: "get", First: bench.RequestPhases{New: true, Total: ms, Err: "<script>reset"}, Kept: []bench.RequestPhases{request(false, 0, 7*ms)},
		New: []bench.RequestPhases{{Err: "refused"}, {Err: "refused"}},
	}
	run := bench.Run{Schema: bench.SchemaVersion, Profile: bench.Profile{Name: "cold-warm", Rounds: 1, Contenders: []bench.Selection{{Contender: "a"}, {Contender: "b"}}, Steps: []bench.Step{step.Step}}}
	return run, []bench.TrialResult{a, b}
}

func TestColdAndWarm(t *testing.T) {
	run, trials := coldRun()
	md := markdown(t, run, trials)
	got := md
	testenv.Contains(t, got, "## First requests by phase",
		"| a-1 | first (cold) | – | 2.00 ms | – | 1.00 ms | 100 ms | 1.00 ms | 104 ms |",
		"| a-1 | later (median of 2) | – | – | – | 1.00 ms | 3.00 ms | 1.00 ms | 5.00 ms |",
		"| a-1 | new connection (median of 1) | – | 1.00 ms | – | 1.00 ms | 4.00 ms | 1.00 ms | 7.00 ms |",
		"| b-1 | first (&lt;script&gt;reset) | – | – | – | – | – | – | 1.00 ms |",
		"| b-1 | new connection (2 failed) | – | – | – | – | – | – | – |")
	html := string(render(t, run, trials))
	testenv.Contains(t, html, `<section id="phases">`, "!<script>reset")
}
