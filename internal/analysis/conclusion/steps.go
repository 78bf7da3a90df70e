package conclusion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// StepsOf returns the steps of a contender over its rounds.
func StepsOf(c analysis.Contender) Section {
	measures := slices.DeleteFunc(measure.View(measure.TextSteps), func(m measure.Shown) bool {
		return m.Optional && !slices.ContainsFunc(c.Steps, func(s stats.Step) bool {
			r := m.Over(s)
			return m.Worth(r.Value, r.Known)
		})
	})
	t := table.Table{Columns: []table.Column{{Title: "step", Left: true}}}
	for _, m := range measures {
		t.Columns = append(t.Columns, table.Column{Title: m.Head, Drop: m.Drop})
	}
	t.Columns = append(t.Columns, table.Column{Title: "bound by", Drop: 1})
	note := func(known bool, format string, args ...any) {
		if known {
			t.Footnotes = append(t.Footnotes, fmt.Sprintf(format, args...))
		}
	}
	for _, s := range c.Steps {
		name, drift, bound := s.Step.Title(), s.DriftWords(), c.Bounds[s.Index]
		if drift != "" {
			name += " (" + drift + ")"
		}
		cells := []string{safe.Line(name, 60)}
		for _, m := range measures {
			if m.ID == measure.Errors {
				cells = append(cells, errorCell(s.FailedTotal(), s.ErrorRate(), s.ErrorRateIsEstimate()))
			} else {
				cells = append(cells, m.Text(m.Over(s)))
			}
		}
		if s.Unexpected() {
			bound = verdict.Summary{}
		}
		t.Add(append(cells, boundIn(bound, ""))...)
		wrong := s.Failed[bench.ErrWrong]
		note(wrong > 0, "%s: %s", safe.Line(s.Step.Title(), 60), bench.Unexpected{Count: wrong, Compared: s.Checked}.Share())
	}
	if peak, ok := c.PeakStep(); ok {
		s := c.Bounds[peak.Index]
		note(s.Bound == verdict.Unclear, "at peak: %s", s.Words())
		note(s.Bound != verdict.Unclear && s.Bound != "", "at peak: %s", s.Verdict)
		for _, name := range measure.Needs([]stats.Step{peak}) {
			words := measure.NeedWords(name, peak.Results...)
			note(words != "", "at peak: need %s", words)
		}
	}
	return Section{Title: safe.Line(strings.TrimSpace(c.Label+" "+c.Under()), 160), Table: t}
}

// boundIn returns the bottleneck, and where rounds differ, how many of them had it.
func boundIn(s verdict.Summary, rounds string) string {
	switch {
	case s.Bound == "":
		return units.Missing
	case s.Agree < s.Rounds:
		return fmt.Sprintf("%s (%d of %d%s)", s.Bound, s.Agree, s.Rounds, rounds)
	}
	return string(s.Bound)
}

func errorCell(n int64, ratio float64, estimated bool) string {
	about := ""
	switch {
	case n == 0 || ratio < 0.001:
		return units.Count(n)
	case estimated:
		about = "~"
	}
	return fmt.Sprintf("%s (%s%.1f%%)", units.Count(n), about, 100*ratio)
}
