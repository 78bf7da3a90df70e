package conclusion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// Caveat is a reason to doubt the results.
type Caveat struct {
	Text   string
	Listed bool // sums up warnings; the report lists them one by one
}

// How much of warnings caveats quote.
const (
	maxWarnings = 3 // about the run
	maxKinds    = 6 // of warnings about steps
	maxPlaces   = 4 // of a kind
	maxNames    = 6 // of contenders or steps
	maxWords    = 200
)

// caveats returns the caveats by consequence: of all results, of some contenders, of single steps.
func (d *draft) caveats() (all []Caveat) {
	run := d.Run.Run
	add := func(format string, args ...any) { all = append(all, Caveat{Text: fmt.Sprintf(format, args...)}) }
	if n := unfinished(run); n > 0 && len(d.ranked()) < len(d.all) { // else the failures say it
		add("Run incomplete: %d of %s did not finish.", n, units.Plural(len(run.Trials), "trial"))
	}
	if run.AcceptFailedChecks {
		add("Failed checks were accepted (--accept-failed-checks): responses may be wrong.")
	}
	for _, c := range d.all {
		if n, why := unlimited(c); n > 0 {
			add("Limits of %s not enforced in %d of %s%s: its results do not match the profile.", label(c), n,
				units.Plural(c.Trials, "round"), why)
		}
	}
	for i, w := range run.Warnings {
		if i == maxWarnings {
			all = append(all, Caveat{units.Plural(len(run.Warnings)-i, "more warning") + " about the run below.", true})
			break
		}
		all = append(all, Caveat{"Run warning: “" + safe.Line(w.Text, maxWords) + "”.", true})
	}
	ofMachine := func(w bench.Warning) bool { return w.Kind == bench.WarnMachineState }
	if load, busy := verdict.BusyBefore(run.Machine); busy && !slices.ContainsFunc(run.Warnings, ofMachine) {
		add("Machine was busy before the run (load %.3g on %s); differences may come from that.", load,
			units.Plural(run.Machine.CPUs, "CPU"))
	}
	var shared []string
	for _, b := range []verdict.Bound{verdict.Store, verdict.Machine} {
		if names := d.boundBy(b); len(names) > 0 && len(d.all) > 1 {
			shared = append(shared, map[verdict.Bound]string{verdict.Store: "the store", verdict.Machine: "the machine's CPUs"}[b]+
				" limited "+list(names))
		}
	}
	if len(shared) > 0 {
		add("Another store or machine may change the order: %s at peak.", strings.Join(shared, ", "))
	}
	for _, c := range d.all {
		if text := roundWarnings(c); text != "" {
			add("%s: peak throughput varies between rounds more than by chance: %s.", label(c), text)
		}
		if n := changedByHand(c); n > 0 {
			add("Changed by hand: %d of %s of %s.", n, units.Plural(c.Trials, "round"), label(c))
		}
	}
	if rising := d.boundBy(verdict.Connections); len(rising) > 0 {
		add("The true peak may be higher: too few connections for %s.", list(rising))
	}
	if why := run.NotInterleaved(); why != "" {
		add("Not interleaved: %s. Small differences take more rounds.", safe.Line(why, maxWords))
	}
	return append(all, d.stepWarnings()...)
}

// unfinished returns the number of planned trials that were aborted or have not ended.
func unfinished(run bench.Run) (n int) {
	for _, t := range run.Trials {
		if t.State == bench.TrialPending || t.State == bench.TrialRunning || t.State == bench.TrialAborted {
			n++
		}
	}
	return n
}

// unlimited returns the number of rounds whose limits were not enforced, and why in parentheses.
func unlimited(c analysis.Contender) (n int, why string) {
	for _, t := range c.Results {
		if i := t.Instance; i != nil && !i.LimitsEnforced && (i.Limits != bench.Limits{} || i.LimitsNote != "") {
			if n++; i.LimitsNote != "" {
				why = " (" + safe.Line(i.LimitsNote, maxWords) + ")"
			}
		}
	}
	return n, why
}

// peakOf returns the peak step of a contender; ok is false if it had no throughput.
func peakOf(c analysis.Contender) (peak stats.Step, ok bool) {
	peak, ok = c.PeakStep()
	return peak, ok && peak.Throughput.Median > 0
}

// boundBy returns the contenders that a bottleneck limited at their peaks.
func (d *draft) boundBy(b verdict.Bound) (names []string) {
	for _, c := range d.all {
		if peak, ok := peakOf(c); ok && c.Bounds[peak.Index].Bound == b {
			names = append(names, label(c))
		}
	}
	return names
}

func roundWarnings(c analysis.Contender) string {
	peak, ok := peakOf(c)
	if !ok {
		return ""
	}
	var texts []string
	for _, w := range stats.RoundWarnings(peak.Throughput.Values) {
		texts = append(texts, w.Text)
	}
	return list(texts)
}

func changedByHand(c analysis.Contender) (n int) {
	for _, t := range c.Results {
		if t.ChangedByHand() {
			n++
		}
	}
	return n
}

// group is a property, and what has it.
type group struct {
	of    string
	names []string
}

// grouped adds a name to the group of a property, once.
func grouped(all []group, of, name string) []group {
	i := slices.IndexFunc(all, func(g group) bool { return g.of == of })
	if i < 0 {
		return append(all, group{of, []string{name}})
	}
	if !slices.Contains(all[i].names, name) {
		all[i].names = append(all[i].names, name)
	}
	return all
}

// stepWarnings returns a caveat for each kind of warning about steps, the one with the most steps
// first.
func (d *draft) stepWarnings() (said []Caveat) {
	type kind struct {
		title  string
		places []group // steps, and the contenders that have the warning there
		steps  int
	}
	var kinds []kind
	for _, c := range d.all {
		var warned []group // kinds of warnings, and their steps
		for _, t := range c.Results {
			for _, s := range t.Steps {
				for _, w := range s.AllWarnings() {
					warned = grouped(warned, safe.Line(w.Title(), 80), safe.Line(s.Step.Words(), 140))
				}
			}
		}
		for _, w := range warned {
			i := slices.IndexFunc(kinds, func(k kind) bool { return k.title == w.of })
			if i < 0 {
				i = len(kinds)
				kinds = append(kinds, kind{title: w.of})
			}
			kinds[i].places = grouped(kinds[i].places, steps(w.names), label(c))
			kinds[i].steps += len(w.names)
		}
	}
	slices.SortStableFunc(kinds, func(a, b kind) int { return b.steps - a.steps })
	for i, k := range kinds {
		if i == maxKinds {
			return append(said, Caveat{units.Plural(len(kinds)-i, "more kind") + " of warning below.", true})
		}
		var places []string
		for _, p := range k.places[:min(len(k.places), maxPlaces)] {
			places = append(places, list(p.names)+" at "+p.of)
		}
		if more := len(k.places) - maxPlaces; more > 0 {
			places = append(places, "and at other steps "+units.Plural(more, "more time"))
		}
		said = append(said, Caveat{"Warning “" + k.title + "”: " + strings.Join(places, "; ") + ".", true})
	}
	return said
}

// steps returns steps with a common unit once: "16, 64 and 256 connections".
func steps(names []string) string {
	const unit = " connections"
	if len(names) > maxNames {
		return fmt.Sprintf("%d steps from %s to %s", len(names), strings.TrimSuffix(names[0], unit), names[len(names)-1])
	}
	text := list(names)
	if slices.ContainsFunc(names, func(name string) bool { return !strings.HasSuffix(name, unit) }) {
		return text
	}
	return strings.ReplaceAll(text, unit, "") + unit
}
