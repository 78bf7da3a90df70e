// Package compare compares two results of contenders and says what changed, how
// certain that is, and what makes the two incomparable. The statistics are package stats's; here it
// is decided which figures are compared: the headline measures, one value of each round. It is
// pure: reading results and exit codes are left to package cli.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/figures/verdict"
	"locbench/internal/text/safe"
)

// Set is one side: an analysed run. With Contender set, only that one of it, by its label.
type Set struct {
	Run       *analysis.Run
	Contender string
}

// Options say how to compare. The zero value is of use.
type Options struct {
	Rule stats.Rule
	// of the machine, as NoiseFloor found it: smaller differences of a measure are not claimed; nil: not known
	Floor *Floor
	Force bool // decide although the two sides are not comparable
}

// Result is what a comparison has found.
type Result struct {
	Contenders  []Contender   `json:"contenders"`
	OnlyOld     []string      `json:"only_old,omitempty"` // labels of contenders that the other side does not have
	OnlyNew     []string      `json:"only_new,omitempty"`
	Differences []Difference  `json:"differences,omitempty"` // between the runs, besides the contenders; the gravest first
	Warnings    []SideWarning `json:"warnings,omitempty"`    // about the runs and the machine
	Forced      bool          `json:"forced,omitempty"`      // decided although something breaks the comparison
	// the sides are of two runs, at two times: a drift of the machine is in the difference
	TwoRuns   bool    `json:"two_runs,omitempty"`
	Floor     *Floor  `json:"floor,omitempty"`      // below which nothing was claimed
	RuleFloor float64 `json:"rule_floor,omitempty"` // the same for all measures, as somebody has named it: .04 is 4%
}

// Contender is one contender of both sides.
type Contender struct {
	Old         string        `json:"old"` // label
	New         string        `json:"new"`
	OldTrials   Trials        `json:"old_trials"`
	NewTrials   Trials        `json:"new_trials"`
	Comparable  bool          `json:"comparable"`            // nothing on record breaks the comparison
	Differences []Difference  `json:"differences,omitempty"` // between how the two really ran, and what was started
	Rows        []Row         `json:"measures"`
	Notes       []SideWarning `json:"notes,omitempty"` // what a reader has to know besides: errors, trials that failed

	excluded bool // a side answers wrongly
}

// Trials say how much of a contender's rounds is there.
type Trials struct {
	Seen          int     `json:"seen"`
	Complete      int     `json:"complete"`
	ChangedByHand int     `json:"changed_by_hand,omitempty"` // in whose course somebody intervened
	Errors        float64 `json:"error_ratio"`               // of all requests of all trials
}

// Compare pairs the contenders of the two sides by their labels (or the only ones) and decides each
// pair's measures as one family. Where something breaks the comparison, all verdicts are "can't
// tell", but for Force. An error says that there is nothing to compare.
func Compare(before, after Set, o Options) (Result, error) {
	runs := [2]bench.Run{before.Run.Run, after.Run.Run}
	result := Result{
		Differences: Differences(runs[0], runs[1]), Warnings: append(accepted(runs), busy(runs)...), Forced: o.Force,
		TwoRuns: runs[0].ID != runs[1].ID, Floor: o.Floor, RuleFloor: o.Rule.Floor,
	}
	olds, err := contenders(before)
	if err != nil {
		return Result{}, fmt.Errorf("old: %w", err)
	}
	news, err := contenders(after)
	if err != nil {
		return Result{}, fmt.Errorf("new: %w", err)
	}
	if len(olds) == 1 && len(news) == 1 {
		result.Contenders = append(result.Contenders, Pair(olds[0], news[0], result.Differences, o))
		return result, nil
	}
	for _, a := range olds {
		i := slices.IndexFunc(news, func(b analysis.Contender) bool { return b.Label == a.Label })
		if i < 0 {
			result.OnlyOld = append(result.OnlyOld, a.Label)
			continue
		}
		result.Contenders = append(result.Contenders, Pair(a, news[i], result.Differences, o))
		news = slices.Delete(news, i, i+1)
	}
	for _, b := range news {
		result.OnlyNew = append(result.OnlyNew, b.Label)
	}
	if len(result.Contenders) == 0 {
		return result, fmt.Errorf("no contender in common: old has %s, new has %s", list(result.OnlyOld),
			list(result.OnlyNew))
	}
	return result, nil
}

func contenders(s Set) (all []analysis.Contender, err error) {
	var labels []string
	for _, c := range s.Run.Contenders {
		labels = append(labels, c.Label)
		if s.Contender == "" || s.Contender == c.Label {
			all = append(all, c)
		}
	}
	switch {
	case len(all) > 0:
		return all, nil
	case len(labels) == 0:
		return nil, fmt.Errorf("no trial started")
	}
	return nil, fmt.Errorf("no contender %q; choose one of %s", s.Contender, list(labels))
}

// Pair compares one contender of each side, whatever their labels. runs is what differs between the
// runs.
func Pair(a, b analysis.Contender, runs []Difference, o Options) Contender {
	c := Contender{Old: a.Label, New: b.Label, OldTrials: count(a), NewTrials: count(b),
		Differences: TrialDifferences(a.Results, b.Results)}
	reason := both(breaking(runs, math.MaxInt), breaking(c.Differences, math.MaxInt))
	c.Comparable = reason == ""
	excluded := excluded(a, b)
	c.excluded = excluded != ""
	c.Comparable = c.Comparable && !c.excluded
	c.Rows = rows(a, b, o)
	for i := range c.Rows {
		row := &c.Rows[i]
		drifts := unsteady(measure.Get(row.Measure), a, b)
		row.Warnings = append(row.Warnings, drifts...)
		why := reason
		for _, d := range drifts {
			why = both(why, d.String())
		}
		if o.Force {
			why = ""
		}
		// Nothing forces a verdict about who answers wrongly.
		if why = both(excluded, why); why != "" {
			row.withhold(why)
		}
	}
	for i, side := range []analysis.Contender{a, b} {
		if side.Excluded != nil {
			c.Notes = append(c.Notes, sideWarning(sides[i], bench.WarnExcluded,
				"excluded: it %s", safe.Line(side.Excluded.String(), 400)))
		}
	}
	c.Notes = append(c.Notes, notes(c)...)
	return c
}

// excluded says which side takes part in no claim, and why; "" where both do.
func excluded(a, b analysis.Contender) (reason string) {
	for i, side := range []analysis.Contender{a, b} {
		if side.Excluded != nil {
			reason = both(reason, sides[i]+" "+safe.Line(side.Excluded.String(), 400))
		}
	}
	return reason
}

// both joins two reasons.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

func count(c analysis.Contender) Trials {
	l := Trials{Seen: c.Trials, Complete: c.Complete, Errors: c.Errors()}
	for _, trial := range c.Results {
		if trial.ChangedByHand() {
			l.ChangedByHand++
		}
	}
	return l
}

// sides are what the two are called.
var sides = [2]string{"old", "new"}

// SideWarning is a warning about one side of a comparison, or about both.
type SideWarning struct {
	Side    string // "old", "new"; "": both
	Warning bench.Warning
}

func sideWarning(side string, kind bench.WarningKind, format string, args ...any) SideWarning {
	return SideWarning{side, bench.Warning{Kind: kind, Text: fmt.Sprintf(format, args...)}}
}

// String returns "old: 5 of 6 rounds complete".
func (d SideWarning) String() string { return d.Words(sides[0], sides[1]) }

// Words returns those of String, where the reader calls the sides by these names.
func (d SideWarning) Words(before, after string) string {
	switch d.Side {
	case sides[0]:
		return before + ": " + d.Warning.Text
	case sides[1]:
		return after + ": " + d.Warning.Text
	}
	return d.Warning.Text
}

// MarshalText writes String.
func (d SideWarning) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func notes(c Contender) (warnings []SideWarning) {
	for i, trials := range []Trials{c.OldTrials, c.NewTrials} {
		say := func(is bool, kind bench.WarningKind, format string, args ...any) {
			if is {
				warnings = append(warnings, sideWarning(sides[i], kind, format, args...))
			}
		}
		say(trials.Complete < trials.Seen, bench.WarnIncomplete, "%d of %d rounds complete", trials.Complete, trials.Seen)
		say(trials.ChangedByHand > 0, bench.WarnManualChange, "%d of %d rounds changed by hand", trials.ChangedByHand, trials.Seen)
		say(trials.Errors >= verdict.ErrorsMatter, bench.WarnErrors,
			"%.2g%% of requests failed; throughput and latency exclude them", 100*trials.Errors)
	}
	return warnings
}

// accepted says of which side failed checks were accepted.
func accepted(runs [2]bench.Run) (warnings []SideWarning) {
	for i, run := range runs {
		if run.AcceptFailedChecks {
			warnings = append(warnings, sideWarning(sides[i], bench.WarnExcluded,
				"failed checks were accepted (--accept-failed-checks): responses may be wrong"))
		}
	}
	return warnings
}

// busy warns where the machine had other work when a run began.
func busy(runs [2]bench.Run) (warnings []SideWarning) {
	oneRun := runs[0].ID == runs[1].ID && runs[0].Machine.Load1 == runs[1].Machine.Load1
	for i, run := range runs {
		side, m := sides[i], run.Machine
		if oneRun {
			side = ""
		}
		if load, busy := verdict.BusyBefore(m); busy {
			warnings = append(warnings, sideWarning(side, bench.WarnMachineState,
				"the machine was busy before the run (load %.3g on %d CPUs); the change may come from that",
				load, m.CPUs))
		}
		if oneRun {
			break
		}
	}
	return warnings
}

func list(labels []string) string {
	const most = 8
	switch n := len(labels); {
	case n == 0:
		return "none"
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(labels[:most], ", "), n-most)
	}
	return strings.Join(labels, ", ")
}
