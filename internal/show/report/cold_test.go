package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"
)

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
		Load: bench.Load{Elapsed: 2 * time.Second, Sent: 100, Scheduled: 100, Succeeded: 100, Bytes: 2 << 20, Latency: h.Latencies(), Windows: []bench.Window{
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
	var md bytes.Buffer
	testenv.OK(t, Markdown(&md, analysis.Of(run, trials), Options{}))
	got := strings.ReplaceAll(md.String(), nbsp, " ")
	testenv.Contains(t, got, "## First requests by phase",
		"| a-1 | first (cold) | – | 2.00 ms | – | 1.00 ms | 100 ms | 1.00 ms | 104 ms |",
		"| a-1 | later (median of 2) | – | – | – | 1.00 ms | 3.00 ms | 1.00 ms | 5.00 ms |",
		"| a-1 | new connection (median of 1) | – | 1.00 ms | – | 1.00 ms | 4.00 ms | 1.00 ms | 7.00 ms |",
		"| b-1 | first (&lt;script&gt;reset) | – | – | – | – | – | – | 1.00 ms |",
		"| b-1 | new connection (2 failed) | – | – | – | – | – | – | – |", "## Latency and rate around their means",
		"| a | 2 connections | 505 µs | 289 µs | 1.00 ms | 58.0% | 50.0 | 10.0 | 60.0 | 100% (of 2 windows) | 1.00 MiB/s |")
	var html bytes.Buffer
	testenv.OK(t, HTML(&html, analysis.Of(run, trials), Options{}))
	testenv.Contains(t, html.String(), `<section id="phases">`, `<section id="spread">`, `id="chart-phases"`,
		`"stack":"phases"`, `"a-1 first","a-1 later","a-1 new connection","b-1 first"`, "!<script>reset")
}

// Runs without timed first requests have no table and no chart of them.
func TestNoColdAndWarm(t *testing.T) {
	run, trials := coldRun()
	for i := range trials {
		trials[i].FirstRequests = nil
	}
	var html bytes.Buffer
	testenv.OK(t, HTML(&html, analysis.Of(run, trials), Options{}))
	testenv.Contains(t, html.String(), `!<section id="phases">`, `!<section id="spread">`, `!id="chart-phases"`)
}
