package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// maxRateApart is how far the rates of an open-loop step may be apart, as a share: .05 is 5%.
const maxRateApart = 0.05

// reference returns the index of the contender whose steps count for all: CPU time per request is
// compared at its peak step, p99 at its step at half peak. It is the first of the profile that is
// not excluded and stable at peak, else the first that is not excluded, else the first. Among
// contenders with different limits, one at whose peak step the most others are valid comes
// first: a smaller one may fail requests at the peak step of a larger one.
func reference(all []Contender) int {
	differ := slices.ContainsFunc(all, func(c Contender) bool { return LimitsIntended(all[0], c) })
	best, least := 0, []int(nil)
	for i, c := range all {
		class, invalid := 0, 0
		peak, ok := c.PeakStep()
		_, steady := peak.Steady()
		switch {
		case c.Excluded != nil || !ok:
			class = 2
		case !steady:
			class = 1
		case differ:
			invalid = invalidAt(all, peak.Step)
		}
		if order := []int{class, invalid, c.rank()}; least == nil || slices.Compare(order, least) < 0 {
			best, least = i, order
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

// half is the step at half peak at which latency is compared.
type half struct {
	step  bench.Step
	share float64 // of the throughput at peak
	ok    bool
}

// Half returns the step at half peak, by stats.Contender.HalfPeak; of the reference of a comparison
// the one that counts for all.
func (c Contender) Half() (step bench.Step, share float64, ok bool) {
	if c.half == nil {
		c.half = c.halfAt(c.HalfPeak())
	}
	return c.half.step, c.half.share, c.half.ok
}

func (c Contender) halfAt(i int, share float64, ok bool) *half {
	if !ok {
		return &half{}
	}
	return &half{c.Steps[i].Step, share, true}
}

// halfOfAll returns ref with the step at half peak that counts for all: that of ref, or, if that
// has a share of each one's own peak and the rates are too far apart, the closed-loop step of ref
// that is nearest to half of its peak. Contenders that are in no comparison do not count.
func (ref Contender) halfOfAll(all ...Contender) Contender {
	own := ref.halfAt(ref.HalfPeak())
	apart := func(c Contender) bool {
		return c.Excluded == nil && c.FailedRounds == 0 && ratesApart(ref.measured(own.step), c.measured(own.step))
	}
	if closed := ref.halfAt(ref.ClosedHalf()); closed.ok && slices.ContainsFunc(all, apart) {
		own = closed
	}
	ref.half = own
	return ref
}

// measured returns the last of the steps of c with this load: earlier ones are warm-ups.
func (c Contender) measured(step bench.Step) stats.Step {
	for _, s := range slices.Backward(c.Steps) {
		if s.Step.Same(step) {
			return s
		}
	}
	return stats.Step{}
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

// ratesApart reports whether the rates of an open-loop step differ too much to compare latencies.
func ratesApart(a, b stats.Step) bool {
	x, y := rateOf(a), rateOf(b)
	return x > 0 && y > 0 && math.Abs(math.Log(y/x)) > math.Log1p(maxRateApart)
}

// loadOf returns the load at which a measure of c is compared, and its share of peak throughput: of
// throughput c's own peak, of other measures the step of ref.
func (c Contender) loadOf(m measure.Measure, ref Contender) (step bench.Step, share float64, ok bool) {
	switch m.Comparison.At {
	case measure.FromStartToStop, measure.AtFreeze:
		return step, 0, false
	case measure.AtHalf:
		return ref.Half()
	case measure.AtPeak:
		at, ok := c.peakOrNothing(ref)
		return at.Step, 1, ok
	}
	peak, ok := ref.PeakStep()
	return peak.Step, 1, ok
}

// peakOrNothing returns the peak step of c. If nothing succeeded in any, it is the step at which ref
// peaks, if c was measured there.
func (c Contender) peakOrNothing(ref Contender) (step stats.Step, ok bool) {
	if step, ok = c.PeakStep(); ok {
		return step, true
	}
	if step, ok = c.NothingStep(); !ok {
		return step, false
	}
	if peak, has := ref.PeakStep(); has {
		if own := c.measured(peak.Step); own.Rounds > 0 {
			step = own
		}
	}
	return step, true
}

// StepOf returns the step of c at which a measure is compared with that of ref, if any.
func (c Contender) StepOf(m measure.Measure, ref Contender) stats.Step {
	if m.Comparison.At == measure.AtPeak {
		peak, _ := c.peakOrNothing(ref) // not another step with its load
		return peak
	}
	step, _, ok := c.loadOf(m, ref)
	if !ok {
		return stats.Step{}
	}
	return c.measured(step)
}

// sample returns the values of c, one for each round that has one, and the step in words; peakOf
// names the peak of ref there.
func (c Contender) sample(m measure.Measure, ref Contender, peakOf string) (values []float64, at string) {
	step, share, ok := c.loadOf(m, ref)
	switch at = step.Name; {
	case m.Comparison.At == measure.FromStartToStop:
		return m.Contender(c.Contender).Rounds, ""
	case !ok:
		return nil, ""
	case m.Comparison.At == measure.AtPeak:
		return m.Contender(c.Contender).Rounds, at
	case step.LowestPeak:
		at = units.Number(rateOf(ref.measured(step))) + "/s (" + at + ")"
	case m.Comparison.At == measure.AtHalf && step.PeakShare == 0:
		at += " (" + units.Percent(share) + " of " + peakOf + ")"
	}
	return c.At(m, step), at
}

// Samples returns the values of two sides, one per round that has one, and the step in words. Both
// sides use the step of ref; throughput is taken where each side peaks, first responses where one
// side freezes.
func Samples(m measure.Measure, ref, a, b Contender) (old, fresh []float64, at string) {
	if m.Comparison.At == measure.AtFreeze {
		return firstSamples(a, b)
	}
	peak := "peak of " + ref.Label
	switch first := a.Label == ref.Label && a.of == ref.of; {
	case first && a.Label != b.Label:
		peak = "peak"
	case first:
		peak = "the old peak"
	case a.Label == b.Label:
		peak = "the new peak"
	}
	old, at = a.sample(m, ref, peak)
	fresh, other := b.sample(m, ref, peak)
	if at = cmp.Or(at, other); other != "" && at != other {
		at += " → " + other
	}
	return old, fresh, at
}

// unlike returns why c cannot be compared with ref in m: the step of ref was not measured, or its
// rate was another one; "" if it can.
func (c Contender) unlike(m measure.Measure, ref Contender) string {
	theirs, own := ref.StepOf(m, ref), c.StepOf(m, ref)
	switch {
	case m.Comparison.At == measure.AtPeak || theirs.Rounds == 0:
		return ""
	case own.Rounds == 0:
		return "not measured at " + theirs.Step.Name
	case ratesApart(theirs, own):
		return fmt.Sprintf("other rate at %s: %s/s, not %s/s", theirs.Step.Name, units.Number(rateOf(own)),
			units.Number(rateOf(theirs)))
	}
	return ""
}

// family is everything that the contenders of a run are compared by.
type family struct {
	all    []Contender // reduced to the rounds that they share, if they were interleaved
	paired []bool
	ref    Contender // the reference
	rows   []samples // by Run.Tested
}

// samples are the values of all contenders in one measure.
type samples struct {
	measure.Measure
	values [][]float64
	keep   [][]bool           // by steady
	out    []string           // why the contender is in no pair
	p      map[[2]int]float64 // p value of two contenders, the smaller index first; none without values
}

// newFamily takes some 40 ms for 21 contenders.
func (r *Run) newFamily() *family {
	var f family
	f.all, f.paired = together(r.Contenders, func(c Contender) bool { return c.FailedRounds == 0 })
	i := reference(f.all)
	f.ref = f.all[i].halfOfAll(f.all...)
	f.all[i] = f.ref
	whole := r.Contenders[i]
	whole.half = f.ref.half
	for _, m := range r.Tested() {
		s := samples{Measure: m, keep: steady(m, f.ref, f.all, f.paired), p: map[[2]int]float64{}}
		for b, c := range f.all {
			values, _ := c.sample(m, f.ref, "")
			values = only(values, s.keep[b])
			if need := m.NeedName(); need != "" && !c.Attributed(need) {
				values = nil
			}
			s.values, s.out = append(s.values, values), append(s.out, r.Contenders[b].outside(m, whole))
			for a, old := range s.values[:b] {
				if len(old) > 0 && len(values) > 0 {
					paired := f.paired[a] && f.paired[b] && len(old) == len(values)
					s.p[[2]int{a, b}] = stats.PValue(old, values, paired)
				}
			}
		}
		f.rows = append(f.rows, s)
	}
	return &f
}

// row returns the samples of a measure; none if it is not tested.
func (f *family) row(id measure.ID) (s samples) {
	if i := slices.IndexFunc(f.rows, func(s samples) bool { return s.ID == id }); i >= 0 {
		s = f.rows[i]
	}
	return s
}

// inPair reports whether a contender is compared with the others in a measure.
func (s samples) inPair(i int) bool { return s.out[i] == "" && comparable(s.values[i]) }

func comparable(values []float64) bool {
	return len(values) >= stats.MinInterval &&
		!slices.ContainsFunc(values, func(x float64) bool { return x != 0 && !(x > 1e-150 && x < 1e150) })
}

// otherMeasures returns the tests of two contenders in all other measures that both have, and the
// weight of this one: the CPU times of needs have one place in the family together.
func (f *family) otherMeasures(id measure.ID, a, b int) (others []stats.Weighted, weight float64) {
	pair, needs := [2]int{min(a, b), max(a, b)}, 0
	for _, s := range f.rows {
		if _, ok := s.p[pair]; ok && s.NeedName() != "" {
			needs++
		}
	}
	for _, s := range f.rows {
		w := WeightOf(s.Measure, needs)
		if s.ID == id {
			weight = w
		} else if p, ok := s.p[pair]; ok {
			others = append(others, stats.Weighted{P: p, Weight: w})
		}
	}
	return others, weight
}

// WeightOf returns the weight of a measure among those of two contenders that have several needs.
func WeightOf(m measure.Measure, needs int) float64 {
	if m.NeedName() == "" {
		return 1
	}
	return 1 / float64(max(1, needs))
}

// otherPairs returns the tests of all other pairs of contenders in a measure.
func (f *family) otherPairs(id measure.ID, a, b int) (others []stats.Weighted) {
	s := f.row(id)
	_, weight := f.otherMeasures(id, a, b)
	for y := range s.values {
		for x := range y {
			if s.inPair(x) && s.inPair(y) && !(x == min(a, b) && y == max(a, b)) {
				others = append(others, stats.Weighted{P: s.p[[2]int{x, y}], Weight: weight})
			}
		}
	}
	return others
}

// Couple is two contenders, reduced to the rounds that are compared, and what their comparison
// depends on. It is the same for every output that compares the two.
type Couple struct {
	A, B, Ref  Contender
	Run        *Run // of both; nil: the contenders are of two runs
	Paired     bool
	OtherPairs func(measure.ID) []stats.Weighted // tests of the other pairs of contenders of the run

	whole  [2]Contender // A and B over all their rounds
	steady func(measure.Measure) [][]bool
}

// Samples returns the values of both sides that are compared, and the step in words; leftOut reports whether
// rounds that were not in a steady state left.
func (c Couple) Samples(m measure.Measure) (old, fresh []float64, at string, leftOut bool) {
	old, fresh, at = Samples(m, c.Ref, c.A, c.B)
	keep := c.steady(m)
	return only(old, keep[0]), only(fresh, keep[1]), at, keep[0] != nil || keep[1] != nil
}

// Values returns the value that all tables have of a measure for each side, at the step at which it is
// compared: over all its rounds, also those that are in no pair.
func (c Couple) Values(m measure.Measure) (of [2]measure.Result) {
	for i, side := range c.whole {
		switch m.Comparison.At {
		case measure.AtPeak, measure.FromStartToStop:
			of[i] = m.Contender(side.Contender)
		case measure.AtHalf, measure.AtReference:
			of[i] = m.Over(side.StepOf(m, c.Ref))
		}
	}
	return of
}

// Outside returns why each side has no verdict in a measure, which is why it is in no tier: failed
// rounds, exclusion, a drift, another load, a client that was the bottleneck; "" if it has.
func (c Couple) Outside(m measure.Measure) (why [2]string) {
	for i, side := range c.whole {
		why[i] = side.outside(m, c.Ref)
	}
	return why
}

// CoupleOf returns the couple of two contenders. Two of one run are compared as its tiers are: at
// the steps of its reference, over its common rounds, corrected for its other pairs. Of two runs
// the steps are those of a, or those of b if nothing succeeded in a.
func CoupleOf(a, b Contender) Couple {
	both, paired := Together([]Contender{a, b})
	couple := Couple{A: both[0], B: both[1], Paired: paired[0], whole: [2]Contender{a, b},
		OtherPairs: func(measure.ID) []stats.Weighted { return nil }}
	if a.of == nil || a.of != b.of || a.Label == b.Label {
		couple.Ref = both[0].halfOfAll(both...)
		if _, nothing := both[0].NothingStep(); nothing {
			couple.Ref = both[1].halfOfAll(both...)
		}
		couple.steady = func(m measure.Measure) [][]bool { return steady(m, couple.Ref, both, paired) }
		return couple
	}
	f := a.of.family()
	index := func(label string) int {
		return slices.IndexFunc(f.all, func(c Contender) bool { return c.Label == label })
	}
	i, k := index(a.Label), index(b.Label)
	couple.Run, couple.Ref = a.of, f.ref
	couple.OtherPairs = func(id measure.ID) []stats.Weighted { return f.otherPairs(id, i, k) }
	couple.steady = func(m measure.Measure) [][]bool {
		keep := steady(m, f.ref, f.all, f.paired)
		return [][]bool{keep[i], keep[k]}
	}
	if f.paired[i] && f.paired[k] { // else one is in no tier: it has failed rounds, or too few
		couple.A, couple.B, couple.Paired = f.all[i], f.all[k], true
	}
	return couple
}
