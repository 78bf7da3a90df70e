package stats

import (
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
