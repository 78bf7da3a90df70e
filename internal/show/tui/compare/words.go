package compare

import (
	"fmt"
	"slices"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/show/tui/ui"
)

// text writes a value in its unit.
func text(u measure.Unit, v float64) string {
	switch {
	case u == measure.Share && v == 0:
		return "0"
	case u == measure.Share && v < 0.0005:
		return "<0.1%"
	case u == measure.Share:
		return fmt.Sprintf("%.1f%%", 100*v)
	case u == measure.Dollars:
		return "$" + u.Cell(v)
	}
	return u.Cell(v)
}

// axis writes a value next to an axis, where round ones stand.
func axis(u measure.Unit) func(v float64) string {
	return func(v float64) string {
		if v == 0 {
			return "0"
		}
		number, unit, _ := strings.Cut(text(u, v), " ")
		if strings.Contains(number, ".") {
			number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
		}
		return strings.TrimSpace(number + " " + unit)
	}
}

func sideText(l *ui.Look, u measure.Unit, s measure.Result) string {
	if !s.Known {
		return l.Glyph.Missing
	}
	value := text(u, s.Value)
	if s.AtLeast {
		value = l.Glyph.AtLeast + " " + value
	}
	return l.ASCIIOnly(value)
}

func intervalText(l *ui.Look, u measure.Unit, s measure.Result) string {
	if s.Interval == nil {
		if n := len(s.Rounds); s.Known && n > 0 {
			return fmt.Sprintf("n=%d", n)
		}
		return l.Glyph.Missing
	}
	return l.ASCIIOnly(text(u, s.Interval.Low) + " – " + text(u, s.Interval.High))
}

// changeText returns B against A, in per cent; as a factor where that is easier to grasp.
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

// How much room there is for what the rounds say.
type room int

const (
	brief room = iota // a word or two
	usual
	ample // with the ratio and its interval
)

func wordText(l *ui.Look, f Value, r room) string {
	said := f.Said
	switch {
	case said == nil || min(len(said.Old.Rounds), len(said.New.Rounds)) == 0:
		return l.Glyph.Missing
	case said.NotComparable != "" && r == brief:
		return l.Warn.S("not comp.")
	case said.NotComparable != "":
		return l.Warn.S("not comparable")
	case min(len(said.Old.Rounds), len(said.New.Rounds)) < stats.MinInterval:
		return l.Faint.S(fmt.Sprintf("need %s %d", l.Glyph.AtLeast, stats.MinInterval) + unlessBrief(r, " rounds"))
	}
	paint, text := l.Faint, "inconclusive"
	switch {
	case said.Verdict == stats.Better:
		paint, text = l.Good, "B"+unlessBrief(r, " is")+" better"
	case said.Verdict == stats.Worse:
		paint, text = l.Bad, "A"+unlessBrief(r, " is")+" better"
	case said.Verdict == stats.Same:
		paint, text = l.Text, "same"+unlessBrief(r, fmt.Sprintf(" within %g%%", 100*stats.DefaultMargin))
	case said.BelowFloor:
		text += unlessBrief(r, ", below noise floor")
	case said.More > 0 && said.More < stats.MaxRounds:
		text += unlessBrief(r, fmt.Sprintf(", ~%d more rounds", said.More))
	}
	if r == ample && said.Ratio != nil {
		text = l.ASCIIOnly(text + ": " + said.Ratio.Words())
	}
	return paint.S(text)
}

func unlessBrief(r room, text string) string {
	if r == brief {
		return ""
	}
	return text
}

// rounds says of how many rounds the figures of a contender are.
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

// method says how to read the words.
func (s *Screen) method() string {
	if n := min(s.set.a.Trials, s.set.b.Trials); n < stats.MinInterval {
		return fmt.Sprintf("A verdict and a 95%% CI need %d or more rounds on both sides.",
			stats.MinInterval)
	}
	test := "Mann-Whitney"
	if slices.ContainsFunc(s.set.head, func(f Value) bool { return f.Said != nil && f.Said.Paired }) {
		test = "interleaved: paired signed-rank test"
	}
	text := "Medians of the rounds; latency of all requests. Verdicts as in 'locbench compare': " + test + ", Holm, 95 %. "
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
