package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// round returns one trial of a contender: a warm-up step, then two steps with these rates, in which
// all responses take latency.
func round(name string, n int, startUp time.Duration, rates [2]int64, latency time.Duration) bench.TrialResult {
	trial := bench.TrialResult{
		Trial: bench.Trial{Contender: name, Round: n}, State: bench.TrialComplete, StartUp: &startUp,
		Service: bench.Service{Name: name},
		Checks:  []bench.CheckResult{{Status: bench.CheckPassed}, {Status: bench.CheckFailed}, {Status: bench.CheckPassed}},
		Steps:   []bench.StepResult{step(0, true, 1, 2, 1_000_000), step(1, false, 2, 4, rates[0]*10), step(2, false, 4, 9, rates[1]*10)},
	}
	for i := range trial.Steps {
		h := hdr.New()
		for range 100 {
			h.Record(latency)
		}
		trial.Steps[i].Load.Latency = h.Latencies()
		trial.Steps[i].Before.Throttling = &bench.Throttling{Periods: 100}
		trial.Steps[i].After.Throttling = &bench.Throttling{Periods: 200, Throttled: 25}
		trial.Steps[i].After.Memory = &bench.Memory{Used: int64(n) << 20, Peak: int64(n) << 21}
	}
	trial.Steps[2].Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 2, "5xx": 3}
	return trial
}

func TestSummarize(t *testing.T) {
	trials := []bench.TrialResult{
		round("b", 1, 30*time.Millisecond, [2]int64{100, 300}, 1*time.Millisecond),
		round("a", 1, 5*time.Millisecond, [2]int64{900, 20}, 2*time.Millisecond),
		round("b", 2, 10*time.Millisecond, [2]int64{110, 100}, 9*time.Millisecond),
		round("b", 3, 20*time.Millisecond, [2]int64{120, 200}, 3*time.Millisecond),
	}
	got := Summarize(bench.Run{}, trials)
	if len(got) != 2 || got[0].Label != "b" || got[1].Label != "a" {
		t.Fatalf("contenders: %+v", got)
	}
	b := got[0]
	if b.Trials != 3 || b.Complete != 3 || b.StartUp.Duration() != 20*time.Millisecond || b.Service.Name != "b" {
		t.Errorf("trials %d, complete %d, start-up %s", b.Trials, b.Complete, b.StartUp.Duration())
	}
	if b.StartUp.Interval != nil {
		t.Errorf("three rounds have no 95%% interval: %+v", b.StartUp.Interval)
	}
	// The warm-up step is the fastest, and does not count.
	peak, ok := b.PeakStep()
	if !ok || peak.Index != 2 || peak.Throughput.Median != 200 || !slices.Equal(peak.Throughput.Values, []float64{300, 100, 200}) {
		t.Errorf("peak %+v", peak)
	}
	if p, _ := got[1].PeakStep(); p.Index != 1 || p.Throughput.Median != 900 {
		t.Errorf("peak of a: %+v", p)
	}
	// The latencies are merged: of 1, 3 and 9 ms a third each, p50 is 3 and p99 is 9, where the
	// mean of the p99s is 4.3.
	if l := peak.Latency; l.Count != 300 || l.Min != time.Millisecond || l.P50.Round(100*time.Microsecond) != 3*time.Millisecond || l.P99 != 9*time.Millisecond {
		t.Errorf("latency %+v", l)
	}
	if peak.Succeeded != 6000 || peak.FailedTotal() != 15 || b.ErrorsTotal() != 15 || b.Errors["5xx"] != 9 {
		t.Errorf("succeeded %d, failed %v, errors %v", peak.Succeeded, peak.Failed, b.Errors)
	}
	if want := 15. / 6015; peak.ErrorRate() != want {
		t.Errorf("error rate %g, want %g", peak.ErrorRate(), want)
	}
	if b.MemoryPeak != 3<<21 || b.MemoryPeakIsSample || len(peak.Results) != 3 {
		t.Errorf("peak %d of %d rounds", b.MemoryPeak, len(peak.Results))
	}
	if b.Checks[bench.CheckPassed] != 6 || b.Checks[bench.CheckFailed] != 3 {
		t.Errorf("checks %v", b.Checks)
	}
	// Rounds had 1,004,000, 1,002,100 and 1,003,200 successes for 9 s: the third one is the median
	// by cost.
	if b.Cost == nil || b.Cost.Successes != 1_003_200 || b.Cost.Total != b.CostEach.Median {
		t.Errorf("cost %+v of %v", b.Cost, b.CostEach)
	}
}

func TestSummarizeOfSixRounds(t *testing.T) {
	var trials []bench.TrialResult
	for i := range 6 {
		trials = append(trials, round("a", i+1, time.Millisecond, [2]int64{int64(100 + i), 10}, time.Millisecond))
	}
	peak, _ := Summarize(bench.Run{Profile: bench.Profile{PriceVCPUHr: 1}}, trials)[0].PeakStep()
	if in := peak.Throughput.Interval; in == nil || in.Low != 100 || in.High != 105 || math.Abs(in.Confidence-.96875) > 1e-9 {
		t.Errorf("interval %+v", in)
	}
	if peak.Throughput.Median != 102.5 {
		t.Errorf("median %g", peak.Throughput.Median)
	}
}

func TestSummarizeOfFailures(t *testing.T) {
	died := round("a", 1, time.Millisecond, [2]int64{100, 500}, time.Millisecond)
	died.State, died.Failure = bench.TrialFailed, "killed by SIGKILL (out of memory)"
	died.Steps[2].Aborted = "the contender died"
	never := bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: 2}, State: bench.TrialFailed, Failure: "not ready after 30s"}
	sampled := round("a", 3, time.Millisecond, [2]int64{50, 10}, time.Millisecond)
	sampled.Steps[1].Samples = []bench.Usage{{Memory: &bench.Memory{Peak: 1 << 40, PeakIsSample: true}}}
	got := Summarize(bench.Run{Profile: bench.Profile{PriceVCPUHr: 1}}, []bench.TrialResult{died, never, sampled})[0]
	if got.Trials != 3 || got.Complete != 1 || len(got.Failures) != 2 || got.Failures[1] != "round 2: not ready after 30s" {
		t.Errorf("trials %d, complete %d, failures %q", got.Trials, got.Complete, got.Failures)
	}
	// The step in which it died counts with its errors and successes, not with its throughput.
	last := got.Steps[2]
	if last.Rounds != 1 || last.Aborted != 1 || last.Throughput.Median != 10 || last.Succeeded != 5100 || last.FailedTotal() != 10 {
		t.Errorf("%+v", last)
	}
	if peak, _ := got.PeakStep(); peak.Index != 1 || peak.Throughput.Median != 75 {
		t.Errorf("peak %+v", peak)
	}
	if got.MemoryPeak != 1<<40 || !got.MemoryPeakIsSample {
		t.Errorf("memory peak %d, a sample: %t", got.MemoryPeak, got.MemoryPeakIsSample)
	}
	nothing := Summarize(bench.Run{Profile: bench.Profile{PriceVCPUHr: 1}}, []bench.TrialResult{never})[0]
	if _, ok := nothing.PeakStep(); ok || nothing.Cost != nil || nothing.StartUp.Known() || nothing.ErrorsTotal() != 0 {
		t.Errorf("of nothing: %+v", nothing)
	}
	if len(Summarize(bench.Run{Profile: bench.Profile{PriceVCPUHr: 1}}, nil)) != 0 {
		t.Error("contenders without trials")
	}
}

func TestSummarizeWarns(t *testing.T) {
	first := round("a", 1, time.Millisecond, [2]int64{100, 200}, time.Millisecond)
	second := round("a", 2, time.Millisecond, [2]int64{100, 200}, time.Millisecond)
	second.Steps[1].Step.Name = "another"
	second.Steps[2].Load.Latency.HDR = "damaged"
	got := Summarize(bench.Run{Profile: bench.Profile{PriceVCPUHr: 1}}, []bench.TrialResult{first, second})[0]
	if len(got.Warnings) != 2 || !strings.Contains(got.Warnings[0].Text, `round 2: step 2 is "another", was "step 1": skipped`) || !strings.Contains(got.Warnings[1].Text, "step 3: no latency summary") {
		t.Errorf("warnings %q", got.Warnings)
	}
	if got.Steps[1].Rounds != 1 || got.Steps[2].Latency.Count != 0 || got.Steps[2].Rounds != 2 {
		t.Errorf("steps %+v", got.Steps)
	}
}

func TestSummarizeKeepsVariantsApart(t *testing.T) {
	trials := []bench.TrialResult{{Trial: bench.Trial{Contender: "a"}}, {Trial: bench.Trial{Contender: "a", Variant: "x"}}, {Trial: bench.Trial{Contender: "a"}}}
	got := Summarize(bench.Run{Profile: bench.Profile{PriceVCPUHr: 1}}, trials)
	if len(got) != 2 || got[0].Trials != 2 || got[1].Label != "a:x" {
		t.Errorf("%+v", got)
	}
}

// A contender is not compared, and comes last, if it failed a round; an aborted round does not
// count.
func TestExcluded(t *testing.T) {
	of := func(trials ...bench.TrialResult) Contender { return Summarize(bench.Run{}, trials)[0] }
	good := of(bench.TrialResult{State: bench.TrialComplete}, bench.TrialResult{State: bench.TrialAborted, Failure: "interrupted"})
	if why := good.WhyExcluded(); why != "" {
		t.Errorf("interrupted: %q", why)
	}
	died := of(bench.TrialResult{State: bench.TrialComplete}, bench.TrialResult{State: bench.TrialFailed, Failure: "the contender died\x1b[2J"})
	if why, want := died.WhyExcluded(), "failed in 1 of 2 rounds; first: the contender died␛[2J"; why != want {
		t.Errorf("%q, want %q", why, want)
	}
	wrong := of(bench.TrialResult{State: bench.TrialFailed, Failure: "x", Checks: []bench.CheckResult{{Status: bench.CheckFailed, Request: "GET /x", Detail: "no"}}})
	if why, want := wrong.WhyExcluded(), "failed 1 of 1 check; first: GET /x: no"; why != want {
		t.Errorf("%q, want %q", why, want)
	}
	all := []Contender{died, good, wrong}
	if slices.SortStableFunc(all, ExcludedLast); all[0].WhyExcluded() != "" || all[1].FailedRounds != 1 {
		t.Errorf("%+v", all)
	}
}

func TestUnexpectedBodiesLeaveNoPeak(t *testing.T) {
	step := func(i int, succeeded, wrong int64) bench.StepResult {
		l := bench.Load{Definition: bench.Interval, Elapsed: time.Second, Succeeded: succeeded, Checked: 300}
		if wrong > 0 {
			l.Failed = map[bench.ErrorKind]int64{bench.ErrWrong: wrong}
		}
		return bench.StepResult{Index: i, Step: bench.Step{Name: fmt.Sprint(i), Connections: 1 + 15*i}, Load: l}
	}
	trial := bench.TrialResult{State: bench.TrialComplete, Steps: []bench.StepResult{step(0, 1000, 0), step(1, 9000, 1)}}
	for allowed, peak := range map[float64]int{0: -1, .01: 1} {
		c := summarize("x", []bench.TrialResult{trial}, bench.Run{Profile: bench.Profile{MaxUnexpected: allowed}}, false)
		if excluded := allowed == 0; c.Peak != peak || (c.Excluded != nil) != excluded || c.Steps[1].Excluded != excluded || c.Steps[0].Excluded {
			t.Errorf("max_unexpected %g: peak %d, excluded %v, steps %t and %t", allowed, c.Peak, c.Excluded, c.Steps[0].Excluded, c.Steps[1].Excluded)
		}
	}
	good := bench.TrialResult{State: bench.TrialComplete, Steps: []bench.StepResult{step(0, 1000, 0), step(1, 9000, 0)}}
	c := summarize("x", []bench.TrialResult{trial, good}, bench.Run{}, false)
	if n, _ := c.Compared(); n != 1200 || c.Excluded.Unexpected.Count != 1 || c.Excluded.Unexpected.Compared != n {
		t.Errorf("%d compared, the share is of %+v", n, c.Excluded.Unexpected)
	}
}

// TestContender_MemoryGrowth: of several warnings the one with the highest rate, and none about an
// excluded contender.
func TestContender_MemoryGrowth(t *testing.T) {
	trial := func(state bench.TrialState, rates ...float64) (r bench.TrialResult) {
		r.State = state
		for i, rate := range rates {
			r.Steps = append(r.Steps, bench.StepResult{Index: i, Warnings: bench.Warnings{
				{Kind: bench.WarnMemoryGrowth, Text: "grew", Values: map[string]float64{bench.GrowthRate: rate}}, {Kind: bench.WarnMemory},
			}})
		}
		return r
	}
	c := Rounds(bench.Run{}, []bench.TrialResult{trial(bench.TrialComplete, 1, 3), trial(bench.TrialComplete, 2)})
	if w, ok := c.MemoryGrowth(); !ok || w.Values[bench.GrowthRate] != 3 {
		t.Errorf("%v, %v", w, ok)
	}
	if _, ok := Rounds(bench.Run{}, []bench.TrialResult{trial(bench.TrialComplete)}).MemoryGrowth(); ok {
		t.Error("growth without a warning")
	}
	failed := Rounds(bench.Run{}, []bench.TrialResult{trial(bench.TrialFailed, 1)})
	if _, ok := failed.MemoryGrowth(); ok {
		t.Error("growth before the failure")
	}
}
