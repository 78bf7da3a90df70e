package compare

import (
	"slices"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/text/safe"
)

// subject returns how the profile of a run made two of its contenders differ, with the ratios: "b
// under
// 0.5 CPUs, a under 1 CPU: ×0.48 the throughput, …"; "" if it did not.
func subject(a, b analysis.Contender, rows []Row) string {
	var parts []string
	if analysis.LimitsIntended(a, b) {
		parts = append(parts, analysis.LimitWords(a, b))
	}
	if analysis.OneRun(a, b) {
		for _, c := range []analysis.Contender{b, a} {
			if text := changed(c.Settings()); text != "" {
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
			if text := analysis.RatioWords(r.Measure, *r.Ratio); text != "" {
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

// changed returns what settings change next to limits: "GOGC=50", "image orders:v1", "folder old".
func changed(s bench.Settings) string {
	var parts []string
	for name, value := range s.Env {
		parts = append(parts, safe.Line(name, 60)+"="+safe.Line(value, 60))
	}
	slices.Sort(parts)
	if s.Image != "" {
		parts = append(parts, "image "+safe.Line(s.Image, 120))
	}
	if s.Dir != "" {
		parts = append(parts, "folder "+safe.Line(base(s.Dir), 120))
	}
	return strings.Join(parts, ", ")
}
