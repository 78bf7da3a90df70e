package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/locbench/locbench/internal/bench"
)

// MinOutlierValues is the minimum number of values for outliers.
const MinOutlierValues = 5

// critical is the 99% quantile of the largest modified z-score among n normal values. It was
// simulated by testdata/reference.py and rounded up; sizes in between are interpolated.
var critical = []struct {
	n int
	z float64
}{
	{5, 18.8}, {6, 10.1}, {7, 10.7}, {8, 8}, {9, 8.3}, {10, 7}, {11, 7.1},
	{12, 6.3}, {13, 6.4}, {14, 5.9}, {15, 6}, {16, 5.6}, {17, 5.7}, {18, 5.4},
	{19, 5.5}, {20, 5.3}, {30, 4.9}, {50, 4.5}, {100, 4.3},
}

// threshold returns the critical score for n values, at least MinOutlierValues; beyond the table
// that of the last row.
func threshold(n int) float64 {
	for i, row := range critical {
		switch {
		case n == row.n:
			return row.z
		case n < row.n:
			before := critical[i-1]
			return before.z + float64(n-before.n)/float64(row.n-before.n)*(row.z-before.z)
		}
	}
	return critical[len(critical)-1].z
}

// Outlier is a value far from the rest of its sample. It is reported but not removed.
type Outlier struct {
	Index int // in the sample, from 0
	Value float64
	Score float64 // modified z-score; infinite if more than half of the values are equal
}

// Outliers returns the values whose modified z-score on logarithms, 0.6745·(x − median)/MAD, is
// critical (B. Iglewicz and D. C. Hoaglin, How to Detect and Handle Outliers, 1993). If more than
// half of the values are equal, it returns those more than DefaultMargin away. It takes at least
// MinOutlierValues positive values.
func Outliers(xs []float64) []Outlier {
	if len(xs) < MinOutlierValues || positive(xs) != nil {
		return nil
	}
	logs := logarithms(xs)
	middle, _ := Median(logs)
	away := make([]float64, len(logs))
	for i, l := range logs {
		away[i] = math.Abs(l - middle)
	}
	mad, _ := Median(away)
	limit := threshold(len(xs))
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

func logarithms(xs []float64) []float64 {
	logs := make([]float64, len(xs))
	for i, x := range xs {
		logs[i] = math.Log(x)
	}
	return logs
}

// maxTrendP is the largest p value of a reported trend: of six values, one pair may be reversed.
const maxTrendP = 0.02

// Of two kinds are rounds with a gap in the middle that is this many times as wide as either kind,
// and from this factor on. 0.04% of samples of 8 normal values have that gap, and 0.5% of 6 (by simulation).
const (
	minKinds  = 8
	kindsGap  = 4
	kindsFrom = 1.1
)

// TwoKinds returns how many of the rounds are of the lower one of two kinds, and the factor between
// the medians of both; 0 if they are of one kind.
func TwoKinds(xs []float64) (lower int, times float64) {
	if len(xs) < minKinds || positive(xs) != nil {
		return 0, 0
	}
	logs := logarithms(xs)
	slices.Sort(logs)
	gap := func(i int) float64 { return logs[i] - logs[i-1] }
	at := 2
	for i := at; i <= len(logs)-2; i++ {
		if gap(i) > gap(at) {
			at = i
		}
	}
	if gap(at) < math.Log(kindsFrom) || gap(at) < kindsGap*max(logs[at-1]-logs[0], logs[len(logs)-1]-logs[at]) {
		return 0, 0
	}
	low, _ := Median(logs[:at])
	high, _ := Median(logs[at:])
	return at, math.Exp(high - low)
}

// RoundWarnings returns the warnings about a sample of rounds: two kinds, else outliers, and a trend.
func RoundWarnings(xs []float64) (all bench.Warnings) {
	lower, times := TwoKinds(xs)
	if lower > 0 {
		all = append(all, bench.Warning{Kind: bench.WarnTwoKinds, Text: fmt.Sprintf(
			"rounds are of two kinds, %d and %d, %s apart: something is decided at each start, such as the layout of memory or a plan; "+
				"more rounds do not change that", lower, len(xs)-lower, factor(times))})
	}
	for _, o := range Outliers(xs) {
		if lower > 0 {
			break
		}
		middle, _ := Median(xs)
		all = append(all, bench.Warning{Kind: bench.WarnOutlier,
			Text: fmt.Sprintf("round %d is an outlier: %s of the median", o.Index+1, factor(o.Value/middle))})
	}
	if s, p := Trend(xs); p <= maxTrendP {
		way := "rises"
		if s < 0 {
			way = "falls"
		}
		all = append(all, bench.Warning{Kind: bench.WarnTrend, Text: fmt.Sprintf(
			"it %s from round to round (p %.2g): machine drift, which also affects comparisons with other runs", way,
			p)})
	}
	return all
}

// Trend tests a sample, in the order of the rounds, for a trend. s is Kendall's S, and p its
// two-sided p value (H. B. Mann, Econometrica 13, 1945): exact without ties up to ExactLimit
// values, with ties up to eight. p is 1 below MinOutlierValues values, or if a value is not a
// number.
func Trend(xs []float64) (s int, p float64) {
	n := len(xs)
	if n < MinOutlierValues || finite(xs) != nil {
		return 0, 1
	}
	ranks, _ := doubledRanks(xs)
	s = kendall(ranks)
	size := max(s, -s)
	switch tied := ties(ranks); {
	case size == 0:
		return s, 1
	case len(tied) == 0 && n <= ExactLimit:
		return s, kendallP(n, size)
	case n <= allOrders:
		return s, shareOfOrders(ranks, func(order []int) bool {
			o := kendall(order)
			return max(o, -o) >= size
		})
	default:
		of := func(t float64) float64 { return t * (t - 1) * (2*t + 5) }
		variance := of(float64(n))
		for _, t := range tied {
			variance -= of(float64(t))
		}
		return s, math.Erfc(float64(size-1) / math.Sqrt(variance/18) / math.Sqrt2)
	}
}

func kendall(ranks []int) (s int) {
	for i, a := range ranks {
		for _, b := range ranks[i+1:] {
			s += cmp.Compare(b, a)
		}
	}
	return s
}

// ties returns the sizes of the groups of equal ranks.
func ties(ranks []int) (sizes []int) {
	count := map[int]int{}
	for _, r := range ranks {
		count[r]++
	}
	for _, c := range count {
		if c > 1 {
			sizes = append(sizes, c)
		}
	}
	return sizes
}

// kendallP returns the chance that |S| of n distinct values in random order is at least size.
func kendallP(n, size int) float64 {
	// S is the number of pairs minus twice the inversions. The share of permutations of i values with
	// k inversions is the mean over those of i−1 values with k−i+1 to k inversions.
	pairs := n * (n - 1) / 2
	share := make([]float64, pairs+1)
	share[0] = 1
	for i := 2; i <= n; i++ {
		next := make([]float64, pairs+1)
		for k, v := range share {
			for j := k; j < min(k+i, pairs+1); j++ {
				next[j] += v / float64(i)
			}
		}
		share = next
	}
	p := 0.0
	for k, v := range share {
		if s := pairs - 2*k; max(s, -s) >= size {
			p += v
		}
	}
	return min(1, p)
}

// allOrders is the number of values up to which all permutations are tried.
const allOrders = 8

// shareOfOrders returns the share of all permutations of xs for which holds returns true.
func shareOfOrders(xs []int, holds func([]int) bool) float64 {
	as, all, order := 0, 0, slices.Clone(xs)
	permute(order, len(order), func() {
		if all++; holds(order) {
			as++
		}
	})
	return float64(as) / float64(all)
}

// permute calls visit for every order of the first k values (Heap's algorithm).
func permute(xs []int, k int, visit func()) {
	if k <= 1 {
		visit()
		return
	}
	for i := range k {
		permute(xs, k-1, visit)
		if i == k-1 {
			return
		}
		if k%2 == 0 {
			xs[i], xs[k-1] = xs[k-1], xs[i]
		} else {
			xs[0], xs[k-1] = xs[k-1], xs[0]
		}
	}
}

// Line is a least-squares line through equidistant values. Slope and Error are relative to the
// mean.
type Line struct {
	N     int     // number of values
	Slope float64 // from one value to the next: .01 is 1%
	Error float64 // standard error of Slope
}

// FitLine fits a line to a sample; ok is false below three values, or if a value is not positive.
func FitLine(ys []float64) (l Line, ok bool) {
	n := float64(len(ys))
	if n < 3 || positive(ys) != nil {
		return Line{}, false
	}
	mean := 0.
	for _, y := range ys {
		mean += y / n
	}
	middle, squares, product := (n-1)/2, n*(n*n-1)/12, 0.
	for i, y := range ys {
		product += (float64(i) - middle) * (y/mean - 1)
	}
	l = Line{N: len(ys), Slope: product / squares}
	rest := 0.
	for i, y := range ys {
		off := y/mean - 1 - l.Slope*(float64(i)-middle)
		rest += off * off
	}
	l.Error = math.Sqrt(rest / (n - 2) / squares)
	return l, true
}

// Change returns the rise of the line over all values, relative to their mean.
func (l Line) Change() float64 { return l.Slope * float64(l.N) }

// P returns the two-sided p value for a slope of zero.
func (l Line) P() float64 {
	switch {
	case l.Slope == 0:
		return 1
	case l.Error == 0:
		return 0
	}
	return studentP(l.Slope/l.Error, l.N-2)
}

// studentP returns the two-sided p value of Student's t (M. Abramowitz and I. A. Stegun, Handbook
// of Mathematical Functions, 26.7.3 and 26.7.4).
func studentP(t float64, freedom int) float64 {
	angle := math.Atan(math.Abs(t) / math.Sqrt(float64(freedom)))
	sin, cos := math.Sincos(angle)
	if freedom%2 == 0 {
		sum, term := 0., 1.
		for k := 2; k <= freedom; k += 2 {
			sum += term
			term *= cos * cos * float64(k-1) / float64(k)
		}
		return max(0, 1-sin*sum)
	}
	sum, term := 0., cos
	for k := 3; k <= freedom; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	return max(0, 1-2/math.Pi*(angle+sin*sum))
}
