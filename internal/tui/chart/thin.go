package chart

// States of a column.
const (
	empty  uint8 = iota
	joined       // the line comes from the column before
	begun        // the line begins here: there is a gap before
)

// column is what is left of the points in one column of dots: nothing of their range is lost.
type column struct {
	lo, hi, first, last float64
	dots                dots
	state               uint8
}

// dots are the values of a column as rows of dots.
type dots struct{ lo, hi, first, last int16 }

// thin reduces each series to n columns, one after the other. It is the only pass over the points.
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
			switch {
			case at.state != empty:
				at.lo, at.hi, at.last = min(at.lo, y), max(at.hi, y), y
			case gap:
				*at = column{lo: y, hi: y, first: y, last: y, state: begun}
			default:
				*at = column{lo: y, hi: y, first: y, last: y, state: joined}
			}
			gap = false
		}
	}
	return all
}

// index is f as an index into n places.
func index(f float64, n int) int {
	if !(f > 0) {
		return 0
	}
	if f >= float64(n) {
		return n - 1
	}
	return int(f)
}
