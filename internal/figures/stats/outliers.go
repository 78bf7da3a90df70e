package stats

import (
	"fmt"
	"math"

	"locbench/internal/bench"
)

// MinOutlierValues is the least number of values among which one can stand apart.
const MinOutlierValues = 5

// critical is the largest modified z-score of n normal values that 99% of such samples stay below.
// Simulated by testdata/reference.py, rounded up; between the sizes it is interpolated.
var critical = []struct {
	n int
	z float64
}{
	{5, 18.8}, {6, 10.1}, {7, 10.7}, {8, 8}, {9, 8.3}, {10, 7}, {11, 7.1},
	{12, 6.3}, {13, 6.4}, {14, 5.9}, {15, 6}, {16, 5.6}, {17, 5.7}, {18, 5.4},
	{19, 5.5}, {20, 5.3}, {30, 4.9}, {50, 4.5}, {100, 4.3},
}

// threshold returns that for n values; beyond the table it stays.
func threshold(n int) float64 {
	for i, row := range critical {
		switch {
		case n == row.n:
			return row.z
		case n < row.n && i > 0:
			before := critical[i-1]
			return before.z + float64(n-before.n)/float64(row.n-before.n)*(row.z-before.z)
		}
	}
	return critical[len(critical)-1].z
}

// Outlier is a value that stands apart from its sample. It is reported, and stays in it.
type Outlier struct {
	Index int // in the sample, from 0
	Value float64
	Score float64 // modified z-score; infinite where more than half of the values are the same
}

// Outliers lists the values of at least MinOutlierValues positive ones whose modified z-score on
// logarithms, 0.6745·(x − median)/MAD, is critical (B. Iglewicz and D. C. Hoaglin, How to Detect
// and Handle Outliers, 1993). Where more than half are the same, it is those more than
// DefaultMargin away.
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

// driftDoubt is the p value of a trend that is reported: of six values, one pair may be reversed.
const driftDoubt = 0.02

// Warnings are the warnings about a sample: outliers, a drift.
func RoundWarnings(xs []float64) (doubts bench.Warnings) {
	for _, o := range Outliers(xs) {
		middle, _ := Median(xs)
		doubts = append(doubts, bench.Warning{Kind: bench.WarnOutlier,
			Text: fmt.Sprintf("round %d is an outlier: %s of the median", o.Index+1, factor(o.Value/middle))})
	}
	if s, p := Trend(xs); p <= driftDoubt {
		way := "rises"
		if s < 0 {
			way = "falls"
		}
		doubts = append(doubts, bench.Warning{Kind: bench.WarnTrend, Text: fmt.Sprintf(
			"it %s from round to round (p %.2g): machine drift, which also affects comparisons with other runs", way,
			p)})
	}
	return doubts
}
