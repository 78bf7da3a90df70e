package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/testenv"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func usage(cpu time.Duration, throttled int64) *bench.Usage {
	return &bench.Usage{
		At: start, Source: "cgroup v1", CPU: cpu,
		Throttling: &bench.Throttling{Periods: 10 * throttled, Throttled: throttled, Time: cpu},
		Memory:     &bench.Memory{Used: 40 << 20, Peak: 61 << 20, PeakSource: "max_usage"},
	}
}

func stepResult(index, connections int, succeeded int64, warmUp bool) bench.StepResult {
	return bench.StepResult{
		Index: index, Step: bench.Step{Name: units.Plural(connections, "connection"), Connections: connections, WarmUp: warmUp, Duration: 10 * time.Second},
		Before: usage(time.Duration(index)*10*time.Second, int64(index)*5),
		After:  usage(time.Duration(index+1)*10*time.Second, int64(index+1)*5),
		Load: bench.Load{
			Outcomes: bench.Outcomes{Succeeded: succeeded}, Elapsed: 10 * time.Second,
			Latency: bench.Latencies{Count: succeeded, P50: 348 * time.Microsecond, P90: 900 * time.Microsecond, P99: 6210 * time.Microsecond, Max: 1234 * time.Millisecond},
		},
	}
}

// recorded returns a short run of two trials: one completes, the other one dies with hostile words.
func recorded() (records []bench.Record, run bench.Run, trials []bench.TrialResult) {
	profile := bench.Profile{
		Name: "tiny", Rounds: 1, PriceVCPUHr: 0.0275,
		Contenders: []bench.Selection{{Contender: "rs-actix", Variant: "lto"}, {Contender: "kt-ktor"}},
		Steps:      []bench.Step{{Name: "1 connection", Connections: 1, WarmUp: true, Duration: 10 * time.Second}, {Name: "64 connections", Connections: 64, Duration: 10 * time.Second}},
	}
	good, bad := bench.Trial{Contender: "rs-actix", Variant: "lto", Round: 1}, bench.Trial{Contender: "kt-ktor", Round: 1}
	run = bench.Run{ID: "r", Profile: profile, Trials: []bench.TrialEntry{{Trial: good}, {Trial: bad}}}
	at := start
	add := func(after time.Duration, trial *bench.Trial, e bench.Event) {
		at = at.Add(after)
		records = append(records, bench.Record{Seq: int64(len(records) + 1), At: at, Trial: trial, Event: e})
	}
	second := time.Second
	add(0, nil, bench.RunStarted{Run: run, Dir: "results/x"})
	add(0, nil, bench.PhaseStarted{Phase: bench.PhaseSeed})
	add(second, nil, bench.Progress{Phase: bench.PhaseSeed, Done: 500, Total: 1000, Unit: "documents"})
	add(second, nil, bench.PhaseEnded{Phase: bench.PhaseSeed, Took: 2 * second, Note: "bundled data, 1,000 documents"})
	add(0, &good, bench.TrialStarted{Number: 1, Of: 2})
	add(0, &good, bench.InstanceStarted{Info: bench.InstanceInfo{Runtime: bench.RuntimeDocker, Limits: bench.Limits{CPUs: 1.5, Memory: 512 << 20}, LimitsEnforced: true, CPUSet: cpuset.UpTo(4)}})
	add(0, &good, bench.InstanceReady{StartUp: 6210 * time.Microsecond, FirstResponse: &bench.FirstResponse{After: 960 * time.Microsecond, Status: 503}})
	add(0, &good, bench.MarkRead{Mark: bench.Mark{Name: "after start-up", Usage: *usage(time.Second, 0)}})
	add(0, &good, bench.PhaseStarted{Phase: bench.PhaseCheck})
	add(0, &good, bench.CheckDone{Check: bench.CheckResult{Group: "get", Name: "a city", Status: bench.CheckPassed}})
	add(0, &good, bench.CheckDone{Check: bench.CheckResult{Group: "orders", Name: "an order", Status: bench.CheckSkipped}})
	add(second, &good, bench.PhaseEnded{Phase: bench.PhaseCheck, Took: second, Note: "responses"})
	add(0, &good, bench.StepStarted{Index: 0, Of: 2, Step: profile.Steps[0]})
	add(second, &good, bench.WindowClosed{Index: 0, Window: bench.Window{Length: second, Succeeded: 5000, P50: 190 * time.Microsecond, P99: second / 1000}})
	warm := stepResult(0, 1, 52000, true)
	warm.After.Threads = new(4)
	add(9*second, &good, bench.StepEnded{Result: warm})
	some := stepResult(1, 64, 234567, false)
	some.Load.Sent, some.Load.SentAgain, some.Load.Reconnects, some.Load.Drain, some.Load.DrainMax = 234_800, 22, 64, 64, 5990*time.Millisecond
	add(10*second, &good, bench.StepEnded{Result: some})
	add(0, &good, bench.InstanceStopped{Stop: bench.StopResult{Graceful: true, Took: 20 * time.Millisecond}})
	add(0, &good, bench.TrialEnded{State: bench.TrialComplete})
	add(0, &bad, bench.TrialStarted{Number: 2, Of: 2})
	add(0, &bad, bench.Notice{Level: "warning", Text: "LIMITS NOT ENFORCED: not root"})
	add(0, &bad, bench.CheckDone{Check: bench.CheckResult{Group: "get", Name: "an unknown city", Status: bench.CheckFailed, Detail: "expected status 404, got 200 \x1b[2J"}})
	dead := stepResult(0, 1, 0, true)
	dead.Load.Failed = map[bench.ErrorKind]int64{bench.ErrReset: 12}
	dead.Load.Examples = map[bench.ErrorKind]string{bench.ErrReset: "read: connection reset by \x1b[1mpeer"}
	dead.Load.Latency = bench.Latencies{}
	dead.Before, dead.After, dead.Aborted = nil, nil, "the contender died: killed by SIGKILL (out of memory)"
	add(10*second, &bad, bench.StepEnded{Result: dead})
	add(0, &bad, bench.TrialEnded{State: bench.TrialFailed, Failure: "the contender died: killed by SIGKILL (out of memory)", LastLog: []bench.LogLine{{Text: "\x1b]0;owned\x07Killed"}}})
	add(0, nil, bench.RunEnded{State: bench.RunFailed})

	folded := map[bench.Trial]*bench.TrialResult{good: {Trial: good}, bad: {Trial: bad}}
	for _, r := range records {
		if r.Trial != nil {
			folded[*r.Trial].Apply(r.At, r.Event)
		}
	}
	return records, run, []bench.TrialResult{*folded[good], *folded[bad]}
}

func TestInAPipe(t *testing.T) {
	var out, talk bytes.Buffer
	p := New(Options{Out: &out, Talk: &talk})
	records, _, _ := recorded()
	for _, r := range records {
		p.Handle(r)
	}
	testenv.Golden(t, "testdata/pipe.txt", talk.String())
	testenv.Check(t, out.Len() <= 0, "data before the end: %q", out.String())
	testenv.Check(t, !strings.ContainsAny(talk.String(), "\x1b\r\x07"), "control characters in a pipe")
}

func TestOnATerminal(t *testing.T) {
	var talk bytes.Buffer
	p := New(Options{Out: new(bytes.Buffer), Talk: &talk, Live: true, Width: 60, Color: true})
	records, _, _ := recorded()
	for _, r := range records {
		p.Handle(r)
	}
	testenv.Golden(t, "testdata/terminal.txt", strings.ReplaceAll(strings.ReplaceAll(talk.String(), "\x1b", "ESC"), "\r", "CR"))
	for _, line := range strings.Split(talk.String(), "\n") {
		for _, status := range strings.Split(line, "\r\x1b[K")[1:] {
			if !strings.Contains(status, "\x1b") && len([]rune(status)) >= 60 && strings.Contains(status, "left") {
				t.Errorf("status line of %d columns wraps at 60: %q", len([]rune(status)), status)
			}
		}
	}
	testenv.Check(t, !strings.Contains(talk.String(), "\x1b]0;") && !strings.Contains(talk.String(), "\x1b[2J"),
		"an escape sequence from outside reached the terminal")
}

func TestJSONLines(t *testing.T) {
	var out, talk bytes.Buffer
	p := New(Options{Out: &out, Talk: &talk, JSON: true})
	records, _, _ := recorded()
	for _, r := range records {
		p.Handle(r)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	testenv.Need(t, len(lines) == len(records), "%d lines for %d events", len(lines), len(records))
	for i, line := range lines {
		var r bench.Record
		err := json.Unmarshal([]byte(line), &r)
		testenv.Check(t, err == nil && r.Seq == int64(i+1), "line %d: %v: %s", i+1, err, line)
	}
	testenv.Check(t, strings.Contains(talk.String(), "LIMITS NOT ENFORCED"), "a warning is not reported")
}

func TestEnd_Failures(t *testing.T) {
	_, run, trials := recorded()
	for name, width := range map[string]int{"failures": 0, "failures-80": 80} {
		var b bytes.Buffer
		testenv.OK(t, whole(&b, analysis.Of(run, trials), width))
		testenv.Golden(t, "testdata/end-"+name+".txt", b.String())
	}
}

// The failure of a trial is printed once, also if it is the error of a phase.
func TestFailureIsPrintedOnce(t *testing.T) {
	trial := &bench.Trial{Contender: "a", Round: 1}
	for _, c := range []struct {
		name, phase, failure string
		want                 int
	}{
		{"error of a phase", "not ready\nafter 30s", "not ready; after 30s", 0},
		{"another error", "not ready", "interrupted", 1},
		{"no phase failed", "", "interrupted", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var talk bytes.Buffer
			p := New(Options{Talk: &talk})
			p.Handle(bench.Record{Trial: trial, Event: bench.TrialStarted{}})
			p.Handle(bench.Record{Trial: trial, Event: bench.PhaseEnded{Phase: bench.PhaseReady, Err: c.phase}})
			p.Handle(bench.Record{Trial: trial, Event: bench.TrialEnded{State: bench.TrialFailed, Failure: c.failure}})
			testenv.Equal(t, strings.Count(talk.String(), "\n  failed: "), c.want, talk.String())
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestBrokenPipeIsReported(t *testing.T) {
	p := New(Options{Out: brokenPipe{}, Talk: new(bytes.Buffer), JSON: true})
	p.Handle(bench.Record{Event: bench.Notice{}})
	testenv.Check(t, p.Err() != nil, "no error")
}

// With interleaving, each block of lines has a heading with its contender.
func TestInterleaving(t *testing.T) {
	records, _, _ := recorded()
	var good, bad []bench.Record
	for _, r := range records {
		switch {
		case r.Trial == nil:
		case r.Trial.Contender == "kt-ktor":
			bad = append(bad, r)
		default:
			good = append(good, r)
		}
	}
	var out, talk bytes.Buffer
	p := New(Options{Out: &out, Talk: &talk})
	p.Handle(records[0])
	for i := range max(len(good), len(bad)) {
		for _, list := range [][]bench.Record{good, bad} {
			if i < len(list) {
				p.Handle(list[i])
			}
		}
	}
	testenv.Golden(t, "testdata/interleave.txt", talk.String())
}

// A step that was still warming up is reported when it ends and in the tables; the time to peak is
// next to the start-up.
func TestWarmUpIsReported(t *testing.T) {
	records, run, trials := recorded()
	began := trials[0].Started
	trial := &trials[0]
	trial.Instance.StartedAt = began
	trial.Instance.Runtime = bench.RuntimeDocker
	for i := range trial.Steps {
		trial.Steps[i].Load.Started = began.Add(4 * time.Second)
		trial.Steps[i].Load.Windows = nil
		for at := range 12 {
			trial.Steps[i].Load.Windows = append(trial.Steps[i].Load.Windows, bench.Window{Start: time.Duration(at) * time.Second, Length: time.Second, Succeeded: []int64{500, 1000}[at/6]})
		}
	}
	last := len(trial.Steps) - 1
	trial.Steps[last].Drift = &bench.Drift{Throughput: &bench.Trend{Change: .12, P: .001}}
	var table, talk bytes.Buffer
	testenv.OK(t, whole(&table, analysis.Of(run, trials), 0))
	p := New(Options{Out: new(bytes.Buffer), Talk: &talk})
	for _, r := range records {
		if r.Trial != nil && *r.Trial == trial.Trial {
			switch e := r.Event.(type) {
			case bench.InstanceStarted:
				e.Info = *trial.Instance
				r.Event = e
			case bench.StepEnded:
				e.Result = trial.Steps[e.Result.Index]
				r.Event = e
			}
		}
		p.Handle(r)
	}
	for _, want := range []string{"64 connections (still warming up)", "; still warming up: throughput rose by 13% over the step"} {
		testenv.Check(t, strings.Contains(table.String(), want), "the table lacks %q:\n%s", want, table.String())
	}
	for _, want := range []string{"warning: still warming up: throughput rose by 13% over the step\n", "  to peak  10.0 s from process start to within 3% of 1,000/s (1 connection)\n"} {
		testenv.Check(t, strings.Contains(talk.String(), want), "the talk lacks %q:\n%s", want, talk.String())
	}
}

// loadedBy makes the steps of all trials, in events and results, have these loops in turn.
func loadedBy(loops ...string) string {
	records, _, _ := recorded()
	n := 0
	var out bytes.Buffer
	p := New(Options{Talk: &out})
	for _, r := range records {
		if e, ok := r.Event.(bench.StepEnded); ok {
			e.Result.Load.Loop = loops[n%len(loops)]
			r.Event = e
			n++
		}
		p.Handle(r)
	}
	return out.String()
}

// The load engine is named once, and again where it changes.
func TestLoadEngineIsNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		loops []string
		said  []string // by the lines about it, in order
	}{
		{"not known", []string{""}, nil},
		{"one", []string{"io_uring", "epoll"}, []string{"fast"}},
		{"several", []string{"epoll", "vegeta", "vegeta"}, []string{"fast", "vegeta"}},
		{"from outside", []string{"\x1b]0;x"}, nil},
	} {
		talk := loadedBy(c.loops...)
		var said []string
		for line := range strings.Lines(talk) {
			if engine, ok := strings.CutPrefix(line, "  engine   "); ok {
				said = append(said, strings.TrimSpace(engine))
			}
		}
		testenv.Check(t, strings.Join(said, " ") == strings.Join(c.said, " "), "%s: %q, want %q", c.name, said, c.said)
	}
}

func TestRequestsTimed(t *testing.T) {
	var talk bytes.Buffer
	p := New(Options{Talk: &talk})
	ms := time.Millisecond
	p.Handle(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1}, Event: bench.RequestsTimed{FirstRequests: bench.FirstRequests{
		First: bench.RequestPhases{New: true, Name: ms, Connect: 2 * ms, TLS: 3 * ms, Send: 4 * ms, FirstByte: 5 * ms, Receive: 6 * ms, Total: 21 * ms},
		Kept:  []bench.RequestPhases{{Send: ms, FirstByte: ms, Total: 2 * ms}, {FirstByte: ms, Total: ms, Err: "\x1b[2Jreset"}, {Send: ms, FirstByte: 2 * ms, Total: 3 * ms}},
		New:   []bench.RequestPhases{{Connect: ms, Total: ms, Err: "refused"}},
	}}})
	want := "  request  first 21.0 ms, same connection 2.00 ms, new connection –\n"
	testenv.Check(t, talk.String() == want, "%s\nwant\n%s", talk.String(), want)
}

func TestRequestText(t *testing.T) {
	for want, r := range map[string]bench.RequestPhases{
		"–": {}, "1 ns": {Total: 1}, "failed: reset␛[2J": {Total: 1, Err: "reset\x1b[2J"},
	} {
		testenv.Equal(t, requestText(r), want)
	}
}
