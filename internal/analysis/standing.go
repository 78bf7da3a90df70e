package analysis

import (
	"cmp"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// Standing is the result of comparing all contenders of a run in one measure: tiers, not ranks.
type Standing struct {
	Measure measure.ID
	Places  []Place // by tier, in each tier the leader first; contenders without a tier last
	Members []int   // indices in Places of the compared contenders, the best median first
	Tiers   [][]int // indices in Members; in each tier the leader first
	Paired  bool    // the contenders were interleaved: rounds are compared in pairs
	pairs   map[[2]int]stats.Comparison
}

// Place is the place of one contender.
type Place struct {
	Contender string     // label
	Step      bench.Step // at which it is compared, if any
	Tier      int        // from 1; 0: none
	Value     stats.Value
	Out       string // why it can be in no tier: rounds or requests failed, client-bound, or an open loop
}

// Standing groups the contenders into tiers by one measure. A contender in a lower tier is
// significantly worse than the leader of every higher tier (Mann-Whitney, or signed ranks for
// interleaved rounds), and by more than the noise floor. A tier takes stats.MinInterval rounds. The
// difference has to hold after Holm's correction over all pairs of contenders in this measure, and
// over all measures of the two contenders: compare.Pair of the two gives the same p value.
//
// Throughput is taken at each contender's own peak; CPU and p99 at one step for all, by reference.
func (r *Run) Standing(id measure.ID, rule stats.Rule) Standing {
	m := measure.Get(id)
	s := Standing{Measure: id, pairs: map[[2]int]stats.Comparison{}}
	if len(r.Contenders) == 0 {
		return s
	}
	f := r.family()
	own := f.row(id)
	if own.ID == "" { // not tested, such as the CPU time of an external need
		return s
	}
	values, places := make([][]float64, len(f.all)), make([]Place, len(f.all))
	var compared [][]float64
	s.Paired = true
	for i, c := range f.all {
		places[i] = Place{Contender: c.Label, Step: c.StepOf(m, f.ref).Step,
			Value: stats.NewValue(own.values[i]), Out: safe.Line(own.out[i], 400)}
		if own.inPair(i) {
			values[i], compared = own.values[i], append(compared, own.values[i])
			s.Paired = s.Paired && f.paired[i]
		}
	}
	s.Paired = s.Paired && len(compared) > 1 && stats.SameLength(compared...)
	rule.Within = m.Comparison.Near
	t := rule.Tiers(values, m.Higher, s.Paired, func(a, b int) ([]stats.Weighted, float64) {
		return f.otherMeasures(id, a, b)
	})
	s.Members = make([]int, len(t.Order))
	member := map[int]int{} // index in Order of a contender
	for k, i := range t.Order {
		member[i] = k
	}
	for n, tier := range t.Tiers {
		s.Tiers = append(s.Tiers, nil)
		for _, i := range tier {
			places[i].Tier = n + 1
			s.Members[member[i]] = len(s.Places)
			s.Tiers[n] = append(s.Tiers[n], member[i])
			s.Places = append(s.Places, places[i])
		}
	}
	for _, i := range t.Unknown {
		s.Places = append(s.Places, places[i])
	}
	for pair, c := range t.Pairs {
		s.pairs[[2]int{member[pair[0]], member[pair[1]]}] = c.Said(stats.Words{Text: m.Unit.Text, Zero: m.Comparison.Zero,
			Sides: [2]string{safe.Line(f.all[pair[1]].Label, 60), safe.Line(f.all[pair[0]].Label, 60)}})
	}
	return s
}

// outside returns why c can be in no tier of m; see stats.Outside.
func (c Contender) outside(m measure.Measure, ref Contender) string {
	peak, ok := c.PeakStep()
	clientBound := ok && c.Bounds[peak.Index].Bound == verdict.Client
	return cmp.Or(stats.Outside(m.Comparison.Kind, c.Contender, c.StepOf(m, ref), clientBound), c.unlike(m, ref),
		c.unanswered(m, ref))
}

// Pair returns the comparison of two members, the better median first.
func (s Standing) Pair(a, b int) (c stats.Comparison, ok bool) {
	c, ok = s.pairs[[2]int{a, b}]
	return c, ok
}

// Member returns the place of a member, by its index in Members.
func (s Standing) Member(i int) Place { return s.Places[s.Members[i]] }

// Leaders returns the leader of the first tier with the members that are not significantly worse,
// and the members behind it.
func (s Standing) Leaders() (leaders, behind []int) {
	for i := range s.Members {
		if c, ok := s.Pair(s.Tiers[0][0], i); ok && c.Verdict == stats.Better {
			behind = append(behind, i)
		} else {
			leaders = append(leaders, i)
		}
	}
	return leaders, behind
}

// Alone reports whether the contender with a label differs significantly from each of the others.
func (s Standing) Alone(label string) bool {
	i := slices.IndexFunc(s.Members, func(place int) bool { return safe.Line(s.Places[place].Contender, 60) == label })
	for k := range s.Members {
		if c, ok := s.Pair(min(i, k), max(i, k)); k != i && (!ok || c.Verdict != stats.Better) {
			return false
		}
	}
	return i >= 0 && len(s.Members) > 1
}

// Alike reports whether all pairs are the same within the margin.
func (s Standing) Alike() bool {
	for _, c := range s.pairs {
		if c.Verdict != stats.Same {
			return false
		}
	}
	return len(s.pairs) > 0
}
