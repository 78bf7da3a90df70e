package stats

import (
	"fmt"
	"math"
	"slices"
)

// MinDoubt is the least number of values that Outliers and Modes look at: among fewer, nothing can
// stand apart.
const MinDoubt = 5

// critical are the values that 99 % of samples of pure noise stay below: for z the largest modified
// z-score of n normal values, for dip Hartigan's dip of n values of the flat distribution, of all
// with one mode the one that is most easily taken for two. Simulated by testdata/reference.py,
// rounded up; between the sizes it is interpolated.
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

// Outlier is a value that stands apart from the others of its sample. It is reported, and stays in
// the sample.
type Outlier struct {
	Index int // in the sample, from 0
	Value float64
	Score float64 // modified z-score; infinite where more than half of the values are the same
}

// Outliers lists the values whose modified z-score on logarithms, 0.6745·(x − median)/MAD, is
// critical (B. Iglewicz and D. C. Hoaglin, How to Detect and Handle Outliers, 1993; their 3.5 is for
// large samples, and would warn of 15 % of those of six). Where more than half of the values are the
// same, it is those more than DefaultMargin away. None of fewer than MinDoubt, or not all positive.
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

// driftDoubt is the p value of a trend from which it is reported: of six values, one pair of 15 may
// be the other way round.
const driftDoubt = 0.02

// Doubts are the warnings that belong beside the figures of a sample, in words: outliers, groups, a
// drift. Nothing is left out for them.
func Doubts(xs []float64) []string {
	var doubts []string
	for _, o := range Outliers(xs) {
		middle, _ := Median(xs)
		doubts = append(doubts, fmt.Sprintf("round %d stands apart: %s of the median", o.Index+1, factor(o.Value/middle)))
	}
	if s, p := Trend(xs); p <= driftDoubt {
		way := "rises"
		if s < 0 {
			way = "falls"
		}
		doubts = append(doubts, fmt.Sprintf("it %s from round to round (p %.2g): the machine drifted, and a comparison with another time may show that", way, p))
	}
	if Modes(xs) {
		doubts = append(doubts, "the rounds fall into groups; the median may be typical of none")
	}
	return doubts
}

func doubts(side string, xs []float64) []string {
	doubts := Doubts(xs)
	for i := range doubts {
		doubts[i] = side + ": " + doubts[i]
	}
	return doubts
}
