package analysis

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

// LimitsDiffer reports whether the profile sets different limits for contenders of the run: then
// the run has ratios in place of tiers, since the limits are their subject.
func (r *Run) LimitsDiffer() bool {
	return slices.ContainsFunc(r.Contenders, func(c Contender) bool { return LimitsIntended(r.Contenders[0], c) })
}

// Under returns the limits of the contender by which the contenders of its run differ, and what
// else the profile sets for it: "under 0.5 CPUs, with GOGC=50"; "" for neither.
func (c Contender) Under() string {
	if c.run == nil {
		return ""
	}
	text, changed := c.run.Profile.Under(c.Results[0].Trial.Selection()), c.Changed()
	if changed == "" {
		return text
	}
	if text != "" {
		text += ", "
	}
	return text + "with " + changed
}

// Changed returns what the profile sets for the contender next to limits: "GOGC=50", "image
// orders:v1", "folder orders-before".
func (c Contender) Changed() string {
	s := c.Settings()
	var parts []string
	for name, value := range s.Env {
		parts = append(parts, safe.Line(name, 60)+"="+safe.Line(value, 60))
	}
	slices.Sort(parts)
	if s.Image != "" {
		parts = append(parts, "image "+safe.Line(s.Image, 120))
	}
	if s.Dir != "" {
		parts = append(parts, "folder "+safe.Line(filepath.Base(s.Dir), 120))
	}
	return strings.Join(parts, ", ")
}

// LimitRatios compares each contender that has other limits with the first one, in a sentence each:
// "a:half under 0.5 CPUs, a under 1 CPU: ×0.48 the throughput (95% CI …), …".
func (r *Run) LimitRatios(standings []Standing) (said []string) {
	all := r.Ordered()
	for _, c := range all[min(1, len(all)):] {
		if !LimitsIntended(all[0], c) {
			continue
		}
		var parts []string
		for _, s := range standings {
			if ratio := s.ratioOf(all[0].Label, c.Label); ratio != nil {
				if part := RatioWords(s.Measure, *ratio); part != "" {
					parts = append(parts, part)
				}
			}
		}
		said = append(said, LimitWords(all[0], c)+": "+cmp.Or(strings.Join(parts, ", "), noRatios(all[0], c))+".")
	}
	return said
}

// noRatios says why two contenders have no ratio.
func noRatios(a, b Contender) string {
	for _, c := range []Contender{a, b} {
		if c.Excluded != nil {
			return "not compared, since " + safe.Line(c.Label, 120) + " is excluded"
		}
	}
	return fmt.Sprintf("not compared, since that takes %s of both without errors", units.Plural(stats.MinInterval, "round"))
}

// LimitWords returns the limits by which two contenders differ: "b under 0.5 CPUs, a under 1 CPU".
func LimitWords(a, b Contender) string {
	of, own := a.Planned(), b.Planned()
	return fmt.Sprintf("%s under %s, %s under %s", safe.Line(b.Label, 120), own.Own(of).Words(), safe.Line(a.Label, 120),
		of.Own(own).Words())
}

// RatioWords returns "×0.48 the throughput (95% CI ×0.46 to ×0.50)"; "" for measures other than
// throughput and CPU per request.
func RatioWords(id measure.ID, r stats.Ratio) string {
	what := map[measure.ID]string{measure.Throughput: "the throughput", measure.CPURequest: "the CPU per request"}[id]
	if what == "" {
		return ""
	}
	return fmt.Sprintf("×%.2f %s (95%% CI ×%.2f to ×%.2f)", r.Estimate, what, r.Low, r.High)
}

// ratioOf returns the ratio of another contender to the first; nil if one of the two is not
// compared.
func (s Standing) ratioOf(first, other string) *stats.Ratio {
	a, b := s.valuesOf(first), s.valuesOf(other)
	if a == nil || b == nil {
		return nil
	}
	of := stats.RatioOf
	if s.Paired {
		of = stats.PairedRatio
	}
	r, err := of(a, b, .95)
	if err != nil {
		return nil
	}
	return &r
}

func (s Standing) valuesOf(contender string) []float64 {
	for _, i := range s.Members {
		if p := s.Places[i]; p.Contender == contender && len(p.Value.Values) >= stats.MinInterval {
			return p.Value.Values
		}
	}
	return nil
}
