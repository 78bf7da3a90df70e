package chart

// States of a column.
const (
	empty  uint8 = iota
	joined       // the line comes from the column before
	begun        // the line begins here: there is a gap before
)

// column is what is left of the points that fall in one column of dots: nothing of their range is lost.
type column struct {
	lo, hi, first, last float64
	state               uint8
}

// thin reduces each series to n columns, one after the other in the result. It is the only pass over the points.
func thin(series []Series, a Axis, n int, log bool) []column {
	all := make([]column, len(series)*n)
	per := float64(n) / (a.To - a.From)
	for i := range series {
		cols := all[i*n : (i+1)*n]
		gap := true
		for _, p := range series[i].Points {
			if !(p.X >= a.From && p.X <= a.To) {
				continue
			}
			y := p.Y
			if !finite(y) || log && y <= 0 {
				gap = true
				continue
			}
			y = max(0, min(y, huge))
			at := &cols[index((p.X-a.From)*per, n)]
			if at.state == empty {
				*at = column{lo: y, hi: y, first: y, last: y, state: joined}
				if gap {
					at.state = begun
				}
			} else {
				at.lo, at.hi, at.last = min(at.lo, y), max(at.hi, y), y
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
