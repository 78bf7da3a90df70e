package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
)

// flat returns rounds of contenders whose throughput hardly depends on the connections above 2, while
// CPU per request does: at 4 connections a request costs 10% more than at 16. cpu is a factor of
// each contender's CPU time. Noise: 3% a step, and 10% a round, which interleaved contenders share.
// A request that takes more CPU time takes a longer time: with a quota, throughput falls by as much.
func flat(rng *rand.Rand, rounds int, interleaved bool, cpu ...float64) []bench.TrialResult {
	var all []bench.TrialResult
	for round := range rounds {
		shared := 1 + .1*rng.NormFloat64()
		for i, by := range cpu {
			machine := shared
			if !interleaved {
				machine = 1 + .1*rng.NormFloat64()
			}
			f := usual()
			f.startUp = scaled(f.startUp, math.Exp(.2*rng.NormFloat64()))
			f.memory = int64(float64(f.memory) * math.Exp(.01*rng.NormFloat64()))
			l := trial(string(rune('a'+i)), round+1, f)
			l.Steps = l.Steps[:1]
			used := time.Second
			for k, n := range []int{2, 4, 8, 16} {
				noise := machine * math.Exp(.03*rng.NormFloat64())
				rate := f.peak * noise / by * []float64{.5, 1, 1, 1}[k]
				each := []float64{110, 110, 104, 100}[k] * by / noise * math.Exp(.005*rng.NormFloat64()) // µs
				spent := time.Duration(rate * 10 * each * 1000)
				s := bench.StepResult{Index: k + 1, Step: bench.Step{Name: connections(n), Connections: n, Duration: 10 * time.Second},
					Load:   bench.Load{Succeeded: int64(rate * 10), Sent: int64(rate * 10), Elapsed: 10 * time.Second, Latency: bench.Latencies{Count: 1, P99: scaled(f.p99, math.Exp(.1*rng.NormFloat64())/noise)}},
					Before: &bench.Usage{CPU: used}, After: &bench.Usage{CPU: used + spent, Memory: &bench.Memory{Used: f.memory, Peak: f.memory}}}
				used += spent
				l.Steps = append(l.Steps, s)
			}
			if interleaved {
				for k := range l.Steps {
					l.Steps[k].Interleave = &bench.Interleave{Length: 100 * time.Millisecond, Count: 100, Since: time.Unix(1_800_000_000, int64(round)), With: []string{"other"}}
				}
			}
			all = append(all, l)
		}
	}
	return all
}

func connections(n int) string { return bench.Step{Connections: n}.Words() }

func inRun(all []bench.TrialResult) raw {
	r := run()
	r.ID = "one"
	return raw{Run: r, Trials: all}
}

// Equal contenders with flat peaks: at most 5% of their measures get a verdict, though their peaks
// fall on different steps, at which a request costs another CPU time.
func TestFalsePositivesOfFlatPeaks(t *testing.T) {
	for _, interleaved := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(42, 6))
		measures, wrong, differ, runs := 0, 0, 0, 300
		ofCPU := 0
		for range runs {
			set := inRun(flat(rng, 8, interleaved, 1, 1)).set()
			a, b := set.Run.Contenders[0], set.Run.Contenders[1]
			peakA, _ := a.PeakStep()
			if peakB, _ := b.PeakStep(); peakA.Step.Name != peakB.Step.Name {
				differ++
			}
			for _, row := range Pair(a, b, nil, Options{}).Rows {
				if row.Ratio == nil || measure.Get(row.Measure).Comparison.Apart {
					continue
				}
				measures++
				if row.Verdict == stats.Better || row.Verdict == stats.Worse {
					if wrong++; row.Measure == measure.CPURequest {
						ofCPU++
					}
				}
			}
		}
		t.Logf("interleaved %v: %d of %d measures differ (CPU %d of %d); peaks at different steps in %d", interleaved, wrong, measures, ofCPU, runs, differ)
		if wrong > measures/20 || ofCPU > runs/20 {
			t.Errorf("interleaved %v: %d of %d measures of equal contenders differ, CPU per request in %d of %d", interleaved, wrong, measures, ofCPU, runs)
		}
		if differ < runs/2 {
			t.Errorf("peaks at different steps in %d of %d: the test is of no use", differ, runs)
		}
	}
}

// 15% more CPU time per request is found at the common step.
func TestMoreCPUIsFound(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		set := inRun(flat(rand.New(rand.NewPCG(seed, 7)), 8, true, 1, 1.15)).set()
		for _, row := range Pair(set.Run.Contenders[0], set.Run.Contenders[1], nil, Options{}).Rows {
			if row.Measure == measure.CPURequest && row.Verdict == stats.Worse && !strings.Contains(row.At, "→") {
				found++
			}
		}
	}
	if found < 19 {
		t.Errorf("found in %d of 20", found)
	}
}

// The tiers of a run and the comparison of any two of its contenders agree: p value, ratio, step,
// rounds and verdict.
func TestOneFolderHasOneResult(t *testing.T) {
	for _, interleaved := range []bool{false, true} {
		for _, cpu := range [][]float64{{1, 1.1}, {1.1, 1}, {1, 1.05, 1.2}, {1.3, 1, 1.1, 1.05}} {
			for seed := range uint64(5) {
				set := inRun(flat(rand.New(rand.NewPCG(seed, 8)), 8, interleaved, cpu...)).set()
				agree(t, set.Run)
			}
		}
	}
}

func agree(t *testing.T, r *analysis.Run) {
	t.Helper()
	for _, m := range measure.Tested() {
		s := r.Standing(m.ID, stats.Rule{})
		for x := range s.Members {
			for y := x + 1; y < len(s.Members); y++ {
				inTiers, _ := s.Pair(x, y)
				side := func(i int) analysis.Contender {
					return r.Contenders[slices.IndexFunc(r.Contenders, func(c analysis.Contender) bool { return c.Label == s.Member(i).Contender })]
				}
				rows := Pair(side(y), side(x), nil, Options{}).Rows
				row := rows[slices.IndexFunc(rows, func(row Row) bool { return row.Measure == m.ID })]
				if row.PHolm == nil || *row.PHolm != inTiers.Adjusted || *row.Ratio != *inTiers.Ratio || row.Verdict != inTiers.Verdict || row.Paired != s.Paired {
					t.Errorf("%s: in tiers %s (p %v), compared %s (p %v)", m.ID, inTiers.Sentence(), inTiers.Adjusted, row.Sentence, row.PHolm)
				}
			}
		}
	}
}

// CPU per request and p99 are compared at the step of the old side, or not at all.
func TestStepThatOneSideLacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	before, after := flat(rng, 6, false, 1), flat(rng, 6, false, 1)
	for i := range before { // a clear peak at 16 connections
		before[i].Steps[4].Load.Succeeded *= 2
	}
	for name, change := range map[string]struct {
		change func(*bench.TrialResult)
		want   string
	}{
		"absent":  {func(l *bench.TrialResult) { l.Steps = l.Steps[:4] }, "not comparable: new: not measured at 16 connections"},
		"errors":  {func(l *bench.TrialResult) { l.Steps[4].Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 1e6} }, "not comparable: new: 90.4% of requests failed at 16 connections"},
		"aborted": {func(l *bench.TrialResult) { l.Steps[4].Aborted = "skipped" }, "not comparable: new: not measured at 16 connections"},
	} {
		changed := slices.Clone(after)
		for i := range changed {
			changed[i].Steps = slices.Clone(changed[i].Steps)
			change.change(&changed[i])
		}
		rows := compared(t, raw{Run: run(), Trials: before}, raw{Run: run(), Trials: changed}, Options{}).Contenders[0].Rows
		row := rows[slices.IndexFunc(rows, func(r Row) bool { return r.Measure == measure.CPURequest })]
		if !strings.HasPrefix(row.Sentence, change.want) || row.Verdict != stats.Inconclusive {
			t.Errorf("%s: %q, want %q", name, row.Sentence, change.want)
		}
	}
}
