package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/testenv"
)

func times(xs []float64, f float64) []float64 {
	ys := slices.Clone(xs)
	for i := range ys {
		ys[i] *= f
	}
	return ys
}

func TestRule_Compare(t *testing.T) {
	base := []float64{98, 99, 100, 101, 102, 103}
	tight := []float64{99.9, 99.95, 100, 100.05, 100.1, 100.15}
	wide := []float64{60, 80, 100, 120, 140, 160}
	three := []float64{97, 98.5, 100, 101.5, 103, 104.5}
	doubling := []float64{10, 20, 40, 80, 160, 320}
	five, six := []float64{5, 5, 5, 5, 5, 5}, []float64{6, 6, 6, 6, 6, 6}
	paired := func(old, fresh []float64) Pair { return Pair{Old: old, New: fresh, Paired: true} }
	eight := []float64{100, 101, 102, 103, 104, 105, 106, 107}
	zeros := []float64{100, 101, 105, 100, 109, 108, 104, 112} // two pairs are equal, two are reversed
	none := make([]float64, 6)
	served := func(old, fresh []float64) Pair {
		return Pair{HigherIsBetter: true, Old: old, New: fresh, Words: Words{Zero: "nothing succeeded",
			Text: func(v float64) string { return units.Number(v) + "/s" }}}
	}
	ms := func(v float64) string { return units.Number(v) + " ms" }
	inPairs := func(p Pair) Pair { p.Paired = true; return p }
	among30 := func(p Pair) Pair { p.With = slices.Repeat([]Weighted{{P: 1}}, 30); return p }
	for _, test := range []struct {
		name     string
		rule     Rule
		pair     Pair
		sentence string
	}{
		{"faster", Rule{}, Pair{HigherIsBetter: true, Old: base, New: times(base, 1.2)},
			"better: +20.0% (+16.5% to +23.6%), p 0.0022"},
		{"slower", Rule{}, Pair{HigherIsBetter: true, Old: times(base, 1.2), New: base},
			"worse: −16.7% (−19.1% to −14.2%), p 0.0022"},
		{"less latency", Rule{}, Pair{Old: base, New: times(base, 0.3)}, "better: −70.0% (−70.9% to −69.1%), p 0.0022"},
		{"more memory", Rule{}, Pair{Old: base, New: times(base, 4.9)}, "worse: ×4.90 (×4.76 to ×5.05), p 0.0022"},
		{"the same", Rule{}, Pair{Old: tight, New: tight}, "same within 3%: 0.0% (−0.1% to +0.2%)"},
		{"1000 or more rounds", Rule{}, Pair{Old: wide, New: []float64{61, 81, 101, 119, 139, 159}},
			"inconclusive: +0.2% (−39.0% to +68.3%); need 1000 or more rounds per side"},
		{"certain, and too little to matter", Rule{}, Pair{Old: tight, New: times(tight, 1.01)},
			"same within 3%: +1.0% (+0.8% to +1.2%)"},
		{"certain, with a narrow margin", Rule{Margin: 0.005}, Pair{Old: tight, New: times(tight, 1.01)},
			"worse: +1.0% (+0.8% to +1.2%), p 0.0022"},
		{"certain, below the floor", Rule{Margin: 0.005, Floor: 0.02}, Pair{Old: tight, New: times(tight, 1.01)},
			"inconclusive: +1.0% (+0.8% to +1.2%); below the noise floor (2%)"},
		{"certain, below the pair's floor", Rule{}, Pair{Old: five, New: six, Floor: .21},
			"inconclusive: +20.0% (+20.0% to +20.0%); below the noise floor (21%)"},
		{"at the floor", Rule{Floor: 1}, Pair{Old: base, New: times(base, 2)},
			"worse: ×2.00 (×1.94 to ×2.06), p 0.0022"},
		{"noisy", Rule{}, Pair{Old: wide, New: times(wide, 1.2)},
			"inconclusive: +20.0% (−28.0% to +100.0%); need about 51 more rounds per side"},
		{"noisy, at the floor", Rule{Floor: 1}, Pair{Old: doubling, New: times(doubling, 2)},
			"inconclusive: ×2.00 (×0.250 to ×16.0); need about 51 more rounds per side"},
		{"noisy, below the floor", Rule{Floor: .5}, Pair{Old: wide, New: times(wide, 1.2)},
			"inconclusive: +20.0% (−28.0% to +100.0%)"},
		{"noisy, nearly the same", Rule{}, Pair{Old: three, New: times(three, 1.001)},
			"inconclusive: +0.1% (−4.2% to +4.6%); need about 9 more rounds per side"},
		{"a little noisier", Rule{}, Pair{Old: wide, New: times(wide, 1.1)},
			"inconclusive: +10.0% (−34.0% to +83.3%); need about 190 more rounds per side"},
		{"significant, with an interval that holds 1", Rule{},
			Pair{Old: []float64{1, 1, 1, 1, 1, 1, 1, 2}, New: []float64{1, 2, 2, 2, 2, 2, 2, 2}},
			"inconclusive: ×2.00 (×1.00 to ×2.00); need about 2 more rounds per side"},
		{"constants", Rule{}, Pair{Old: five, New: five}, "same within 3%: 0.0% (0.0% to 0.0%)"},
		{"two constants", Rule{}, Pair{Old: five, New: six}, "worse: +20.0% (+20.0% to +20.0%), p 0.0022"},
		{"three rounds", Rule{}, Pair{Old: base[:3], New: base}, "inconclusive: 3 rounds, need ≥ 6: 3 more rounds per side"},
		{"five rounds", Rule{}, Pair{Old: base, New: base[:5]}, "inconclusive: 5 rounds, need ≥ 6: 1 more round per side"},
		{"one round", Rule{}, Pair{Old: base[:1], New: base}, "inconclusive: 1 round, need ≥ 6: 5 more rounds per side"},
		{"nothing", Rule{}, Pair{}, "inconclusive: 0 rounds, need ≥ 6: 6 more rounds per side"},
		{"a zero", Rule{}, Pair{HigherIsBetter: true, Old: base, New: []float64{0, 1, 2, 3, 4, 5}},
			"worse: 100 → 2.50: 0 in 1 of 6 rounds of new, p 0.0022"},
		{"nothing in new", Rule{}, served(base, none), "worse: 100/s → 0/s: nothing succeeded in new, p 0.0022"},
		{"nothing in old", Rule{}, served(none, base), "better: 0/s → 100/s: nothing succeeded in old, p 0.0022"},
		{"nothing at all", Rule{}, served(none, none), "inconclusive: 0/s → 0/s: nothing succeeded in old and new"},
		{"nothing at all, in pairs", Rule{}, inPairs(served(none, none)),
			"inconclusive: 0/s → 0/s: nothing succeeded in old and new"},
		{"nothing in new, in pairs", Rule{}, inPairs(served(base, none)),
			"worse: 100/s → 0/s: nothing succeeded in new, p 0.031"},
		{"nothing in old, in pairs", Rule{}, inPairs(served(none, base)),
			"better: 0/s → 100/s: nothing succeeded in old, p 0.031"},
		{"nothing in new, a noise floor", Rule{Floor: 100}, served(base, none),
			"worse: 100/s → 0/s: nothing succeeded in new, p 0.0022"},
		{"less is better", Rule{}, Pair{Old: base, New: none}, "better: 100 → 0: 0 in new, p 0.0022"},
		{"nothing in some rounds", Rule{}, served(base, []float64{0, 0, 0, 104, 0, 0}),
			"inconclusive: 100/s → 0/s: nothing succeeded in 5 of 6 rounds of new; need about 6 more rounds per side"},
		{"nothing in some rounds, certainly", Rule{}, served(base, []float64{0, 0, 97, 0, 0, 96}),
			"worse: 100/s → 0/s: nothing succeeded in 4 of 6 rounds of new, p 0.0022"},
		{"nothing in some rounds of both, in pairs", Rule{}, inPairs(served([]float64{98, 0, 98, 98, 98, 98, 98},
			[]float64{0, 0, 0, 0, 0, 0, 97})),
			"worse: 98.0/s → 0/s: nothing succeeded in 1 of 7 rounds of old and 6 of 7 rounds of new, p 0.031"},
		{"nothing in a round, else better", Rule{}, served(base, append(times(base, 1.05), 0, 106, 107, 108)),
			"better: 100/s → 106/s: nothing succeeded in 1 of 10 rounds of new, p 0.011"},
		{"a zero, medians within the margin", Rule{}, served([]float64{98, 98, 98, 98, 98, 98, 0},
			[]float64{99, 99, 99, 99, 99, 99, 99}),
			"inconclusive: 98.0/s → 99.0/s: nothing succeeded in 1 of 7 rounds of old; medians less than 3% apart"},
		{"a zero, medians within the floor", Rule{Floor: .5}, served([]float64{98, 98, 98, 98, 98, 98, 0},
			[]float64{140, 140, 140, 140, 140, 140, 140}),
			"inconclusive: 98.0/s → 140/s: nothing succeeded in 1 of 7 rounds of old; medians less than 50% apart"},
		{"a zero, medians beyond the floor", Rule{Floor: .5}, served([]float64{98, 98, 98, 98, 98, 98, 0},
			[]float64{148, 148, 148, 148, 148, 148, 148}),
			"better: 98.0/s → 148/s: nothing succeeded in 1 of 7 rounds of old, p 0.00058"},
		{"nothing in new, among 30 tests", Rule{}, among30(served(base, none)),
			"inconclusive: 100/s → 0/s: nothing succeeded in new; not significant after Holm's correction for 31 tests, " +
				"p 0.067; need about 5 more rounds per side"},
		{"nothing in three rounds", Rule{}, served(base[:3], none[:3]), "inconclusive: 3 rounds, need ≥ 6: 3 more rounds per side"},
		{"not a number", Rule{}, Pair{Old: []float64{1, 2, 3, 4, 5, math.NaN()}, New: base},
			"inconclusive: round 6: value NaN: not a finite number"},
		{"p equal to alpha", Rule{Alpha: .03125}, paired(base, times(base, 1.2)),
			"worse: +20.0% (+20.0% to +20.0%), p 0.031"},
		{"p equal to alpha, below the floor", Rule{Alpha: .03125, Floor: .5}, paired(base, times(base, 1.2)),
			"inconclusive: +20.0% (+20.0% to +20.0%); below the noise floor (50%)"},
		{"pairs, some of them equal", Rule{Margin: .005}, paired(eight, zeros),
			"inconclusive: +1.4% (−1.5% to +3.9%); need about 110 more rounds per side"},
		{"small, within a number", Rule{}, Pair{Old: []float64{14, 18, 20, 18, 17, 19}, New: []float64{18, 12, 19, 22, 17, 18}, Within: 7, Words: Words{Text: ms}},
			"same within 7.00 ms: 0.0% (−15.0% to +22.2%)"},
		{"small, not within it", Rule{}, Pair{Old: []float64{14, 18, 20, 18, 17, 19}, New: []float64{18, 12, 19, 22, 17, 18}, Within: 3.9, Words: Words{Text: ms}},
			"inconclusive: 0.0% (−15.0% to +22.2%); need about 230 more rounds per side"},
		{"within a number, and significant", Rule{Within: 1e6}, Pair{Old: base, New: times(base, 1.2), Words: Words{Text: ms}}, "same within 1,000,000 ms: +20.0% (+16.5% to +23.6%)"},
		{"six pairs of nine tests", Rule{}, Pair{Old: base, New: times(base, 1.2), Paired: true,
			With: slices.Repeat([]Weighted{{P: 1}}, 8)},
			"inconclusive: +20.0% (+20.0% to +20.0%); not significant after Holm's correction for 9 tests, p 0.28; " +
				"need about 3 more rounds per side"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.rule.Compare([]Pair{test.pair})[0]
			verdict, _, _ := strings.Cut(test.sentence, ":")
			testenv.Check(t, c.Sentence() == test.sentence && strings.HasPrefix(verdict, c.Verdict.String()),
				"%s: %q, want %q", c.Verdict, c.Sentence(), test.sentence)
		})
	}
}

// Measures that could not be tested count in a family, too.
func TestRule_Compare_Family(t *testing.T) {
	pair := Pair{HigherIsBetter: true, Old: []float64{98, 99, 100, 101, 102, 103},
		New: []float64{102.5, 104, 105, 106, 107, 108}}
	alone := Rule{}.Compare([]Pair{pair})[0]
	testenv.Check(t, alone.Verdict == Better && alone.Adjusted == alone.Test.P && alone.Family == 1,
		"alone: %s, p %g, family of %d", alone.Verdict, alone.Adjusted, alone.Family)
	family := make([]Pair, 20)
	family[7] = pair
	if c := (Rule{}).Compare(family)[7]; c.Verdict != Inconclusive || !near(c.Adjusted, 20*alone.Test.P) || c.More < 1 {
		t.Errorf("among twenty: %s, p %g, %d more", c.Verdict, c.Adjusted, c.More)
	}
	testenv.Check(t, len(Rule{}.Compare(nil)) == 0, "an empty family has comparisons")
	testenv.Equal(t, PValue(pair.Old, pair.New, false), alone.Test.P)
	testenv.Equal(t, PValue(pair.Old[:5], pair.New, false), 1, "p of five rounds")
}

// Six pairs are never significant in a family of five, eight can be. Paired tests find more than
// unpaired ones in the same values.
func TestRule_Compare_Pairs(t *testing.T) {
	family := func(n int, paired bool) []Comparison {
		var old, fresh, same []float64
		for i := range n {
			machine := float64(1 + i%4)
			old, fresh = append(old, 100*machine), append(fresh, 90*machine*(1+.001*float64(i)))
			same = append(same, machine*(1+.001*float64(i*7%3)))
		}
		all := []Pair{{HigherIsBetter: true, Old: old, New: fresh, Paired: paired}}
		for range 4 {
			all = append(all, Pair{Old: same, New: same, Paired: paired})
		}
		return Rule{}.Compare(all)
	}
	for _, test := range []struct {
		name string
		got  Comparison
		want string
	}{
		{"six pairs", family(6, true)[0], "inconclusive: −9.8% (−10.0% to −9.6%); not significant after Holm's correction " +
			"for 5 tests, p 0.16; need about 2 more rounds per side"},
		{"eight pairs", family(MinPaired, true)[0], "worse: −9.7% (−9.9% to −9.5%), p 0.039"},
		{"eight and eight", family(MinPaired, false)[0],
			"inconclusive: −9.7% (−54.8% to +80.5%); need about 120 more rounds per side"},
		{"equal pairs", family(MinPaired, true)[1], "same within 3%: 0.0% (0.0% to 0.0%)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			testenv.Equal(t, test.got.Sentence(), test.want)
		})
	}
}

func TestRule_Fill(t *testing.T) {
	standard := Rule{Alpha: .05, Margin: .03}
	for _, test := range []struct{ rule, want Rule }{
		{Rule{}, standard},
		{Rule{Alpha: 1, Margin: 10, Floor: -1}, standard},
		{Rule{Alpha: -.1, Margin: -.1, Floor: math.NaN()}, standard},
		{Rule{Alpha: math.NaN(), Margin: math.NaN()}, standard},
		{Rule{Alpha: .999, Margin: 9.9, Floor: .1}, Rule{Alpha: .999, Margin: 9.9, Floor: .1}},
	} {
		got := test.rule.Fill()
		testenv.Check(t, got == test.want, "%+v: %+v, want %+v", test.rule, got, test.want)
	}
	// The smallest p value of n pairs is 2 / 2ⁿ.
	for _, test := range []struct{ family, paired, unpaired int }{{1, 6, 6}, {2, 7, 6}, {8, 9, 6}, {32, 11, 7},
		{math.MaxInt, 30, 30}} {
		r := Rule{Alpha: .03125}
		p, u := r.fewest(test.family, true), r.fewest(test.family, false)
		testenv.Check(t, p == test.paired && u == test.unpaired, "a family of %d: %d pairs, and %d rounds; want %+v", test.family, p, u, test)
	}
}

func TestRatio_Words(t *testing.T) {
	for _, test := range []struct {
		ratio Ratio
		want  string
	}{
		{Ratio{.2, Interval{.2, 4.999, 0}}, "−80.0% (−80.0% to +399.9%)"},
		{Ratio{1.999, Interval{1.5, 2.5, 0}}, "+99.9% (+50.0% to +150.0%)"},
		{Ratio{2, Interval{.5, 5, 0}}, "×2.00 (×0.500 to ×5.00)"},
		{Ratio{1, Interval{.9996, 1.0004, 0}}, "0.0% (0.0% to 0.0%)"},
		{Ratio{1, Interval{.9994, 1.0006, 0}}, "0.0% (−0.1% to +0.1%)"},
	} {
		testenv.Equal(t, test.ratio.Words(), test.want)
	}
}

func TestRoundWarnings(t *testing.T) {
	for _, c := range []struct {
		rounds []float64
		want   string
	}{
		{[]float64{100, 101, 102, 99, 98, 300}, "outlier: round 6 is an outlier: ×2.99 of the median"},
		{[]float64{130, 120, 110, 105, 95, 96},
			"trend: it falls from round to round (p 0.017): machine drift, which also affects " +
				"comparisons with other runs"},
		{[]float64{1, 2, 3, 4, 5, 6}, "trend: it rises from round to round (p 0.0028): machine drift, which also affects " +
			"comparisons with other runs"},
		{[]float64{100, 100.1, 99.9, 100.05, 1000}, "outlier: round 5 is an outlier: ×10.0 of the median"},
		{[]float64{100, 101, 102, 99, 98, 100.5}, ""},
		{[]float64{100, 201, 102, 99, 198, 199}, ""}, // too few
		{[]float64{100, 201, 102, 99, 198, 199, 101, 200}, "two_kinds: rounds are of two kinds, 4 and 4, ×1.99 apart: something is decided " +
			"at each start, such as the layout of memory or a plan; more rounds do not change that"},
		{[]float64{100, 116, 97, 100, 115, 101, 99, 116}, ""},       // 1.1 times, but not 4 times as far apart as the lower ones
		{[]float64{100, 108, 100.5, 100, 108, 108.5, 100, 108}, ""}, // less than 1.1 times
		{[]float64{1, 2, 3, 4}, ""},
		{[]float64{1, 1, 1, 100}, ""},
		{[]float64{-1, 1, 1, 1, 1, 1}, ""},
		{[]float64{5, 5, 5, 5, 5, 5.1}, ""}, // within the margin
		{[]float64{5, 5, 5, 5, 5, 5}, ""},
	} {
		got := ""
		for _, w := range RoundWarnings(c.rounds) {
			got += fmt.Sprintf("%s: %s", w.Kind, w.Text)
		}
		testenv.Check(t, got == c.want, "%v: %q, want %q", c.rounds, got, c.want)
	}
	for value, sign := range map[float64]int{6: 1, 4: -1} {
		o := Outliers([]float64{5, 5, 5, 5, 5, value})
		testenv.Check(t, len(o) == 1 && o[0] == (Outlier{5, value, math.Inf(sign)}), "one of six equal ones: %+v", o)
	}
}

func TestVerdict_Text(t *testing.T) {
	for _, v := range []Verdict{Inconclusive, Better, Worse, Same} {
		text, err := v.MarshalText()
		var back Verdict
		testenv.Check(t, err == nil && back.UnmarshalText(text) == nil && back == v, "%s came back as %s", v, back)
	}
	var v Verdict
	testenv.Check(t, v.UnmarshalText([]byte("best")) != nil && Verdict(-1).String() == "inconclusive" && Verdict(4).String() == "inconclusive",
		"an unknown verdict has a meaning")
}

// What the tests and ratios need of a sample; its errors have types.
func TestSamples(t *testing.T) {
	ones := slices.Repeat([]float64{1}, MaxRounds+1)
	six := []float64{1, 2, 3, 4, 5, 6}
	nearly1 := math.Nextafter(1, 0)
	bad := func(v float64) []float64 { return []float64{1, 2, 3, v, 5, 6} }
	why := func(v float64, why string) string { return BadValue{3, v, why}.Error() }
	for _, test := range []struct {
		name                    string
		x, y                    []float64
		confidence              float64
		whitney, ratio          string // what an error ends with; "": none
		signedRank, pairedRatio string
	}{
		{"six", six, six, .95, "", "", "", ""},
		{"the widest range", []float64{1e-150, 1e150, 1, 1, 1, 1}, six, .95, "", "", "", ""},
		{"the most", ones[1:], ones[1:], .95, "", "", "", ""},
		{"too many", ones, ones, .95, "at most 1000", "at most 1000", "at most 1000", "at most 1000"},
		{"none", nil, nil, .95, "0 rounds, need ≥ 1", "0 rounds, need ≥ 1", "0 rounds, need ≥ 1", "0 rounds, need ≥ 6"},
		{"one", ones[:1], ones[:1], .95, "", "1 round, need ≥ 4", "", "1 round, need ≥ 6"},
		{"three", ones[:3], ones[:3], .95, "", "3 rounds, need ≥ 4", "", "3 rounds, need ≥ 6"},
		{"four", ones[:4], ones[:4], .9, "", "", "", "4 rounds, need ≥ 5"},
		{"seven of 99%", ones[:7], ones[:7], .99, "", "", "", "7 rounds, need ≥ 8"},
		{"no number of rounds", ones[:61], ones[:61], nearly1, "", "need ≥ 1000", "", "need ≥ 1000"},
		{"no pairs", six, six[:5], .95, "", "", "6 and 5 values: not pairs", "6 and 5 values: not pairs"},
		{"not a number", bad(math.NaN()), six, .95, "NaN: not a finite number", "finite number", "finite number",
			"finite number"},
		{"infinite", six, bad(math.Inf(1)), .95, "+Inf: not a finite number", "finite number", "finite number",
			"finite number"},
		{"negative", six, bad(-2), .95, "", why(-2, "a ratio needs positive values"), "positive values", "positive values"},
		{"too small", bad(.99e-150), six, .95, "", "positive values", "positive values", "positive values"},
		{"too large", bad(1.01e150), six, .95, "", "positive values", "positive values", "positive values"},
		{"no confidence", six, six, 0, "", "not between 0 and 1", "", "not between 0 and 1"},
		{"full confidence", six, six, 1, "", "not between 0 and 1", "", "not between 0 and 1"},
		{"confidence that is not a number", six, six, math.NaN(), "", "not between 0 and 1", "", "not between 0 and 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, whitney := MannWhitney(test.x, test.y)
			_, ratio := RatioOf(test.x, test.y, test.confidence)
			_, signedRank := SignedRank(test.x, test.y)
			_, pairedRatio := PairedRatio(test.x, test.y, test.confidence)
			for i, err := range []error{whitney, ratio, signedRank, pairedRatio} {
				want := []string{test.whitney, test.ratio, test.signedRank, test.pairedRatio}[i]
				var need NeedRounds
				var value BadValue
				switch {
				case want == "" && err != nil, want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)),
					errors.As(err, &need) != strings.Contains(want, "need ≥"), errors.As(err, &value) && value.Index != 3:
					t.Errorf("%d: %v, want %q", i, err, want)
				}
			}
		})
	}
}

// Beyond agrees with the interval of the ratio, whose inversion it is, and decides where a
// value is 0.
func TestRule_Beyond(t *testing.T) {
	base := []float64{98, 99, 100, 101, 102, 103}
	none := make([]float64, 6)
	for _, c := range []struct {
		name     string
		pair     Pair
		multiple float64
		want     int
	}{
		{"nothing in new", Pair{Old: base, New: none}, .95, -1},
		{"nothing in new, in pairs", Pair{Old: base, New: none, Paired: true}, .95, -1},
		{"nothing in old", Pair{Old: none, New: base}, .95, 1},
		{"nothing in old, in pairs", Pair{Old: none, New: base, Paired: true}, .95, 1},
		{"nothing", Pair{Old: none, New: none}, .95, 0},
		{"nothing in one round", Pair{Old: base, New: []float64{0, 99, 100, 101, 102, 103}}, .95, 0},
		{"nothing in three rounds", Pair{Old: base, New: []float64{0, 0, 0, 90, 91, 92}}, .95, -1},
		{"nothing in three rounds, 80% allowed", Pair{Old: base, New: []float64{0, 0, 0, 90, 91, 92}}, .2, 0},
		{"nothing in one old round", Pair{Old: []float64{0, 99, 100, 101, 102, 103}, New: times(base, 1.1)}, .95, 1},
		{"five rounds", Pair{Old: base[:5], New: none[:5]}, .95, 0},
	} {
		testenv.Equal(t, (Rule{}).Beyond(c.pair, c.multiple), c.want, c.name)
	}
	testenv.Check(t, (Rule{Alpha: .001}).Beyond(Pair{Old: base, New: none}, .95) == 0,
		"certain at 0.1%%, with six rounds")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		pair := Pair{Paired: i%2 == 0}
		for range 6 + i%5 {
			pair.Old, pair.New = append(pair.Old, 100*math.Exp(.1*rng.NormFloat64())), append(pair.New, 95*math.Exp(.1*rng.NormFloat64()))
		}
		in, multiple := Rule{}.Compare([]Pair{pair})[0].Ratio.Interval, .8+.4*rng.Float64()
		want := 0
		switch {
		case in.High < multiple:
			want = -1
		case in.Low > multiple:
			want = 1
		}
		got := (Rule{}).Beyond(pair, multiple)
		testenv.Need(t, got == want, "%+v: %g of %+v: %d", pair, multiple, in, got)
	}
}

func TestComparison_BelowFloor(t *testing.T) {
	base := []float64{98, 99, 100, 101, 102, 103}
	withZero := append(slices.Clone(base), 0) // the median is 100
	seven := slices.Repeat([]float64{110}, 7)
	for _, c := range []struct {
		name     string
		old, new []float64
		want     bool
	}{
		{"below", base, times(base, 1.1), true}, {"above", base, times(base, 1.3), false},
		{"below, with a zero", withZero, seven, true}, {"above, with a zero", withZero, times(seven, 1.3), false},
		{"lower, with a zero", seven, times(withZero, .5), false},
		{"nothing", base, make([]float64, 6), false}, {"nothing at all", make([]float64, 6), make([]float64, 6), false},
		{"too few", withZero[2:], seven[:5], false},
	} {
		r := Rule{Floor: .2}.Compare([]Pair{{Old: c.old, New: c.new}})[0]
		if c.name == "too few" {
			r = Rule{Floor: .2}.Compare([]Pair{{Old: []float64{1, 0}, New: []float64{1, 1}}})[0]
		}
		got := (r.Ratio != nil || r.Test != nil || c.name == "too few") && r.BelowFloor()
		testenv.Check(t, got == c.want, "%s: %v", c.name, got)
	}
}
