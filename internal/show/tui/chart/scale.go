package chart

import (
	"math"
	"strconv"

	"github.com/locbench/locbench/internal/bench/units"
)

// Values are bounded to a range that can be scaled without overflow.
const (
	tiny = 1e-300
	huge = 1e300
)

// scale maps values to the height of a plot: 0 at the bottom, 1 at the top.
type scale struct {
	bottom, top float64
	log         bool
	lb, span    float64 // log scale: logarithm of bottom; logarithm of top minus lb
}

// pos returns the position of v on the scale, from 0 to 1.
func (s scale) pos(v float64) float64 {
	if s.log {
		v = (math.Log(max(v, tiny))*(1/math.Ln10) - s.lb) / s.span
	} else {
		v /= s.top
	}
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}

// scale chooses a scale for the thinned series.
func (c Chart) scale(cols []column) scale {
	lo, hi := math.Inf(1), 0.0
	for i := range cols {
		if at := &cols[i]; at.state != empty {
			lo, hi = min(lo, at.lo), max(hi, at.hi)
		}
	}
	top := hi
	// A limit is within the scale unless it would compress the values too much.
	room := 3.0
	if c.Log {
		room = 10
	}
	for _, r := range c.Rules {
		if finite(r.Y) && r.Y > 0 && (hi == 0 || r.Y <= room*hi) {
			top = max(top, min(r.Y, huge))
		}
	}
	switch {
	case c.Log:
		return logScale(min(lo, top), top)
	case top < tiny:
		top = 1
	default:
		top = niceTop(top, c.Binary)
	}
	return scale{top: top}
}

func logScale(lo, hi float64) scale {
	if !(hi >= tiny) {
		lo, hi = 0.1, 1
	}
	lo, hi = max(lo, tiny), max(hi, tiny)
	s := scale{bottom: oneTwoFive(lo, false), top: oneTwoFive(hi, true), log: true}
	if s.top < 9.99*s.bottom {
		s.bottom = s.top / 10
	}
	s.lb = math.Log10(s.bottom)
	s.span = math.Log10(s.top) - s.lb
	return s
}

// oneTwoFive returns the next 1, 2 or 5 times a power of ten.
func oneTwoFive(v float64, up bool) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	if up {
		return roundUp(v*(1-1e-9), decade, 1, 2, 5, 10)
	}
	for _, f := range [...]float64{5, 2} {
		if f*decade <= v*(1+1e-9) {
			return f * decade
		}
	}
	return decade
}

// roundUp returns unit times the first factor that makes it at least v, or the last factor.
func roundUp(v, unit float64, factors ...float64) float64 {
	for _, f := range factors {
		if f*unit >= v {
			return f * unit
		}
	}
	return factors[len(factors)-1] * unit
}

// niceTop returns a round number of at least v that leaves at most a third of the height empty.
func niceTop(v float64, binary bool) float64 {
	v *= 1 - 1e-9
	if binary {
		return roundUp(v, math.Exp2(math.Floor(math.Log2(v))), 1, 1.5, 2)
	}
	return roundUp(v, math.Pow(10, math.Floor(math.Log10(v))), 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
}

// ticks returns the values to label in a plot of the given rows, the most important ones first.
func (s scale) ticks(rows int) []float64 {
	if rows < 2 {
		return []float64{s.top}
	}
	out := append(make([]float64, 0, 16), s.top, s.bottom)
	if !s.log {
		parts := 1
		if rows >= 12 {
			parts = 4
		} else if rows >= 5 {
			parts = 2
		}
		for i := 1; i < parts; i++ {
			out = append(out, s.top*float64(i)/float64(parts))
		}
		return out
	}
	from, to := math.Ceil(s.lb-1e-9), math.Floor(s.lb+s.span+1e-9)
	every := max(1, math.Ceil((to-from+1)/float64(max(1, rows/2))))
	for d := from; d <= to && len(out) < 2+rows; d += every {
		out = append(out, math.Pow(10, d))
	}
	if 3*s.span <= float64(rows/2) {
		for d := from - 1; d <= to; d++ {
			for _, f := range [...]float64{2, 5} {
				if v := f * math.Pow(10, d); v > s.bottom && v < s.top {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// The states of a column.
const (
	empty  uint8 = iota
	joined       // the line comes from the column before
	begun        // the line begins here: there is a gap before
)

// column is the range of the points in one column of dots.
type column struct {
	lo, hi, first, last float64
	dots                dots
	state               uint8
}

// dots holds the values of a column as rows of dots.
type dots struct{ lo, hi, first, last int16 }

// thin reduces each series to n columns. It is the only pass over the points.
func thin(series []Series, a Axis, n int, log bool) []column {
	all := make([]column, len(series)*n)
	per := float64(n) / (a.To - a.From)
	for i := range series {
		cols := all[i*n : (i+1)*n]
		gap := true
		for j := range series[i].Points {
			p := &series[i].Points[j]
			if !(p.X >= a.From && p.X <= a.To) {
				continue
			}
			if !finite(p.Y) || log && p.Y <= 0 {
				gap = true
				continue
			}
			y := max(0, min(p.Y, huge))
			at := &cols[index((p.X-a.From)*per, n)]
			if at.state != empty {
				at.lo, at.hi, at.last = min(at.lo, y), max(at.hi, y), y
			} else if *at = (column{lo: y, hi: y, first: y, last: y, state: joined}); gap {
				at.state = begun
			}
			gap = false
		}
	}
	return all
}

// index returns f as an index into n places.
func index(f float64, n int) int {
	if !(f > 0) {
		return 0
	}
	if f >= float64(n) {
		return n - 1
	}
	return int(f)
}

// RateLabel returns a number of requests or errors per second as a label.
func RateLabel(v float64) string {
	if v >= 100 {
		return units.Number(v)
	}
	return PlainLabel(v)
}

// PlainLabel returns a number as a label.
func PlainLabel(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// LatencyLabel returns a time in seconds as a label.
func LatencyLabel(v float64) string {
	switch {
	case v < 0.9995e-6:
		return PlainLabel(v*1e9) + " ns"
	case v < 0.9995e-3:
		return PlainLabel(v*1e6) + " µs"
	case v < 0.9995:
		return PlainLabel(v*1e3) + " ms"
	}
	return PlainLabel(v) + " s"
}

// SizeLabel returns a number of bytes as a label.
func SizeLabel(v float64) string {
	unit := "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1024, u
	}
	return PlainLabel(v) + " " + unit
}
