package board

import (
	"cmp"
	"math"
	"slices"

	"locbench/internal/stats"
)

// order is what the contenders are ordered by, the best one first.
type order int

const (
	byPlan order = iota
	byPeak
	byP99
	byErrors
	byCPU
	byMemory
	byCost
	orders
)

// column is that of the headlines; -1 for the order of the plan.
func (o order) column() int { return [...]int{-1, 4, 7, 8, 9, 10, 11}[o] }

// key is less the better c is; NaN where the figure is not known.
func (o order) key(c stats.Contender) float64 {
	peak, ok := c.PeakStep()
	switch o {
	case byErrors:
		return float64(c.ErrorsTotal())
	case byMemory:
		if c.MemoryPeak > 0 {
			return float64(c.MemoryPeak)
		}
	case byCost:
		return known(c.CostEach)
	case byPeak:
		if ok {
			return -known(peak.Throughput)
		}
	case byP99:
		if ok && peak.Latency.Count > 0 {
			return float64(peak.Latency.P99)
		}
	case byCPU:
		if ok {
			return known(peak.CPURequest)
		}
	}
	return math.NaN()
}

func known(x stats.Value) float64 {
	if !x.Known() {
		return math.NaN()
	}
	return x.Median
}

// ordered are the contenders as they are asked for; those whose figure is not known come last, and equals as in the plan.
func (v *view) ordered(all []stats.Contender) []stats.Contender {
	o := v.Board.order
	if o == byPlan {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b stats.Contender) int {
		x, y := o.key(a), o.key(b)
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return 0
		case math.IsNaN(x):
			return 1
		case math.IsNaN(y):
			return -1
		}
		return cmp.Compare(x, y)
	})
	return all
}
