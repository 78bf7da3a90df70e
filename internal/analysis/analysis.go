// Package analysis works out, once for a run, what its figures support: the summaries of its
// contenders, what bound their steps, and how they stand. Text, report, Markdown, dashboard and
// comparison render it, so that they cannot disagree and no histogram is merged twice. It is pure.
package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/safe"
	"locbench/internal/stats"
	"locbench/internal/units"
	"locbench/internal/verdict"
)

// Run is a run, analysed.
type Run struct {
	Run        bench.Run
	Legs       []bench.LegResult // by their rounds
	Contenders []Contender       // in the order in which they first ran
}

// Contender is one of them: its summary, its rounds, and what bound its steps.
type Contender struct {
	stats.Contender
	Results []bench.LegResult       // its legs
	Bounds  map[int]verdict.Summary // by the index of the step

	run *bench.Run
}

// Of analyses a run. Legs may be fewer than the run's, and in any order.
func Of(run bench.Run, legs []bench.LegResult) *Run { return of(run, legs, stats.Summarise) }

// SoFar is Of for a run that goes on: of the latencies of several rounds, only those at the peaks
// are merged, which takes a millisecond each.
func SoFar(run bench.Run, legs []bench.LegResult) *Run { return of(run, legs, stats.SummarisePeaks) }

func of(run bench.Run, legs []bench.LegResult,
	summarise func(bench.Run, []bench.LegResult) []stats.Contender) *Run {
	r := &Run{Run: run, Legs: slices.Clone(legs)}
	slices.SortStableFunc(r.Legs, func(a, b bench.LegResult) int { return cmp.Compare(a.Leg.Round, b.Leg.Round) })
	for _, sum := range summarise(run, r.Legs) {
		c := Contender{Contender: sum, run: &r.Run}
		for _, leg := range r.Legs {
			if leg.Leg.Label() == sum.Label {
				c.Results = append(c.Results, leg)
			}
		}
		c.Bounds = verdict.Rounds(run.Machine.CPUs, c.Results)
		r.Contenders = append(r.Contenders, c)
	}
	return r
}

// Ordered are the contenders in the order of the profile, after them those not in it, and last
// those that take part in no claim.
func (r *Run) Ordered() []Contender {
	all := slices.Clone(r.Contenders)
	slices.SortStableFunc(all, func(a, b Contender) int {
		return cmp.Or(stats.ExcludedLast(a.Contender, b.Contender), cmp.Compare(rank(r.Run, a.Results[0].Leg), rank(r.Run, b.Results[0].Leg)), cmp.Compare(a.Label, b.Label))
	})
	return all
}

// rank is the place of a leg's contender in the profile.
func rank(run bench.Run, leg bench.Leg) int {
	i := slices.IndexFunc(run.Profile.Contenders, func(s bench.Selection) bool {
		return s.Contender == leg.Contender && (s.Variant == leg.Variant || s.Variant == "")
	})
	if i < 0 {
		return len(run.Profile.Contenders)
	}
	return i
}

// Errors are those of all requests of all legs, as a share.
func (c Contender) Errors() float64 {
	var failed, all int64
	for _, s := range c.Steps {
		failed += s.FailedTotal()
		all += s.FailedTotal() + s.Succeeded
	}
	return float64(failed) / float64(max(1, all))
}

// StepOf is the step that a measure is of, where it is of one; half is a step of both sides.
func (c Contender) StepOf(m measure.Measure, half bench.Step) stats.Step {
	switch m.Claim.At {
	case measure.AtPeak:
		peak, _ := c.PeakStep()
		return peak
	case measure.AtHalf:
		for _, s := range slices.Backward(c.Steps) {
			if s.Step.Same(half) {
				return s
			}
		}
	}
	return stats.Step{}
}

// Half is the step at half of the peak, by stats.Contender.HalfPeak.
func (c Contender) Half() (step bench.Step, share float64, ok bool) {
	i, share, ok := c.HalfPeak()
	if !ok {
		return bench.Step{}, 0, false
	}
	return c.Steps[i].Step, share, true
}

// At are the values of the rounds that finished the step.
func (c Contender) At(m measure.Measure, step bench.Step) (values []float64) {
	if slices.ContainsFunc(c.Steps, func(s stats.Step) bool { return s.Step.Same(step) && s.Unsound }) {
		return nil
	}
	for _, leg := range c.Results {
		// Of several steps of that name the last: the earlier ones warm up.
		for _, s := range slices.Backward(leg.Steps) {
			if s.Step.Same(step) {
				if v, ok := m.Of(s); ok && v > 0 && s.Aborted == "" {
					values = append(values, v)
				}
				break
			}
		}
	}
	return values
}

// Samples are the values of two sides, one of each round that has one, and what they are of. At
// half of the peak the old side chooses the step, and the new one is measured at the same.
func Samples(m measure.Measure, a, b Contender) (old, fresh []float64, at string) {
	switch m.Claim.At {
	case measure.OfLife:
		return m.Contender(a.Contender).Rounds, m.Contender(b.Contender).Rounds, ""
	case measure.AtHalf:
		step, share, ok := a.Half()
		if !ok {
			return nil, nil, ""
		}
		at = step.Name
		if step.PeakShare == 0 {
			at += " (" + units.Percent(share) + " of the old peak)"
		}
		return a.At(m, step), b.At(m, step), at
	}
	peakA, okA := a.PeakStep()
	peakB, okB := b.PeakStep()
	switch {
	case okA && okB && peakA.Step.Name != peakB.Step.Name:
		at = peakA.Step.Name + " → " + peakB.Step.Name
	case okA:
		at = peakA.Step.Name
	case okB:
		at = peakB.Step.Name
	}
	return m.Over(peakA).Rounds, m.Over(peakB).Rounds, at
}

// Standing is how the contenders of a run stand in one measure: in tiers, not in ranks.
type Standing struct {
	Measure measure.ID
	At      string  // the step, in words, where all were measured at the same one
	Places  []Place // the first tier first, and in it its leader; who is in no tier comes last
	Members []int   // indices into Places of those that are compared, the better medians first
	Tiers   [][]int // of them, by their place in Members: in a tier nobody is known to be worse than its first
	Lacking int     // rounds more that even the clearest difference would need among so many
	Pairs   int     // of the family
	Paired  bool    // the contenders took turns with each other: round is set against round
	pairs   map[[2]int]stats.Comparison
}

// Place is that of one contender.
type Place struct {
	Contender string // label
	At        string
	Tier      int // from 1; 0: in none, since there are too few rounds or no values
	Value     stats.Value
	Ratio     *stats.Ratio // to the leader of the first tier; nil for itself, and without a tier
	Same      bool         // as that leader: the whole interval of Ratio is within the margin
	Out       string       // why it is in no tier however many rounds it has: rounds or requests failed, the client or a clock decided
	unit      measure.Unit
	margin    float64
}

// Standing groups the contenders by one measure. Whoever is in a lower tier is worse than the
// leader of every higher one, by more than chance (Mann-Whitney, or signed ranks where they took
// turns; all pairs of contenders as one family for Holm) and by more than the rule's floor; who is
// in one tier is not known to be worse than its leader. It takes stats.MinInterval rounds of a
// contender to be in a tier at all. Each measure is a family of its own.
//
// Throughput and CPU are of each contender's own peak; p99 is of one step for all, at half of the
// peak of the contender with the highest.
func (r *Run) Standing(id measure.ID, rule stats.Rule) Standing {
	m := measure.Get(id)
	s := Standing{Measure: id, pairs: map[[2]int]stats.Comparison{}}
	if len(r.Contenders) == 0 {
		return s
	}
	all, turns := together(r.Contenders, func(c Contender) bool { return c.FailedRounds == 0 })
	halfway, at, known := halfOf(all)
	values := make([][]float64, len(all))
	places := make([]Place, len(all))
	s.Paired = true
	var pairs [][]float64
	for i, c := range all {
		p := Place{Contender: c.Label, unit: m.Unit, margin: rule.Fill().Margin}
		switch {
		case m.Claim.At != measure.AtHalf:
			_, values[i], p.At = Samples(m, c, c)
		case known:
			values[i], p.At, s.At = c.At(m, halfway), at, at
		}
		p.Value = stats.NewValue(values[i])
		if p.Out = safe.Line(r.Contenders[i].outside(m, halfway), 400); p.Out != "" {
			values[i] = nil
		}
		if len(values[i]) >= stats.MinInterval {
			s.Paired = s.Paired && turns[i]
			pairs = append(pairs, values[i])
		}
		places[i] = p
	}
	s.Paired = s.Paired && len(pairs) > 1 && stats.SameLength(pairs...)
	s.rank(rule, values, places)
	return s
}

// halfOf is the step at half of the highest peak, and which one it is in words.
func halfOf(all []Contender) (step bench.Step, at string, ok bool) {
	reference := all[0]
	for _, c := range all {
		if peak, ok := c.PeakStep(); ok {
			if best, known := reference.PeakStep(); !known || peak.Throughput.Median > best.Throughput.Median {
				reference = c
			}
		}
	}
	step, share, ok := reference.Half()
	if at = step.Name; ok && step.PeakShare == 0 {
		at += ", " + units.Percent(share) + " of the peak of " + reference.Label
	}
	return step, at, ok
}

// rank puts the places in order and compares everybody with everybody.
func (s *Standing) rank(rule stats.Rule, values [][]float64, places []Place) {
	higher := measure.Get(s.Measure).Higher
	for i, v := range values {
		if slices.ContainsFunc(v, func(x float64) bool { return !(x > 1e-150 && x < 1e150) }) {
			values[i] = nil
		}
	}
	ratioOf := stats.RatioOf
	if s.Paired {
		ratioOf = stats.PairedRatio
	}
	tiers, unknown, lacking := rule.Tiers(values, higher, s.Paired)
	s.Lacking = lacking
	var who []int // contenders by place
	for n, tier := range tiers {
		for _, i := range tier.Members {
			p := places[i]
			p.Tier = n + 1
			if leader := tiers[0].Members[0]; i != leader {
				if ratio, err := ratioOf(values[leader], values[i], 1-rule.Fill().Alpha); err == nil {
					p.Ratio, p.Same = &ratio, ratio.Interval.Within(1/(1+p.margin), 1+p.margin)
				}
			}
			s.Members = append(s.Members, len(who))
			s.Places, who = append(s.Places, p), append(who, i)
		}
	}
	for _, i := range unknown {
		s.Places = append(s.Places, places[i])
	}
	slices.SortStableFunc(s.Members, func(a, b int) int {
		if higher {
			a, b = b, a
		}
		return cmp.Compare(s.Places[a].Value.Median, s.Places[b].Value.Median)
	})
	s.Tiers = make([][]int, len(tiers))
	for k, p := range s.Members {
		n := s.Places[p].Tier - 1
		s.Tiers[n] = append(s.Tiers[n], k)
	}
	var family []stats.Pair
	var keys [][2]int
	for a := range s.Members {
		for b := a + 1; b < len(s.Members); b++ {
			family = append(family, stats.Pair{HigherIsBetter: higher, Old: values[who[s.Members[b]]], New: values[who[s.Members[a]]], Paired: s.Paired})
			keys = append(keys, [2]int{a, b})
		}
	}
	s.Pairs = len(family)
	for i, c := range rule.Compare(family) {
		s.pairs[keys[i]] = c
	}
}

// outside says why c stands in no tier of m; see stats.Outside.
func (c Contender) outside(m measure.Measure, halfway bench.Step) string {
	peak, ok := c.PeakStep()
	return stats.Outside(m.Claim.Kind, c.Contender, c.StepOf(m, halfway), ok && c.Bounds[peak.Index].Bound == verdict.Client)
}

// Together keeps of several contenders the rounds in which they took turns with each other; turns
// tells of which it did: the i-th values of those belong together. One round that one of them did
// not complete is left out of all, since the others of it are still pairs: to give up the pairing
// for it would put the machine's changes from round to round, which the pairs share, back among the
// differences. Those with too few such rounds stay as they are; so do all where fewer than two are
// left, or too few rounds that they have in common.
func Together(all []Contender) (kept []Contender, turns []bool) {
	return together(all, func(Contender) bool { return true })
}

// together is Together of those that may take part; others take no rounds from them.
func together(all []Contender, may func(Contender) bool) (kept []Contender, turns []bool) {
	var sides [][]bench.LegResult
	var of []int
	for i, c := range all {
		complete := 0
		for _, leg := range c.Results {
			if _, took := leg.TookTurns(); took && leg.State == bench.LegComplete {
				complete++
			}
		}
		if complete >= stats.MinInterval && may(c) {
			sides, of = append(sides, c.Results), append(of, i)
		}
	}
	turns = make([]bool, len(all))
	rounds, ok := stats.Together(sides...)
	if !ok || len(rounds[0]) < stats.MinInterval {
		return all, turns
	}
	kept = slices.Clone(all)
	for n, i := range of {
		turns[i] = true
		if len(rounds[n]) < len(all[i].Results) {
			kept[i] = all[i].only(rounds[n])
		}
	}
	return kept, turns
}

// only is the contender over some of its rounds; its peak stays that of all of them.
func (c Contender) only(rounds []bench.LegResult) Contender {
	sum := stats.Rounds(*c.run, rounds)
	sum.Unsound = c.Unsound
	sum.Cost, sum.CostEach = c.Cost, c.CostEach // at the run's price
	if peak, ok := c.PeakStep(); ok {
		if i := slices.IndexFunc(sum.Steps, func(s stats.Step) bool { return s.Index == peak.Index }); i >= 0 {
			sum.Peak = i
		}
	}
	return Contender{Contender: sum, Results: rounds, Bounds: c.Bounds, run: c.run}
}

// Pair is the comparison of two members, the better median to the worse one.
func (s Standing) Pair(a, b int) (stats.Comparison, bool) {
	c, ok := s.pairs[[2]int{min(a, b), max(a, b)}]
	return c, ok && a < b
}

// Member is the place of a member, by its index in Members.
func (s Standing) Member(i int) Place { return s.Places[s.Members[i]] }

// Ahead are the members that the first of the top tier is ahead of, and the leaders: that first one
// and those that it is not ahead of. Nobody is in a tier alone but for a decision of package stats,
// and each pair is looked at once more: the verdict, and that the interval leaves 1 out.
func (s Standing) Ahead() (leaders, over []int) {
	if len(s.Tiers) == 0 {
		return nil, nil
	}
	first := s.Tiers[0][0]
	for i := range s.Members {
		c, ok := s.Pair(first, i)
		switch {
		case i == first:
		case ok && c.Verdict == stats.Better && c.Ratio != nil && !c.Ratio.Interval.Holds(1) && c.Adjusted <= c.Rule.Alpha:
			over = append(over, i)
		default:
			leaders = append(leaders, i)
		}
	}
	return append([]int{first}, leaders...), over
}

// Alike tells whether every pair is the same within the rule's margin.
func (s Standing) Alike() bool {
	for _, c := range s.pairs {
		if c.Verdict != stats.Same {
			return false
		}
	}
	return len(s.pairs) > 0
}

// Told tells whether contenders stand in tiers: one alone is in front of nobody.
func (s Standing) Told() bool { return len(s.Members) > 1 }

// Text is the median in its unit: "4,455/s", "5.02 ms", "61 MiB"; "–" where it is not known.
func (p Place) Text() string {
	if !p.Value.Known() {
		return units.Missing
	}
	return p.unit.Text(p.Value.Median)
}

// Interval is that of the median, "4,401/s to 4,510/s", or what it lacks: "need ≥ 6 rounds".
func (p Place) Interval() string {
	switch {
	case !p.Value.Known():
		return "not measured"
	case p.Value.Interval == nil:
		return fmt.Sprintf("need ≥ %d rounds", stats.MinInterval)
	}
	return p.unit.Text(p.Value.Interval.Low) + " to " + p.unit.Text(p.Value.Interval.High)
}

// Words say how it stands to the leader of the first tier: "in front", "same within 3 %: +0.4 %
// (−0.1 % to +0.9 %)", "not told apart: …", "behind: …", or why it is in no tier: "3 rounds, need ≥
// 6".
func (p Place) Words() string {
	switch {
	case p.Out != "":
		return "not compared: " + p.Out
	case !p.Value.Known():
		return "not measured"
	case p.Tier == 0 && len(p.Value.Values) < stats.MinInterval:
		return fmt.Sprintf("%s, need ≥ %d", units.Plural(len(p.Value.Values), "round"), stats.MinInterval)
	case p.Tier == 0:
		return "no ratio: a value is not positive"
	case p.Ratio == nil:
		return "in front"
	case p.Same:
		return fmt.Sprintf("same within %g %%: %s", 100*p.margin, p.Ratio.Words())
	case p.Tier == 1:
		return "not told apart: " + p.Ratio.Words()
	}
	return "behind: " + p.Ratio.Words()
}
