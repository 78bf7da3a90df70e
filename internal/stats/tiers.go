package stats

import (
	"fmt"
	"maps"
	"slices"

	"locbench/internal/bench"
)

// Tier is a group of contenders that the rounds do not tell apart from its leader.
type Tier struct {
	Members []int // indices of the samples; the leader first, then by their medians
	Beats   []int // the members of all lower tiers: the leader is better than each of them
}

// Tiers groups samples of one measure, one for each contender. The one with the best median leads
// the first tier, of all that the rule does not find worse; of the others the next is made likewise.
//
// The p values of all k·(k−1)/2 pairs are adjusted by Holm together, since the leader is not known
// beforehand. So six rounds can part at most seven contenders; lacking tells how many rounds more
// would do, else it is 0. unknown are samples of too few rounds. paired is Pair.Paired.
func (r Rule) Tiers(samples [][]float64, higherIsBetter, paired bool) (tiers []Tier, unknown []int, lacking int) {
	r = r.Fill()
	var rest []int
	for _, i := range sortedByMedian(samples, higherIsBetter) {
		if enough(MinInterval, samples[i]) != nil || positive(samples[i]) != nil {
			unknown = append(unknown, i)
			continue
		}
		rest = append(rest, i)
	}
	var family []Pair
	var pairs [][2]int
	rounds := MaxRounds
	for k, a := range rest {
		rounds = min(rounds, len(samples[a]))
		for _, b := range rest[k+1:] {
			pairs = append(pairs, [2]int{a, b})
			family = append(family, Pair{HigherIsBetter: higherIsBetter, Old: samples[a], New: samples[b], Paired: paired})
		}
	}
	if len(family) > 0 {
		lacking = max(0, r.fewest(len(family), paired)-rounds)
	}
	worse := map[[2]int]bool{} // the second of each than the first
	for i, c := range r.Compare(family) {
		worse[pairs[i]] = c.Verdict == Worse
	}
	for len(rest) > 0 {
		tier := Tier{Members: rest[:1:1]}
		for _, i := range rest[1:] {
			if worse[[2]int{rest[0], i}] {
				tier.Beats = append(tier.Beats, i)
			} else {
				tier.Members = append(tier.Members, i)
			}
		}
		tiers = append(tiers, tier)
		rest = tier.Beats
	}
	return tiers, unknown, lacking
}

// Kind is what a measure is of, as far as it decides who is compared by it.
type Kind int

const (
	OfLife       Kind = iota // of a whole life: start-up, memory
	OfCPU                    // of requests at the peak: CPU time of each
	OfLatency                // of requests under a load that the client has to put on
	OfThroughput             // the peak itself
)

// Outside says why a contender stands in no tier of such a measure, however many rounds it has; ""
// if there is no reason.
func Outside(of Kind, c Contender, at Step, clientBound bool) string {
	if failed := c.FailedRounds; failed > 0 {
		rounds := "rounds"
		if c.Legs == 1 {
			rounds = "round"
		}
		return fmt.Sprintf("%d of %d %s failed", failed, c.Legs, rounds)
	}
	if c.Unsound != nil {
		return c.Unsound.String()
	}
	if of == OfLife {
		return ""
	}
	peak, ok := c.PeakStep()
	switch {
	case !ok:
		return ""
	case at.Drifting > 0:
		return at.DriftWords()
	case at.Unsound:
		return fmt.Sprintf("%.3g %% of the requests at that step failed", 100*at.ErrorRatio())
	case of == OfThroughput && peak.Step.Open():
		return "its load was set by a clock"
	case of >= OfLatency && clientBound:
		return "client-bound at its peak"
	}
	return ""
}

// MinPaired is how many rounds in turns find a difference in one of five measures: p is 2 / 2ⁿ.
const MinPaired = 8

// Together keeps, of the legs of several sides, those of the rounds in which all sides took turns
// and were complete, in the same order. ok is false without any, or of several legs of a round.
func Together(sides ...[]bench.LegResult) (kept [][]bench.LegResult, ok bool) {
	if len(sides) < 2 {
		return nil, false
	}
	rounds := make([]map[int64]bench.LegResult, len(sides)) // by when they began
	for i, legs := range sides {
		rounds[i] = map[int64]bench.LegResult{}
		for _, leg := range legs {
			since, turns := leg.TookTurns()
			if !turns || leg.State != bench.LegComplete {
				continue
			}
			if _, twice := rounds[i][since.UnixNano()]; twice {
				return nil, false
			}
			rounds[i][since.UnixNano()] = leg
		}
	}
	kept = make([][]bench.LegResult, len(sides))
	for _, k := range slices.Sorted(maps.Keys(rounds[0])) {
		if slices.ContainsFunc(rounds, func(r map[int64]bench.LegResult) bool { _, there := r[k]; return !there }) {
			continue
		}
		for i, r := range rounds {
			kept[i] = append(kept[i], r[k])
		}
	}
	return kept, len(kept[0]) > 0
}

// SameLength tells whether all samples have as many values.
func SameLength(samples ...[]float64) bool {
	return !slices.ContainsFunc(samples, func(s []float64) bool { return len(s) != len(samples[0]) })
}
