package plain

import (
	"fmt"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/compare"
	"locbench/internal/measure"
	"locbench/internal/safe"
	"locbench/internal/stats"
	"locbench/internal/units"
)

// standings are those of the contenders in every headline measure, throughput first.
func standings(a *analysis.Run, floor *compare.Floor) (all []analysis.Standing) {
	for _, m := range measure.Judged() {
		all = append(all, a.Standing(m.ID, stats.Rule{Floor: floor.Of(m.ID)}))
	}
	return all
}

func intervals(all []analysis.Standing) map[string]string {
	found := map[string]string{}
	if len(all) > 0 {
		for _, p := range all[0].Places {
			if found[p.Contender] = p.Interval(); len(p.Value.Values) == 0 {
				found[p.Contender] = units.Missing
			}
		}
	}
	return found
}

// tiers writes who is in front, in tiers instead of ranks, where there are rounds enough to tell: a
// table of the throughput, and a line for each other measure.
func (p *page) tiers(all []analysis.Standing, floor *compare.Floor) {
	if len(all) == 0 || len(all[0].Places) < 2 || !all[0].Told() {
		return
	}
	p.line("")
	rows := [][]string{{"tier", "contender", "req/s at the peak", "95 %", "to the first"}}
	before := -1
	for _, c := range all[0].Places {
		tier := ""
		if c.Tier != before {
			tier = fmt.Sprint(c.Tier)
		}
		if before = c.Tier; c.Tier == 0 {
			tier = units.Missing
		}
		rows = append(rows, []string{tier, safe.Line(c.Contender, 60), c.Text(), c.Interval(), c.Words()})
	}
	p.leftwards(fit(rows, p.width, "95 %", "req/s at the peak"))
	for _, s := range all[1:] {
		if s.Told() {
			p.line("%s", inTiers(s))
		}
	}
	if n := all[0].Lacking; n > 0 {
		p.line("With so many contenders even the clearest difference takes %s more of each.", units.Plural(n, "round"))
	}
	how := "Mann-Whitney over the rounds"
	if all[0].Paired {
		how = "they took turns, so round against round, signed ranks"
	}
	p.line("A tier is its first and all that are not known to be worse: %s, all pairs of a measure as one family (Holm, 95 %%). No order within a tier.", how)
	if floor != nil {
		p.line("Floor of this machine: %s. Smaller differences part no tiers.", floor.Words())
	}
}

// inTiers is a measure in a line: "p99, 4 connections: 1. a, b; 2. c".
func inTiers(s analysis.Standing) string {
	title := measure.Get(s.Measure).Claim.Title
	if s.At != "" {
		title += ", " + safe.Line(s.At, 100)
	}
	var groups []string
	before := -1
	for _, p := range s.Places {
		name := fmt.Sprintf("%s %s", safe.Line(p.Contender, 60), p.Text())
		switch {
		case p.Tier == before:
			groups[len(groups)-1] += ", " + name
		case p.Tier == 0:
			groups = append(groups, "not reported: "+name)
		default:
			groups = append(groups, fmt.Sprintf("%d. %s", p.Tier, name))
		}
		before = p.Tier
	}
	return title + ": " + strings.Join(groups, "; ")
}

// doubts are what the rounds themselves give to think: outliers, groups, a drift.
func (p *page) doubts(all []analysis.Standing) {
	for _, s := range all {
		for _, c := range s.Places {
			for _, d := range stats.Doubts(c.Value.Values) {
				p.line("%s, %s: %s", safe.Line(c.Contender, 60), measure.Get(s.Measure).Claim.Title, safe.Line(d, 300))
			}
		}
	}
}
