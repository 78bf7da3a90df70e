package board

import (
	"cmp"
	"math"
	"slices"

	"locbench/internal/measure"
	"locbench/internal/stats"
)

// order is what the contenders are ordered by, the best one first: 0 is that of the plan, n the
// n-th of measure.ScreenOrders.
type order int

// measure is what o orders by; ok is false for the order of the plan.
func (o order) measure() (m measure.Shown, ok bool) {
	if all := measure.View(measure.ScreenOrders); o > 0 && int(o) <= len(all) {
		return all[o-1], true
	}
	return measure.Shown{}, false
}

// key is less the better c is; infinite where the figure is not known.
func key(m measure.Measure, c stats.Contender) float64 {
	f := m.Contender(c)
	switch {
	case !f.Known || math.IsNaN(f.Value):
		return math.Inf(1)
	case m.Higher:
		return -f.Value
	}
	return f.Value
}

// ordered are the contenders as they are asked for; those whose figure is not known come last, and
// equals as in the plan.
func (v *view) ordered(all []stats.Contender) []stats.Contender {
	m, ok := v.Board.order.measure()
	if !ok {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b stats.Contender) int { return cmp.Compare(key(m.Measure, a), key(m.Measure, b)) })
	return all
}
