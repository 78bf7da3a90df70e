package stats

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// rounds draws n lognormal values with a median and a spread.
func rounds(rng *rand.Rand, n int, median, spread float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = median * math.Exp(spread*rng.NormFloat64())
	}
	return xs
}

// Laws that hold for all samples, and for all pairs.
func TestLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 21))
	for i := range 400 {
		n, m := 1+rng.IntN(9), 1+rng.IntN(9)
		testOf, ratioOf, paired := MannWhitney, RatioOf, i%2 == 0
		if paired {
			testOf, ratioOf, m = SignedRank, PairedRatio, n
		}
		x, y := rounds(rng, n, 10, 0.3), rounds(rng, m, 11, 0.3)
		if rng.IntN(2) == 0 {
			for _, s := range [][]float64{x, y} {
				for i := range s {
					s[i] = math.Round(s[i])
				}
			}
		}
		there, err := testOf(x, y)
		back, err2 := testOf(y, x)
		testenv.Need(t, err == nil && err2 == nil && near(there.P, back.P) && there.P >= 0 && there.P <= 1 && (paired || there.U+back.U == float64(n*m)),
			"%v, %v: %+v, %+v", x, y, there, back)
		// The order and the unit do not matter.
		shuffled, other := slices.Clone(x), slices.Clone(y)
		rng.Shuffle(n, func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
			if paired {
				other[i], other[j] = other[j], other[i]
			}
		})
		again, _ := testOf(times(shuffled, 8), times(other, 8))
		testenv.Need(t, again == there, "%v, %v: %+v, then %+v", x, y, there, again)
		r, err := ratioOf(x, y, 0.95)
		if err != nil {
			continue
		}
		q, err := ratioOf(y, x, 0.95)
		testenv.Need(t, err == nil && near(q.Estimate*r.Estimate, 1) && near(q.Interval.Low*r.Interval.High, 1),
			"%v, %v: %+v against %+v", x, y, r, q)
		testenv.Need(t, r.Interval.Holds(r.Estimate) && r.Interval.Confidence >= 0.95, "%v, %v: %+v", x, y, r)
		if wide, err := ratioOf(x, y, 0.99); err == nil && !r.Interval.Within(wide.Interval.Low, wide.Interval.High) {
			t.Fatalf("%v, %v: 99%% is narrower than 95%%", x, y)
		}
		// Without ties the test and the interval agree.
		testenv.Need(t, there.Ties || (there.P <= 1-r.Interval.Confidence+1e-12) != r.Interval.Holds(1),
			"%v, %v: p %g, interval %+v", x, y, there.P, r.Interval)
		// Swapping the sides reverses the verdict.
		if n >= MinInterval && m >= MinInterval {
			all := Rule{}.Compare([]Pair{{Old: x, New: y, Paired: paired},
				{Old: y, New: x, HigherIsBetter: true, Paired: paired}})
			testenv.Need(t, all[0].Verdict == all[1].Verdict,
				"%v, %v: %s, from the other side %s", x, y, all[0].Verdict, all[1].Verdict)
		}
	}
}

func TestHolm(t *testing.T) {
	got := Holm(unweighted(0.01, math.NaN(), -1, 2, 0.02, 0, 1))
	testenv.Check(t, slices.Equal(got, []float64{0.06, 1, 1, 1, 0.1, 0, 1}) && len(Holm(nil)) == 0, "%v", got)
	// Two tests share a place: they are corrected for twice as many, and the others for one less.
	family := []Weighted{{P: .01}, {P: .01, Weight: .5}, {P: .001, Weight: .5}, {P: .5}}
	if got := Holm(family); !slices.Equal(got, []float64{.025, .03, .006, .5}) || tests(family, 0) != 3 || tests(family, 1) != 6 {
		t.Errorf("%v, %d and %d tests", got, tests(family, 0), tests(family, 1))
	}
}

func unweighted(p ...float64) (family []Weighted) {
	for _, v := range p {
		family = append(family, Weighted{P: v})
	}
	return family
}

// For any bits, nothing panics, and all results are within their bounds.
func FuzzCompare(f *testing.F) {
	pack := func(xs ...float64) (b []byte) {
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	f.Add(pack(1, 2, 3, 4, 5, 6), pack(2, 3, 4, 5, 6, 7), 0.03, 0.0)
	f.Add(pack(1, 1, 1, 1, 1, 1), pack(1, 1, 1, 1, 1, 1), 0.03, 0.1)
	f.Add(pack(math.NaN(), math.Inf(1), -1, 0, 5e-324, math.MaxFloat64), pack(), math.NaN(), math.Inf(-1))
	f.Add(pack(1e150, 1e-150, 1e150, 1e-150, 1e-150, 1), pack(1e150, 1e-150, 1, 1, 1, 1e-150, 1e-150), 1e-300, 1e300)
	f.Fuzz(func(t *testing.T, old, new []byte, margin, floor float64) {
		unpack := func(b []byte) (xs []float64) {
			for ; len(b) >= 8 && len(xs) < 40; b = b[8:] {
				xs = append(xs, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			}
			return xs
		}
		x, y := unpack(old), unpack(new)
		before := slices.Clone(x)
		for _, c := range (Rule{Margin: margin, Floor: floor}).Compare([]Pair{{Old: x, New: y},
			{Old: y, New: x, HigherIsBetter: true}}) {
			if !(c.Adjusted >= 0 && c.Adjusted <= 1) || c.More < 0 || c.More > MaxRounds || c.Sentence() == "" {
				t.Fatalf("%+v", c)
			}
			testenv.Need(t, (c.Err == nil) == (c.Ratio != nil) && (c.Err == nil || c.Verdict == Inconclusive), "%+v", c)
			if c.Ratio != nil && !(c.Ratio.Interval.Low > 0 && c.Ratio.Interval.Low <= c.Ratio.Estimate*(1+1e-9) &&
				c.Ratio.Estimate <= c.Ratio.Interval.High*(1+1e-9) && c.Ratio.Interval.High < math.Inf(1)) {
				t.Fatalf("%+v", c.Ratio)
			}
		}
		_, p := Trend(x)
		testenv.Need(t, p > 0 && p <= 1+1e-9, "trend %g of %v", p, x)
		tiers := Rule{}.Tiers([][]float64{x, y, x}, true, false, nil)
		seen := len(tiers.Unknown)
		for _, tier := range tiers.Tiers {
			seen += len(tier)
		}
		testenv.Need(t, seen == 3, "%d of 3 in tiers", seen)
		for i := range before {
			testenv.Need(t, math.Float64bits(before[i]) == math.Float64bits(x[i]), "the sample was changed")
		}
	})
}
