package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// rounds draws n lognormal values with a median and a spread.
func rounds(rng *rand.Rand, n int, median, spread float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = median * math.Exp(spread*rng.NormFloat64())
	}
	return xs
}

// family returns five measures of n rounds. change is the factor from old to new for the measures
// in the bits of changed.
func newFamily(rng *rand.Rand, n int, spread, change float64, changed int) []Pair {
	var family []Pair
	for i := range 5 {
		factor := 1.0
		if changed&(1<<i) != 0 {
			factor = change
		}
		family = append(family, Pair{
			Measure: string(rune('a' + i)), HigherIsBetter: i == 0,
			Old: rounds(rng, n, 1000, spread), New: rounds(rng, n, 1000*factor, spread),
		})
	}
	return family
}

// At most 5% of families of pure noise may have a significant difference. The part timing simulates
// many families; the few here find a rule that is clearly wrong.
func TestNoiseIsNotSignificant(t *testing.T) { falsePositives(t, 300, 24) }

// falsePositives accepts at most most families with a significant difference. (At a rate of 5%, the
// chance of more than 24 of 300 is 1%.)
func falsePositives(t *testing.T, families, most int) {
	for _, noise := range []struct {
		name   string
		n      int
		spread float64
		skew   func(*rand.Rand, []Pair)
	}{
		{"noise of 2%", 6, 0.02, nil}, {"noise of 10%", 6, 0.1, nil}, {"noise of 50%", 6, 0.5, nil},
		{"ten rounds", 10, 0.1, nil},
		{"outliers", 6, 0.05, func(rng *rand.Rand, family []Pair) {
			for _, p := range family {
				for _, xs := range [][]float64{p.Old, p.New} {
					if rng.IntN(3) == 0 {
						xs[rng.IntN(len(xs))] *= 5
					}
				}
			}
		}},
		{"ties", 6, 0.05, func(_ *rand.Rand, family []Pair) {
			for _, p := range family {
				for _, xs := range [][]float64{p.Old, p.New} {
					for i := range xs {
						xs[i] = math.Round(xs[i]/50) * 50
					}
				}
			}
		}},
		{"all measures alike", 6, 0.1, func(_ *rand.Rand, family []Pair) {
			for i := range family {
				family[i].Old, family[i].New = family[0].Old, family[0].New
			}
		}},
	} {
		t.Run(noise.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(noise.spread*100)))
			wrong, same := 0, 0
			for range families {
				family := newFamily(rng, noise.n, noise.spread, 1, 0)
				if noise.skew != nil {
					noise.skew(rng, family)
				}
				compared := Rule{}.Compare(family)
				if slices.ContainsFunc(compared, func(c Comparison) bool { return c.Verdict == Better || c.Verdict == Worse }) {
					wrong++
				}
				if compared[0].Verdict == Same {
					same++
				}
			}
			share := float64(wrong) / float64(families)
			t.Logf("%s: significant in %.2f%% of the families, the first measure the same in %.1f%%", noise.name, 100*share, 100*float64(same)/float64(families))
			if wrong > most {
				t.Errorf("%s: significant in %.2f%% of the families", noise.name, 100*share)
			}
		})
	}
}

// A contender that is 10% slower is found in at least 90% of the comparisons with a noise of 2%,
// without other significant differences.
func TestTenPercentAreFound(t *testing.T) { findsTenPercent(t, 200) }

func findsTenPercent(t *testing.T, families int) {
	for _, slowed := range []struct {
		name string
		bits int
	}{{"throughput alone", 1}, {"one latency", 2}, {"all", 31}} {
		t.Run(slowed.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(2, uint64(slowed.bits)))
			found, wrong := 0, 0
			for range families {
				family := newFamily(rng, 6, 0.02, 1/1.1, slowed.bits)
				all := true
				for i, c := range (Rule{}).Compare(family) {
					want := Better // of measures where lower is better
					if i == 0 {
						want = Worse
					}
					switch hit := slowed.bits&(1<<i) != 0; {
					case hit && c.Verdict != want:
						all = false
					case !hit && (c.Verdict == Better || c.Verdict == Worse):
						wrong++
					}
				}
				if all {
					found++
				}
			}
			t.Logf("%s: found in %.1f%%, %d false positives", slowed.name, 100*float64(found)/float64(families), wrong)
			if found < families*9/10 || wrong > families/20 {
				t.Errorf("%s: found in %d of %d, %d false positives", slowed.name, found, families, wrong)
			}
		})
	}
}

// The CI includes the true ratio at least as often as its confidence says.
func TestRatioIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const trials = 4000
	held := 0
	for range trials {
		r, err := RatioOf(rounds(rng, 6, 10, 0.2), rounds(rng, 7, 13, 0.2), 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if r.Interval.Holds(1.3) {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.945 || share > 0.98 {
		t.Errorf("the interval held the ratio in %.3f of the trials", share)
	}
}

func times(xs []float64, f float64) []float64 {
	ys := slices.Clone(xs)
	for i := range ys {
		ys[i] *= f
	}
	return ys
}

func TestVerdictsAndTheirSentences(t *testing.T) {
	base := []float64{98, 99, 100, 101, 102, 103}
	tight := []float64{99.9, 99.95, 100, 100.05, 100.1, 100.15}
	wide := []float64{60, 80, 100, 120, 140, 160}
	for _, test := range []struct {
		name     string
		rule     Rule
		pair     Pair
		verdict  Verdict
		sentence string
	}{
		{"faster", Rule{}, Pair{HigherIsBetter: true, Old: base, New: times(base, 1.2)}, Better, "better: +20.0% (+16.5% to +23.6%), p 0.0022"},
		{"slower", Rule{}, Pair{HigherIsBetter: true, Old: times(base, 1.2), New: base}, Worse, "worse: −16.7% (−19.1% to −14.2%), p 0.0022"},
		{"less latency", Rule{}, Pair{Old: base, New: times(base, 0.3)}, Better, "better: −70.0% (−70.9% to −69.1%), p 0.0022"},
		{"more memory", Rule{}, Pair{Old: base, New: times(base, 4.9)}, Worse, "worse: ×4.9 (×4.76 to ×5.05), p 0.0022"},
		{"the same", Rule{}, Pair{Old: tight, New: tight}, Same, "same within 3%: 0.0% (−0.1% to +0.2%)"},
		{"1000 or more rounds", Rule{}, Pair{Old: wide, New: []float64{61, 81, 101, 119, 139, 159}}, Inconclusive, "inconclusive: +0.2% (−39.0% to +68.3%); need 1000 or more rounds per side"},
		{"certain, and too little to matter", Rule{}, Pair{Old: tight, New: times(tight, 1.01)}, Same, "same within 3%: +1.0% (+0.8% to +1.2%)"},
		{"certain, with a narrow margin", Rule{Margin: 0.005}, Pair{Old: tight, New: times(tight, 1.01)}, Worse, "worse: +1.0% (+0.8% to +1.2%), p 0.0022"},
		{"certain, below the floor", Rule{Margin: 0.005, Floor: 0.02}, Pair{Old: tight, New: times(tight, 1.01)}, Inconclusive, "inconclusive: +1.0% (+0.8% to +1.2%); below the noise floor (2%)"},
		{"noisy", Rule{}, Pair{Old: wide, New: times(wide, 1.2)}, Inconclusive, "inconclusive: +20.0% (−28.0% to +100.0%); need about 51 more rounds per side"},
		{"constants", Rule{}, Pair{Old: []float64{5, 5, 5, 5, 5, 5}, New: []float64{5, 5, 5, 5, 5, 5}}, Same, "same within 3%: 0.0% (0.0% to 0.0%)"},
		{"two constants", Rule{}, Pair{Old: []float64{5, 5, 5, 5, 5, 5}, New: []float64{6, 6, 6, 6, 6, 6}}, Worse, "worse: +20.0% (+20.0% to +20.0%), p 0.0022"},
		{"three rounds", Rule{}, Pair{Old: base[:3], New: base}, Inconclusive, "inconclusive: 3 rounds, need ≥ 6: 3 more rounds per side"},
		{"five rounds", Rule{}, Pair{Old: base, New: base[:5]}, Inconclusive, "inconclusive: 5 rounds, need ≥ 6: 1 more round per side"},
		{"nothing", Rule{}, Pair{}, Inconclusive, "inconclusive: 0 rounds, need ≥ 6: 6 more rounds per side"},
		{"a zero", Rule{}, Pair{Old: base, New: []float64{0, 1, 2, 3, 4, 5}}, Inconclusive, "inconclusive: round 1: value 0: a ratio needs positive values"},
		{"not a number", Rule{}, Pair{Old: []float64{1, 2, 3, 4, 5, math.NaN()}, New: base}, Inconclusive, "inconclusive: round 6: value NaN: not a finite number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.rule.Compare([]Pair{test.pair})[0]
			if c.Verdict != test.verdict || c.Sentence() != test.sentence {
				t.Errorf("%s: %s: %q, want %q", test.name, c.Verdict, c.Sentence(), test.sentence)
			}
		})
	}
}

func TestLargerFamilyRaisesPValues(t *testing.T) {
	x := []float64{98, 99, 100, 101, 102, 103}
	y := []float64{102.5, 104, 105, 106, 107, 108} // one pair reversed
	one := Pair{HigherIsBetter: true, Old: x, New: y}
	alone := Rule{}.Compare([]Pair{one})[0]
	if alone.Verdict != Better || !near(alone.Adjusted, alone.Test.P) {
		t.Errorf("alone: %s, p %g", alone.Verdict, alone.Adjusted)
	}
	// Measures that could not be tested count too.
	family := make([]Pair, 20)
	family[7] = one
	among := Rule{}.Compare(family)[7]
	if among.Verdict != Inconclusive || !near(among.Adjusted, 20*alone.Test.P) || among.More < 1 {
		t.Errorf("among twenty: %s, p %g, %d more", among.Verdict, among.Adjusted, among.More)
	}
	if len(Rule{}.Compare(nil)) != 0 {
		t.Error("an empty family has comparisons")
	}
}

// Most comparisons that need more rounds for a difference have a verdict with the estimated number.
func TestMoreRoundsGiveVerdicts(t *testing.T) { moreRoundsGiveVerdicts(t, 120) }

func moreRoundsGiveVerdicts(t *testing.T, pairs int) {
	rng := rand.New(rand.NewPCG(7, 8))
	got, advised := 0, 0
	for range pairs {
		pair := Pair{Old: rounds(rng, 6, 100, 0.06), New: rounds(rng, 6, 108, 0.06)}
		c := Rule{}.Compare([]Pair{pair})[0]
		if c.Verdict != Inconclusive || c.More == 0 {
			continue
		}
		advised++
		n := min(6+c.More, 300)
		if (Rule{}).Compare([]Pair{{Old: rounds(rng, n, 100, 0.06), New: rounds(rng, n, 108, 0.06)}})[0].Verdict != Inconclusive {
			got++
		}
	}
	if advised < pairs/8 || got < advised/2 {
		t.Errorf("of %d that were to add rounds, %d then had a verdict", advised, got)
	}
}

func TestRoundWarnings(t *testing.T) {
	for _, c := range []struct {
		rounds []float64
		kind   bench.WarningKind
		text   string
	}{
		{[]float64{100, 101, 102, 99, 98, 300}, bench.WarnOutlier, "round 6 is an outlier: ×2.99 of the median"},
		{[]float64{130, 120, 110, 105, 95, 96}, bench.WarnTrend, "it falls from round to round (p 0.017)"},
	} {
		if got := RoundWarnings(c.rounds); len(got) != 1 || got[0].Kind != c.kind || !strings.HasPrefix(got[0].Text, c.text) {
			t.Errorf("%v, want %q", got, c.text)
		}
	}
	if got := RoundWarnings([]float64{100, 101, 102, 99, 98, 100.5}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if _, p := Trend([]float64{1, 2, 3, 4}); p != 1 {
		t.Errorf("a trend of four values, p %g", p)
	}
	if s, p := Trend([]float64{5, 5, 5, 5, 5, 5}); s != 0 || p != 1 {
		t.Errorf("a trend of one value: %d, %g", s, p)
	}
	if o := Outliers([]float64{5, 5, 5, 5, 5, 6}); len(o) != 1 || o[0].Index != 5 || !math.IsInf(o[0].Score, 1) {
		t.Errorf("one of six equal ones: %+v", o)
	}
	if o := Outliers([]float64{5, 5, 5, 5, 5, 5.01}); len(o) != 0 {
		t.Errorf("what is within the margin: %+v", o)
	}
	if Outliers([]float64{1, 1, 100}) != nil || Outliers([]float64{-1, 1, 1, 1, 1, 1}) != nil {
		t.Error("warnings about too few values, or values without a logarithm")
	}
}

func TestVerdictText(t *testing.T) {
	for _, v := range []Verdict{Inconclusive, Better, Worse, Same} {
		text, err := v.MarshalText()
		var back Verdict
		if err != nil || back.UnmarshalText(text) != nil || back != v {
			t.Errorf("%s came back as %s", v, back)
		}
	}
	var v Verdict
	if v.UnmarshalText([]byte("best")) == nil {
		t.Error("an unknown verdict was read")
	}
}

func TestErrorsHaveTypes(t *testing.T) {
	_, err := RatioOf([]float64{1, 2, 3}, []float64{1, 2, 3}, 0.95)
	var need NeedRounds
	if !errors.As(err, &need) || need != (NeedRounds{3, 4}) {
		t.Errorf("three and three: %v", err)
	}
	_, err = RatioOf([]float64{1, 2, 3}, []float64{1, -2, 3}, 0.95)
	var bad BadValue
	if !errors.As(err, &bad) || bad.Index != 1 || bad.Value != -2 {
		t.Errorf("a negative one: %v", err)
	}
	if _, err = MannWhitney(nil, []float64{1}); !errors.As(err, &need) {
		t.Errorf("nothing: %v", err)
	}
	if _, err = MannWhitney(make([]float64, MaxRounds+1), []float64{1}); err == nil {
		t.Error("no bound")
	}
	for _, confidence := range []float64{0, 1, math.NaN()} {
		if _, err := RatioOf([]float64{1, 2, 3, 4, 5, 6}, []float64{1, 2, 3, 4, 5, 6}, confidence); err == nil {
			t.Errorf("confidence %g", confidence)
		}
	}
}

// An interval without "no change" that is inconclusive says why.
func TestInconclusiveSaysWhy(t *testing.T) {
	pair := Pair{Old: []float64{100, 101, 102, 103, 104, 105, 106, 107}, New: []float64{107, 108.5, 109, 110, 111, 112, 113, 114}, Paired: true}
	alone := Rule{}.Compare([]Pair{pair})[0]
	pair.With = []float64{1, 1, 1, 1, 1, 1, 1, 1}
	among := Rule{}.Compare([]Pair{pair})[0]
	if alone.Verdict != Worse || alone.Family != 1 || among.Verdict != Inconclusive || among.Family != 9 || among.Adjusted != 9*alone.Test.P ||
		!strings.Contains(among.Sentence(), "; not significant after Holm's correction for 9 tests, p 0.07; need about") {
		t.Errorf("alone %q, among nine %q", alone.Sentence(), among.Sentence())
	}
}
