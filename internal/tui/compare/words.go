package compare

import (
	"fmt"
	"strings"
	"time"

	"locbench/internal/stats"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// text writes a value in its unit.
func (u Unit) text(v float64) string {
	switch u {
	case Nanoseconds:
		return units.Duration(time.Duration(v))
	case Share:
		switch {
		case v == 0:
			return "0"
		case v < 0.0005:
			return "<0.1 %"
		}
		return fmt.Sprintf("%.1f %%", 100*v)
	case Bytes:
		return units.Bytes(int64(v))
	case Dollars:
		return fmt.Sprintf("$%.2f", v)
	}
	return units.Rate(v)
}

// axis writes a value beside an axis, where round ones stand.
func (u Unit) axis(v float64) string {
	if v == 0 {
		return "0"
	}
	number, unit, _ := strings.Cut(u.text(v), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSpace(number + " " + unit)
}

func sideText(l *look.Look, u Unit, s Side) string {
	if !s.Known {
		return l.Glyph.Missing
	}
	text := u.text(s.Value)
	if s.AtLeast {
		text = l.Glyph.AtLeast + " " + text
	}
	return l.ASCIIOnly(text)
}

func intervalText(l *look.Look, u Unit, s Side) string {
	if s.Interval == nil {
		if n := len(s.Rounds); s.Known && n > 0 {
			return fmt.Sprintf("n=%d", n)
		}
		return l.Glyph.Missing
	}
	return l.ASCIIOnly(u.text(s.Interval.Low) + " – " + u.text(s.Interval.High))
}

// changeText is B against A, in per cent; as a factor where that is easier to grasp.
func changeText(l *look.Look, f Figure) string {
	ratio, ok := f.Change()
	switch {
	case !ok:
		if f.A.Known && f.B.Known && f.A.Value == f.B.Value {
			return "0 %"
		}
		return l.Glyph.Missing
	case ratio >= 9:
		return fmt.Sprintf("%s%.3g", l.Glyph.Times, ratio+1)
	case ratio > -0.0005 && ratio < 0.0005:
		return "0.0 %"
	}
	return fmt.Sprintf("%+.1f %%", 100*ratio)
}

// wordText says what the rounds support; comparable is false where something else differs that decides about the figures.
func wordText(l *look.Look, f Figure, comparable, short bool) string {
	choose := func(long, brief string) string {
		if short {
			return brief
		}
		return long
	}
	switch f.Word() {
	case Equal:
		return "equal"
	case NoClaim:
		return l.Faint.S(fmt.Sprintf(choose("n=%d: no claim", "n=%d"), f.Least()))
	case Overlap:
		return choose("intervals overlap: no claim", "overlap")
	case Apart:
		switch {
		case !comparable:
			return l.Warn.S(choose("apart, but not comparable", "apart"))
		case f.Better() == 'B':
			return l.Good.S(choose("B is better", "B better"))
		}
		return l.Bad.S(choose("A is better", "A better"))
	}
	return l.Glyph.Missing
}

// rounds says of how many rounds the figures of a contender are.
func rounds(c Contender) string {
	switch {
	case c.Label == "":
		return "not in this run"
	case c.Complete == 1 && c.Legs == 1:
		return "1 round"
	case c.Complete == c.Legs:
		return fmt.Sprintf("%d rounds", c.Legs)
	}
	return fmt.Sprintf("%d of %d rounds complete", c.Complete, c.Legs)
}

// method says how to read the words.
func method(c *comparison) string {
	n := min(c.a.Legs, c.b.Legs)
	if n < stats.MinInterval {
		return fmt.Sprintf("%d rounds or more on both sides give a 95 %% interval of the median; fewer support no claim.", stats.MinInterval)
	}
	return "Medians of the rounds; latencies of all requests. A side is better where the intervals of the medians (95 %) do not overlap."
}
