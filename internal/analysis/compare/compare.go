// Package compare compares two results and reports what changed, how certain that is, and what
// makes the two incomparable. The statistics are those of package stats; this package chooses the
// values: the measures at measure.Compared, one value per round. It is pure: package cli reads
// results and sets exit codes.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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

// Set is one side: an analyzed run, or only the contender with the label Contender.
type Set struct {
	Run       *analysis.Run
	Contender string
}

// Options of a comparison. The zero value has the defaults.
type Options struct {
	Rule stats.Rule
	// noise floor, from NoiseFloor; smaller differences are inconclusive; nil: not known
	Floor *Floor
	Force bool // give verdicts although the sides are not comparable
}

// Result is the result of a comparison.
type Result struct {
	Contenders  []Contender   `json:"contenders"`
	OnlyOld     []string      `json:"only_old,omitempty"` // labels of contenders that only the old side has
	OnlyNew     []string      `json:"only_new,omitempty"`
	Differences []Difference  `json:"differences,omitempty"` // between the runs, the most serious first
	Warnings    []SideWarning `json:"warnings,omitempty"`    // about the runs and the machine
	Forced      bool          `json:"forced,omitempty"`      // verdicts were given although the sides are not comparable
	// the sides are of two runs; changes of the machine in between are part of the result
	TwoRuns   bool    `json:"two_runs,omitempty"`
	Floor     *Floor  `json:"floor,omitempty"`      // noise floor that was applied
	RuleFloor float64 `json:"rule_floor,omitempty"` // noise floor of all measures, from --floor: .04 is 4%
	// what counted as the same, if it is not the default, which all other outputs use: .01 is 1%
	Margin float64 `json:"same,omitempty"`
}

// Contender is the comparison of one contender.
type Contender struct {
	Old         string        `json:"old"` // label
	New         string        `json:"new"`
	OldTrials   Trials        `json:"old_trials"`
	NewTrials   Trials        `json:"new_trials"`
	Comparable  bool          `json:"comparable"`            // no known difference makes the sides incomparable
	Differences []Difference  `json:"differences,omitempty"` // between the instances of the two sides
	Rows        []Row         `json:"measures"`
	Requests    *Requests     `json:"requests,omitempty"` // by kind of request, if the mix has several
	Subject     string        `json:"subject,omitempty"`  // how the profile made the two contenders differ, with the ratios
	Causes      []string      `json:"causes,omitempty"`   // what counters say about each side, the worse one first
	Cause       string        `json:"-"`                  // what to do about the worse side; "" without a verdict or a cause
	Settle      string        `json:"settle,omitempty"`   // what would settle inconclusive measures soonest
	Notes       []SideWarning `json:"notes,omitempty"`    // caveats: errors, rounds that failed

	Settling analysis.Settling `json:"-"` // of which Settle is the sentence
	sides    [2]analysis.Contender
	more     func(measure.Measure) Row // compares a measure that is in no row
	limits   string                    // by which the profile made the two differ, with the ratios; "" if it did not
	forced   bool                      // a verdict although the sides are not comparable
	excluded bool                      // a side is excluded
}

// Trials summarizes the rounds of one side.
type Trials struct {
	Seen          int     `json:"seen"`
	Complete      int     `json:"complete"`
	ChangedByHand int     `json:"changed_by_hand,omitempty"` // rounds with manual changes
	Errors        float64 `json:"error_ratio"`               // error rate of all trials together
}

// Compare pairs the contenders of the two sides by label (single contenders in any case) and tests
// the measures of each pair as one family. If the sides are not comparable, all verdicts are
// Inconclusive unless Force is set. It returns an error if there is nothing to compare.
func Compare(before, after Set, o Options) (Result, error) {
	runs := [2]bench.Run{before.Run.Run, after.Run.Run}
	result := Result{
		Differences: Differences(runs[0], runs[1]), Warnings: warnings(runs), Forced: o.Force,
		TwoRuns: runs[0].ID != runs[1].ID, Floor: o.Floor, RuleFloor: o.Rule.Floor,
	}
	if margin := o.Rule.Fill().Margin; margin != stats.DefaultMargin {
		result.Margin = margin
	}
	olds, err := before.contenders()
	if err != nil {
		return Result{}, fmt.Errorf("old: %w", err)
	}
	news, err := after.contenders()
	if err != nil {
		return Result{}, fmt.Errorf("new: %w", err)
	}
	single := len(olds) == 1 && len(news) == 1
	for _, a := range olds {
		i := slices.IndexFunc(news, func(b analysis.Contender) bool { return single || b.Label == a.Label })
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

// contenders returns the contenders of the side.
func (s Set) contenders() (all []analysis.Contender, err error) {
	var labels []string
	for _, c := range s.Run.Contenders {
		labels = append(labels, c.Label)
		if s.Contender == "" || s.Contender == c.Label {
			all = append(all, c)
		}
	}
	switch {
	case len(labels) == 0:
		return nil, errors.New("no trial started")
	case len(all) == 0:
		return nil, fmt.Errorf("no contender %q; choose one of %s", s.Contender, list(labels))
	}
	return all, nil
}

// Pair compares one contender of each side, whatever their labels. runs has the runs' differences.
func Pair(a, b analysis.Contender, runs []Difference, o Options) Contender {
	couple := analysis.CoupleOf(a, b)
	c := Contender{Old: a.Label, New: b.Label, OldTrials: count(a), NewTrials: count(b), Rows: rows(couple, o),
		Differences: trialDifferences(a.Results, b.Results), sides: [2]analysis.Contender{a, b}}
	if analysis.LimitsIntended(a, b) {
		for i, d := range c.Differences {
			if d.What == limitsInUse {
				c.Differences[i].Weight = Subject
			}
		}
		byWeight(c.Differences)
	}
	c.Differences = append(c.Differences, threads(a, b)...)
	excluded := ofSides(" ", [2]string{exclusion(a), exclusion(b)})
	differ := joined("; ", breaking(runs, math.MaxInt), breaking(c.Differences, math.MaxInt))
	c.excluded, c.Comparable = excluded != "", excluded == "" && differ == ""
	for i := range c.Rows {
		c.Rows[i].check(couple, excluded, differ, o.Force)
	}
	c.more = func(m measure.Measure) Row {
		r, pair := newRow(couple, m, o)
		need := m.NeedName()
		switch _, known := r.known(); {
		case known:
			r.decide(o.Rule.Compare([]stats.Pair{pair})[0])
		case need != "" && !a.Has(need) && !b.Has(need):
			r.Sentence = fmt.Sprintf("no need %q in these results", need)
		}
		excluded := excluded
		if m.Comparison.Kind == stats.OfErrors && a.Excluded.OnlyErrors() && b.Excluded.OnlyErrors() {
			excluded = ""
		}
		r.check(couple, excluded, differ, o.Force)
		return r
	}
	if !c.Decided() {
		c.Settling = analysis.SettleOpen(open(c.Rows), cmp.Or(couple.Run, couple.A.Run()), couple.Paired, couple.Run != nil)
		c.Settle = c.Settling.Text
	}
	c.Causes, c.Cause = c.causes(couple)
	if i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Measure == measure.P99Half }); i >= 0 {
		c.Requests = byRequest(couple, o, c.Rows[i].NotComparable)
	}
	c.forced = o.Force
	c.Subject = c.subject()
	c.Notes = c.notes()
	return c
}

// Decided reports whether a measure is certainly better or worse: then nothing is proposed for the
// others.
func (c Contender) Decided() bool {
	return slices.ContainsFunc(c.Rows, func(r Row) bool { return r.Verdict == stats.Better || r.Verdict == stats.Worse })
}

// exclusion returns why a contender is excluded, as a predicate; "" if it is not.
func exclusion(c analysis.Contender) string {
	if c.Excluded == nil {
		return ""
	}
	return safe.Line(c.Excluded.String(), 400)
}

// sides are the names of the two sides.
var sides = [2]string{"old", "new"}

// ofSides returns what is said of each side after its name; "" if nothing is.
func ofSides(between string, said [2]string) string {
	for i, text := range said {
		if text != "" {
			said[i] = sides[i] + between + text
		}
	}
	return joined(", ", said[:]...)
}

// joined joins texts, of which any may be empty.
func joined(by string, all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), by)
}

func count(c analysis.Contender) Trials {
	t := Trials{Seen: c.Trials, Complete: c.Complete}
	t.Errors, _ = c.TotalErrorRate()
	for _, trial := range c.Results {
		if trial.ChangedByHand() {
			t.ChangedByHand++
		}
	}
	return t
}

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

// Words returns String with other names for the sides.
func (d SideWarning) Words(before, after string) string {
	return joined(": ", map[string]string{sides[0]: before, sides[1]: after}[d.Side], d.Warning.Text)
}

// MarshalText writes String.
func (d SideWarning) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// notes returns the caveats about each side.
func (c Contender) notes() (all []SideWarning) {
	for i, t := range []Trials{c.OldTrials, c.NewTrials} {
		add := func(is bool, kind bench.WarningKind, format string, args ...any) {
			if is {
				all = append(all, sideWarning(sides[i], kind, format, args...))
			}
		}
		why := exclusion(c.sides[i])
		add(why != "", bench.WarnExcluded, "excluded: it %s", why)
		add(t.Complete < t.Seen, bench.WarnIncomplete, "%d of %d rounds complete", t.Complete, t.Seen)
		add(t.ChangedByHand > 0, bench.WarnManualChange, "%d of %d rounds changed by hand", t.ChangedByHand, t.Seen)
		failed := fmt.Sprintf("%.2g%%", 100*t.Errors)
		if t.Errors >= .995 { // not 1e+02%
			failed = units.Percent(t.Errors)
		}
		add(t.Errors >= verdict.ErrorsMatter, bench.WarnErrors,
			"%s of requests failed; throughput and latency exclude them", failed)
	}
	return all
}

// warnings returns what is to know about the runs: failed checks that were accepted, needs that the
// contenders of one run do not have in common, and a machine that was busy before them.
func warnings(runs [2]bench.Run) (all []SideWarning) {
	oneRun := runs[0].ID == runs[1].ID && runs[0].Machine.Load1 == runs[1].Machine.Load1
	for i, run := range runs {
		if run.AcceptFailedChecks {
			all = append(all, sideWarning(sides[i], bench.WarnExcluded,
				"failed checks were accepted (--accept-failed-checks): responses may be wrong"))
		}
		side := sides[i]
		if oneRun {
			side = ""
		}
		for _, w := range run.Warnings {
			if w.Kind == bench.WarnOwnNeeds && oneRun && i == 0 {
				all = append(all, sideWarning(side, w.Kind, "%s", w.Text))
			}
		}
		if load, busy := verdict.BusyBefore(run.Machine); busy && !(oneRun && i > 0) {
			all = append(all, sideWarning(side, bench.WarnMachineState,
				"the machine was busy before the run (load %.3g on %s); the change may come from that",
				load, units.Plural(run.Machine.CPUs, "CPU")))
		}
	}
	return all
}

// subject returns how the profile of a run made the two contenders differ, with the ratios: "b
// under 0.5 CPUs, a under 1 CPU: ×0.48 the throughput, …"; "" if it did not.
func (c *Contender) subject() string {
	var parts, ratios []string
	a, b := c.sides[0], c.sides[1]
	if analysis.LimitsIntended(a, b) {
		parts = append(parts, analysis.LimitWords(a, b))
	}
	for _, side := range []analysis.Contender{b, a} {
		if text := side.Changed(); text != "" && analysis.OneRun(a, b) {
			parts = append(parts, safe.Line(side.Label, 120)+" with "+text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	for _, r := range c.Rows {
		if r.NotComparable == "" {
			ratios = append(ratios, analysis.RatioWords(r.Measure, r.Ratio))
		}
	}
	text := joined(": ", strings.Join(parts, ", "), joined(", ", ratios...))
	if analysis.LimitsIntended(a, b) {
		c.limits = joined(": ", strings.Join(parts, ", "), cmp.Or(joined(", ", ratios...), analysis.NoRatios(a, b)))
		return c.limits
	}
	return text
}

// list returns labels in a line of bounded length.
func list(labels []string) string { return safe.Line(cmp.Or(strings.Join(labels, ", "), "none"), 300) }
