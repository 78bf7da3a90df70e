// Package conclusion is what an output says first about a run: the verdict in a sentence, how sure it
// is, what it costs, what failed and what to do next; one table; and the caveats by consequence.
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
	"github.com/locbench/locbench/internal/analysis/summary"
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
	Versions                  // what changed between two interleaved contenders
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

	Confidence string
	Cost       string
	Failures   string
	Failed     bool // Failures is not "None"
	Next       string
	Command    string // of Next; "" without one

	Table    table.Table
	Problems []Problem          // contenders that failed, or may
	Caveats  []summary.Sentence // by consequence, the worst first
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
	rules := summary.Rules{Floors: map[measure.ID]float64{}}
	for _, m := range measure.View(measure.Summarized) {
		rules.Floors[m.ID] = floor.Of(m.ID)
	}
	d := draft{Run: a, floor: floor, facts: summary.New(a, rules), all: a.Ordered()}
	d.kind = d.kindOf()
	r := Conclusion{
		Kind: d.kind, Title: safe.Line(a.Run.Profile.Title, 200), About: d.about(), Confidence: d.confidence(),
		Cost: d.cost(), Problems: d.problems(), Caveats: d.caveats(),
	}
	if r.Title == "" {
		r.Title = safe.Line(a.Run.Profile.Name, 200)
	}
	r.Failures, r.Failed = d.failures()
	r.Verdict, r.Tone = d.verdict()
	r.Next, r.Command = d.next(r)
	r.Table = d.table()
	return r
}

// draft is a conclusion in the making.
type draft struct {
	*analysis.Run
	kind   Kind
	floor  *compare.Floor
	facts  summary.Facts
	all    []analysis.Contender // in the order of the profile, excluded ones last
	change *compare.Contender   // of Versions
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
	case len(d.all) == 2 && d.interleaved():
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

// interleaved reports whether the rounds of all contenders are pairs.
func (d *draft) interleaved() bool {
	_, paired := analysis.Together(d.all)
	return !slices.Contains(paired, false)
}

// about returns what was run, under which limits, and when.
func (d *draft) about() string {
	run := d.Run.Run
	noun := "contender"
	if d.kind == Versions {
		noun = "version"
	}
	text := units.Plural(len(d.all), noun) + " × " + units.Plural(d.rounds(), "round")
	if t := run.Profile.Interleave; t > 0 {
		text += ", interleaved every " + units.Exact(t)
	}
	parts := []string{text}
	if limits := run.Profile.Limits.String(); limits != "" {
		parts = append(parts, limits)
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

// cost returns the cost of each contender that is compared, the lowest first.
func (d *draft) cost() string {
	known := slices.DeleteFunc(d.ranked(), func(c analysis.Contender) bool { return c.Cost == nil })
	slices.SortStableFunc(known, func(a, b analysis.Contender) int { return cmp.Compare(a.Cost.Total, b.Cost.Total) })
	switch {
	case len(d.ranked()) == 0:
		return "not known: no contender without a failure"
	case len(known) == 0:
		return "not known: CPU time was not read"
	}
	of := func(c analysis.Contender) string { return units.Dollars(c.Cost.Total) }
	if len(d.all) == 1 {
		return of(known[0]) + " per billion requests; " + d.perMonth(known[0])
	}
	text := label(known[0]) + " " + of(known[0]) + " per billion requests"
	for i, c := range known[1:] {
		if last := known[len(known)-1]; i == 2 && len(known) > 4 {
			return text + ", up to " + of(last) + " (" + label(last) + ")"
		}
		text += ", " + label(c) + " " + of(c)
	}
	return text
}

// UsualRate is the rate, in requests per second, for which a cost per month is given, and
// HoursOfMonth the length of a month: 365 × 24 / 12.
const (
	UsualRate    = 1000
	HoursOfMonth = 730
)

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
	cpus := each / 1e9 * UsualRate * 3600 / price
	month := cpus * price * HoursOfMonth
	text := fmt.Sprintf("at %s req/s: %.2f CPUs, ", units.Count(UsualRate), cpus)
	if month < 1 {
		return text + "under $1 a month"
	}
	return text + fmt.Sprintf("about $%.0f a month", month)
}

// worst are the rules whose caveats concern all results; the others concern single steps or
// rounds.
var worst = []string{"limits not enforced", "warnings of the run", "busy machine", "shared ceiling", "round warnings",
	"manual changes", "still rising", "not interleaved", "step warnings"}

// caveats returns the caveats by consequence.
func (d *draft) caveats() (all []summary.Sentence) {
	said := d.facts.Sentences()
	ofMachine := func(w bench.Warning) bool { return w.Kind == bench.WarnMachineState }
	for _, rule := range worst {
		if rule == "busy machine" && slices.ContainsFunc(d.facts.Warnings, ofMachine) {
			continue // the warning says it
		}
		for _, s := range said {
			if s.Rule == rule {
				all = append(all, s)
			}
		}
	}
	return all
}
