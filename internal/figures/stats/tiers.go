package stats

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
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

// Sentence returns the verdict with its numbers: "better: +8.3% (+6.1% to +10.2%), p 0.011".
func (c Comparison) Sentence() string {
	var s strings.Builder
	s.WriteString(c.Verdict.String())
	if c.Verdict == Same {
		fmt.Fprintf(&s, " within %s", c.margin())
	}
	if need, few := errors.AsType[NeedRounds](c.Err); few {
		fmt.Fprintf(&s, ": %v: %s", need, moreWords(c.More))
	} else if c.Err != nil {
		fmt.Fprintf(&s, ": %v", c.Err)
	}
	if c.Test == nil {
		return s.String()
	}
	s.WriteString(": " + c.Change())
	switch c.Verdict {
	case Better, Worse:
		fmt.Fprintf(&s, ", p %.2g", c.Adjusted)
	case Inconclusive:
		excludes := c.Test.P <= c.Rule.Alpha
		if c.Ratio != nil {
			excludes = !c.Ratio.Interval.Holds(1)
		}
		if excludes && c.Adjusted > c.Rule.Alpha {
			fmt.Fprintf(&s, "; not significant after Holm's correction for %d tests, p %.2g", c.Family, c.Adjusted)
		}
		if c.Adjusted <= c.Rule.Alpha && c.Ratio == nil {
			fmt.Fprintf(&s, "; medians less than %.3g%% apart", 100*max(c.Rule.Floor, c.Rule.Margin))
		} else if c.Adjusted <= c.Rule.Alpha && excludes {
			fmt.Fprintf(&s, "; below the noise floor (%.3g%%)", 100*c.Rule.Floor)
		} else if c.More >= MaxRounds {
			s.WriteString("; need " + moreWords(c.More))
		} else if c.More > 0 {
			s.WriteString("; need about " + moreWords(c.More))
		}
	}
	return s.String()
}

// margin returns within what the sides are the same: "3%", "50.0 ms".
func (c Comparison) margin() string {
	if c.Ratio.Interval.Within(1/(1+c.Rule.Margin), 1+c.Rule.Margin) || c.words.Text == nil {
		return fmt.Sprintf("%g%%", 100*c.Rule.Margin)
	}
	return c.words.Text(c.Rule.Within)
}

// Change returns the ratio in words or, if a value is 0, the medians and where nothing was:
// "19.0/s → 0/s: nothing succeeded in new"; "" without a test.
func (c Comparison) Change() string {
	if c.Ratio != nil {
		return c.Ratio.Words()
	}
	if c.Test == nil {
		return ""
	}
	text := c.words.Text
	if text == nil {
		text = units.Number
	}
	var where []string
	for i, values := range [][]float64{c.Old.Values, c.New.Values} {
		side := cmp.Or(c.words.Sides[i], [...]string{"old", "new"}[i])
		switch n := zeros(values); {
		case n == len(values):
			where = append(where, side)
		case n > 0:
			where = append(where, fmt.Sprintf("%d of %d rounds of %s", n, len(values), side))
		}
	}
	return fmt.Sprintf("%s → %s: %s in %s", text(c.Old.Median), text(c.New.Median), cmp.Or(c.words.Zero, "0"),
		strings.Join(where, " and "))
}

func moreWords(n int) string {
	switch {
	case n >= MaxRounds:
		return fmt.Sprintf("%d or more rounds per side", MaxRounds)
	case n == 1:
		return "1 more round per side"
	}
	if n > 100 { // more digits would be false precision
		n = (n + 9) / 10 * 10
	}
	return fmt.Sprintf("%d more rounds per side", n)
}

// Most returns the largest ratio of one side to the other within the interval; 0 of nil.
func (r *Ratio) Most() float64 {
	if r == nil {
		return 0
	}
	return max(r.High, 1/r.Low)
}

// Words returns "+8.3% (+6.1% to +10.2%)", or factors from 2 on: "×7.2 (×6.9 to ×7.4)".
func (r Ratio) Words() string {
	w := changes(r.Estimate, r.Interval.Low, r.Interval.High)
	return fmt.Sprintf("%s (%s to %s)", w[0], w[1], w[2])
}

// changes returns percentages; factors if the first ratio is at least 2.
func changes(ratios ...float64) []string {
	percentages := ratios[0] < 2
	var words []string
	for _, ratio := range ratios {
		percent := 100 * (ratio - 1)
		switch {
		case !percentages:
			words = append(words, factor(ratio))
		case percent > -0.05 && percent < 0.05:
			words = append(words, "0.0%")
		default:
			words = append(words, strings.Replace(fmt.Sprintf("%+.1f%%", percent), "-", "−", 1))
		}
	}
	return words
}

func factor(ratio float64) string { return "×" + units.Number(ratio) }
