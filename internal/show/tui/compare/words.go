package compare

import (
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/show/tui/chart"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// axis returns the function for the labels of a y axis.
func axis(u measure.Unit) func(v float64) string {
	return func(v float64) string { return chart.LabelOf(u)(u.Base(v)) }
}

func sideText(l *ui.Look, u measure.Unit, s measure.Result) string {
	return l.ASCIIOnly(measure.Measure{Unit: u}.Text(s))
}

func intervalText(l *ui.Look, u measure.Unit, s measure.Result) string {
	if s.Interval == nil {
		if n := len(s.Rounds); s.Known && n > 0 {
			return fmt.Sprintf("n=%d", n)
		}
		return l.Glyph.Missing
	}
	return l.ASCIIOnly(u.Cell(s.Interval.Low) + " – " + u.Cell(s.Interval.High))
}

// changeText returns the change from A to B in percent, or as a factor from 10 on.
func changeText(l *ui.Look, f Value) string {
	ratio, ok := f.Change()
	switch {
	case !ok:
		if f.A.Known && f.B.Known && f.A.Value == f.B.Value {
			return "0%"
		}
		return l.Glyph.Missing
	case ratio >= 9:
		return fmt.Sprintf("%s%.3g", l.Glyph.Times, ratio+1)
	case ratio > -0.0005 && ratio < 0.0005:
		return "0.0%"
	}
	return fmt.Sprintf("%+.1f%%", 100*ratio)
}

// room is the room for a verdict.
type room int

const (
	brief room = iota // a word or two
	usual
	ample // with the ratio and its interval
)

func wordText(l *ui.Look, f Value, r room) string {
	row := f.Row
	switch {
	case row == nil || min(len(row.Old.Rounds), len(row.New.Rounds)) == 0:
		return l.Glyph.Missing
	case row.NotComparable != "" && r == brief:
		return l.Warn.S("not comp.")
	case row.NotComparable != "":
		return l.Warn.S("not comparable")
	case min(len(row.Old.Rounds), len(row.New.Rounds)) < stats.MinInterval:
		return l.Faint.S(fmt.Sprintf("need %s %d", l.Glyph.AtLeast, stats.MinInterval) + unlessBrief(r, " rounds"))
	}
	paint, text := l.Faint, "inconclusive"
	switch {
	case row.Verdict == stats.Better:
		paint, text = l.Good, "B"+unlessBrief(r, " is")+" better"
	case row.Verdict == stats.Worse:
		paint, text = l.Bad, "A"+unlessBrief(r, " is")+" better"
	case row.Verdict == stats.Same:
		paint, text = l.Text, "same"+unlessBrief(r, fmt.Sprintf(" within %g%%", 100*stats.DefaultMargin))
	case row.BelowFloor:
		text += unlessBrief(r, ", below noise floor")
	case row.More > 0 && row.More < stats.MaxRounds:
		text += unlessBrief(r, fmt.Sprintf(", ~%d more rounds", row.More))
	}
	if r == ample && row.Ratio != nil {
		text = l.ASCIIOnly(text + ": " + row.Ratio.Words())
	}
	return paint.S(text)
}

func unlessBrief(r room, text string) string {
	if r == brief {
		return ""
	}
	return text
}

// rounds returns the number of rounds of a contender as text.
func rounds(c analysis.Contender) string {
	switch {
	case c.Label == "":
		return "not in this run"
	case c.Complete == 1 && c.Trials == 1:
		return "1 round"
	case c.Complete == c.Trials:
		return fmt.Sprintf("%d rounds", c.Trials)
	}
	return fmt.Sprintf("%d of %d rounds complete", c.Complete, c.Trials)
}

// method explains the verdicts.
func (s *Screen) method() string {
	if n := min(s.set.a.Trials, s.set.b.Trials); n < stats.MinInterval {
		return fmt.Sprintf("A verdict and a 95%% CI need %d or more rounds on both sides.",
			stats.MinInterval)
	}
	test := "Mann-Whitney"
	if slices.ContainsFunc(s.set.head, func(f Value) bool { return f.Row != nil && f.Row.Paired }) {
		test = "interleaved: paired signed-rank test"
	}
	text := s.set.settle
	if text != "" {
		text += " "
	}
	text += "Medians of the rounds; latency of all requests. Verdicts as in 'locbench compare': " + test + ", Holm, 95%. "
	if s.floor != nil {
		text += "Noise floor: " + s.floor.Words() + "."
	} else {
		text += "No noise floor (run locbench calibrate)."
	}
	if s.dirs[0] != s.dirs[1] {
		text += " Separate runs: machine drift is part of the result."
	}
	return text
}
