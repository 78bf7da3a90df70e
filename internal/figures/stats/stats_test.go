package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

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
		if got.Low != float64(test.k) || got.High != float64(test.n+1-test.k) ||
			math.Abs(got.Confidence-test.confidence) > 1e-6 {
			t.Errorf("%d values: %+v, want ranks %d and %d, confidence %g", test.n, got, test.k, test.n+1-test.k,
				test.confidence)
		}
	}
	got, ok := MedianInterval([]float64{1, 2, 3}, .7)
	testenv.Check(t, ok && got == (Interval{1, 3, .75}), "70%% of three values: %+v, %t", got, ok)
	for _, confidence := range []float64{0, 1, -1, math.NaN()} {
		_, ok := MedianInterval(make([]float64, 100), confidence)
		testenv.Check(t, !ok, "confidence %g", confidence)
	}
}
