package stats

import (
	"math"
)

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
