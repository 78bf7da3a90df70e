package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// MinSegment is the minimum number of values on each side: one deviating value is not a change.
	MinSegment = 2
	// permutations is the number of shuffles; a p value is at least 1/(permutations+1).
	permutations = 9999
)

// ChangePoint is a place in a series where the level changed.
type ChangePoint struct {
	At            int     // index of the first value of the new level
	Before, After float64 // medians of the values between the neighboring change points
	P             float64 // p value within the searched part of the series
}

// ChangePoints finds changes of level in a time series. It splits the series where the standardized
// Mann-Whitney statistic is largest (D. M. Hawkins and Q. Deng, Journal of Quality Technology 42,
// 2010), if at most a share alpha of shuffled series has one as large. An error is a BadValue, or
// about MaxRounds. With alpha 0.05 it takes six values.
func ChangePoints(series []float64, alpha float64) ([]ChangePoint, error) {
	if err := cmp.Or(finite(series), between("alpha", alpha)); err != nil {
		return nil, fmt.Errorf("change points: %w", err)
	}
	var found []ChangePoint
	split(series, 0, alpha, &found)
	slices.SortFunc(found, func(a, b ChangePoint) int { return a.At - b.At })
	for i := range found {
		from, to := 0, len(series)
		if i > 0 {
			from = found[i-1].At
		}
		if i+1 < len(found) {
			to = found[i+1].At
		}
		found[i].Before, _ = Median(series[from:found[i].At])
		found[i].After, _ = Median(series[found[i].At:to])
	}
	return found, nil
}

func split(part []float64, offset int, alpha float64, found *[]ChangePoint) {
	if len(part) < 2*MinSegment {
		return
	}
	ranks, _ := doubledRanks(part)
	statistic, at := largestShift(ranks)
	if statistic == 0 {
		return
	}
	p := shiftP(ranks, statistic)
	if p > alpha {
		return
	}
	*found = append(*found, ChangePoint{At: offset + at, P: p})
	split(part[:at], offset, alpha, found)
	split(part[at:], offset+at, alpha, found)
}

// largestShift returns the largest |U − E(U)| / σ over all places, and its place. σ omits the
// correction for ties, which is the same at all places.
func largestShift(ranks []int) (statistic float64, at int) {
	n, sum := len(ranks), 0
	for t, r := range ranks[:n-MinSegment] {
		sum += r
		left := t + 1
		if left < MinSegment {
			continue
		}
		// Twice the rank sum minus twice its expectation, t·(n+1)/2.
		off := math.Abs(float64(sum-left*(n+1))) / 2
		z := off / math.Sqrt(float64(left*(n-left)*(n+1))/12)
		if z > statistic*(1+1e-12) {
			statistic, at = z, left
		}
	}
	return statistic, at
}

// shiftP returns the share of permutations of the ranks with a statistic at least as large.
func shiftP(ranks []int, statistic float64) float64 {
	limit := statistic * (1 - 1e-12)
	asLarge := func(order []int) bool {
		s, _ := largestShift(order)
		return s >= limit
	}
	if len(ranks) <= allOrders {
		return shareOfOrders(ranks, asLarge)
	}
	shuffled := slices.Clone(ranks)
	rng := rand.New(rand.NewPCG(0x6c6f6362656e6368, uint64(len(ranks))))
	as := 1 // the observed order counts
	for range permutations {
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if asLarge(shuffled) {
			as++
		}
	}
	return float64(as) / (permutations + 1)
}

// allOrders is the number of values up to which all permutations are tried.
const allOrders = 8

// shareOfOrders returns the share of all permutations of xs for which holds returns true.
func shareOfOrders(xs []int, holds func([]int) bool) float64 {
	as, all, order := 0, 0, slices.Clone(xs)
	permute(order, len(order), func() {
		if all++; holds(order) {
			as++
		}
	})
	return float64(as) / float64(all)
}

// permute calls visit for every order of the first k values (Heap's algorithm).
func permute(xs []int, k int, visit func()) {
	if k <= 1 {
		visit()
		return
	}
	for i := range k {
		permute(xs, k-1, visit)
		if i == k-1 {
			return
		}
		if k%2 == 0 {
			xs[i], xs[k-1] = xs[k-1], xs[i]
		} else {
			xs[0], xs[k-1] = xs[k-1], xs[0]
		}
	}
}
