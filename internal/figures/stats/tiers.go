package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/locbench/locbench/internal/bench"
)

// Tiers groups the samples of one measure, one sample per contender, into tiers. Numbers are
// indices of samples.
type Tiers struct {
	Order   []int   // samples that are compared, the best median first
	Tiers   [][]int // in each tier the leader first, then by median
	Unknown []int   // samples with too few rounds or a value below 0, and all if the best one is 0 in each round
	// Pairs maps two samples in Order, the better median (the new side) first, to their comparison.
	Pairs map[[2]int]Comparison
}

// Tiers groups samples. The sample with the best median leads the first tier, which contains all
// samples that are not significantly worse. The rest forms the next tiers in the same way. paired
// is Pair.Paired.
//
// Holm's correction covers all k·(k−1)/2 pairs, because the leader is not known in advance. Six
// rounds can therefore separate at most seven contenders.
//
// with returns the tests of two samples' contenders in other measures (Pair.With), and the weight of
// this one; nil: none.
func (r Rule) Tiers(samples [][]float64, higherIsBetter, paired bool, with func(a, b int) ([]Weighted, float64)) (t Tiers) {
	r = r.Fill()
	medians := make([]float64, len(samples))
	for i, s := range samples {
		if enough(MinInterval, s) != nil || fromZero(s) != nil {
			t.Unknown = append(t.Unknown, i)
			continue
		}
		if medians[i], _ = Median(s); higherIsBetter {
			medians[i] = -medians[i]
		}
		t.Order = append(t.Order, i)
	}
	slices.SortStableFunc(t.Order, func(a, b int) int { return cmp.Compare(medians[a], medians[b]) })
	if len(t.Order) > 0 && higherIsBetter && AllZero(samples[t.Order[0]]) { // none leads
		t.Unknown, t.Order = slices.Sorted(slices.Values(append(t.Unknown, t.Order...))), nil
	}
	var family []Pair
	var pairs [][2]int
	for k, a := range t.Order {
		for _, b := range t.Order[k+1:] {
			pairs = append(pairs, [2]int{a, b})
			pair := Pair{HigherIsBetter: higherIsBetter, Old: samples[b], New: samples[a], Paired: paired}
			if with != nil {
				pair.With, pair.Weight = with(a, b)
			}
			family = append(family, pair)
		}
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

// Kind is the kind of a measure, which decides which contenders are compared by it.
type Kind int

// The kinds of measures.
const (
	FromStartToStop Kind = iota // of whole trials: start-up, memory
	OfCPU                       // CPU time per request at peak
	OfLatency                   // latency, which depends on the client
	OfThroughput                // peak throughput
	OfErrors                    // the error rate, for which errors exclude nothing
)

// Outside returns why a contender is in no tier of a measure of this kind, whatever its number of
// rounds; "" if it can be in one.
func Outside(of Kind, c Contender, at Step, clientBound bool) string {
	if c.Excluded != nil && c.Excluded.Cause != nil {
		return c.Excluded.Cause.String()
	}
	if failed := c.FailedRounds; failed > 0 {
		rounds := "rounds"
		if c.Trials == 1 {
			rounds = "round"
		}
		return fmt.Sprintf("%d of %d %s failed", failed, c.Trials, rounds)
	}
	if c.Excluded != nil && !(of == OfErrors && c.Excluded.OnlyErrors()) {
		return c.Excluded.String()
	}
	if of == FromStartToStop || of == OfErrors {
		return ""
	}
	peak, ok := c.PeakStep()
	_, steady := at.Steady()
	switch {
	case !ok:
		return ""
	case !steady:
		return at.DriftWords()
	case at.Excluded:
		return fmt.Sprintf("%.3g%% of requests failed at %s", 100*at.ErrorRate(), at.Step.Name)
	case of == OfThroughput && peak.Step.Open():
		return "its peak step is open loop"
	case of >= OfLatency && clientBound:
		return "client-bound at its peak"
	}
	return ""
}

// MinPaired is the number of paired rounds from which one of six measures can differ: p is 2 / 2ⁿ.
// Interleaved contenders have five, and their needs together one.
const MinPaired = 8

// Together returns the trials of the rounds in which all sides were interleaved and complete, in
// the same order for each side. ok is false without any, or if a side has several trials of a
// round.
func Together(sides ...[]bench.TrialResult) (kept [][]bench.TrialResult, ok bool) {
	if len(sides) < 2 {
		return nil, false
	}
	rounds := make([]map[int64]bench.TrialResult, len(sides)) // by their start
	for i, trials := range sides {
		rounds[i] = map[int64]bench.TrialResult{}
		for _, trial := range trials {
			since, interleaved := trial.Interleaved()
			if !interleaved || trial.State != bench.TrialComplete {
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

// SameLength reports whether all samples have the same number of values.
func SameLength(samples ...[]float64) bool {
	return !slices.ContainsFunc(samples, func(s []float64) bool { return len(s) != len(samples[0]) })
}
