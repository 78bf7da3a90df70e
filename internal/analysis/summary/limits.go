package summary

import (
	"fmt"
	"slices"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
)

// intended reports whether the limits of two contenders differ because the profile says so.
func intended(f Facts) bool {
	return several(f) && slices.ContainsFunc(f.Contenders[1:], func(c Contender) bool {
		return analysis.LimitsIntended(f.Contenders[0].of, c.of)
	})
}

// sayLimits compares each contender that has other limits with the first one: no winner, since the
// limits are the subject.
func sayLimits(f Facts) (said []Sentence) {
	if !intended(f) {
		return nil
	}
	first := f.Contenders[0]
	for _, c := range f.Contenders[1:] {
		if !analysis.LimitsIntended(first.of, c.of) {
			continue
		}
		own, of := c.of.Planned(), first.of.Planned()
		text := fmt.Sprintf("%s under %s, %s under %s: ", c.Label, limitWords(own.Own(of)), first.Label,
			limitWords(of.Own(own)))
		var parts []string
		for _, s := range f.Standings {
			if part := ratioOf(s, first.of.Label, c.of.Label); part != "" {
				parts = append(parts, part)
			}
		}
		if len(parts) == 0 {
			parts = []string{fmt.Sprintf("no ratios: they need %s without errors per contender",
				units.Plural(stats.MinInterval, "round"))}
		}
		said = append(said, Sentence{Text: text + strings.Join(parts, ", ") + "."})
	}
	return said
}

func limitWords(l bench.Limits) string {
	if text := l.String(); text != "" {
		return text
	}
	return "no limit"
}

// ratioOf returns "×0.48 the throughput (×0.46 to ×0.50)"; "" for other measures, and where one of
// the two is not compared.
func ratioOf(s analysis.Standing, first, other string) string {
	what := map[measure.ID]string{measure.Throughput: "the throughput", measure.CPURequest: "the CPU per request"}[s.Measure]
	a, b := valuesOf(s, first), valuesOf(s, other)
	if what == "" || a == nil || b == nil {
		return ""
	}
	of := stats.RatioOf
	if s.Paired {
		of = stats.PairedRatio
	}
	r, err := of(a, b, .95)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("×%.2f %s (95%% CI ×%.2f to ×%.2f)", r.Estimate, what, r.Low, r.High)
}

func valuesOf(s analysis.Standing, contender string) []float64 {
	for _, i := range s.Members {
		if p := s.Places[i]; p.Contender == contender && len(p.Value.Values) >= stats.MinInterval {
			return p.Value.Values
		}
	}
	return nil
}
