package conclusion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// Caveat is a reason to be careful with the results.
type Caveat struct {
	Text   string
	Listed bool // sums up warnings; the report lists them one by one
}

// How much of warnings caveats quote.
const (
	maxWarnings = 3  // about the run
	maxKinds    = 6  // of warnings about steps
	maxRequests = 10 // kinds of requests
	maxNames    = analysis.MaxNames
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
		if n := count(c, unlimited); n > 0 {
			why := ""
			if note := c.Results[slices.IndexFunc(c.Results, unlimited)].Instance.LimitsNote; note != "" {
				why = " (" + safe.Line(note, maxWords) + ")"
			}
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
	if names := d.boundBy(verdict.Machine); len(names) > 0 && len(d.all) > 1 {
		add("Another machine may change the order: the machine limited %s at peak.", analysis.List(names))
	}
	if text := d.fractions(); text != "" {
		add("%s", text)
	}
	for _, text := range d.heaps() {
		add("%s", text)
	}
	for i, need := range run.Needs {
		before := func(n bench.NeedInfo) bool { return n.Name == need.Name }
		if slices.ContainsFunc(run.Needs[:i], before) {
			continue
		}
		if text, ok := d.limitedByNeed(need.Name); ok {
			add("%s", text)
		}
	}
	for _, c := range d.all {
		if peak, ok := peakOf(c); ok {
			for _, w := range stats.RoundWarnings(peak.Throughput.Values) {
				add("%s: peak throughput varies between rounds more than by chance: %s.", label(c), w.Text)
			}
		}
		if n := count(c, bench.TrialResult.ChangedByHand); n > 0 {
			add("Changed by hand: %d of %s of %s.", n, units.Plural(c.Trials, "round"), label(c))
		}
	}
	if rising := d.boundBy(verdict.Connections); len(rising) > 0 {
		add("The true peak may be higher: too few connections for %s.", analysis.List(rising))
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

// unlimited reports whether limits of a trial were not enforced.
func unlimited(t bench.TrialResult) bool {
	i := t.Instance
	return i != nil && !i.LimitsEnforced && (i.Limits != bench.Limits{} || i.LimitsNote != "")
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

// count returns the number of trials of a contender for which is holds.
func count(c analysis.Contender, is func(bench.TrialResult) bool) (n int) {
	for _, t := range c.Results {
		if is(t) {
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

// stepWarnings returns a caveat for each kind of warning about steps.
func (d *draft) stepWarnings() (said []Caveat) {
	var kinds []group // and the contenders that have them
	for _, c := range d.all {
		var warned []group // kinds of the contender, and their steps
		for _, t := range c.Results {
			for _, s := range t.Steps {
				for _, w := range s.AllWarnings() {
					warned = grouped(warned, safe.Line(w.Title(), 80), safe.Line(s.Step.Words(), 140))
				}
			}
		}
		for _, w := range warned {
			who := label(c)
			if n := len(w.names); n > 1 {
				who += fmt.Sprintf(" (%d steps)", n)
			}
			kinds = grouped(kinds, w.of, who)
		}
	}
	for i, k := range kinds {
		if i == maxKinds {
			return append(said, Caveat{units.Plural(len(kinds)-i, "more kind") + " of warning below.", true})
		}
		said = append(said, Caveat{"Warning “" + k.of + "”: " + analysis.List(k.names) + ".", true})
	}
	return said
}

// fractions returns the caveat that contenders in several languages have a fraction of a CPU above
// 1, which their runtimes round in different ways, if CPU time limited one of them; "" without.
func (d *draft) fractions() string {
	var names, languages []string
	bound := false
	for _, c := range d.all {
		cpus, peak := c.Planned().CPUs, c.Bounds[c.Peak].Bound
		if cpus < 1 || cpus == math.Trunc(cpus) {
			continue
		}
		names = append(names, label(c))
		if l := strings.ToLower(c.Service.Language); l != "" && !slices.Contains(languages, l) {
			languages = append(languages, l)
		}
		bound = bound || peak == verdict.Quota || peak == verdict.Threads
	}
	if len(languages) < 2 || !bound {
		return ""
	}
	return fmt.Sprintf("Some runtimes round a fraction of a CPU above 1 up, others down: %s. "+
		"Compare with whole CPUs, or set the workers of each (docs/runtimes.md).", analysis.List(names))
}

// sameHeap is how far the peak memory of two contenders with the same heap may be apart.
const sameHeap = 1.1

// heaps returns a caveat for each contender that uses as much memory under 256 to 512 MiB as under
// another limit in there, since its runtime gives itself the same heap.
func (d *draft) heaps() (all []string) {
	ofTable := func(c analysis.Contender) bool { m := c.Planned().Memory; return m >= 256<<20 && m <= 512<<20 }
	for i, a := range d.all {
		for _, b := range d.all[:i] {
			option := verdict.HeapOption(a.Service.Language)
			x, y := a.Memory.Median, b.Memory.Median
			if option == "" || a.Service.Name != b.Service.Name || !ofTable(a) || !ofTable(b) || a.Planned().Memory == b.Planned().Memory ||
				x <= 0 || y <= 0 || max(x, y) > sameHeap*min(x, y) {
				continue
			}
			all = append(all, fmt.Sprintf("%s and %s use the same memory under %s and %s: their runtime has the same heap in both. "+
				"Set it: %s (docs/runtimes.md#memory).", label(b), label(a), units.Bytes(b.Planned().Memory), units.Bytes(a.Planned().Memory), option))
		}
	}
	return all
}
