package stats

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// reference is the output of testdata/reference.py.
type reference struct {
	Pairs []struct {
		Name          string
		X, Y          []float64
		MedianX       float64   `json:"median_x"`
		MedianY       float64   `json:"median_y"`
		IntervalX     *interval `json:"interval_x"`
		IntervalY     *interval `json:"interval_y"`
		U             float64
		PExact        *float64 `json:"p_exact"`
		PAsymptotic   *float64 `json:"p_asymptotic"`
		Ratio         float64
		RatioInterval *interval `json:"ratio_interval"`
		ZY            []float64 `json:"z_y"`
	}
	Holm   []struct{ P, Adjusted []float64 }
	Trends []struct {
		X []float64
		S int
		P float64
	}
	Critical []struct {
		N int
		Z float64
	}
}

type interval struct{ Low, High, Confidence float64 }

func read[T any](t *testing.T, file string) (v T) {
	t.Helper()
	testenv.OK(t, json.Unmarshal(testenv.Must(os.ReadFile("testdata/"+file))(t), &v))
	return v
}

// near reports whether a and b are equal to 1e-9, relative for large values.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// relative reports whether a and b are equal to a relative 1e-9.
func relative(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func expect(t *testing.T, name, what string, got, want float64) {
	t.Helper()
	testenv.Check(t, relative(got, want), "%s: %s %.12g, want %.12g", name, what, got, want)
}

// expectInterval compares intervals; a confidence of 0 is not known.
func expectInterval(t *testing.T, name string, got Interval, want interval) {
	t.Helper()
	expect(t, name, "low", got.Low, want.Low)
	expect(t, name, "high", got.High, want.High)
	if want.Confidence != 0 {
		expect(t, name, "confidence", got.Confidence, want.Confidence)
	}
}

func TestAgainstSciPy(t *testing.T) {
	ref := read[reference](t, "reference.json")
	testenv.Check(t, len(ref.Pairs) >= 50 && len(ref.Trends) >= 30,
		"%d data sets, %d trends", len(ref.Pairs), len(ref.Trends))
	for _, r := range ref.Pairs {
		for _, side := range []struct {
			xs     []float64
			median float64
			want   *interval
		}{{r.X, r.MedianX, r.IntervalX}, {r.Y, r.MedianY, r.IntervalY}} {
			got, _ := Median(side.xs)
			expect(t, r.Name, "median", got, side.median)
			if in, ok := MedianInterval(side.xs, 0.95); ok != (side.want != nil) {
				t.Errorf("%s: an interval of the median: %t", r.Name, ok)
			} else if ok {
				expectInterval(t, r.Name, in, *side.want)
			}
		}
		test, err := MannWhitney(r.X, r.Y)
		testenv.Check(t, err == nil && test.U == r.U && (r.PExact == nil || test.Exact),
			"%s: %+v, want U %g, %v", r.Name, test, r.U, err)
		if r.PExact != nil {
			expect(t, r.Name, "exact p", test.P, *r.PExact)
		}
		_, ties := doubledRanks(slices.Concat(r.X, r.Y))
		testenv.Check(t, test.Ties == (ties != 0), "%s: ties %t", r.Name, test.Ties)
		n, m := float64(len(r.X)), float64(len(r.Y))
		if r.PAsymptotic != nil {
			expect(t, r.Name, "approximated p", normalP(r.U, n*m/2, varianceOfU(n, m, ties)), *r.PAsymptotic)
		}
		got, err := RatioOf(r.X, r.Y, 0.95)
		testenv.Equal(t, 2*math.Exp(-logChoose(len(r.X)+len(r.Y), len(r.X))) > 0.05, (err != nil), r.Name, err)
		if err == nil {
			expect(t, r.Name, "ratio", got.Estimate, r.Ratio)
		}
		if r.RatioInterval != nil {
			expectInterval(t, r.Name, got.Interval, interval{r.RatioInterval.Low, r.RatioInterval.High, 0})
		}
		if len(r.Y) < MinOutlierValues || r.ZY == nil {
			continue
		}
		outliers := map[int]float64{}
		for _, o := range Outliers(r.Y) {
			outliers[o.Index] = o.Score
		}
		for i, z := range r.ZY {
			score, outlying := outliers[i]
			testenv.Check(t, outlying == (math.Abs(z) > threshold(len(r.Y))) && (!outlying || !(math.Abs(score-z) > 1e-6*math.Abs(z))),
				"%s: outliers %v, want index %d, score %g", r.Name, outliers, i, z)
		}
	}
	for _, r := range ref.Holm {
		for i, got := range Holm(unweighted(r.P...)) {
			expect(t, "Holm", "p", got, r.Adjusted[i])
		}
	}
	for _, r := range ref.Trends {
		s, p := Trend(r.X)
		testenv.Check(t, s == r.S && near(p, r.P), "trend of %v: %d, p %.12g, want %d, %.12g", r.X, s, p, r.S, r.P)
	}
	for _, want := range ref.Critical { // rounded up
		z := threshold(want.N)
		testenv.Check(t, !(z < want.Z-0.02) && !(z > want.Z+0.12), "%d values: threshold %g, simulated %g", want.N, z, want.Z)
	}
	testenv.Check(t, len(ref.Critical) == len(critical) && threshold(40) == 4.7 && threshold(400) == 4.3,
		"%d sizes, want %d; between two sizes %g, beyond the table %g", len(critical), len(ref.Critical), threshold(40), threshold(400))
}

// The pairs of testdata/signed.R.
func TestPairsAgainstR(t *testing.T) {
	ref := read[struct {
		Pairs []struct {
			Name        string
			X, Y        []float64
			V, P        float64
			Exact, Tied bool
			Zeros       int // pairs of equal values
			Ratio       *float64
			Interval    *interval
		}
	}](t, "signed-r.json")
	testenv.Check(t, len(ref.Pairs) >= 55, "%d data sets", len(ref.Pairs))
	for _, r := range ref.Pairs {
		test, err := SignedRank(r.X, r.Y)
		expect(t, r.Name, "p", test.P, r.P)
		want := Test{U: r.V, P: test.P, Exact: r.Exact, Ties: r.Tied || r.Zeros > 0, Paired: true}
		testenv.Check(t, err == nil && test == want, "%s: %+v, want %+v, %v", r.Name, test, want, err)
		got, err := PairedRatio(r.X, r.Y, 0.95)
		if r.Ratio == nil {
			var need NeedRounds
			testenv.Check(t, errors.As(err, &need) && need == (NeedRounds{len(r.X), 6}),
				"%s: %+v, %v", r.Name, got, err)
			continue
		}
		expect(t, r.Name, "ratio", got.Estimate, *r.Ratio)
		expectInterval(t, r.Name, got.Interval, *r.Interval)
	}
}

// Up to 60 values the tests and intervals are exact; beyond, the normal approximation is close.
func TestExactLimit(t *testing.T) {
	ramp := func(n int, from float64) (xs []float64) {
		for i := range n {
			xs = append(xs, from+float64(i))
		}
		return xs
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*b }
	for _, test := range []struct {
		n, m  int
		shift float64
		u, p  float64
		exact bool
	}{
		// Beyond, z is (|U − nm/2| − 1/2) / √(nm(n+m+1)/12).
		{30, 30, 100, 0, 2 / math.Exp(logChoose(60, 30)), true},
		{30, 31, 100, 0, math.Erfc((465 - .5) / math.Sqrt(30*31*62/12.) / math.Sqrt2), false},
		{31, 30, 10.5, 0, 0, false},
	} {
		got, err := MannWhitney(ramp(test.n, 1), ramp(test.m, 1+test.shift))
		if test.p == 0 { // pairs in which x is larger: 1 + 2 + … + 20
			test.u, test.p = 210, math.Erfc((465-210-.5)/math.Sqrt(30*31*62/12.)/math.Sqrt2)
		}
		testenv.Check(t, err == nil && got.U == test.u && got.Exact == test.exact && near(got.P, test.p),
			"%d and %d: %+v, want %+v, %v", test.n, test.m, got, test, err)
	}
	for _, test := range []struct {
		n, m       int
		confidence float64
		k          int
		reached    float64
	}{
		{4, 4, .95, 1, 1 - 2./70}, {3, 4, .9, 1, 1 - 2./35}, {30, 30, .95, 318, .95038}, {30, 31, .95, 329, .95},
		{61, 1, .95, 0, .95},
	} {
		if k, reached := criticalRank(test.n, test.m, test.confidence); k != test.k || !near(reached, test.reached) {
			t.Errorf("%d and %d: rank %d, %.6f; want %d, %.6f", test.n, test.m, k, reached, test.k, test.reached)
		}
	}
	// 61 values: z is (|S| − 1) / √(n(n−1)(2n+5)/18).
	for n, want := range map[int]float64{8: 2. / 40320, 60: 0,
		61: math.Erfc((1830 - 1) / math.Sqrt(61*60*127/18.) / math.Sqrt2)} {
		s, p := Trend(ramp(n, 1))
		testenv.Check(t, s == n*(n-1)/2 && (near(p, want) || !(p > 1e-80)), "a trend of %d values: S %d, p %g, want %g", n, s, p, want)
	}
	_, p := Trend([]float64{1, 1, 2, 3, 4, 5, 6, 7})
	testenv.Check(t, near(p, 4./40320), "a trend of eight values with a tie: p %g", p)
}

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
			testenv.Need(t, c.Adjusted >= 0 && c.Adjusted <= 1 && c.More >= 0 && c.More <= MaxRounds && c.Sentence() != "", "%+v", c)
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

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		xs   []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{4, 1}, 2.5},
		{[]float64{12.1, 9.8, 15.3, 11.7, 30.2, 10.4, 13.9}, 12.1}, // R: median(x)
		{[]float64{1, 100, 2, 50}, 26},
	} {
		got, ok := Median(test.xs)
		testenv.Check(t, ok && got == test.want, "median of %v is %g, want %g", test.xs, got, test.want)
	}
	_, ok := Median[float64](nil)
	testenv.Check(t, !ok, "nothing has a median")
	xs := []time.Duration{3, 1, math.MaxInt64, math.MaxInt64 - 2}
	got, _ := Median(xs)
	testenv.Check(t, got == (math.MaxInt64-2)/2+2 && xs[0] == 3, "median %d; the sample was changed: %v", got, xs)
}

// Reference: the order statistics for a 95% CI of the median, and their confidence,
// from the binomial distribution with p = 1/2: 1 - 2·P(X < k), computed with
// scipy.stats.binom.cdf(k-1, n, 0.5) of SciPy 1.17.1.
func TestMedianInterval(t *testing.T) {
	for _, test := range []struct {
		n, k       int
		confidence float64
	}{
		{1, 0, 0}, {3, 0, 0}, {5, 0, 0},
		{6, 1, .96875}, {7, 1, .984375}, {8, 1, .9921875}, {9, 2, .9609375}, {10, 2, .978515625},
		{11, 2, .98828125}, {12, 3, .96142578125}, {15, 4, .96484375}, {17, 5, .950958251953125},
		{20, 6, .9586105346679688}, {25, 8, .9567147493362427}, {30, 10, .9572260547429323},
		{1000, 469, .9537091416736674},
	} {
		xs := make([]float64, test.n)
		for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(test.n) {
			xs[i] = float64(at + 1) // the value is its rank
		}
		got, ok := MedianInterval(xs, .95)
		testenv.Check(t, ok == (test.k > 0), "%d values: an interval: %t", test.n, ok)
		if !ok {
			continue
		}
		testenv.Check(t, got.Low == float64(test.k) && got.High == float64(test.n+1-test.k) && !(math.Abs(got.Confidence-test.confidence) > 1e-6),
			"%d values: %+v, want ranks %d and %d, confidence %g", test.n, got, test.k, test.n+1-test.k, test.confidence)
	}
	got, ok := MedianInterval([]float64{1, 2, 3}, .7)
	testenv.Check(t, ok && got == (Interval{1, 3, .75}), "70%% of three values: %+v, %t", got, ok)
	for _, confidence := range []float64{0, 1, -1, math.NaN()} {
		_, ok := MedianInterval(make([]float64, 100), confidence)
		testenv.Check(t, !ok, "confidence %g", confidence)
	}
}
