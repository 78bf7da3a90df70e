package stats

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// The defaults of a Rule.
const (
	DefaultAlpha  = 0.05
	DefaultMargin = 0.03
)

// SeveralTimes is × a measure: what is worse by as much is in the first sentence, and nothing that is
// better is recommended without it.
const SeveralTimes = 3

// Rule decides whether two samples differ or are the same. The zero value has the defaults.
type Rule struct {
	Alpha  float64 // chance of any false difference in a family; the CIs have confidence 1 − Alpha; 0: DefaultAlpha
	Margin float64 // a ratio within 1/(1+Margin) and 1+Margin is "the same"; 0: DefaultMargin
	// noise floor, from locbench calibrate; smaller differences are inconclusive
	Floor float64
	// A difference is "the same", too, if its whole CI is within this number, in the unit of the values, to
	// either side; 0: none. It is for values so small that their ratio says little.
	Within float64
}

// Fill returns the rule with defaults for zero and invalid fields.
func (r Rule) Fill() Rule {
	if !(r.Alpha > 0 && r.Alpha < 1) {
		r.Alpha = DefaultAlpha
	}
	if !(r.Margin > 0 && r.Margin < 10) {
		r.Margin = DefaultMargin
	}
	if !(r.Floor > 0) {
		r.Floor = 0
	}
	return r
}

// Verdict is the result of a comparison.
type Verdict int

// The verdicts.
const (
	Inconclusive Verdict = iota
	Better               // the new side is significantly better, by more than the noise floor
	Worse                // the new side is significantly worse, by more than the noise floor
	Same                 // the ratio is within the margin
)

var verdicts = []string{Inconclusive: "inconclusive", Better: "better", Worse: "worse", Same: "same"}

func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdicts) {
		v = Inconclusive
	}
	return verdicts[v]
}

// MarshalText writes the verdict as String does.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText parses the format of MarshalText.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdicts, string(text))
	if i < 0 {
		return errors.New("verdict: unknown")
	}
	*v = Verdict(i)
	return nil
}

// Pair is one measure of the two sides of a comparison, with one value per round.
type Pair struct {
	Measure        string
	HigherIsBetter bool
	Old, New       []float64
	Paired         bool // the i-th values were measured in one interleaved round; both sides have the same number
	// noise floor of this measure; the larger of this and the rule's applies
	Floor  float64
	Within float64 // Rule.Within of this measure, if larger
	// a second family that the pair belongs to, without itself: the difference has to hold after
	// Holm's correction in both
	With   []Weighted
	Weight float64 // Weighted.Weight
	Words  Words   // how sentences show values without a ratio
}

// Words says how sentences show two samples that have no ratio, since a value is 0. The zero value
// has the defaults.
type Words struct {
	Text  func(float64) string // a value with its unit; nil: units.Number
	Zero  string               // what a value of 0 means: "nothing succeeded"; "": "0"
	Sides [2]string            // names of the old and the new side; "": "old" and "new"
}

// PValue returns the p value of two samples; 1 if they have too few rounds.
func PValue(old, fresh []float64, paired bool) float64 {
	if t := (Rule{}).Fill().test(Pair{Old: old, New: fresh, Paired: paired}).Test; t != nil {
		return t.P
	}
	return 1
}

// Comparison is the result of a Rule for a Pair.
type Comparison struct {
	Measure  string
	Old, New Value
	Ratio    *Ratio  // new to old; nil if Err is set, or if a value is 0: then only ranks decide
	Test     *Test   // nil if Err is set
	Adjusted float64 // p value after Holm's correction; 1 without a test
	Family   int     // number of tests that Holm's correction is for
	Verdict  Verdict
	// of Inconclusive: estimate of the rounds per side to add for a verdict; MaxRounds: that number
	// or more; 0: more rounds do not help
	More int
	Err  error // why there is no test: NeedRounds, BadValue
	Rule Rule  // the rule applied

	words Words
}

// Said returns the comparison with other words for samples without a ratio.
func (c Comparison) Said(w Words) Comparison {
	c.words = w
	return c
}

// Compare decides a family of measures, with at least MinInterval rounds per side. Sides are the
// same if the whole CI of their ratio is within the margin (two one-sided tests at half of Alpha
// each: D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). Otherwise
// they differ if the Mann-Whitney (paired: signed-rank) test says so after Holm's correction over
// the whole family, untested measures included, and the CI excludes 1. Values of 0 have ranks and no
// ratio: the test decides alone, unless the medians are within the margin or the noise floor.
func (r Rule) Compare(family []Pair) []Comparison {
	r = r.Fill()
	compared := make([]Comparison, len(family))
	p := make([]Weighted, len(family))
	for i, pair := range family {
		own := r
		own.Floor, own.Within = max(r.Floor, pair.Floor), max(r.Within, pair.Within)
		compared[i] = own.test(pair)
		p[i] = Weighted{1, pair.Weight}
		if t := compared[i].Test; t != nil {
			p[i].P = t.P
		}
	}
	for i, adjusted := range Holm(p) {
		c := &compared[i]
		with := append([]Weighted{p[i]}, family[i].With...)
		c.Family = max(tests(p, i), tests(with, 0))
		c.Adjusted = max(adjusted, Holm(with)[0])
		c.Verdict = c.Rule.decide(*c, family[i].HigherIsBetter)
		if c.Verdict == Inconclusive {
			c.More = c.Rule.more(*c, c.Family)
		}
	}
	return compared
}

// test returns the comparison without its verdict.
func (r Rule) test(pair Pair) Comparison {
	c := Comparison{Measure: pair.Measure, Old: NewValue(pair.Old), New: NewValue(pair.New), Rule: r, words: pair.Words}
	if c.Err = cmp.Or(fromZero(pair.Old, pair.New), enough(MinInterval, pair.Old, pair.New)); c.Err != nil {
		return c
	}
	ratioOf, testOf := RatioOf, MannWhitney
	if pair.Paired {
		ratioOf, testOf = PairedRatio, SignedRank
	}
	test, noTest := testOf(pair.Old, pair.New)
	if zeros(pair.Old)+zeros(pair.New) > 0 {
		if c.Err = noTest; c.Err == nil {
			c.Test = &test
		}
		return c
	}
	ratio, noRatio := ratioOf(pair.Old, pair.New, 1-r.Alpha)
	if c.Err = cmp.Or(noRatio, noTest); c.Err == nil {
		c.Ratio, c.Test = &ratio, &test
	}
	return c
}

func (r Rule) decide(c Comparison, higherIsBetter bool) Verdict {
	if c.Ratio == nil {
		return r.decideByRanks(c, higherIsBetter)
	}
	in := c.Ratio.Interval
	if in.Within(1/(1+r.Margin), 1+r.Margin) || c.within() {
		return Same
	}
	if c.Adjusted > r.Alpha || in.Holds(1) || math.Abs(math.Log(c.Ratio.Estimate)) < math.Log1p(r.Floor) {
		return Inconclusive
	}
	if (c.Ratio.Estimate > 1) == higherIsBetter {
		return Better
	}
	return Worse
}

// decideByRanks decides where a value is 0: no ratio exists.
func (r Rule) decideByRanks(c Comparison, higherIsBetter bool) Verdict {
	if c.Test == nil || c.Adjusted > r.Alpha || c.Near() {
		return Inconclusive
	}
	if c.above() > .5 == higherIsBetter {
		return Better
	}
	return Worse
}

// within reports whether the whole CI of the difference is within Rule.Within.
func (c Comparison) within() bool {
	return c.Old.Median*max(c.Ratio.High-1, 1-c.Ratio.Low) <= c.Rule.Within
}

// Near reports whether a comparison without a ratio has medians above 0 that are within the margin
// or the noise floor.
func (c Comparison) Near() bool {
	low, high := min(c.Old.Median, c.New.Median), max(c.Old.Median, c.New.Median)
	return low > 0 && math.Log(high/low) < math.Log1p(max(c.Rule.Floor, c.Rule.Margin))
}

// above returns the share of pairs (or of ranks) in which the new value is larger; equal values
// count one half.
func (c Comparison) above() float64 {
	if !c.Test.Paired {
		return 1 - c.Test.U/float64(len(c.Old.Values)*len(c.New.Values))
	}
	have, differ := len(c.Old.Values), 0
	for i := range c.Old.Values {
		if c.Old.Values[i] != c.New.Values[i] {
			differ++
		}
	}
	return (2*c.Test.U + float64(have*(have+1)-differ*(differ+1))/2) / float64(have*(have+1))
}

// BelowFloor reports whether the change is below the noise floor of the rule.
func (c Comparison) BelowFloor() bool {
	if c.Ratio == nil {
		low, high := min(c.Old.Median, c.New.Median), max(c.Old.Median, c.New.Median)
		return c.Test != nil && low > 0 && math.Log(high/low) < math.Log1p(c.Rule.Floor)
	}
	return math.Abs(math.Log(c.Ratio.Estimate)) < math.Log1p(c.Rule.Floor)
}

// Beyond compares the new side with a multiple of the old one, by the test whose inversion is the
// interval of the ratio: −1 if it is certainly below, 1 if it is certainly above, 0 if neither is
// certain. Values may be 0.
func (r Rule) Beyond(pair Pair, multiple float64) int {
	limit := make([]float64, len(pair.Old))
	for i, x := range pair.Old {
		limit[i] = multiple * x
	}
	pair.Old = limit
	r = r.Fill()
	c := r.test(pair)
	switch {
	case c.Test == nil || c.Test.P > r.Alpha:
		return 0
	case c.above() < .5:
		return -1
	}
	return 1
}

// Holds reports whether x is in the interval, ends included.
func (in Interval) Holds(x float64) bool { return in.Low <= x && x <= in.High }

// Within reports whether the whole interval is between low and high.
func (in Interval) Within(low, high float64) bool { return low <= in.Low && in.High <= high }

// power is the chance that the rounds estimated by more give a verdict.
const power = 0.8

// more estimates how many more rounds each side needs for a verdict. For a difference: Noether's
// sample size with a power of 80%, from the share of pairs (or ranks) in which the new value is
// larger (G. E. Noether, Journal of the American Statistical Association 82, 1987), at Alpha over
// the size of the family. For Same: the CI shrinks with the square root of the rounds.
func (r Rule) more(c Comparison, family int) int {
	have := min(len(c.Old.Values), len(c.New.Values))
	if need, few := errors.AsType[NeedRounds](c.Err); few {
		return max(need.Need-have, 1)
	}
	if c.Test == nil || c.Ratio == nil && c.Near() {
		return 0
	}
	least, off := math.Inf(1), math.Inf(1)
	if c.Ratio != nil {
		off = math.Abs(math.Log(c.Ratio.Estimate))
	}
	if d := math.Abs(c.above() - 0.5); d > 0 && off >= math.Log1p(r.Floor) {
		z := normalQuantile(1-r.Alpha/2/float64(family)) + normalQuantile(power)
		if least = z * z / (3 * d * d); !c.Test.Paired {
			least /= 2
		} else if d == 0.5 { // the formula is too conservative if all pairs agree
			least = 0
		}
		least = max(least, float64(r.fewest(family, c.Test.Paired)))
	}
	if room := math.Log1p(r.Margin) - off; room > 0 {
		half := math.Log(c.Ratio.Interval.High/c.Ratio.Interval.Low) / 2
		least = min(least, float64(have)*(half/room)*(half/room))
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return int(max(1, min(MaxRounds, math.Ceil(least)-float64(have))))
}

// fewest returns the rounds per side from which a p value can be significant in a family.
func (r Rule) fewest(family int, paired bool) (n int) {
	for n = MinInterval; n < ExactLimit/2 && !r.Decides(n, family, paired); n++ {
	}
	return n
}

// Decides reports whether this number of rounds per side can be significant in a family of tests.
func (r Rule) Decides(rounds, family int, paired bool) bool {
	return leastP(rounds, paired)*float64(family) <= r.Fill().Alpha
}

// leastP returns the smallest p value that n rounds per side can give.
func leastP(n int, paired bool) float64 {
	if paired {
		return math.Ldexp(2, -n)
	}
	return 2 * math.Exp(-logChoose(2*n, n))
}
