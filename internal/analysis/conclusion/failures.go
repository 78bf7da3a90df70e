package conclusion

import (
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/safe"
)

// cut bounds a name.
func cut(name string) string { return safe.Line(name, 60) }

// failures returns what failed: contenders, else errors, checks or thresholds; "None: 124 of 124
// checks, 0 errors" otherwise.
func (d *draft) failures() (text string, failed bool) {
	var out []string
	for _, c := range d.all {
		if c.WhyExcluded() != "" {
			out = append(out, label(c)+" "+briefly(c))
		}
	}
	for _, s := range d.silent() {
		if len(d.all) == 1 {
			return s.why.String(), true
		}
		out = append(out, label(s.Contender)+": "+s.why.String())
	}
	for _, c := range d.ranked() {
		if peak, ok := c.PeakStep(); ok && peak.Answered() < peak.Rounds {
			out = append(out, fmt.Sprintf("%s: nothing succeeded in %d of %s", label(c), peak.Rounds-peak.Answered(),
				units.Plural(peak.Rounds, "round")))
		}
	}
	passed, checks, errors, sent, missed, checked := 0, 0, int64(0), int64(0), 0, 0
	for _, c := range d.all {
		passed += c.Checks[bench.CheckPassed]
		checks += c.Checks[bench.CheckPassed] + c.Checks[bench.CheckFailed]
		errors += c.ErrorsTotal()
		for _, s := range c.Steps {
			sent += s.Ended()
		}
		for _, t := range c.Results {
			for _, s := range t.Steps {
				missed, checked = missed+len(s.Missed()), checked+len(s.Thresholds)
			}
		}
	}
	switch {
	case len(out) > 2:
		return fmt.Sprintf("%d of %d: %s and %d more", len(out), len(d.all), out[0], len(out)-1), true
	case len(out) > 0 && len(d.all) == 1:
		return briefly(d.all[0]), true
	case len(out) > 0:
		return fmt.Sprintf("%d of %d: %s", len(out), len(d.all), strings.Join(out, "; ")), true
	case unfinished(d.Run.Run) > 0:
		return fmt.Sprintf("%d of %s did not finish", unfinished(d.Run.Run), units.Plural(len(d.Run.Run.Trials), "trial")), true
	case missed > 0:
		return fmt.Sprintf("%d of %s missed", missed, units.Plural(checked, "threshold")), true
	case checks > passed:
		return fmt.Sprintf("%d of %s failed", checks-passed, units.Plural(checks, "check")), true
	case errors > 0:
		return fmt.Sprintf("%s of %s failed", units.Count(errors), units.Plural(sent, "request")), true
	case checks > 0:
		return fmt.Sprintf("None: %s of %s, 0 errors", units.Count(int64(passed)), units.Plural(checks, "check")), false
	}
	return "None: 0 errors of " + units.Plural(sent, "request"), false
}

// briefly returns why a contender is excluded as a predicate of a few words: "was killed out of
// memory in 2 of 6 rounds".
func briefly(c analysis.Contender) string {
	text := "failed"
	switch x := c.Excluded; {
	case x == nil:
	case x.Cause != nil:
		text = map[bench.CauseKind]string{
			bench.CauseKilled: "ran out of memory", bench.CauseExited: "died", bench.CauseSilent: "stopped responding",
			bench.CauseNotReady: "was not ready", bench.CauseHung: "did not stop",
		}[x.Cause.Kind]
	case x.Unexpected != nil:
		return "gave unexpected responses: " + x.Unexpected.Share()
	case x.FailedChecks > 0:
		return fmt.Sprintf("failed %d of %s", x.FailedChecks, units.Plural(x.Checks, "check"))
	case x.NoValidStep && x.Errors >= 1:
		if why, ok := c.Silence(); ok && why.Reason == analysis.AllError {
			return "failed every request: " + why.Errors()
		}
		return "failed every request"
	case x.NoValidStep:
		return "failed " + units.Share(x.Errors) + " of its requests or more in every step"
	}
	if c.Trials > 1 && c.FailedRounds > 0 {
		text += fmt.Sprintf(" in %d of %s", c.FailedRounds, units.Plural(c.Trials, "round"))
	}
	return text
}

// problems returns the contenders that failed, those whose memory grows, and those that are slow by
// what their threads do.
func (d *draft) problems() (all []Problem) {
	for _, c := range d.all {
		if why := c.WhyExcluded(); why != "" {
			p := d.remedy(c)
			if causes := c.Causes(); len(causes) > 0 {
				p = Problem{Cause: safe.Line(causes[0].What+": "+causes[0].Why, 400), Remedy: causes[0].Remedy}
			}
			p.Contender, p.What, p.Remedy = label(c), safe.Line(why, 400), safe.Line(p.Remedy, 400)
			all = append(all, p)
		}
	}
	all = append(all, d.silentProblems()...)
	for _, c := range d.all {
		if w, ok := c.MemoryGrowth(); ok && c.WhyExcluded() == "" {
			p := remedy("see whether it levels off", d.alone(c, "--duration=30m"))
			p.Contender, p.Warning, p.What = label(c), true, safe.Line(w.Text, 400)
			p.Cause = analysis.Leak
			all = append(all, p)
		}
	}
	for _, c := range d.all {
		if c.WhyExcluded() != "" || d.kind == Versions && len(d.ranked()) == 2 { // the verdict of two has them
			continue
		}
		for _, cause := range c.Causes() {
			all = append(all, Problem{Contender: label(c), Warning: true, What: safe.Line(cause.What, 400),
				Cause: safe.Line(cause.Why, 400), Remedy: cause.Remedy})
		}
	}
	return all
}

// remedy returns a problem with what to do and the command for it.
func remedy(what, command string) Problem {
	return Problem{Remedy: what + ": " + command, next: strings.ToUpper(what[:1]) + what[1:], command: command}
}

// remedy returns the likely cause of a failure, if there is one to name, and what to do.
func (d *draft) remedy(c analysis.Contender) Problem {
	x := c.Excluded
	switch {
	case x == nil && c.Results[0].Instance == nil: // it was never started
		return remedy("see whether it builds", d.quickly(c))
	case x == nil:
		return Problem{Remedy: "see its log in the report"}
	case x.Cause != nil && x.Cause.Kind == bench.CauseKilled:
		if w, ok := c.MemoryGrowth(); ok {
			return Problem{Cause: analysis.Leak + ": " + safe.Line(w.Text, 200),
				Remedy: "look for what it keeps of each request; with a higher limit it is killed later"}
		}
		limit := c.Planned().Memory
		if limit <= 0 {
			return Problem{Remedy: "give the machine more memory"}
		}
		return remedy("raise its limit", d.alone(c, fmt.Sprintf("--memory=%dMiB", limit*3/2>>20)))
	case x.Cause != nil && x.Cause.Kind == bench.CauseNotReady:
		return Problem{Remedy: "check port and ready in its manifest"}
	case x.Cause != nil:
		return Problem{Remedy: "see its last log lines in the report"}
	case x.Unexpected != nil && x.Unexpected.Connections > 1 && !d.wrongAlone(c):
		p := remedy("repeat", d.alone(c, fmt.Sprintf("--connections=%d", x.Unexpected.Connections)))
		p.Cause = "requests share state: with 1 connection all responses were as expected"
		return p
	case x.Unexpected != nil:
		return Problem{Remedy: "compare the two bodies in the report"}
	case x.FailedChecks > 0:
		return remedy("see the failed checks", d.quickly(c))
	}
	return Problem{Remedy: "see the failed requests in the report"}
}

// wrongAlone reports whether a contender gave unexpected responses with one connection, or was not
// measured with one.
func (d *draft) wrongAlone(c analysis.Contender) bool {
	one := func(s bench.StepResult) bool { return s.Step.Connections == 1 && s.Load.Checked > 0 }
	measured := false
	for _, t := range c.Results {
		for _, s := range t.Steps {
			if one(s) {
				measured = true
				if s.Load.Failed[bench.ErrWrong] > 0 {
					return true
				}
			}
		}
	}
	return !measured
}

// silent is a contender without a success in any measured step, although it is not excluded.
type silent struct {
	analysis.Contender
	why analysis.Silence
}

// silent returns the contenders of which nothing is known but that nothing succeeded.
func (d *draft) silent() (all []silent) {
	for _, c := range d.ranked() {
		if why, ok := c.Silence(); ok {
			all = append(all, silent{c, why})
		}
	}
	return all
}

// silentProblems returns the contenders that had no success as problems, with what to do: steps
// that are long enough for all of them.
func (d *draft) silentProblems() (all []Problem) {
	least := time.Duration(0)
	for _, s := range d.silent() {
		least = max(least, s.why.Least)
	}
	for _, s := range d.silent() {
		p := Problem{Remedy: "see its steps in the report"}
		switch {
		case s.why.Least > 0:
			p = remedy("give longer steps", d.again("--duration="+units.Exact(least)))
		case s.why.Reason == analysis.AllError:
			p.Remedy = "see the failed requests in the report"
		}
		p.Contender, p.Warning, p.What = label(s.Contender), true, "had no success: "+s.why.String()
		all = append(all, p)
	}
	return all
}

// withoutRatio returns the throughput of the leader and of the next one, if one of them has values of
// 0: "19.0/s, b 0/s"; "" if they have a ratio.
func withoutRatio(s analysis.Standing, leader, next int) string {
	c, ok := s.Pair(leader, next)
	if !ok || c.Ratio != nil {
		return ""
	}
	unit := measure.Get(s.Measure).Unit
	return unit.Text(c.New.Median) + ", " + nameOf(s, next) + " " + unit.Text(c.Old.Median)
}
