package analysis

import (
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Tested returns the measures of the run with verdicts: the headline measures, and the CPU time per
// request of each need that is attributed to a contender.
func (r *Run) Tested() (all []measure.Measure) {
	for _, m := range measure.Tested() {
		all = append(all, m.Measure)
	}
	for _, name := range r.MeasuredNeeds() {
		if slices.ContainsFunc(r.Contenders, func(c Contender) bool { return c.Attributed(name) }) {
			all = append(all, measure.CPUOfNeed(name))
		}
	}
	return all
}

// MeasuredNeeds returns the needs that are measured in any step.
func (r *Run) MeasuredNeeds() []string {
	var steps []stats.Step
	for _, c := range r.Contenders {
		steps = append(steps, c.Steps...)
	}
	return measure.Needs(steps)
}

// Attributed reports whether what a need used while c was loaded was used for c alone: not that of
// an external need, nor that of one which interleaved contenders share.
func (c Contender) Attributed(need string) bool {
	interleaved := slices.ContainsFunc(c.Results, func(t bench.TrialResult) bool { _, is := t.Interleaved(); return is })
	n, _ := c.need(need)
	return !n.From.Traits().ByURL && (n.Own || !interleaved)
}

// Has reports whether the contender has a need with a name.
func (c Contender) Has(need string) bool {
	_, ok := c.need(need)
	return ok
}

// need returns the need of the contender with a name.
func (c Contender) need(name string) (n bench.NeedSpec, ok bool) {
	p, of := c.profile()
	i := slices.IndexFunc(p.Needs, func(n bench.NeedSpec) bool {
		return n.Name == name && (len(n.For) == 0 || slices.Contains(n.For, of))
	})
	if i < 0 {
		return n, false
	}
	return p.Needs[i], true
}

// Shared returns why a need has no verdict for two contenders: what it used is not that of one of
// them; "" if it has, and without a need.
func (c Couple) Shared(need string) string {
	for _, side := range []Contender{c.A, c.B} {
		if n, ok := side.need(need); need != "" && !side.Attributed(need) {
			if ok && n.From.Traits().ByURL {
				return "external"
			}
			return "shared by interleaved contenders"
		}
	}
	return ""
}
