package compare

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

// scaled returns d times a factor.
func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// The counts of 'make bench-aa', for noise of a known size: 3% in throughput and CPU time, 10% in
// p99, 40% in start-up, 1% in memory. With a calibrated noise floor, equal contenders hardly ever
// differ, and 10% less throughput is found. The part timing has more comparisons.
func TestFalseAndTruePositives(t *testing.T) { positives(t, 60) }

func positives(t *testing.T, trials int) {
	rng := rand.New(rand.NewPCG(21, 11))
	noisy := func(n int, speed float64) (all []bench.TrialResult) {
		for i := range n {
			noise := func(sd float64) float64 { return 1 + sd*max(-2, min(2, rng.NormFloat64())) }
			f := usual()
			by := noise(.03)
			f.peak *= speed * by
			f.p99 = scaled(f.p99, noise(.1))
			f.startUp = scaled(f.startUp, noise(.4))
			f.memory = int64(float64(f.memory) * noise(.01))
			all = append(all, trial("a", i+1, f))
		}
		return all
	}
	measures, wrong, unfloored, found := 0, 0, 0, 0
	differs := func(r Row) bool { return r.Verdict == stats.Better || r.Verdict == stats.Worse }
	for range trials {
		floor, err := noiseFloor(raw{Run: run(), Trials: noisy(12, 1)})
		if err != nil {
			t.Fatal(err)
		}
		a := raw{Run: run(), Trials: noisy(6, 1)}
		same, slower := raw{Run: run(), Trials: noisy(6, 1)}, raw{Run: run(), Trials: noisy(6, .9)}
		for _, r := range compared(t, a, same, Options{Floor: &floor}).Contenders[0].Rows {
			if measures++; differs(r) {
				wrong++
			}
		}
		if slices.ContainsFunc(compared(t, a, same, Options{}).Contenders[0].Rows, differs) {
			unfloored++
		}
		if compared(t, a, slower, Options{Floor: &floor}).Contenders[0].Rows[0].Verdict == stats.Worse {
			found++
		}
	}
	t.Logf("%d of %d measures differ, in %d of %d comparisons without a floor; 10%% less found in %d", wrong, measures, unfloored, trials, found)
	if wrong > measures/20 || unfloored > trials/20+trials/40 { // 5% of the families, within the error of the count
		t.Errorf("equal contenders: %d of %d measures, %d of %d comparisons without a floor", wrong, measures, unfloored, trials)
	}
	if found < trials*9/10 {
		t.Errorf("10%% less throughput was found in %d of %d comparisons", found, trials)
	}
}
