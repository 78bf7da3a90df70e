package plain

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

// standings returns the standing of the contenders in every headline measure, throughput first.
func standings(a *analysis.Run, floor *compare.Floor) (all []analysis.Standing) {
	for _, m := range measure.Tested() {
		all = append(all, a.Standing(m.ID, ruleOf(floor)(m.ID)))
	}
	return all
}

// ruleOf returns the rule of each measure.
func ruleOf(floor *compare.Floor) func(measure.ID) stats.Rule {
	return func(id measure.ID) stats.Rule { return stats.Rule{Floor: floor.Of(id)} }
}

// intervals returns the 95% CI of each contender's peak throughput, by label.
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

// tiers writes the tiers of the throughput as a table and those of other measures as lines.
// Contenders with different limits have ratios instead. settle is what settles inconclusive pairs
// soonest.
func tiers(
	b *bytes.Buffer, line writer, all []analysis.Standing, ratios []string, settle string, floor *compare.Floor, width int,
) {
	if len(all) == 0 || !all[0].HasTiers() && len(ratios) == 0 {
		return
	}
	if len(ratios) > 0 { // a smaller contender is not a worse one
		line("")
		for _, text := range ratios {
			line("%s", text)
		}
		line("No tiers: the contenders have different limits.")
		return
	}
	line("")
	rows := [][]string{{"tier", "contender", headPeak, headCI, "vs leader"}}
	before := -1
	for _, p := range all[0].Places {
		tier := ""
		if p.Tier != before {
			tier = fmt.Sprint(p.Tier)
		}
		if before = p.Tier; p.Tier == 0 {
			tier = units.Missing
		}
		rows = append(rows, []string{tier, safe.Line(p.Contender, 60), p.Text(), p.Interval(), p.Words()})
	}
	for line := range strings.Lines(inColumns(fit(rows, width, headCI, headPeak), "", leftAligned)) {
		line = strings.TrimRight(line, " \n")
		if runes := []rune(line); width > 0 && len(runes) > width {
			line = string(runes[:width-1]) + "…"
		}
		b.WriteString(line + "\n")
	}
	for _, s := range all[1:] {
		if s.HasTiers() {
			line("%s", inTiers(s))
		}
	}
	if n := all[0].RoundsNeeded; n > 0 {
		line("With %s a ranking needs %s.", units.Plural(all[0].Tests, "test"), units.Plural(n, "more round"))
	}
	if settle != "" {
		line("%s", settle)
	}
	how := "Mann-Whitney test"
	if all[0].Paired {
		how = "interleaved: rounds in pairs, signed-rank test"
	}
	line("Tier: its first contender and all that are not significantly worse (%s, Holm-corrected, 95%%)."+
		" A tier has no order.", how)
	if floor != nil {
		line("Noise floor: %s. Smaller differences are ignored.", floor.Words())
	}
}

// inTiers returns the ranking by a measure as a line: "p99, 4 connections: 1. a, b; 2. c".
func inTiers(s analysis.Standing) string {
	title := measure.Get(s.Measure).Comparison.Title
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
			groups = append(groups, "no tier: "+name)
		default:
			groups = append(groups, fmt.Sprintf("%d. %s", p.Tier, name))
		}
		before = p.Tier
	}
	return title + ": " + strings.Join(groups, "; ")
}

// roundWarnings writes what is unusual about the values of the rounds: outliers, a drift.
func roundWarnings(all []analysis.Standing, line writer) {
	for _, s := range all {
		for _, p := range s.Places {
			for _, w := range stats.RoundWarnings(p.Value.Values) {
				title := measure.Get(s.Measure).Comparison.Title
				line("%s, %s: %s", safe.Line(p.Contender, 60), title, safe.Line(w.Text, 300))
			}
		}
	}
}

// maxMissed is how many missed thresholds the final table lists; the report has all.
const maxMissed = 20

// missedText returns "p99 is 71.2ms, not <50ms; stopped the trial".
func missedText(r bench.ThresholdResult) string {
	if r.Stopped != "" {
		return r.Text + "; stopped the " + string(r.Stopped)
	}
	return r.Text
}

// thresholds writes how many thresholds were checked, and which were missed.
func thresholds(line writer, trials []bench.TrialResult) {
	checked := 0
	var missed []string
	for _, trial := range trials {
		for _, s := range trial.Steps {
			checked += len(s.Thresholds)
			for _, r := range s.Missed() {
				missed = append(missed, fmt.Sprintf("missed: %s, step %d (%s): %s",
					trial.Trial, s.Index+1, safe.Line(s.Step.Name, 60), safe.Line(missedText(r), 300)))
			}
		}
	}
	if checked == 0 {
		return
	}
	line("thresholds: %d of %d missed", len(missed), checked)
	for _, text := range missed[:min(len(missed), maxMissed)] {
		line("%s", text)
	}
	if more := len(missed) - maxMissed; more > 0 {
		line("%d more in the report", more)
	}
}
