package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"locbench/internal/bench"
)

// Tiers are groups of samples of one measure, one sample for each contender. Samples are named by
// their indices.
type Tiers struct {
	Order   []int   // those that are compared, the best median first
	Tiers   [][]int // the leader first, then by their medians; whoever is not in its tier is worse
	Unknown []int   // of too few rounds, or with a value that has no ratio
	RoundsNeeded int     // rounds more that even the clearest difference would need among so many
	// Pairs has each comparison of one in Order (the first index, the new side) to a later one.
	Pairs map[[2]int]Comparison
}

// Tiers groups samples. The one with the best median leads the first tier, of all that the rule does
// not find worse; of the others the next is made likewise. paired is Pair.Paired.
//
// The p values of all k·(k−1)/2 pairs are adjusted by Holm together, since the leader is not known
// beforehand. So six rounds can separate at most seven contenders.
func (r Rule) Tiers(samples [][]float64, higherIsBetter, paired bool) (t Tiers) {
	r = r.Fill()
	medians := make([]float64, len(samples))
	for i, s := range samples {
		if enough(MinInterval, s) != nil || positive(s) != nil {
			t.Unknown = append(t.Unknown, i)
			continue
		}
		if medians[i], _ = Median(s); higherIsBetter {
			medians[i] = -medians[i]
		}
		t.Order = append(t.Order, i)
	}
	slices.SortStableFunc(t.Order, func(a, b int) int { return cmp.Compare(medians[a], medians[b]) })
	var family []Pair
	var pairs [][2]int
	rounds := MaxRounds
	for k, a := range t.Order {
		rounds = min(rounds, len(samples[a]))
		for _, b := range t.Order[k+1:] {
			pairs = append(pairs, [2]int{a, b})
			family = append(family, Pair{HigherIsBetter: higherIsBetter, Old: samples[b], New: samples[a], Paired: paired})
		}
	}
	if len(family) > 0 {
		t.RoundsNeeded = max(0, r.fewest(len(family), paired)-rounds)
	}
	t.Pairs = map[[2]int]Comparison{}
	for i, c := range r.Compare(family) {
		t.Pairs[pairs[i]] = c
	}
	for rest := t.Order; len(rest) > 0; {
		tier, behind := rest[:1:1], []int(nil)
		for _, i := range rest[1:] {
			if t.Pairs[[2]int{rest[0], i}].Verdict == Better {
				behind = append(behind, i)
			} else {
				tier = append(tier, i)
			}
		}
		t.Tiers, rest = append(t.Tiers, tier), behind
	}
	return t
}

// Kind is what a measure is of, as far as it decides who is compared by it.
type Kind int

const (
	FromStartToStop Kind = iota // of a whole life: start-up, memory
	OfCPU                       // of requests at peak: CPU time of each
	OfLatency                   // of requests under a load that the client has to put on
	OfThroughput                // the peak itself
)

// Outside says why a contender stands in no tier of such a measure, however many rounds it has; ""
// if there is no reason.
func Outside(of Kind, c Contender, at Step, clientBound bool) string {
	if failed := c.FailedRounds; failed > 0 {
		rounds := "rounds"
		if c.Trials == 1 {
			rounds = "round"
		}
		return fmt.Sprintf("%d of %d %s failed", failed, c.Trials, rounds)
	}
	if c.Excluded != nil {
		return c.Excluded.String()
	}
	if of == FromStartToStop {
		return ""
	}
	peak, ok := c.PeakStep()
	switch {
	case !ok:
		return ""
	case at.Drifting > 0:
		return at.DriftWords()
	case at.Excluded:
		return fmt.Sprintf("%.3g%% of requests failed at that step", 100*at.ErrorRate())
	case of == OfThroughput && peak.Step.Open():
		return "its peak step is open loop"
	case of >= OfLatency && clientBound:
		return "client-bound at its peak"
	}
	return ""
}

// MinPaired is how many rounds in turns find a difference in one of five measures: p is 2 / 2ⁿ.
const MinPaired = 8

// Together keeps, of the trials of several sides, those of the rounds in which all sides took turns
// and were complete, in the same order. ok is false without any, or of several trials of a round.
func Together(sides ...[]bench.TrialResult) (kept [][]bench.TrialResult, ok bool) {
	if len(sides) < 2 {
		return nil, false
	}
	rounds := make([]map[int64]bench.TrialResult, len(sides)) // by when they began
	for i, trials := range sides {
		rounds[i] = map[int64]bench.TrialResult{}
		for _, trial := range trials {
			since, turns := trial.Interleaved()
			if !turns || trial.State != bench.TrialComplete {
				continue
			}
			if _, twice := rounds[i][since.UnixNano()]; twice {
				return nil, false
			}
			rounds[i][since.UnixNano()] = trial
		}
	}
	kept = make([][]bench.TrialResult, len(sides))
	for _, k := range slices.Sorted(maps.Keys(rounds[0])) {
		if slices.ContainsFunc(rounds, func(r map[int64]bench.TrialResult) bool { _, there := r[k]; return !there }) {
			continue
		}
		for i, r := range rounds {
			kept[i] = append(kept[i], r[k])
		}
	}
	return kept, len(kept[0]) > 0
}

// SameLength reports whether all samples have as many values.
func SameLength(samples ...[]float64) bool {
	return !slices.ContainsFunc(samples, func(s []float64) bool { return len(s) != len(samples[0]) })
}
