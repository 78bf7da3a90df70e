package stats

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

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
			if outlying != (math.Abs(z) > threshold(len(r.Y))) || outlying && math.Abs(score-z) > 1e-6*math.Abs(z) {
				t.Errorf("%s: outliers %v, want index %d, score %g", r.Name, outliers, i, z)
			}
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
		if z := threshold(want.N); z < want.Z-0.02 || z > want.Z+0.12 {
			t.Errorf("%d values: threshold %g, simulated %g", want.N, z, want.Z)
		}
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
		if s, p := Trend(ramp(n, 1)); s != n*(n-1)/2 || !near(p, want) && p > 1e-80 {
			t.Errorf("a trend of %d values: S %d, p %g, want %g", n, s, p, want)
		}
	}
	_, p := Trend([]float64{1, 1, 2, 3, 4, 5, 6, 7})
	testenv.Check(t, near(p, 4./40320), "a trend of eight values with a tie: p %g", p)
}
