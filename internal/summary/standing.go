package summary

import (
	"locbench/internal/measure"
	"locbench/internal/stats"
	"locbench/internal/verdict"
)

// sample are the values of a contender, one of each round that has one.
func sample(m measure.Measure, c Contender) []float64 {
	if m.Claim.At == measure.OfLife {
		return m.Contender(c.Contender).Rounds
	}
	return m.Over(c.Peak).Rounds
}

// Standing is how the contenders stand in one measure.
type Standing struct {
	Measure measure.ID
	Members []Member  // of those that are compared, the better medians first
	Tiers   [][]int   // of them, by their place in Members: in a tier nobody is known to be worse than its first
	Out     []Outside // those that are not compared
	Lacking int       // rounds more that even the clearest difference would need among so many
	Pairs   int       // of the family
	Paired  bool      // the contenders took turns with each other: round is set against round
	pairs   map[[2]int]stats.Comparison
}

// Member is a contender that is compared.
type Member struct {
	Contender int // index into Figures.Contenders
	Value     stats.Value
}

// Outside is a contender that is not compared, and why.
type Outside struct {
	Contender int
	Why       string
}

// newStanding compares everybody with everybody.
func newStanding(m measure.Measure, f Figures, rule stats.Rule) Standing {
	s := Standing{Measure: m.ID, pairs: map[[2]int]stats.Comparison{}}
	var samples [][]float64
	var who []int
	for i, c := range f.Contenders {
		values := sample(m, c)
		switch why := outside(m, c); {
		case len(values) == 0:
			s.Out = append(s.Out, Outside{i, "not measured"})
		case why != "":
			s.Out = append(s.Out, Outside{i, why})
		case len(values) < stats.MinInterval:
			s.Out = append(s.Out, Outside{i, tooShort(len(values))})
		case !usable(values):
			s.Out = append(s.Out, Outside{i, "a round has a value that cannot be compared"})
		default:
			samples, who = append(samples, values), append(who, i)
		}
	}
	s.Paired = f.Together && stats.SameLength(samples...)
	tiers, _, lacking := rule.Tiers(samples, m.Higher, s.Paired)
	s.Lacking = lacking
	// Tiers tells the order of medians in each tier; the order of all is that of the tiers' leaders and members, sorted again.
	order := byMedian(samples, m.Higher)
	place := map[int]int{}
	for k, i := range order {
		place[i] = k
		s.Members = append(s.Members, Member{who[i], stats.NewValue(samples[i])})
	}
	for _, t := range tiers {
		var tier []int
		for _, i := range t.Members {
			tier = append(tier, place[i])
		}
		s.Tiers = append(s.Tiers, tier)
	}
	s.compare(samples, order, rule)
	return s
}

// compare decides the same family as Tiers does, to have its ratios and p values: of the better median to the worse one.
func (s *Standing) compare(samples [][]float64, order []int, rule stats.Rule) {
	var family []stats.Pair
	var keys [][2]int
	for a := range order {
		for b := a + 1; b < len(order); b++ {
			family = append(family, stats.Pair{HigherIsBetter: s.measure().Higher, Old: samples[order[b]], New: samples[order[a]], Paired: s.Paired})
			keys = append(keys, [2]int{a, b})
		}
	}
	s.Pairs = len(family)
	for i, c := range rule.Compare(family) {
		s.pairs[keys[i]] = c
	}
}

// measure is the row of the table that the standing is of.
func (s Standing) measure() measure.Measure { return measure.Get(s.Measure) }

// ofLife tells whether the measure is of a whole life rather than of the peak.
func (s Standing) ofLife() bool { return s.measure().Claim.At == measure.OfLife }

// outside says why the figures of a contender are not its own, or not comparable; "" if they are.
func outside(m measure.Measure, c Contender) string {
	return stats.Outside(m.Claim.Kind, c.Contender, c.Peak, len(c.Failed), c.Bound.Bound == verdict.Client)
}

// ahead tells whether the first of the top tier is ahead of somebody, and of whom. Nobody is in a tier alone but for a decision of
// package stats, and each pair is looked at once more: the verdict, and that the interval leaves 1 out.
func (s Standing) ahead() (leaders, over []int) {
	if len(s.Tiers) == 0 {
		return nil, nil
	}
	for i := range s.Members {
		if i == s.Tiers[0][0] {
			continue
		}
		if c, ok := s.pair(s.Tiers[0][0], i); ok && c.Verdict == stats.Better && c.Ratio != nil && !c.Ratio.Interval.Holds(1) && c.Adjusted <= c.Rule.Alpha {
			over = append(over, i)
			continue
		}
		leaders = append(leaders, i)
	}
	return append([]int{s.Tiers[0][0]}, leaders...), over
}

// pair is the comparison of two members, the better median to the worse one.
func (s Standing) pair(a, b int) (stats.Comparison, bool) {
	c, ok := s.pairs[[2]int{min(a, b), max(a, b)}]
	return c, ok && a < b
}
