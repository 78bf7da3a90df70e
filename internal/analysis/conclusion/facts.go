package conclusion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
)

// confidence says how sure the verdict is: the CI and the p value, or what is missing for them.
func (d *draft) confidence() string {
	rounds := d.rounds()
	switch {
	case len(d.all) == 1:
		return d.ofOne()
	case rounds < stats.MinInterval:
		return fmt.Sprintf("Observed, not ranked: %s per contender, %d needed for a 95%% CI", units.Plural(rounds, "round"),
			stats.MinInterval)
	case d.kind == Versions && len(d.ranked()) == 2:
		return d.paired()
	case d.kind != Steps && d.kind != Versions:
		return fmt.Sprintf("%s per contender; tests corrected by Holm, 95%%", units.Plural(rounds, "round"))
	}
	s := d.standing(measure.Throughput)
	if len(d.ratios) > 0 {
		return fmt.Sprintf("No tiers: the contenders have different limits; 95%% CI of the ratios, %s", units.Plural(rounds, "round"))
	}
	if n := len(d.silent()); n > 0 && n == len(d.ranked()) {
		return fmt.Sprintf("No ranking: nothing succeeded in %s", units.Plural(rounds, "round"))
	}
	if len(s.Members) < 2 {
		return "No ranking: fewer than two contenders can be compared"
	}
	leaders, behind := s.Leaders()
	if len(behind) == 0 {
		c, _ := s.Pair(0, len(s.Members)-1)
		return fmt.Sprintf("%s to %s: %s; %s", nameOf(s, 0), nameOf(s, len(s.Members)-1), c.Sentence(), units.Plural(rounds, "round"))
	}
	c, _ := s.Pair(s.Tiers[0][0], slices.Min(behind))
	text := fmt.Sprintf("%s to %s: %s, p %.2g (Holm, %s), %s", nameOf(s, slices.Min(behind)), nameOf(s, s.Tiers[0][0]),
		c.Change(), c.Adjusted, units.Plural(c.Family, "test"), units.Plural(rounds, "round"))
	if len(leaders) > 1 {
		text += fmt.Sprintf("; tier 1: %d contenders", len(leaders))
	}
	return text
}

// ofOne says how sure the throughput of the only contender is.
func (d *draft) ofOne() string {
	peak, ok := d.all[0].PeakStep()
	text := units.Plural(d.rounds(), "round")
	if in := peak.Throughput.Interval; ok && in != nil {
		return fmt.Sprintf("95%% CI %s to %s, %s. One contender: no ranking", measure.PerSecond.Text(in.Low),
			measure.PerSecond.Text(in.High), text)
	}
	return text + ": no 95% CI. One contender: no ranking"
}

// paired says how sure the changes between two versions are.
func (d *draft) paired() string {
	tests, least := 0, 1.
	for _, r := range d.pair().Rows {
		if r.PHolm != nil && !measure.Get(r.Measure).Comparison.Own {
			tests, least = tests+1, min(least, *r.PHolm)
		}
	}
	text := units.Plural(d.pair().NewTrials.Complete, "round") + " of each, 95% CI"
	if d.pair().Rows[0].Paired {
		text = strings.Replace(text, "of each", "in pairs", 1)
	}
	if tests > 0 {
		text += fmt.Sprintf("; lowest p %.2g (Holm, %s)", least, units.Plural(tests, "measure"))
	}
	if d.floor == nil {
		return text + "; no noise floor is known"
	}
	return text + fmt.Sprintf("; noise floor up to %.1f%%", 100*d.floor.Largest())
}

// next returns what to do next, and the command for it.
func (d *draft) next(r Conclusion) (text, command string) {
	failed := false
	for _, p := range r.Problems {
		if p.command != "" {
			return p.next, p.command
		}
		failed = failed || !p.Warning
	}
	rounds := d.rounds()
	for _, c := range d.all {
		if c.Checks[bench.CheckFailed] > 0 && !failed { // accepted
			return "See the failed checks", d.quickly(c)
		}
	}
	switch {
	case len(d.all) == 0:
		return "Run it", d.again()
	case failed:
		return "After a fix, run again", d.again()
	case len(d.all) == 1:
		return d.nextAlone(d.all[0])
	}
	if rounds < stats.MinInterval {
		need := stats.MinInterval
		if p := d.Run.Run.Plain; p != nil && p.Reason == bench.PlainRounds {
			need = stats.MinPaired
		}
		return "Rank them", d.again(fmt.Sprintf("--rounds=%d", need))
	}
	if more := d.roundsToSettle(); more > 0 && len(d.ratios) == 0 {
		return "Settle what is open", d.again(fmt.Sprintf("--rounds=%d", rounds+more))
	}
	if d.kind == Versions {
		return "Hold it in CI", "locbench compare DIR --fail-on 'throughput<-5%'"
	}
	return "Look at the steps of each contender below", ""
}

// roundsToSettle returns the number of rounds that settle the first of the inconclusive pairs; 0:
// none is, or more rounds do not help.
func (d *draft) roundsToSettle() (more int) {
	var open []analysis.Open
	for _, m := range measure.Tested() {
		open = append(open, d.standing(m.ID).Open()...)
	}
	for _, o := range open {
		if o.More > 0 && o.More < stats.MaxRounds && (more == 0 || o.More < more) {
			more = o.More
		}
	}
	return more
}

// nextAlone returns what says more about the only contender.
func (d *draft) nextAlone(c analysis.Contender) (text, command string) {
	peak, ok := c.PeakStep()
	if !ok {
		return "Run it again", d.again()
	}
	if text, option := Probe(c.Bounds[peak.Index].Bound, peak.Step, c.Planned()); option != "" {
		return text, d.again(option)
	}
	switch {
	case d.rounds() < stats.MinInterval:
		return "Know how sure", d.again(fmt.Sprintf("--rounds=%d", stats.MinInterval))
	case len(d.Run.Run.Targets) > 0:
		return "Compare it with another run", "locbench compare DIR OTHER"
	}
	return "Compare it with another one", d.alone(c, "OTHER")
}

// Probe returns the option of a run that shows more about a step with a bottleneck; "" if there is
// none.
func Probe(by verdict.Bound, step bench.Step, limits bench.Limits) (text, option string) {
	switch {
	case (by == verdict.Machine || by == verdict.Client) && limits.CPUs > .5:
		return "Find its own limit", fmt.Sprintf("--cpus=%g", limits.CPUs/2)
	case by == verdict.Connections && step.Connections > 0:
		return "Add connections", fmt.Sprintf("--connections=%d,%d", step.Connections, 4*step.Connections)
	}
	return "", ""
}
