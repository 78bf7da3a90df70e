package export

import (
	"fmt"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// fixture returns a run of 2 contenders × 2 rounds × 3 steps. The first step is a warm-up; in the
// last one every tenth request fails. Each step keeps a seventh of its requests, and those of
// rs-actix have first requests.
func fixture() (bench.Run, []bench.TrialResult) {
	start := time.Date(2026, 3, 14, 9, 26, 53, 120_000_000, time.UTC)
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: "20260314-092653-1", State: bench.RunComplete, Started: start, Ended: start.Add(time.Minute),
		Machine: bench.Machine{OS: "linux", Arch: "amd64", CPUModel: "EPYC", CPUs: 4},
		Profile: bench.Profile{
			Name: "quick", Rounds: 2, Contenders: []bench.Selection{{Contender: "rs-actix"}, {Contender: "kt-ktor", Variant: "netty"}},
			Requests: []bench.Request{{Name: "get", Weight: 1, Method: "GET", Path: "/city/v1/get?id={id}", ExpectStatus: 200}},
			Steps:    []bench.Step{fixtureStep(0), fixtureStep(1), fixtureStep(2)},
		},
	}
	var trials []bench.TrialResult
	for round := 1; round <= 2; round++ {
		for k, c := range run.Profile.Contenders {
			trial := fixtureTrial(bench.Trial{Contender: c.Contender, Variant: c.Variant, Round: round}, k, start)
			trials = append(trials, trial)
			run.Trials = append(run.Trials, bench.TrialEntry{Trial: trial.Trial, State: trial.State, File: trial.Trial.String() + ".json"})
		}
	}
	return run, trials
}

func fixtureStep(i int) bench.Step {
	n, name := []int{1, 1, 64}[i], []string{"1 connection", "1 connection", "64 connections"}[i]
	return bench.Step{Name: name, Connections: n, WarmUp: i == 0, Duration: 3 * time.Second}
}

func fixtureTrial(id bench.Trial, k int, start time.Time) bench.TrialResult {
	startUp := time.Duration(20+1000*k)*time.Millisecond + time.Duration(id.Round)*137_731
	usage := func(cpu time.Duration) *bench.Usage {
		return &bench.Usage{At: start, Source: "cgroup v2", CPU: cpu, Throttling: &bench.Throttling{Periods: 10, Throttled: 3},
			Memory: &bench.Memory{Used: 8_331_264 + int64(cpu/1e6)*4096, Peak: 12_345_344 + int64(cpu/1e6)*4096, PeakSource: "memory.peak"}}
	}
	trial := bench.TrialResult{
		Schema: bench.SchemaVersion, Trial: id, State: bench.TrialComplete, Service: bench.Service{Name: id.Contender, Language: "Rust"},
		Artifact: bench.Artifact{ImageSize: 43_210_987}, Started: start, StartUp: &startUp,
		Marks: []bench.Mark{{Name: "after start-up", Usage: *usage(31_234_567)}, {Name: "after checks", Usage: *usage(87_654_321)}},
		Checks: []bench.CheckResult{
			{Group: "lifecycle", Name: bench.CheckImageSize, Status: bench.CheckInfo, Value: "41 MiB"},
			{Group: "get", Name: "known city", Status: bench.CheckPassed, Value: "200"},
			{Group: "get", Name: "no id", Status: bench.CheckFailed, Detail: "expected 400, got 500"},
		},
		Stop: &bench.StopResult{Took: 231_000_000, Graceful: true},
	}
	cpu := 87_654_321 * time.Nanosecond
	for i := range 3 {
		before := usage(cpu)
		cpu += time.Duration(1_100_000_007 + i*100_003)
		s := bench.StepResult{Index: i, Step: fixtureStep(i), Load: fixtureLoad(i, k, id.Round, start.Add(time.Duration(4*i)*time.Second)), Before: before, After: usage(cpu)}
		trial.Steps = append(trial.Steps, s)
	}
	if k == 0 {
		phases := func(start, total time.Duration) bench.RequestPhases {
			return bench.RequestPhases{Start: start, Send: total, Total: total, Status: 200, Bytes: 101}
		}
		trial.FirstRequests = &bench.FirstRequests{
			Request: "get", Started: start.Add(-time.Second), First: phases(0, 9*time.Millisecond),
			Kept: []bench.RequestPhases{phases(10*time.Millisecond, time.Millisecond), phases(11*time.Millisecond, 2*time.Millisecond)},
			New:  []bench.RequestPhases{{Start: 20 * time.Millisecond, Total: time.Second, Err: "timeout"}},
		}
	}
	return trial
}

func fixtureLoad(i, k, round int, start time.Time) bench.Load {
	good, late, bad := hdr.New(), hdr.New(), hdr.New()
	n := 3000 + 100*round + 7*k
	l := bench.Load{Counts: bench.Counts{Drain: 1, DrainMax: time.Duration(1+k) * time.Millisecond, Reconnects: int64(2 + k), SentAgain: int64(1 + k)}, Started: start, Elapsed: 3*time.Second + time.Duration(137*round), Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{}}}
	l.Windows = []bench.Window{{Length: time.Second}, {Start: time.Second, Length: time.Second}, {Start: 2 * time.Second, Length: time.Second + time.Duration(137*round)}}
	for j := range n {
		d := time.Duration(150_000+(j*7919)%1_000_000*(1+k)) * time.Nanosecond
		if j%40 == 0 {
			d *= 20
		}
		w := &l.Windows[j%3]
		l.Sent++
		kept := bench.KeptRequest{Request: "get", Start: l.Elapsed*time.Duration(j)/time.Duration(n) - d, Latency: d, Status: 200, Bytes: 101}
		keep := func() {
			if j%7 == 0 {
				l.Kept = append(l.Kept, kept)
			}
		}
		if i == 2 && j%10 == 0 {
			kind := []bench.ErrorKind{bench.ErrTimeout, "5xx", bench.ErrRefused}[j/10%3]
			if w.Failed == nil {
				w.Failed = map[bench.ErrorKind]int64{}
			}
			w.Failed[kind]++
			l.Failed[kind]++
			kept.Error, kept.Status, kept.Bytes = kind, 0, 0
			switch kind {
			case bench.ErrTimeout:
				kept.Latency = time.Second
				late.Record(time.Second)
			case "5xx":
				kept.Status = 503
				fallthrough
			default:
				bad.Record(d)
			}
			keep()
			continue
		}
		w.Succeeded++
		w.Bytes += 101
		l.Succeeded++
		l.Bytes += 101
		good.Record(d)
		keep()
	}
	l.Statuses = bench.Statuses{200: l.Succeeded, 503: l.Failed["5xx"]}
	for status := 201; status <= 207; status++ {
		l.Statuses[status] = int64(status)
	}
	l.KeptOf = l.Sent
	slices.SortStableFunc(l.Kept, bench.KeptRequest.Compare)
	if len(l.Failed) == 0 {
		l.Failed = nil
	}
	l.Scheduled, l.Latency, l.Timeouts, l.Failures = l.Sent, good.Latencies(), late.Latencies(), bad.Latencies()
	l.Warnings = bench.Warnings{{Text: fmt.Sprintf("warning %d", i)}}
	return l
}
