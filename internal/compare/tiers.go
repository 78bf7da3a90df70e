package compare

import (
	"fmt"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/stats"
	"locbench/internal/units"
	"locbench/internal/verdict"
)

// Standing is how the contenders of one run stand in one headline measure: in tiers, not in ranks.
type Standing struct {
	Measure measure.ID `json:"measure"`
	At      string     `json:"at,omitempty"` // the step, in words, where all were measured at the same one
	Places  []Place    `json:"places"`       // the first tier first, and in it its leader; who is in no tier comes last
	Lacking int        `json:"lacking,omitempty"`
	Paired  bool       `json:"paired,omitempty"` // the contenders took turns with each other: round against round
}

// Place is that of one contender.
type Place struct {
	Contender string   `json:"contender"` // label
	At        string   `json:"at,omitempty"`
	Tier      int      `json:"tier,omitempty"` // from 1; 0: in none, since there are too few rounds or no values
	Value     Side     `json:"value"`
	Ratio     *Ratio   `json:"ratio,omitempty"`  // to the leader of the first tier; nil for itself, and without a tier
	Same      bool     `json:"same,omitempty"`   // as that leader: the whole interval of Ratio is within the margin
	Out       string   `json:"out,omitempty"`    // why it is in no tier however many rounds it has: rounds failed, requests failed, the client or a clock decided
	Doubts    []string `json:"doubts,omitempty"` // outliers, groups, a drift, errors; nothing was left out for them
	unit      measure.Unit
	margin    float64
}

// Tiers groups the contenders of a run by one headline measure. Whoever is in a lower tier is worse than the leader of every higher one, by
// more than chance (Mann-Whitney, or signed ranks where they took turns; all pairs of contenders as one family for Holm) and by more than rule's floor; who is in one tier is not
// known to be worse than its leader. It takes stats.MinInterval rounds of a contender to be in a tier at all. Each measure is a family of its own.
//
// Throughput and CPU are of each contender's own peak; p99 is of one step for all, at half of the peak of the contender with the highest.
func Tiers(s Set, id measure.ID, rule stats.Rule) (Standing, error) {
	m := measure.Get(id)
	all, err := contenders(s)
	if err != nil {
		return Standing{}, err
	}
	all, paired := together(all)
	reference := all[0]
	var halfway bench.Step
	for _, c := range all {
		if peak, ok := c.PeakStep(); ok {
			if best, known := reference.PeakStep(); !known || peak.Throughput.Median > best.Throughput.Median {
				reference = c
			}
		}
	}
	standing := Standing{Measure: id}
	values := make([][]float64, len(all))
	places := make([]Place, len(all))
	for i, c := range all {
		var at string
		var doubts []string
		if m.Claim.At == measure.AtHalf {
			if step, share, ok := half(reference); ok {
				halfway = step
				values[i], at = c.at(m, step), step.Name
				if step.PeakShare == 0 {
					at += ", " + units.Percent(share) + " of the peak of " + reference.Label
				}
				standing.At = at
			}
		} else {
			_, values[i], at, doubts = samples(m, c, c)
		}
		if legs := c.count(); legs.Errors >= verdict.ErrorsMatter {
			doubts = append(doubts, fmt.Sprintf("%.2g %% of its requests failed; throughput and latency are of the others", 100*legs.Errors))
		}
		places[i] = Place{
			Contender: c.Label, At: at, Value: side(stats.NewValue(values[i])), Doubts: append(doubts, stats.Doubts(values[i])...),
			unit: m.Unit, margin: rule.Fill().Margin,
		}
	}
	for i, c := range all {
		if places[i].Out = c.outside(m, halfway, s.Run.Machine.CPUs); places[i].Out != "" {
			values[i] = nil
		}
	}
	ratioOf := stats.RatioOf
	standing.Paired = paired && aligned(values)
	if standing.Paired {
		ratioOf = stats.PairedRatio
	}
	tiers, unknown, lacking := rule.Tiers(values, m.Higher, standing.Paired)
	standing.Lacking = lacking
	leader := -1
	for n, tier := range tiers {
		for _, i := range tier.Members {
			places[i].Tier = n + 1
			if leader < 0 {
				leader = i
			} else if ratio, err := ratioOf(values[leader], values[i], 1-rule.Fill().Alpha); err == nil {
				places[i].Ratio = &Ratio{ratio.Estimate, ratio.Interval.Low, ratio.Interval.High}
				places[i].Same = ratio.Interval.Within(1/(1+places[i].margin), 1+places[i].margin)
			}
			standing.Places = append(standing.Places, places[i])
		}
	}
	for _, i := range unknown {
		standing.Places = append(standing.Places, places[i])
	}
	return standing, nil
}

// outside says why c stands in no tier of m; see stats.Outside.
func (c contender) outside(m measure.Measure, halfway bench.Step, cpus int) string {
	failed := 0
	for _, leg := range c.legs {
		if leg.State == bench.LegFailed {
			failed++
		}
	}
	clientBound := false
	if peak, ok := c.PeakStep(); ok {
		clientBound = verdict.Rounds(cpus, c.legs)[peak.Index].Bound == verdict.Client
	}
	return stats.Outside(m.Claim.Kind, c.Contender, stepOf(m, c, halfway), failed, clientBound)
}

// Text is the median in its unit: "4,455/s", "5.02 ms", "61 MiB"; "–" where it is not known.
func (p Place) Text() string {
	if p.Value.Median == nil {
		return units.Missing
	}
	return p.unit.Text(*p.Value.Median)
}

// Interval is the 95 % interval of the median, "4,401/s to 4,510/s", or what it lacks: "need ≥ 6 rounds".
func (p Place) Interval() string {
	switch {
	case len(p.Value.Rounds) == 0:
		return "not measured"
	case p.Value.Low == nil || p.Value.High == nil:
		return fmt.Sprintf("need ≥ %d rounds", stats.MinInterval)
	}
	return p.unit.Text(*p.Value.Low) + " to " + p.unit.Text(*p.Value.High)
}

// Words say how it stands to the leader of the first tier: "in front", "same within 3 %: +0.4 % (−0.1 % to +0.9 %)", "not told apart: …",
// "behind: …", or why it is in no tier: "3 rounds, need ≥ 6".
func (p Place) Words() string {
	switch {
	case len(p.Value.Rounds) == 0:
		return "not measured"
	case p.Out != "":
		return "not compared: " + p.Out
	case p.Tier == 0 && len(p.Value.Rounds) < stats.MinInterval:
		return fmt.Sprintf("%s, need ≥ %d", rounds(Legs{Seen: len(p.Value.Rounds)}), stats.MinInterval)
	case p.Tier == 0:
		return "no ratio: a value is not positive"
	case p.Ratio == nil:
		return "in front"
	case p.Same:
		return fmt.Sprintf("same within %g %%: %s", 100*p.margin, p.Ratio.words())
	case p.Tier == 1:
		return "not told apart: " + p.Ratio.words()
	}
	return "behind: " + p.Ratio.words()
}

// Told tells whether any contender is in a tier.
func (s Standing) Told() bool {
	return slices.ContainsFunc(s.Places, func(p Place) bool { return p.Tier > 0 })
}
