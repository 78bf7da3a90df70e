package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Under returns the limits of the contender by which the contenders of its run differ, and what
// else the profile sets for it: "under 0.5 CPUs, with GOGC=50"; "" for neither.
func (c Contender) Under() string {
	p, of := c.profile()
	parts := []string{p.Under(of)}
	if changed := c.Changed(); changed != "" {
		parts = append(parts, "with "+changed)
	}
	return strings.TrimPrefix(strings.Join(parts, ", "), ", ")
}

// Changed returns what the profile sets for the contender next to limits: "GOGC=50", "image
// orders:v1", "folder ../orders-before".
func (c Contender) Changed() string {
	p, of := c.profile()
	s := p.SettingsOf(of)
	var parts []string
	for name, value := range s.Env {
		text := safe.Line(name, 60) + "=" + safe.Line(value, 60)
		if strings.Contains(value, secret.Mask) && c.alsoHas(name, value) {
			text += " (differs at most in what is masked)"
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	if s.Image != "" {
		parts = append(parts, "image "+safe.Line(s.Image, 120))
	}
	if s.Dir != "" {
		parts = append(parts, "folder "+safe.Line(c.of.Run.Path(s.Dir), 120))
	}
	return strings.Join(parts, ", ")
}

// alsoHas reports whether another contender of the run has a variable with a value that is shown as
// the same.
func (c Contender) alsoHas(name, value string) bool {
	return slices.ContainsFunc(c.of.Contenders, func(other Contender) bool {
		has := func(t bench.TrialResult) bool { return t.Service.Env[name] == value }
		return other.Label != c.Label && slices.ContainsFunc(other.Results, has)
	})
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
			if text := RatioWords(s.Measure, s.ratioOf(all[0].Label, c.Label)); text != "" {
				parts = append(parts, text)
			}
		}
		said = append(said, LimitWords(all[0], c)+": "+cmp.Or(strings.Join(parts, ", "), NoRatios(all[0], c))+".")
	}
	return said
}

// NoRatios says why two contenders have no ratio.
func NoRatios(a, b Contender) string {
	for _, c := range []Contender{a, b} {
		if c.Excluded != nil {
			return "not compared, since " + safe.Line(c.Label, 120) + " is excluded"
		}
	}
	for _, c := range []Contender{a, b} {
		if _, nothing := c.NothingStep(); nothing {
			return "not compared, since nothing succeeded in " + safe.Line(c.Label, 120)
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

// RatioWords returns "×0.48 the throughput (95% CI ×0.46 to ×0.50)"; "" without a ratio, and for
// measures other than throughput and CPU per request.
func RatioWords(id measure.ID, r *stats.Ratio) string {
	what := map[measure.ID]string{measure.Throughput: "the throughput", measure.CPURequest: "the CPU per request"}[id]
	if what == "" || r == nil {
		return ""
	}
	return fmt.Sprintf("×%.2f %s (95%% CI ×%.2f to ×%.2f)", r.Estimate, what, r.Low, r.High)
}

// ratioOf returns the ratio of another contender to the first; nil if one of the two is not
// compared.
func (s Standing) ratioOf(first, other string) *stats.Ratio {
	for of, c := range s.pairs {
		a, b := s.Member(of[0]).Contender, s.Member(of[1]).Contender
		switch {
		case c.Ratio != nil && a == other && b == first:
			return c.Ratio
		case c.Ratio != nil && a == first && b == other:
			return &stats.Ratio{Estimate: 1 / c.Ratio.Estimate,
				Interval: stats.Interval{Low: 1 / c.Ratio.High, High: 1 / c.Ratio.Low}}
		}
	}
	return nil
}
