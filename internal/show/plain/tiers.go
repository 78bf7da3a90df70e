package plain

import (
	"bytes"
	"fmt"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/analysis/compare"
	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/text/safe"
)

// standings returns those of the contenders in every headline measure, throughput first.
func standings(a *analysis.Run, floor *compare.Floor) (all []analysis.Standing) {
	for _, m := range measure.Tested() {
		all = append(all, a.Standing(m.ID, stats.Rule{Floor: floor.Of(m.ID)}))
	}
	return all
}

// intervals returns those of the peak throughput, by label.
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
func tiers(b *bytes.Buffer, line writer, all []analysis.Standing, floor *compare.Floor, width int) {
	if len(all) == 0 || !all[0].HasTiers() {
		return
	}
	line("")
	rows := [][]string{{"tier", "contender", "peak req/s", "95%", "vs leader"}}
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
	for line := range strings.Lines(inColumns(fit(rows, width, "95%", "req/s at peak"), "", leftwards)) {
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
		line("With this many contenders a ranking needs %s more.", units.Plural(n, "round"))
	}
	how := "Mann-Whitney test"
	if all[0].Paired {
		how = "interleaved: rounds in pairs, signed-rank test"
	}
	line("Tier: its first contender and all that are not significantly worse (%s, Holm-corrected, 95%%). A tier has no order.", how)
	if floor != nil {
		line("Noise floor: %s. Smaller differences are ignored.", floor.Words())
	}
}

// inTiers returns a measure in a line: "p99, 4 connections: 1. a, b; 2. c".
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

// warnings are what the rounds themselves give to think: outliers, a drift.
func doubts(all []analysis.Standing, line writer) {
	for _, s := range all {
		for _, p := range s.Places {
			for _, d := range stats.RoundWarnings(p.Value.Values) {
				title := measure.Get(s.Measure).Comparison.Title
				line("%s, %s: %s", safe.Line(p.Contender, 60), title, safe.Line(d.Text, 300))
			}
		}
	}
}

// maxMissed is how many missed thresholds the final table lists; the report has them all.
const maxMissed = 20

// judgement returns "p99 is 71.2ms, not <50ms; ended the trial".
func judgement(j bench.ThresholdResult) string {
	if j.Stopped != "" {
		return j.Text + "; stopped the " + string(j.Stopped)
	}
	return j.Text
}

// thresholds says how many were judged, and which were missed.
func thresholds(line writer, trials []bench.TrialResult) {
	judged := 0
	var missed []string
	for _, trial := range trials {
		for _, s := range trial.Steps {
			judged += len(s.Thresholds)
			for _, j := range s.Missed() {
				missed = append(missed, fmt.Sprintf("missed: %s, step %d (%s): %s",
					trial.Trial, s.Index+1, safe.Line(s.Step.Name, 60), safe.Line(judgement(j), 300)))
			}
		}
	}
	if judged == 0 {
		return
	}
	line("thresholds: %d of %d missed", len(missed), judged)
	for _, text := range missed[:min(len(missed), maxMissed)] {
		line("%s", text)
	}
	if more := len(missed) - maxMissed; more > 0 {
		line("%d more in the report", more)
	}
}
