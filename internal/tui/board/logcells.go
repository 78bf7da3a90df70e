package board

import (
	"math"

	"locbench/internal/hdr"
)

// logCells divides a stretch of latencies into n cells that are equally wide on a log scale.
type logCells struct {
	from, width float64 // logarithms, to base 10, of seconds
	n           int
}

// leastDecades is the shortest stretch: below, cells would be narrower than buckets of a histogram.
const leastDecades = 0.6

// spreadScale holds all of the bars, of which there is one or more.
func spreadScale(bars []hdr.Bar, n int) logCells {
	from := math.Log10(max(1e-9, bars[0].From.Seconds()))
	to := math.Log10(max(1e-9, bars[len(bars)-1].To.Seconds()))
	if lack := leastDecades - (to - from); lack > 0 {
		from, to = from-lack/2, to+lack/2
	}
	return logCells{from, (to - from) / float64(n), n}
}

// column is the cell of a latency in seconds; those that lie outside get one outside.
func (c logCells) column(seconds float64) int {
	x := (math.Log10(max(seconds, 1e-12)) - c.from) / c.width
	return int(math.Floor(max(-1, min(x, float64(c.n)+1)) + 1e-9))
}

// Bars there are at most, however many requests there were, and at least if there is room. In
// between it is the root of the number of requests: more bars would show noise.
const mostBars, leastBars = 125, 16

// shares is for each cell what part of all requests is in its bar, and the largest of these. A bar
// is each cells wide.
func (c logCells) shares(bars []hdr.Bar) (shares []float64, top float64, each int) {
	shares = make([]float64, c.n)
	total := 0.0
	for _, b := range bars {
		total += float64(b.Count)
	}
	n := int(max(leastBars, min(math.Sqrt(total), mostBars)))
	each = (c.n + n - 1) / n
	for _, b := range bars {
		x := max(0, min(c.column((b.From.Seconds()+b.To.Seconds())/2), c.n-1))
		shares[x-x%each] += float64(b.Count) / total
	}
	for i := range shares {
		shares[i] = shares[i-i%each]
		top = max(top, shares[i])
	}
	return shares, top, each
}
