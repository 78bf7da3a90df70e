// Package conclusion is what an output says first about a run: the verdict in a sentence, how sure it
// is, what it costs, what failed and what to do next; one table; the caveats by consequence; and the
// tables below that (Sections).
// The steps of the run decide what the sentence is about (see Kind). End of the run, summary.md and
// the report render the same Conclusion. The package is pure.
package conclusion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Kind is the question of a run.
type Kind int

// The kinds.
const (
	Steps         Kind = iota // throughput and cost of several contenders
	Versions                  // what changed between two contenders
	Requests                  // throughput of each request, such as one for each delay
	Arrivals                  // latency and failures when users arrive
	FirstRequests             // the first requests, and warm ones
	Single                    // what one contender reached, and what limited it
	Search                    // the highest rate that meets an SLO; package capacity concludes
)

// Tone is the weight of a verdict.
type Tone int

// The tones.
const (
	Neutral Tone = iota // no verdict: 1 round, inconclusive, one contender
	Good                // a significant result
	Bad                 // worse, or failures decide the conclusion
)

// Conclusion is what is said first about a run. Names and texts in it are safe for a terminal.
type Conclusion struct {
	Kind    Kind
	Tone    Tone
	Title   string // of the run
	About   string // "4 contenders × 6 rounds · 1.5 CPUs, 512 MiB · 25 Nov 2026"
	Verdict string
	Why     []string // of Versions: known causes of the change

	Confidence string
	Cost       string
	Failures   string
	Failed     bool // Failures is not "None"
	Next       string
	Command    string // of Next; "" without one

	Table    table.Table
	Requests table.Table             // of Versions: the kinds of requests of both, side by side
	Leaders  map[measure.ID][]string // labels of the leader, and of those that are not significantly worse
	Problems []Problem               // contenders that failed, or may
	Caveats  []Caveat                // by consequence, the worst first
	Sections []Section               // what did not go as planned
}

// Problem is a contender that failed, gave unexpected responses, or uses ever more memory.
type Problem struct {
	Contender string
	Warning   bool   // it is ranked all the same
	What      string // "was killed out of memory at 512 MiB, in 2 of 6 rounds"
	Cause     string // likely cause; "" if there is none to name
	Remedy    string // what to do, with a command

	next, command string // Remedy as the next step; "": it has no command
}

// Of returns the conclusion of an analyzed run. floor is the noise floor of the machine, nil if
// unknown.
func Of(a *analysis.Run, floor *compare.Floor) Conclusion {
	d := draft{Run: a, floor: floor, all: a.Ordered()}
	var standings []analysis.Standing
	for _, m := range measure.View(measure.Ranked) {
		standings = append(standings, d.standing(m.ID))
	}
	d.unequal, d.ratios = unequal(d.all), a.LimitRatios(standings)
	d.kind = d.kindOf()
	r := Conclusion{
		Kind: d.kind, Title: safe.Line(cmp.Or(a.Run.Profile.Title, a.Run.Profile.Name), 200), About: d.about(), Confidence: d.confidence(),
		Cost: d.cost(), Problems: d.problems(), Caveats: d.caveats(), Sections: d.sections(),
	}
	r.Failures, r.Failed = d.failures()
	r.Verdict, r.Tone = d.verdict()
	r.Next, r.Command = d.next(r)
	r.Command = safe.Line(r.Command, 1000)
	if d.kind == Versions && len(d.ranked()) == 2 {
		r.Why, r.Requests = d.pair().Why(), d.pair().RequestTable(maxRequests)
	}
	r.Table, r.Leaders = d.table(), map[measure.ID][]string{}
	for _, s := range standings {
		if leaders, behind := s.Leaders(); len(behind) > 0 && d.comparable(s) {
			for _, i := range leaders {
				r.Leaders[s.Measure] = append(r.Leaders[s.Measure], s.Member(i).Contender)
			}
		}
	}
	return r
}

// draft is a conclusion in the making.
type draft struct {
	*analysis.Run
	kind    Kind
	floor   *compare.Floor
	all     []analysis.Contender // in the order of the profile, excluded ones last
	unequal bool                 // contenders ran under different limits or runtimes, without intent
	ratios  []string             // of contenders with different limits, in place of tiers; see LimitRatios
	change  *compare.Contender   // of Versions
}

// kindOf returns the question of the run.
func (d *draft) kindOf() Kind {
	measured := d.measured()
	switch {
	case slices.ContainsFunc(d.Trials, func(t bench.TrialResult) bool { return t.FirstRequests != nil }):
		return FirstRequests
	case len(measured) > 0 && !slices.ContainsFunc(measured, func(s bench.Step) bool { return s.Arrivals == nil }):
		return Arrivals
	case len(d.all) == 1:
		return Single
	case len(requests(measured)) > 1:
		return Requests
	case len(d.all) == 2 && len(d.ratios) == 0:
		return Versions
	}
	return Steps
}

// measured returns the measured steps of the profile.
func (d *draft) measured() (all []bench.Step) {
	for _, s := range d.Run.Run.Profile.Steps {
		if !s.WarmUp {
			all = append(all, s)
		}
	}
	return all
}

// requests returns the names of the requests that steps of one request send.
func requests(steps []bench.Step) (names []string) {
	for _, s := range steps {
		if s.Request != "" && !slices.Contains(names, s.Request) {
			names = append(names, s.Request)
		}
	}
	return names
}

// maxSets is how many sets of limits are named before the first sentence.
const maxSets = 3

// about returns what was run, under which limits, and when.
func (d *draft) about() string {
	run := d.Run.Run
	noun := "contender"
	if d.kind == Versions {
		noun = "version"
	}
	text := units.Plural(len(d.all), noun) + " × " + units.Plural(d.rounds(), "round")
	if t := run.Profile.Interleave; t > 0 {
		text += ", interleaved in slices from " + units.Exact(t)
	}
	parts := []string{text}
	switch sets := run.Profile.LimitSets(); {
	case len(sets) > maxSets:
		parts = append(parts, fmt.Sprintf("%d sets of limits", len(sets)))
	case len(sets) > 1:
		var each []string
		for _, l := range sets {
			each = append(each, l.Words())
		}
		parts = append(parts, strings.Join(each, " or "))
	case sets[0] != bench.Limits{}:
		parts = append(parts, sets[0].String())
	}
	if !run.Started.IsZero() {
		parts = append(parts, run.Started.Format("2 Jan 2006"))
	}
	return strings.Join(parts, " · ")
}

// rounds returns the most rounds that a contender has.
func (d *draft) rounds() (n int) {
	for _, c := range d.all {
		n = max(n, c.Trials)
	}
	return n
}

// ranked returns the contenders that are compared.
func (d *draft) ranked() []analysis.Contender {
	return slices.DeleteFunc(slices.Clone(d.all), func(c analysis.Contender) bool { return c.WhyExcluded() != "" })
}

func label(c analysis.Contender) string { return safe.Line(c.Label, 60) }

// standing returns the standing in a measure.
func (d *draft) standing(id measure.ID) analysis.Standing {
	return d.Standing(id, stats.Rule{Floor: d.floor.Of(id)})
}

// unequal reports whether contenders ran under limits or runtimes that are neither the same nor
// those of the profile.
func unequal(all []analysis.Contender) bool {
	conditions := map[string]bool{}
	for _, c := range all {
		for _, t := range c.Results {
			if i := t.Instance; i != nil && i.Limits == c.Planned() {
				conditions[fmt.Sprint(i.Runtime, i.LimitsEnforced, "planned")] = true
			} else if i != nil {
				conditions[fmt.Sprint(i.Runtime, i.LimitsEnforced, i.Limits)] = true
			}
		}
	}
	return len(conditions) > 1
}

// comparable reports whether the contenders may be compared in the measure of s: not if their peaks
// are of different requests, unless the measure is of whole trials.
func (d *draft) comparable(s analysis.Standing) bool {
	requests := map[string]bool{}
	for _, c := range d.all {
		if peak, ok := peakOf(c); ok {
			requests[peak.Step.Request] = true
		}
	}
	whole := measure.Get(s.Measure).Comparison.At == measure.FromStartToStop
	return len(requests) > 0 && (whole || len(requests) == 1) && !d.unequal && len(d.ratios) == 0
}

// cost returns the cost of each contender that is compared, the lowest first.
func (d *draft) cost() string {
	known := slices.DeleteFunc(d.ranked(), func(c analysis.Contender) bool { return c.Cost == nil })
	slices.SortStableFunc(known, func(a, b analysis.Contender) int { return cmp.Compare(a.Cost.Total, b.Cost.Total) })
	has := func(what func(analysis.Contender) bool) bool { return slices.ContainsFunc(d.ranked(), what) }
	switch {
	case len(d.ranked()) == 0:
		return "not known: no contender without a failure"
	case !has(func(c analysis.Contender) bool { return len(stepsOf(c)) > 0 }):
		return "not known: no step was measured"
	case !has(func(c analysis.Contender) bool { return c.Complete > 0 }):
		return "not known: no round is complete"
	case len(d.silent()) == len(d.ranked()): // not 0
		return "not known: no request succeeded"
	case len(known) == 0:
		return "not known: CPU time was not read"
	}
	of := func(c analysis.Contender) string { return units.Dollars(c.Cost.Total) }
	if len(d.all) == 1 {
		return of(known[0]) + " per billion requests; " + d.perMonth(known[0]) + d.costWithNeeds(known)
	}
	text := label(known[0]) + " " + of(known[0]) + " per billion requests"
	for i, c := range known[1:] {
		if last := known[len(known)-1]; i == 2 && len(known) > 4 {
			text += ", up to " + of(last) + " (" + label(last) + ")"
			break
		}
		text += ", " + label(c) + " " + of(c)
	}
	return text + d.costWithNeeds(known)
}

// UsualRate is the rate, in requests per second, for which a cost per month is given, and
// HoursOfMonth the length of a month: 365 × 24 / 12.
const (
	UsualRate    = 1000
	HoursOfMonth = 730
)

// Month returns what a month at a rate costs by the price of a billion requests.
func Month(perBillion, rate float64) float64 { return perBillion / 1e9 * rate * 3600 * HoursOfMonth }

// perMonth returns the cost of a steady load as people think of it: "at 1,000 req/s: 0.05 CPUs,
// about $1 a month".
func (d *draft) perMonth(c analysis.Contender) string {
	each := c.Cost.Marginal
	if each == 0 {
		each = c.Cost.Total
	}
	price := d.Run.Run.Profile.PriceVCPUHr
	if price <= 0 {
		price = stats.DefaultPrice
	}
	month := Month(each, UsualRate)
	cpus := month / price / HoursOfMonth
	text := fmt.Sprintf("at %s req/s: %.2f CPUs, ", units.Count(UsualRate), cpus)
	if month < 1 {
		return text + "under $1 a month"
	}
	return text + fmt.Sprintf("about $%.0f a month", month)
}
