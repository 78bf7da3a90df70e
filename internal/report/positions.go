package report

import "math"

// positions are the places of the rows on a logarithmic axis: connections, rates or users as they
// are, and the warm-up steps before them, evenly spaced, since they have no place among the others.
// It is nil where the measured steps are not of one kind or do not grow: then they stand beside
// each other.
func (l layout) positions() []float64 {
	w := l.warmUp()
	if len(l.rows)-w < 2 {
		return nil
	}
	at := make([]float64, len(l.rows))
	for i := w; i < len(at); i++ {
		s := l.rows[i].step
		switch first := l.rows[w].step; {
		case l.rows[i].WarmUp:
			return nil
		case first.Connections > 0:
			at[i] = float64(s.Connections)
		case first.Rate > 0:
			at[i] = s.Rate
		case first.Arrivals != nil && s.Arrivals != nil:
			at[i] = float64(s.Arrivals.Users)
		}
		if !finite(at[i]) || at[i] <= 0 || i > w && at[i] <= at[i-1] {
			return nil
		}
	}
	// As far apart as the others are on average, but no farther than 2 from 4.
	gap := math.Min(2, math.Pow(at[len(at)-1]/at[w], 1/float64(len(at)-w-1)))
	for i := w - 1; i >= 0; i-- {
		at[i] = at[i+1] / gap
	}
	return at
}
