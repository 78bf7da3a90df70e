package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
)

// maxRateApart is how far the rates of an open-loop step may be apart, as a share: .05 is 5%.
const maxRateApart = 0.05

// Reference returns the index of the contender whose steps count for all: CPU time per request is
// compared at its peak step, p99 at its step at half peak. It is the first of the profile that is
// not excluded and stable at peak, else the first that is not excluded, else the first. Among contenders
// with different limits, one at whose peak step the most others are valid comes
// first: a smaller one may fail requests at the peak step of a larger one.
func Reference(all []Contender) int {
	best, least := 0, math.MaxInt
	differ := slices.ContainsFunc(all, func(c Contender) bool { return LimitsIntended(all[0], c) })
	for i, c := range all {
		peak, ok := c.PeakStep()
		score := i
		if c.run != nil && len(c.Results) > 0 {
			score += 1000 * rank(*c.run, c.Results[0].Trial)
		}
		switch {
		case c.Excluded != nil || !ok:
			score += 2_000_000_000
		case peak.Drifting > 0:
			score += 1_000_000_000
		case differ:
			score += 1_000_000 * min(invalidAt(all, peak.Step), 900)
		}
		if score < least {
			best, least = i, score
		}
	}
	return best
}

// invalidAt returns how many contenders that take part have no valid results at a step.
func invalidAt(all []Contender, step bench.Step) (n int) {
	for _, c := range all {
		valid := func(s stats.Step) bool { return s.Step.Same(step) && !s.Excluded && s.Rounds > 0 }
		if c.Excluded == nil && !slices.ContainsFunc(c.Steps, valid) {
			n++
		}
	}
	return n
}

// StepOf returns the step of c at which a measure is compared, if any: of throughput its own peak,
// of other measures the step of ref.
func (c Contender) StepOf(m measure.Measure, ref Contender) stats.Step {
	step, ok := bench.Step{}, false
	switch m.Comparison.At {
	case measure.AtPeak:
		peak, _ := c.PeakStep()
		return peak
	case measure.AtReference:
		if peak, known := ref.PeakStep(); known {
			step, ok = peak.Step, true
		}
	case measure.AtHalf:
		step, _, ok = ref.Half()
	}
	if ok {
		for _, s := range slices.Backward(c.Steps) {
			if s.Step.Same(step) {
				return s
			}
		}
	}
	return stats.Step{}
}

// sample returns the values of c, one for each round that has one, and the step in words; peakOf names
// the peak of ref there.
func (c Contender) sample(m measure.Measure, ref Contender, peakOf string) (values []float64, at string) {
	switch m.Comparison.At {
	case measure.FromStartToStop:
		return m.Contender(c.Contender).Rounds, ""
	case measure.AtHalf:
		step, share, ok := ref.Half()
		if !ok {
			return nil, ""
		}
		if at = step.Name; step.PeakShare == 0 {
			at += " (" + units.Percent(share) + " of " + peakOf + ")"
		}
		return c.At(m, step), at
	case measure.AtReference:
		peak, ok := ref.PeakStep()
		if !ok {
			return nil, ""
		}
		return c.At(m, peak.Step), peak.Step.Name
	}
	peak, ok := c.PeakStep()
	if !ok {
		return nil, ""
	}
	return m.Over(peak).Rounds, peak.Step.Name
}

// Unlike returns why c cannot be compared with ref in m: the step of ref was not measured, had too
// many errors, or its rate was another one; "" if it can.
func (c Contender) Unlike(m measure.Measure, ref Contender) string {
	if m.Comparison.At != measure.AtHalf && m.Comparison.At != measure.AtReference {
		return ""
	}
	theirs := ref.StepOf(m, ref)
	if theirs.Rounds == 0 {
		return ""
	}
	own := c.StepOf(m, ref)
	switch {
	case own.Excluded:
		return fmt.Sprintf("%.3g%% of requests failed at %s", 100*own.ErrorRate(), theirs.Step.Name)
	case own.Rounds == 0:
		return "not measured at " + theirs.Step.Name
	}
	a, b := rateOf(theirs), rateOf(own)
	if a > 0 && b > 0 && math.Abs(math.Log(b/a)) > math.Log1p(maxRateApart) {
		return fmt.Sprintf("other rate at %s: %s, not %s", theirs.Step.Name, units.Rate(b)+"/s", units.Rate(a)+"/s")
	}
	return ""
}

// rateOf returns the median of the rates of a step; 0: closed loop, or not known.
func rateOf(s stats.Step) float64 {
	var rates []float64
	for _, r := range s.Results {
		if r.Step.Rate > 0 {
			rates = append(rates, r.Step.Rate)
		}
	}
	median, _ := stats.Median(rates)
	return median
}

// Samples returns the values of two sides, one per round that has one, and the step in words. Both
// sides use the step of ref; throughput is taken where each side peaks.
func Samples(m measure.Measure, ref, a, b Contender) (old, fresh []float64, at string) {
	peak := "peak of " + ref.Label
	if a.Label == ref.Label {
		peak = "the old peak"
	}
	old, at = a.sample(m, ref, peak)
	fresh, other := b.sample(m, ref, peak)
	if at = cmp.Or(at, other); other != "" && at != other {
		at += " → " + other
	}
	return old, fresh, at
}

// family is everything that the contenders of a run are compared by.
type family struct {
	all    []Contender // reduced to the rounds that they share, if they were interleaved
	paired []bool
	ref    int
	rows   []samples // by measure.Tested
}

// samples are the values of all contenders in one measure.
type samples struct {
	measure.Measure
	values [][]float64
	at     []string
	out    []string // why the contender is in no pair
}

func (r *Run) family() family {
	var f family
	f.all, f.paired = together(r.Contenders, func(c Contender) bool { return c.FailedRounds == 0 })
	f.ref = Reference(f.all)
	for _, m := range measure.Tested() {
		s := samples{Measure: m.Measure}
		for i, c := range f.all {
			values, at := c.sample(m.Measure, f.all[f.ref], "peak of "+f.all[f.ref].Label)
			s.values, s.at = append(s.values, values), append(s.at, at)
			s.out = append(s.out, r.Contenders[i].outside(m.Measure, r.Contenders[f.ref]))
		}
		f.rows = append(f.rows, s)
	}
	return f
}

// testedTogether reports whether the rounds of two contenders are pairs.
func (f family) testedTogether(s samples, a, b int) bool {
	return f.paired[a] && f.paired[b] && len(s.values[a]) == len(s.values[b])
}

// inPair reports whether a contender is compared with the others in a measure.
func (s samples) inPair(i int) bool { return s.out[i] == "" && comparable(s.values[i]) }

func comparable(values []float64) bool {
	return len(values) >= stats.MinInterval &&
		!slices.ContainsFunc(values, func(x float64) bool { return !(x > 1e-150 && x < 1e150) })
}

// otherMeasures returns the p values of two contenders in all other measures that both have.
func (f family) otherMeasures(id measure.ID, a, b int) (p []float64) {
	for _, s := range f.rows {
		if s.ID != id && len(s.values[a]) > 0 && len(s.values[b]) > 0 {
			p = append(p, stats.PValue(s.values[a], s.values[b], f.testedTogether(s, a, b)))
		}
	}
	return p
}

// otherPairs returns the p values of all other pairs of contenders in a measure.
func (f family) otherPairs(id measure.ID, a, b int) (p []float64) {
	i := slices.IndexFunc(f.rows, func(s samples) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	s := f.rows[i]
	for x := range f.all {
		for y := range x {
			if s.inPair(x) && s.inPair(y) && !(x == a && y == b || x == b && y == a) {
				p = append(p, stats.PValue(s.values[y], s.values[x], f.testedTogether(s, y, x)))
			}
		}
	}
	return p
}

// Profile returns the profile of the contender's run.
func (c Contender) Profile() bench.Profile {
	if c.run == nil {
		return bench.Profile{}
	}
	return c.run.Profile
}

// Couple is two contenders, reduced to the rounds that are compared, and what their comparison
// depends on. It is the same for every output that compares the two.
type Couple struct {
	A, B, Ref  Contender
	OneRun     bool // both are contenders of one run
	Paired     bool
	OtherPairs func(measure.ID) []float64 // p values of the other pairs of contenders of the run
}

// CoupleOf returns the couple of two contenders. Two of one run are compared as its tiers are: at the
// steps of its reference, over its common rounds, corrected for its other pairs. Of two runs the
// steps are those of a.
func CoupleOf(a, b Contender) Couple {
	if run := a.of; run != nil && run == b.of {
		index := func(label string) int {
			return slices.IndexFunc(run.Contenders, func(c Contender) bool { return c.Label == label })
		}
		if i, k := index(a.Label), index(b.Label); i >= 0 && k >= 0 && i != k {
			f := run.family()
			others := func(id measure.ID) []float64 { return f.otherPairs(id, i, k) }
			if f.paired[i] && f.paired[k] {
				return Couple{f.all[i], f.all[k], f.all[f.ref], true, true, others}
			}
			// One of them is in no tier: it has failed rounds, or too few.
			both, paired := Together([]Contender{run.Contenders[i], run.Contenders[k]})
			return Couple{both[0], both[1], f.all[f.ref], true, paired[0], others}
		}
	}
	both, paired := Together([]Contender{a, b})
	return Couple{both[0], both[1], both[0], false, paired[0], func(measure.ID) []float64 { return nil }}
}
