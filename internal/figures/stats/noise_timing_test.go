//go:build acceptance && timing

package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// family returns five measures of n rounds. change is the factor from old to new for the measures
// in the bits of changed.
func family(rng *rand.Rand, n int, spread, change float64, changed int) (all []Pair) {
	for i := range 5 {
		factor := 1.0
		if changed&(1<<i) != 0 {
			factor = change
		}
		all = append(all, Pair{
			HigherIsBetter: i == 0, Old: rounds(rng, n, 1000, spread), New: rounds(rng, n, 1000*factor, spread),
		})
	}
	return all
}

func differs(c Comparison) bool { return c.Verdict == Better || c.Verdict == Worse }

// Of simulated samples, at most a share is found to differ, and at least a share of true
// differences is found.
func TestSimulations(t *testing.T) {
	// of is a family of noise, after change, in which any measure differs.
	of := func(n int, spread float64, change func(*rand.Rand, []Pair)) func(*rand.Rand) bool {
		return func(rng *rand.Rand) bool {
			pairs := family(rng, n, spread, 1, 0)
			change(rng, pairs)
			return slices.ContainsFunc(Rule{}.Compare(pairs), differs)
		}
	}
	each := func(change func(*rand.Rand, []float64)) func(*rand.Rand, []Pair) {
		return func(rng *rand.Rand, pairs []Pair) {
			for _, p := range pairs {
				change(rng, p.Old)
				change(rng, p.New)
			}
		}
	}
	none := func(*rand.Rand, []Pair) {}
	// slower is a family with 10% in some measures, which are all found.
	slower := func(changed int) func(*rand.Rand) bool {
		return func(rng *rand.Rand) bool {
			for i, c := range (Rule{}).Compare(family(rng, 6, 0.02, 1/1.1, changed)) {
				want := Better // of measures where lower is better
				if i == 0 {
					want = Worse
				}
				if changed&(1<<i) != 0 && c.Verdict != want {
					return false
				}
			}
			return true
		}
	}
	split := func(contenders int) func(*rand.Rand) bool {
		return func(rng *rand.Rand) bool {
			samples := make([][]float64, contenders)
			for i := range samples {
				samples[i] = rounds(rng, 6, 100, 0.2)
			}
			return len(Rule{}.Tiers(samples, true, false, nil).Tiers) > 1
		}
	}
	drift := func(noise, rise float64) func(*rand.Rand) bool {
		return func(rng *rand.Rand) bool {
			return nil != Drift(stepOf(10, func(at float64) (float64, float64) {
				rate := 2000 * (1 + rise*(at/10-.5)) * (1 + noise*rng.NormFloat64())
				return rate, 1.5 * rate / 2000 / (1 + rise*(at/10-.5)) * (1 + noise*rng.NormFloat64())
			}))
		}
	}
	for _, c := range []struct {
		name        string
		n           int
		least, most float64
		result      func(*rand.Rand) bool
	}{
		{"noise of 2%", 1500, 0, .05, of(6, 0.02, none)},
		{"noise of 10%", 1500, 0, .05, of(6, 0.1, none)},
		{"noise of 50%", 1500, 0, .05, of(6, 0.5, none)},
		{"ten rounds", 1500, 0, .05, of(10, 0.1, none)},
		{"outliers", 1500, 0, .05, of(6, 0.05, each(func(rng *rand.Rand, xs []float64) {
			if rng.IntN(3) == 0 {
				xs[rng.IntN(len(xs))] *= 5
			}
		}))},
		{"ties", 1500, 0, .05, of(6, 0.05, each(func(_ *rand.Rand, xs []float64) {
			for i := range xs {
				xs[i] = math.Round(xs[i]/50) * 50
			}
		}))},
		{"all measures alike", 1500, 0, .05, of(6, 0.1, func(_ *rand.Rand, pairs []Pair) {
			for i := range pairs {
				pairs[i].Old, pairs[i].New = pairs[0].Old, pairs[0].New
			}
		})},
		{"throughput that is 10% lower", 600, .9, 1, slower(1)},
		{"one latency that is 10% lower", 600, .9, 1, slower(2)},
		{"all 10% lower", 600, .9, 1, slower(31)},
		{"3 equal contenders split", 600, 0, .05, split(3)},
		{"5 equal contenders split", 600, 0, .05, split(5)},
		{"7 equal contenders split", 600, 0, .05, split(7)},
		{"a drift in noise of 1%", 1000, 0, .01, drift(.01, 0)},
		{"a drift in noise of 3%", 1000, 0, .03, drift(.03, 0)},
		{"a drift in noise of 10%", 1000, 0, .03, drift(.10, 0)},
		{"a rise of 16% in noise of 1%", 1000, .999, 1, drift(.01, .16)},
		{"a rise of 16% in noise of 3%", 1000, .7, .8, drift(.03, .16)}, // see fasterNoise
		{"a fall of 16% in noise of 3%", 1000, .85, 1, drift(.03, -.16)},
		{"a slope in noise", 4000, .04, .06, func(rng *rand.Rand) bool {
			l, _ := FitLine(rounds(rng, 12, 1, 0.05))
			return l.P() <= .05
		}},
		// Nine values reach 96.1%.
		{"an interval that holds the median", 4000, .95, .972, func(rng *rand.Rand) bool {
			xs := rounds(rng, 9, 10, 1)
			in, _ := MedianInterval(xs, .95)
			return in.Holds(10)
		}},
		{"an interval that holds the ratio", 4000, .945, .98, func(rng *rand.Rand) bool {
			r, _ := RatioOf(rounds(rng, 6, 10, 0.2), rounds(rng, 7, 13, 0.2), 0.95)
			return r.Holds(1.3)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			found := 0
			for range c.n {
				if c.result(rng) {
					found++
				}
			}
			if share := float64(found) / float64(c.n); share < c.least || share > c.most {
				t.Errorf("%.4f of %d, want %g to %g", share, c.n, c.least, c.most)
			}
		})
	}
}

// Most comparisons that need more rounds for a difference have a verdict with the estimated number.
func TestComparison_MoreRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	compare := func(n int) Comparison {
		return Rule{}.Compare([]Pair{{Old: rounds(rng, n, 100, 0.06), New: rounds(rng, n, 108, 0.06)}})[0]
	}
	got, advised := 0, 0
	for range 400 {
		c := compare(6)
		if c.Verdict != Inconclusive || c.More == 0 {
			continue
		}
		advised++
		if compare(min(6+c.More, 300)).Verdict != Inconclusive {
			got++
		}
	}
	testenv.Check(t, advised >= 50 && got >= advised/2,
		"of %d that were to add rounds, %d then had a verdict", advised, got)
}
