package stats

import (
	"fmt"
	"math"
	"slices"

	"locbench/internal/bench"
)

// MinDoubt is the least number of values among which one can stand apart.
const MinDoubt = 5

// critical are the values that 99 % of samples of pure noise stay below: the largest modified
// z-score of n normal values, the dip of n values of the flat distribution. Simulated by
// testdata/reference.py, rounded up; between the sizes it is interpolated.
var critical = []struct {
	n      int
	z, dip float64
}{
	{5, 18.8, .197}, {6, 10.1, .193}, {7, 10.7, .185}, {8, 8, .173}, {9, 8.3, .164}, {10, 7, .160}, {11, 7.1, .155},
	{12, 6.3, .149}, {13, 6.4, .144}, {14, 5.9, .140}, {15, 6, .136}, {16, 5.6, .133}, {17, 5.7, .130}, {18, 5.4, .126},
	{19, 5.5, .124}, {20, 5.3, .122}, {30, 4.9, .101}, {50, 4.5, .081}, {100, 4.3, .060},
}

// thresholds are those for n values; beyond the table, z stays and the dip falls with √n.
func thresholds(n int) (z, dip float64) {
	for i, row := range critical {
		switch {
		case n == row.n:
			return row.z, row.dip
		case n < row.n && i > 0:
			before := critical[i-1]
			f := float64(n-before.n) / float64(row.n-before.n)
			return before.z + f*(row.z-before.z), before.dip + f*(row.dip-before.dip)
		}
	}
	last := critical[len(critical)-1]
	return last.z, last.dip * math.Sqrt(float64(last.n)/float64(n))
}

// Outlier is a value that stands apart from its sample. It is reported, and stays in it.
type Outlier struct {
	Index int // in the sample, from 0
	Value float64
	Score float64 // modified z-score; infinite where more than half of the values are the same
}

// Outliers lists the values of at least MinDoubt positive ones whose modified z-score on
// logarithms, 0.6745·(x − median)/MAD, is critical (B. Iglewicz and D. C. Hoaglin, How to Detect
// and Handle Outliers, 1993). Where more than half are the same, it is those more than
// DefaultMargin away.
func Outliers(xs []float64) []Outlier {
	if len(xs) < MinDoubt || positive(xs) != nil {
		return nil
	}
	logs := logarithms(xs)
	middle, _ := Median(logs)
	away := make([]float64, len(logs))
	for i, l := range logs {
		away[i] = math.Abs(l - middle)
	}
	mad, _ := Median(away)
	limit, _ := thresholds(len(xs))
	var found []Outlier
	for i, l := range logs {
		switch {
		case mad > 0 && away[i]/mad*0.6745 > limit:
			found = append(found, Outlier{i, xs[i], 0.6745 * (l - middle) / mad})
		case mad == 0 && away[i] > math.Log1p(DefaultMargin):
			found = append(found, Outlier{i, xs[i], math.Inf(int(math.Copysign(1, l-middle)))})
		}
	}
	return found
}

// Modes tells whether xs has more than one mode: its dip on logarithms is critical, and the values
// are spread by more than DefaultMargin. It is false for fewer than MinDoubt, or not all positive.
func Modes(xs []float64) bool {
	if len(xs) < MinDoubt || positive(xs) != nil {
		return false
	}
	logs := logarithms(xs)
	_, limit := thresholds(len(xs))
	return slices.Max(logs)-slices.Min(logs) > math.Log1p(DefaultMargin) && Dip(logs) > limit
}

func logarithms(xs []float64) []float64 {
	logs := make([]float64, len(xs))
	for i, x := range xs {
		logs[i] = math.Log(x)
	}
	return logs
}

// driftDoubt is the p value of a trend that is reported: of six values, one pair may be reversed.
const driftDoubt = 0.02

// Doubts are the findings about a sample: outliers, groups, a drift.
func Doubts(xs []float64) (doubts bench.Findings) {
	for _, o := range Outliers(xs) {
		middle, _ := Median(xs)
		doubts = append(doubts, bench.Finding{Kind: bench.FoundOutlier,
			Text: fmt.Sprintf("round %d stands apart: %s of the median", o.Index+1, factor(o.Value/middle))})
	}
	if s, p := Trend(xs); p <= driftDoubt {
		way := "rises"
		if s < 0 {
			way = "falls"
		}
		doubts = append(doubts, bench.Finding{Kind: bench.FoundTrend, Text: fmt.Sprintf(
			"it %s from round to round (p %.2g): the machine drifted, and a comparison with another time may show that", way, p)})
	}
	if Modes(xs) {
		doubts = append(doubts, bench.Finding{Kind: bench.FoundGroups,
			Text: "the rounds fall into groups; the median may be typical of none"})
	}
	return doubts
}

// Dip is Hartigan's dip statistic, from 1/(2n) to 1/4: the largest distance between the
// distribution of xs and the nearest unimodal one (P. M. Hartigan, AS 217, Applied Statistics 34,
// 1985). It is 0 of fewer than three values, of equal ones, and where one is not a number.
func Dip(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	n := len(s)
	if n < 3 || finite(s) != nil || s[0] == s[n-1] {
		return 0
	}
	low, high, dip := 0, n-1, 1.0 // dip in units of 1/(2n)
	for {
		// The convex minorant and the concave majorant of the distribution function between low and
		// high: the values that they touch.
		minorant, majorant := hull(s, low, high, true), hull(s, low, high, false)
		apart, left, right := widest(s, minorant, majorant)
		if apart < dip {
			break
		}
		inner := max(bulge(s, minorant, left, true), bulge(s, majorant, right, false))
		dip = max(dip, inner)
		if left == low && right == high {
			break
		}
		low, high = left, right
	}
	return dip / float64(2*n)
}

// hull lists the indices that the convex minorant (or the concave majorant) touches, in order.
func hull(s []float64, low, high int, convex bool) []int {
	var h []int
	for i := low; i <= high; i++ {
		for len(h) >= 2 {
			a, b := h[len(h)-2], h[len(h)-1]
			// The slope to b against the slope on to i, multiplied out: values may be equal.
			first, second := float64(b-a)*(s[i]-s[b]), float64(i-b)*(s[b]-s[a])
			if convex && first < second || !convex && first > second {
				break
			}
			h = h[:len(h)-1]
		}
		h = append(h, i)
	}
	return h
}

// widest finds where the majorant is farthest above the minorant, in numbers of values, and the
// touching points around that place: the next modal interval.
func widest(s []float64, minorant, majorant []int) (apart float64, left, right int) {
	left, right = minorant[0], majorant[len(majorant)-1]
	look := func(distance float64, l, r int) {
		if distance > apart {
			apart, left, right = distance, l, r
		}
	}
	for j := len(minorant) - 2; j >= 1; j-- {
		// A vertex of the minorant below a segment of the majorant.
		g := minorant[j]
		i, _ := slices.BinarySearch(majorant, g)
		a, b := majorant[i-1], majorant[i]
		look(at(s, a, b, g)-float64(g)+1, g, b)
	}
	for j := 1; j < len(majorant)-1; j++ {
		l := majorant[j]
		i, _ := slices.BinarySearch(minorant, l+1) // the first one behind it
		a, b := minorant[i-1], minorant[i]
		look(float64(l)-at(s, a, b, l)+1, a, l)
	}
	return apart, left, right
}

// at is the height, counted in values, of the line from the a-th to the b-th value at the i-th.
func at(s []float64, a, b, i int) float64 {
	if s[b] == s[a] {
		return float64(b)
	}
	return float64(a) + (s[i]-s[a])/(s[b]-s[a])*float64(b-a)
}

// bulge is how far the distribution function gets away from the hull beyond the modal interval.
func bulge(s []float64, h []int, modal int, convex bool) float64 {
	most := 0.0
	for j := 1; j < len(h); j++ {
		a, b := h[j-1], h[j]
		if convex && b > modal || !convex && a < modal || b-a <= 1 || s[a] == s[b] {
			continue
		}
		for i := a; i <= b; i++ {
			line := (s[i] - s[a]) / (s[b] - s[a]) * float64(b-a)
			if convex {
				most = max(most, float64(i-a)+1-line)
			} else {
				most = max(most, line-float64(i-a)+1)
			}
		}
	}
	return most
}
