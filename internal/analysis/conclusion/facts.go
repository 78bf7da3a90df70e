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
	"github.com/locbench/locbench/internal/text/safe"
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
	settling, decided := d.settling()
	switch cause := d.cause(); {
	case cause != "":
		return cause, ""
	case !decided && len(settling.Changes) > 0:
		return "Settle what is open" + settling.About, d.again(settling.Changes...)
	case !decided && settling.Text != "":
		return settling.Text, ""
	case d.kind == Versions:
		return "Hold it in CI", "locbench compare DIR --fail-on 'throughput<-5%'"
	}
	return lookBelow, ""
}

// lookBelow is the next step of a report if there is no other one.
const lookBelow = "Look at the steps of each contender below"

// NextStep returns the next step with its command, for outputs that end with it; "" if there is
// none, or if it is a remedy of a problem.
func (r Conclusion) NextStep() string {
	remedied := func(p Problem) bool { return r.Command != "" && strings.Contains(p.Remedy, r.Command) }
	switch {
	case r.Next == lookBelow || slices.ContainsFunc(r.Problems, remedied):
		return ""
	case r.Command == "":
		return r.Next
	}
	return r.Next + ": " + r.Command
}

// settling returns what settles what is open, and whether the question is decided: any measure of
// two versions, else which contender leads. Then nothing is proposed for the rest.
func (d *draft) settling() (s analysis.Settling, decided bool) {
	if len(d.ratios) > 0 {
		return s, true
	}
	if d.kind == Versions && len(d.ranked()) == 2 {
		return d.pair().Settling, d.pair().Decided()
	}
	if first := d.standing(measure.Throughput); len(first.Tiers) > 1 {
		leaders, _ := first.Leaders()
		decided = len(leaders) == 1
	}
	var open []analysis.Open
	paired := false
	for _, m := range d.Run.Tested() {
		s := d.standing(m.ID)
		open, paired = append(open, s.Open()...), paired || s.Paired
	}
	return analysis.SettleOpen(open, d.Run, paired, true), decided
}

// cause says where to look for what makes the new one of two versions worse: in what its
// counters say, its requests to a need, its own CPU time, or what it waits for; "" if it is not worse in any.
func (d *draft) cause() string {
	if d.kind != Versions || len(d.ranked()) != 2 {
		return ""
	}
	of, name, slower := d.all[1], label(d.all[1]), false
	own, needed := "", ""
	for _, r := range d.pair().Rows {
		need := measure.Get(r.Measure).NeedName()
		switch {
		case r.Verdict != stats.Worse:
		case need != "" && needed == "":
			needed = fmt.Sprintf("Look at what %s requests from %s: its CPU time per request %s", name, safe.Line(need, 60), r.Change())
		case need != "":
		case r.Measure == measure.CPURequest:
			own = fmt.Sprintf("Profile the CPU time of %s: per request %s", name, r.Change())
		case r.Measure == measure.Throughput:
			slower = true
		}
	}
	peak, ok := of.PeakStep()
	switch by := of.Bounds[peak.Index].Bound; {
	case d.pair().Cause != "" && (own != "" || slower):
		return d.pair().Cause
	case needed != "":
		return needed
	case own != "" || !ok || !slower:
		return own
	case by == verdict.Threads:
		return "Look at the busiest thread of " + name + ": it has no time left, while CPUs are idle"
	case by == verdict.Contender:
		return "Look for what " + name + " waits for with idle CPUs: a lock, a pool, or a call"
	case by.Need():
		return "Look at " + safe.Line(string(by), 60) + ", which limited " + name + " at peak"
	}
	return ""
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
