package measure

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

// TestTable checks for unique names, and for the fields that the places of a measure need.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All() {
		for _, name := range []string{"id " + string(m.ID), "column " + m.CSV.Name, "condition " + m.ConditionName} {
			if seen[name] && name != "column " && name != "condition " {
				t.Errorf("duplicate %s", name)
			}
			seen[name] = true
		}
		if m.Name == "" || m.Head == "" || m.Of == nil && m.whole == nil {
			t.Errorf("%s has no name, heading or value", m.ID)
		}
	}
	needs := map[Place]func(Measure) bool{
		Compared: func(m Measure) bool {
			return m.Comparison != nil && m.Comparison.Title != "" && m.Comparison.Head != ""
		},
		Summarized:      func(m Measure) bool { return m.Comparison != nil && m.Comparison.Best != "" && m.Comparison.Noun != "" },
		ReportCharts:    func(m Measure) bool { return m.Chart != nil && m.Of != nil },
		PrometheusSteps: func(m Measure) bool { return m.Prometheus != nil && m.Of != nil },
		Live:            func(m Measure) bool { return m.Live != nil && m.Live.Of != nil },
		GoBenchmarks:    func(m Measure) bool { return m.Benchmark != "" && m.Of != nil },
		ExportAdded:     func(m Measure) bool { return m.CSV.Name != "" && m.Of != nil },
	}
	for _, p := range []Place{TextSteps, TextLive, ScreenSteps, ScreenOverview, PairSteps, ScreenCourses, MarkdownCourses} {
		needs[p] = func(m Measure) bool { return m.Of != nil }
	}
	for p := range views {
		for _, m := range View(p) {
			if need := needs[p]; m.ID == "" || need != nil && !need(m.Measure) {
				t.Errorf("place %d: %q lacks a field", p, m.Head)
			}
		}
	}
}

// result returns a step of 10 s with 5 s of CPU time, a quarter of its periods throttled.
func result(succeeded, memory int64) bench.StepResult {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	return bench.StepResult{
		Load:   bench.Load{Elapsed: 10 * time.Second, Succeeded: succeeded},
		Before: &bench.Usage{At: at, Throttling: &bench.Throttling{Periods: 100}},
		After: &bench.Usage{At: at.Add(10 * time.Second), CPU: 5 * time.Second, Throttling: &bench.Throttling{Periods: 200, Throttled: 25},
			Memory: &bench.Memory{Used: memory << 20, Peak: memory << 21, PeakIsSample: memory == 3}},
	}
}

// TestOverRounds checks the medians of three rounds.
func TestOverRounds(t *testing.T) {
	s := stats.Step{Results: []bench.StepResult{result(3000, 1), result(1000, 2), result(2000, 3)}}
	for id, want := range map[ID]float64{
		CPUTime: 5e9, InUse: .5, CPURequest: 2.5e6, Throttled: .25, MemoryUsed: 2 << 20, MemoryPeak: 2 << 21, MemoryRate: .03,
	} {
		if f := Get(id).Over(s); !f.Known || f.Value != want || len(f.Rounds) != 3 || f.AtLeast != (id == MemoryPeak || id == MemoryRate) {
			t.Errorf("%s: %+v, want %g", id, f, want)
		}
		if f := Get(id).Over(stats.Step{Results: []bench.StepResult{{}}}); f.Known {
			t.Errorf("%s of nothing: %+v", id, f)
		}
	}
}

// TestQuantilesAreOfAllRounds checks that quantiles are not medians of the rounds' quantiles.
func TestQuantilesAreOfAllRounds(t *testing.T) {
	round := func(d time.Duration) bench.StepResult {
		return bench.StepResult{Load: bench.Load{Latency: bench.Latencies{Count: 1, P99: d}}}
	}
	s := stats.Step{Latency: bench.Latencies{Count: 2, P99: 7}, Results: []bench.StepResult{round(3), round(5)}}
	if f := Get(P99).Over(s); f.Value != 7 || len(f.Rounds) != 2 {
		t.Errorf("%+v", f)
	}
	imported := bench.StepResult{Load: bench.Load{Latency: bench.Latencies{Count: 1, P50: 3}}}
	if _, ok := Get(P99).Of(imported); ok {
		t.Error("a quantile that was not reported is known")
	}
}
