package ui

import (
	"github.com/locbench/locbench/internal/text/fit"
)

// Problem is a failure or a warning as a whole: what happened, what was found, what to do. It wraps
// and is never cut.
type Problem struct {
	Head    string
	Rows    []ProblemRow // found, before, output, log, effect, remedy
	Warning bool         // a caution, not a failure
}

// ProblemRow is a named text of a problem.
type ProblemRow struct{ Name, Text string }

// Remedy is the name of the row that says what to do. Each problem has one.
const Remedy = "remedy"

// Remedy returns what to do, below a head.
func (p Problem) Remedy(w int) (lines []string) {
	for _, row := range p.Rows {
		if row.Name == Remedy {
			lines = append(lines, Hang("  ", row.Text, w, Paint{})...)
		}
	}
	return lines
}

// sign returns the painted sign and the color of a problem.
func (p Problem) sign(t *Theme) (string, Paint) {
	if p.Warning {
		return t.Warn.S("!"), t.Warn
	}
	return t.Bad.S(t.Glyph.Cross), t.Bad
}

// Lines returns the problem in lines of at most w cells: its head, and its rows with their names in
// a separate column, or before the text where it is narrow.
func (p Problem) Lines(t *Theme, w int) []string {
	sign, paint := p.sign(t)
	lines := Hang(sign+" ", p.Head, w, paint)
	names := 0
	for _, row := range p.Rows {
		names = max(names, fit.Width(row.Name)+2)
	}
	if w < 3*names {
		names = 0
	}
	for _, row := range p.Rows {
		head, text := "  "+t.Faint.S(fit.Left(row.Name, names)), row.Text
		if names == 0 {
			head, text = "  ", row.Name+": "+row.Text
		}
		lines = append(lines, Hang(head, text, w, Paint{})...)
	}
	return lines
}

// Short returns the head and the remedy, as a run in progress shows them.
func (p Problem) Short(t *Theme, w int) []string {
	sign, paint := p.sign(t)
	text := p.Head
	for _, row := range p.Rows {
		if row.Name == Remedy {
			text += "; " + row.Text
		}
	}
	return Hang(sign+" ", text, w, paint)
}
