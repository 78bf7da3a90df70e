package summary

import (
	"time"

	"locbench/internal/stats"
	"locbench/internal/units"
	"locbench/internal/verdict"
)

// Measure is one that contenders are set against each other by.
type Measure string

// The declared measures. p values are adjusted over all pairs of one measure; each measure is a family of its own.
const (
	Throughput Measure = "throughput"      // successes per second at each contender's own peak
	CPU        Measure = "CPU per request" // ns at that step
	StartUp    Measure = "start-up"        // ns until the first answer
	PeakTime   Measure = "time to peak"    // ns until the final speed
	Memory     Measure = "memory"          // bytes, the highest of a complete leg
)

// Measures are all of them, in the order in which they are told.
func Measures() []Measure { return []Measure{Throughput, CPU, StartUp, PeakTime, Memory} }

// HigherIsBetter tells which way is up.
func (m Measure) HigherIsBetter() bool { return m == Throughput }

// value writes one with its unit.
func (m Measure) value(x float64) string {
	switch m {
	case Throughput:
		return units.Rate(x) + "/s"
	case Memory:
		return units.Bytes(int64(x))
	}
	return units.Duration(time.Duration(x))
}

// sample are the values of a contender, one of each round that has one.
func (m Measure) sample(c Contender) []float64 {
	switch m {
	case StartUp:
		return c.StartUp.Values
	case PeakTime:
		return c.PeakTime.Values
	case Memory:
		return c.memory
	case CPU:
		return c.Peak.CPURequest.Values
	}
	return c.Peak.Throughput.Values
}

// Standing is how the contenders stand in one measure.
type Standing struct {
	Measure Measure
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
func newStanding(m Measure, f Figures, rule stats.Rule) Standing {
	s := Standing{Measure: m, pairs: map[[2]int]stats.Comparison{}}
	var samples [][]float64
	var who []int
	for i, c := range f.Contenders {
		values := m.sample(c)
		switch why := m.outside(c); {
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
	tiers, _, lacking := rule.Tiers(samples, m.HigherIsBetter(), s.Paired)
	s.Lacking = lacking
	// Tiers tells the order of medians in each tier; the order of all is that of the tiers' leaders and members, sorted again.
	order := byMedian(samples, m.HigherIsBetter())
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
			family = append(family, stats.Pair{HigherIsBetter: s.Measure.HigherIsBetter(), Old: samples[order[b]], New: samples[order[a]], Paired: s.Paired})
			keys = append(keys, [2]int{a, b})
		}
	}
	s.Pairs = len(family)
	for i, c := range rule.Compare(family) {
		s.pairs[keys[i]] = c
	}
}

// ofLife tells whether the measure is of a whole life rather than of the peak.
func (m Measure) ofLife() bool { return m == StartUp || m == PeakTime || m == Memory }

// outside says why the figures of a contender are not its own, or not comparable; "" if they are.
func (m Measure) outside(c Contender) string {
	of := map[Measure]stats.Kind{Throughput: stats.OfThroughput, CPU: stats.OfCPU, StartUp: stats.OfLife, PeakTime: stats.OfLife, Memory: stats.OfLife}[m]
	return stats.Outside(of, c.Contender, c.Peak, len(c.Failed), c.Bound.Bound == verdict.Client)
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
