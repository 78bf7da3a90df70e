package compare

import (
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/text/safe"
)

// subject returns how the profile of a run made two of its contenders differ, with the ratios: "b
// under 0.5 CPUs, a under 1 CPU: ×0.48 the throughput, …"; "" if it did not.
func subject(a, b analysis.Contender, rows []Row) string {
	var parts []string
	if analysis.LimitsIntended(a, b) {
		parts = append(parts, analysis.LimitWords(a, b))
	}
	if analysis.OneRun(a, b) {
		for _, c := range []analysis.Contender{b, a} {
			if text := c.Changed(); text != "" {
				parts = append(parts, safe.Line(c.Label, 120)+" with "+text)
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	var ratios []string
	for _, r := range rows {
		if r.Ratio != nil && r.NotComparable == "" {
			if text := analysis.RatioWords(r.Measure, r.Ratio); text != "" {
				ratios = append(ratios, text)
			}
		}
	}
	text := strings.Join(parts, ", ")
	if len(ratios) > 0 {
		text += ": " + strings.Join(ratios, ", ")
	}
	return text
}
