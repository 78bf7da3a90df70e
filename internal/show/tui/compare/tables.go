package compare

import (
	"cmp"
	"fmt"

	"github.com/locbench/locbench/internal/analysis"
	compared "github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/show/tui/chart"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// narrow is the width below which texts are short.
const narrow = 79

func (s *Screen) resultTable(l *ui.Look, w int) []string {
	columns := []ui.Column{
		{Title: "measure", Left: true}, {Title: "A"}, {Title: "A, 95% CI", Drop: 2}, {Title: "B"},
		{Title: "B, 95% CI", Drop: 2}, {Title: "change"}, {Title: "verdict", Left: true},
	}
	var rows [][]string
	for _, f := range s.set.head {
		rows = append(rows, []string{
			l.ASCIIOnly(f.Head), sideText(l, f.Unit, f.A), l.Faint.S(intervalText(l, f.Unit, f.A)),
			sideText(l, f.Unit, f.B), l.Faint.S(intervalText(l, f.Unit, f.B)), changeText(l, f), wordText(l, f, roomFor(w)),
		})
		if f.ID == measure.Throughput {
			rows = append(rows, []string{"  at", s.peakAt(l, s.set.a), "", s.peakAt(l, s.set.b)})
		}
	}
	lines := l.Table(columns, rows, w)
	var warnings []string // "peak throughput, A: …"
	for _, f := range s.set.head {
		if f.Row != nil {
			for _, d := range f.Row.Warnings {
				warnings = append(warnings, f.Head+", "+d.Words("A", "B"))
			}
		}
	}
	for i, d := range warnings {
		if i == mostWarnings && len(warnings) > mostWarnings+1 {
			lines = append(lines, l.Warn.S(l.Cut(fmt.Sprintf("! and %d more like this", len(warnings)-i), w)))
			break
		}
		lines = append(lines, l.Warn.S(l.ASCIIOnly(l.Cut("! "+l.Outside(d, noteBytes), w))))
	}
	for _, line := range l.Wrap(s.method(), w, 4) {
		lines = append(lines, l.Faint.S(l.ASCIIOnly(line)))
	}
	return lines
}

const mostWarnings = 4

// ampleWidth is the width from which verdicts are written in full.
const ampleWidth = 100

func roomFor(w int) room {
	switch {
	case w < narrow:
		return brief
	case w < ampleWidth:
		return usual
	}
	return ample
}

func (s *Screen) peakAt(l *ui.Look, c analysis.Contender) string {
	peak, ok := c.PeakStep()
	if !ok {
		return l.Glyph.Missing
	}
	if n := peak.Step.Connections; n > 0 {
		return fmt.Sprintf("%d conns", n)
	}
	return l.Cut(l.Outside(peak.Step.Name, nameBytes), 14)
}

func (s *Screen) stepTable(l *ui.Look, w int) []string {
	shown := measure.View(measure.PairSteps)
	columns := []ui.Column{{Title: "step", Left: true, Max: 18}}
	for _, m := range shown {
		columns = append(columns, ui.Column{Title: "A " + m.Head, Drop: m.Drop},
			ui.Column{Title: "B " + m.Head, Drop: m.Drop})
		switch m.ID {
		case measure.Throughput:
			columns = append(columns, ui.Column{Title: "change"}, ui.Column{Title: "A", Left: true, Drop: 6},
				ui.Column{Title: "B", Left: true, Drop: 6})
		case measure.P99:
			columns = append(columns, ui.Column{Title: "change", Drop: 4})
		}
	}
	columns = append(columns, ui.Column{Title: "verdict on req/s", Left: true, Drop: 7})
	top := 0.0
	for _, p := range s.set.steps {
		f := p.value(measure.Throughput)
		top = max(top, f.A.Value, f.B.Value)
	}
	bar := func(v measure.Result, series int) string {
		share := 0.0
		if v.Known && top > 0 {
			share = v.Value / top
		}
		return l.Bar(share, 8, l.Series[series])
	}
	var rows [][]string
	for _, p := range s.set.steps {
		name := l.Outside(p.Step.Name, nameBytes)
		if p.Step.WarmUp {
			name = "w " + name
		}
		row := []string{name}
		for _, f := range p.Values {
			row = append(row, stepText(l, f, f.A), stepText(l, f, f.B))
			switch f.ID {
			case measure.Throughput:
				row = append(row, changeText(l, f), bar(f.A, 0), bar(f.B, 1))
			case measure.P99:
				row = append(row, changeText(l, f))
			}
		}
		rows = append(rows, append(row, sidesText(l, *p.value(measure.Throughput), p.InA, p.InB, w)))
	}
	return l.Table(columns, rows, w)
}

// sidesText returns the verdict, or the only side that has the step or contender.
func sidesText(l *ui.Look, f Value, inA, inB bool, w int) string {
	switch {
	case !inA:
		return "only in B"
	case !inB:
		return "only in A"
	}
	return wordText(l, f, min(roomFor(w), usual))
}

// stepText returns the value of a side as text; errors are painted.
func stepText(l *ui.Look, f Value, side measure.Result) string {
	text := sideText(l, f.Unit, side)
	if f.ID == measure.ErrorRate && side.Known && side.Value > 0 {
		return l.Bad.S(text)
	}
	return text
}

// contenderTable returns all contenders of both runs with throughput and latency at peak.
func (s *Screen) contenderTable(l *ui.Look, w int) []string {
	columns := []ui.Column{
		{Title: "  contender", Left: true, Max: 40}, {Title: "A peak/s"}, {Title: "B peak/s"}, {Title: "change"},
		{Title: "A p99", Drop: 3}, {Title: "B p99", Drop: 3}, {Title: "A tier", Drop: 2}, {Title: "B tier", Drop: 2},
		{Title: "verdict", Left: true, Drop: 1},
	}
	var rows [][]string
	for i, r := range s.rows {
		a, b := at(s.a.of.Contenders, r.a), at(s.b.of.Contenders, r.b)
		peak, last := *s.heads[i].value(measure.Throughput), *s.heads[i].value(measure.P99)
		cursor := "  "
		if i == s.row && s.chosen == r {
			cursor = l.Glyph.Cursor + " "
		}
		rows = append(rows, []string{
			cursor + l.Outside(cmp.Or(a.Label, b.Label), nameBytes),
			sideText(l, peak.Unit, peak.A), sideText(l, peak.Unit, peak.B), changeText(l, peak),
			sideText(l, last.Unit, last.A), sideText(l, last.Unit, last.B), tierText(l, s.a, a), tierText(l, s.b, b),
			sidesText(l, peak, r.a >= 0, r.b >= 0, w),
		})
	}
	return l.Table(columns, rows, w)
}

func tierText(l *ui.Look, r run, c analysis.Contender) string {
	if tier := r.tiers[c.Label]; tier > 0 && c.Label != "" {
		return fmt.Sprint(tier)
	}
	return l.Glyph.Missing
}

func (s *Screen) differenceTable(l *ui.Look, w int) []string {
	if len(s.set.differ) == 0 {
		return []string{"Only the contenders differ."}
	}
	side := max(8, (w-40)/2)
	columns := []ui.Column{{Title: "what", Left: true, Max: 26}, {Title: "A", Left: true, Max: side},
		{Title: "B", Left: true, Max: side}, {Title: "effect", Left: true, Drop: 1}}
	var rows [][]string
	for _, d := range s.set.differ {
		effect := ""
		switch d.Weight {
		case compared.Incomparable:
			effect = l.Bad.S("not comparable")
		case compared.Relevant:
			effect = l.Warn.S("may affect")
		}
		rows = append(rows, []string{string(d.What), s.value(l, d.Old, side), s.value(l, d.New, side), effect})
	}
	return l.Table(columns, rows, w)
}

// charts draws throughput and p99, both sides in one chart.
func (s *Screen) charts(l *ui.Look, w, h int) []string {
	labels := make([]string, len(s.set.steps))
	for i, p := range s.set.steps {
		labels[i] = p.Step.Short()
	}
	series := func(id measure.ID) []chart.Series {
		out := []chart.Series{{Name: "A", Paint: l.Series[0], Mark: 0}, {Name: "B", Paint: l.Series[1], Mark: 1}}
		for i, p := range s.set.steps {
			f := p.value(id)
			for n, side := range []measure.Result{f.A, f.B} {
				if side.Known {
					out[n].Points = append(out[n].Points, chart.Point{X: float64(i), Y: side.Value})
				}
			}
		}
		return out
	}
	draw := func(c chart.Chart, w, h int) []string {
		return chart.Steps{Chart: c, Labels: labels, Gutter: chart.Gutter}.Draw(l.Theme, w, h)
	}
	upper := chart.Chart{Title: "throughput", Unit: axis(measure.PerSecond), Series: series(measure.Throughput)}
	lower := chart.Chart{Title: "p99", Unit: axis(measure.Nanoseconds), Log: true, Series: series(measure.P99)}
	if w >= 100 || h < 10 && w >= 60 {
		half := (w - 2) / 2
		return ui.SideBySide(2, draw(upper, half, h), draw(lower, w-2-half, h))
	}
	return append(draw(upper, w, h-h/2), draw(lower, w, h/2)...)
}
