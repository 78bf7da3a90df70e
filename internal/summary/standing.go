package summary

import (
	"locbench/internal/analysis"
	"locbench/internal/measure"
	"locbench/internal/stats"
)

// Standing is how the contenders stand in one measure, as package analysis decides it.
type Standing struct{ analysis.Standing }

// out are those that are not compared, and why.
func (s Standing) out() (all []outside) {
	for _, p := range s.Places {
		why := p.Out
		switch n := len(p.Value.Values); {
		case p.Tier > 0:
			continue
		case n == 0:
			why = "not measured"
		case why != "":
		case n < stats.MinInterval:
			why = tooShort(n)
		default:
			why = "a round has a value that cannot be compared"
		}
		all = append(all, outside{p.Contender, why})
	}
	return all
}

// outside is a contender that is not compared, by its label, and why.
type outside struct{ contender, why string }

// member is the place of one that is compared.
func (s Standing) member(i int) analysis.Place { return s.Places[s.Members[i]] }

// measure is the row of the table that the standing is of.
func (s Standing) measure() measure.Measure { return measure.Get(s.Measure) }

// ofLife tells whether the measure is of a whole life rather than of the peak.
func (s Standing) ofLife() bool { return s.measure().Claim.At == measure.OfLife }

// ahead tells whether the first of the top tier is ahead of somebody, and of whom. Nobody is in a
// tier alone but for a decision of package stats, and each pair is looked at once more: the
// verdict, and that the interval leaves 1 out.
func (s Standing) ahead() (leaders, over []int) {
	if len(s.Tiers) == 0 {
		return nil, nil
	}
	for i := range s.Members {
		if i == s.Tiers[0][0] {
			continue
		}
		if c, ok := s.Pair(s.Tiers[0][0], i); ok && c.Verdict == stats.Better && c.Ratio != nil && !c.Ratio.Interval.Holds(1) && c.Adjusted <= c.Rule.Alpha {
			over = append(over, i)
			continue
		}
		leaders = append(leaders, i)
	}
	return append([]int{s.Tiers[0][0]}, leaders...), over
}
