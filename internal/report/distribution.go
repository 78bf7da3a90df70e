package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// distribution is how the latencies of one step of a contender lie, of all its rounds together:
// their histograms are merged.
type distribution struct {
	Contender int        `json:"c"`
	Row       int        `json:"row"`
	Count     int64      `json:"n"`
	Curve     numbers    `json:"curve"` // ms at the quantiles of shares(), as far as there are enough answers
	Buckets   [][2]int64 `json:"heat"`  // bucket and how many latencies are in it
}

// perDecade is how many buckets of the heat map there are from 1 ms to 10 ms.
const perDecade = 8

// shares are the 1/(1−q) at which a curve has points: ten for each decade, up to 10⁹ answers.
func shares() numbers {
	var all numbers
	for k := range 91 {
		all = append(all, math.Pow(10, float64(k)/10))
	}
	return all
}

func distributions(l layout) (all []distribution) {
	for n := range l.contenders {
		sum := l.sum(n)
		for row, index := range l.indices {
			s, ok := stepAt(sum, index)
			if !ok || s.Latency.Count <= 0 {
				continue
			}
			if d, ok := newDistribution(s.Latency); ok {
				d.Contender, d.Row = n, row
				all = append(all, d)
			}
		}
	}
	return all
}

// newDistribution reads a histogram; one that cannot be read leaves a gap, as it does everywhere.
func newDistribution(l bench.Latencies) (distribution, bool) {
	h, err := hdr.Decode(l)
	if err != nil || h.Count() <= 0 {
		return distribution{}, false
	}
	d := distribution{Count: h.Count()}
	ms := func(x time.Duration) float64 { return float64(x) / float64(time.Millisecond) }
	for _, x := range shares() {
		if x > float64(h.Count()) {
			break
		}
		d.Curve = append(d.Curve, positive(ms(h.Quantile(1-1/x))))
	}
	counts := map[int64]int64{}
	for _, bar := range h.Bars() {
		middle := max(ms(bar.From)/2+ms(bar.To)/2, 1e-6)
		counts[int64(math.Floor(perDecade*math.Log10(middle)))] += bar.Count
	}
	for _, k := range slices.SortedFunc(maps.Keys(counts), cmp.Compare) {
		d.Buckets = append(d.Buckets, [2]int64{k, counts[k]})
	}
	return d, true
}

// peakRow is the step with the peak of the fastest contender; where there is none, the last one.
func (l layout) peakRow() int {
	best, row := 0.0, max(0, len(l.rows)-1)
	for n := range l.contenders {
		if s, ok := l.sum(n).PeakStep(); ok && s.Throughput.Median > best {
			best, row = s.Throughput.Median, max(0, slices.Index(l.indices, s.Index))
		}
	}
	return row
}
