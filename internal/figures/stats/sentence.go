package stats

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
)

// Sentence returns the verdict with its numbers: "better: +8.3% (+6.1% to +10.2%), p 0.011".
func (c Comparison) Sentence() string {
	var s strings.Builder
	s.WriteString(c.Verdict.String())
	if c.Verdict == Same {
		fmt.Fprintf(&s, " within %s", c.margin())
	}
	if need, few := errors.AsType[NeedRounds](c.Err); few {
		fmt.Fprintf(&s, ": %v: %s", need, moreWords(c.More))
	} else if c.Err != nil {
		fmt.Fprintf(&s, ": %v", c.Err)
	}
	if c.Test == nil {
		return s.String()
	}
	s.WriteString(": " + c.Change())
	switch c.Verdict {
	case Better, Worse:
		fmt.Fprintf(&s, ", p %.2g", c.Adjusted)
	case Inconclusive:
		excludes := c.Test.P <= c.Rule.Alpha
		if c.Ratio != nil {
			excludes = !c.Ratio.Interval.Holds(1)
		}
		if excludes && c.Adjusted > c.Rule.Alpha {
			fmt.Fprintf(&s, "; not significant after Holm's correction for %d tests, p %.2g", c.Family, c.Adjusted)
		}
		if c.Adjusted <= c.Rule.Alpha && c.Ratio == nil {
			fmt.Fprintf(&s, "; medians less than %.3g%% apart", 100*max(c.Rule.Floor, c.Rule.Margin))
		} else if c.Adjusted <= c.Rule.Alpha && excludes {
			fmt.Fprintf(&s, "; below the noise floor (%.3g%%)", 100*c.Rule.Floor)
		} else if c.More >= MaxRounds {
			s.WriteString("; need " + moreWords(c.More))
		} else if c.More > 0 {
			s.WriteString("; need about " + moreWords(c.More))
		}
	}
	return s.String()
}

// margin returns within what the sides are the same: "3%", "50.0 ms".
func (c Comparison) margin() string {
	if c.Ratio.Interval.Within(1/(1+c.Rule.Margin), 1+c.Rule.Margin) || c.words.Text == nil {
		return fmt.Sprintf("%g%%", 100*c.Rule.Margin)
	}
	return c.words.Text(c.Rule.Within)
}

// Change returns the ratio in words or, if a value is 0, the medians and where nothing was:
// "19.0/s → 0/s: nothing succeeded in new"; "" without a test.
func (c Comparison) Change() string {
	if c.Ratio != nil {
		return c.Ratio.Words()
	}
	if c.Test == nil {
		return ""
	}
	text := c.words.Text
	if text == nil {
		text = units.Number
	}
	var where []string
	for i, values := range [][]float64{c.Old.Values, c.New.Values} {
		side := cmp.Or(c.words.Sides[i], [...]string{"old", "new"}[i])
		switch n := zeros(values); {
		case n == len(values):
			where = append(where, side)
		case n > 0:
			where = append(where, fmt.Sprintf("%d of %d rounds of %s", n, len(values), side))
		}
	}
	return fmt.Sprintf("%s → %s: %s in %s", text(c.Old.Median), text(c.New.Median), cmp.Or(c.words.Zero, "0"),
		strings.Join(where, " and "))
}

func moreWords(n int) string {
	switch {
	case n >= MaxRounds:
		return fmt.Sprintf("%d or more rounds per side", MaxRounds)
	case n == 1:
		return "1 more round per side"
	}
	if n > 100 { // more digits would be false precision
		n = (n + 9) / 10 * 10
	}
	return fmt.Sprintf("%d more rounds per side", n)
}

// Most returns the largest ratio of one side to the other within the interval; 0 of nil.
func (r *Ratio) Most() float64 {
	if r == nil {
		return 0
	}
	return max(r.High, 1/r.Low)
}

// Words returns "+8.3% (+6.1% to +10.2%)", or factors from 2 on: "×7.2 (×6.9 to ×7.4)".
func (r Ratio) Words() string {
	w := changes(r.Estimate, r.Interval.Low, r.Interval.High)
	return fmt.Sprintf("%s (%s to %s)", w[0], w[1], w[2])
}

// changes returns percentages; factors if the first ratio is at least 2.
func changes(ratios ...float64) []string {
	percentages := ratios[0] < 2
	var words []string
	for _, ratio := range ratios {
		percent := 100 * (ratio - 1)
		switch {
		case !percentages:
			words = append(words, factor(ratio))
		case percent > -0.05 && percent < 0.05:
			words = append(words, "0.0%")
		default:
			words = append(words, strings.Replace(fmt.Sprintf("%+.1f%%", percent), "-", "−", 1))
		}
	}
	return words
}

func factor(ratio float64) string { return "×" + units.Number(ratio) }
