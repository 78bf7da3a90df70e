package stats

import "slices"

// Dip is Hartigan's dip statistic: the largest distance between the empirical distribution of xs
// and the unimodal distribution that is nearest to it. 1/(2n) is the least, 1/4 the most (J. A.
// Hartigan and P. M. Hartigan, Annals of Statistics 13, 1985; the algorithm of P. M. Hartigan, AS
// 217, Applied Statistics 34, 1985). It is 0 where there are fewer than three values, all are the
// same, or one is not a number.
func Dip(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	n := len(s)
	if n < 3 || finite(s) != nil || s[0] == s[n-1] {
		return 0
	}
	low, high, dip := 0, n-1, 1.0 // dip in units of 1/(2n)
	for {
		// The convex minorant and the concave majorant of the distribution function between low and
		// high: the values that they touch.
		minorant, majorant := hull(s, low, high, true), hull(s, low, high, false)
		apart, left, right := widest(s, minorant, majorant)
		if apart < dip {
			break
		}
		inner := max(bulge(s, minorant, left, true), bulge(s, majorant, right, false))
		dip = max(dip, inner)
		if left == low && right == high {
			break
		}
		low, high = left, right
	}
	return dip / float64(2*n)
}

// hull lists the indices between low and high that the convex minorant (or the concave majorant)
// touches, in order.
func hull(s []float64, low, high int, convex bool) []int {
	var h []int
	for i := low; i <= high; i++ {
		for len(h) >= 2 {
			a, b := h[len(h)-2], h[len(h)-1]
			// The slope to b against the slope on to i, multiplied out: values may be equal.
			first, second := float64(b-a)*(s[i]-s[b]), float64(i-b)*(s[b]-s[a])
			if convex && first < second || !convex && first > second {
				break
			}
			h = h[:len(h)-1]
		}
		h = append(h, i)
	}
	return h
}

// widest finds where the majorant is farthest above the minorant, in numbers of values, and the
// touching points around that place: the next modal interval.
func widest(s []float64, minorant, majorant []int) (apart float64, left, right int) {
	left, right = minorant[0], majorant[len(majorant)-1]
	look := func(distance float64, l, r int) {
		if distance > apart {
			apart, left, right = distance, l, r
		}
	}
	for j := len(minorant) - 2; j >= 1; j-- {
		// A vertex of the minorant below a segment of the majorant.
		g := minorant[j]
		i, _ := slices.BinarySearch(majorant, g)
		a, b := majorant[i-1], majorant[i]
		look(at(s, a, b, g)-float64(g)+1, g, b)
	}
	for j := 1; j < len(majorant)-1; j++ {
		l := majorant[j]
		i, _ := slices.BinarySearch(minorant, l+1) // the first one behind it
		a, b := minorant[i-1], minorant[i]
		look(float64(l)-at(s, a, b, l)+1, a, l)
	}
	return apart, left, right
}

// at is the height, counted in values, of the line from the a-th to the b-th value at the i-th.
func at(s []float64, a, b, i int) float64 {
	if s[b] == s[a] {
		return float64(b)
	}
	return float64(a) + (s[i]-s[a])/(s[b]-s[a])*float64(b-a)
}

// bulge is how far the distribution function gets away from the hull beyond the modal interval.
func bulge(s []float64, h []int, modal int, convex bool) float64 {
	most := 0.0
	for j := 1; j < len(h); j++ {
		a, b := h[j-1], h[j]
		if convex && b > modal || !convex && a < modal || b-a <= 1 || s[a] == s[b] {
			continue
		}
		for i := a; i <= b; i++ {
			line := (s[i] - s[a]) / (s[b] - s[a]) * float64(b-a)
			if convex {
				most = max(most, float64(i-a)+1-line)
			} else {
				most = max(most, line-float64(i-a)+1)
			}
		}
	}
	return most
}
