package stats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Sentence says the verdict with the figures that support it: "better: +8.3 % (+6.1 % to +10.2 %),
// p 0.011".
func (c Comparison) Sentence() string {
	var s strings.Builder
	s.WriteString(c.Verdict.String())
	if c.Verdict == Same {
		fmt.Fprintf(&s, " within %g %%", 100*c.Rule.Margin)
	}
	if need, few := errors.AsType[NeedRounds](c.Err); few {
		fmt.Fprintf(&s, ": %v: %s", need, moreWords(c.More))
	} else if c.Err != nil {
		fmt.Fprintf(&s, ": %v", c.Err)
	}
	if c.Err != nil || c.Ratio == nil {
		return s.String()
	}
	s.WriteString(": " + c.Ratio.Words())
	switch c.Verdict {
	case Better, Worse:
		fmt.Fprintf(&s, ", p %.2g", c.Adjusted)
	case CannotTell:
		if c.Adjusted <= c.Rule.Alpha && !c.Ratio.Interval.Holds(1) {
			fmt.Fprintf(&s, "; less than this machine can show (%.3g %%)", 100*c.Rule.Floor)
		} else if c.More >= MaxRounds {
			s.WriteString("; need " + moreWords(c.More))
		} else if c.More > 0 {
			s.WriteString("; need about " + moreWords(c.More))
		}
	}
	return s.String()
}

func moreWords(n int) string {
	switch {
	case n >= MaxRounds:
		return fmt.Sprintf("%d or more rounds on each side", MaxRounds)
	case n == 1:
		return "1 more round on each side"
	}
	if n > 100 { // more digits would promise what an estimate cannot keep
		n = (n + 9) / 10 * 10
	}
	return fmt.Sprintf("%d more rounds on each side", n)
}

// Words are the ratio and its interval, all in the same way: "+8.3 % (+6.1 % to +10.2 %)", or as
// factors where that is easier to grasp: "×7.2 (×6.9 to ×7.4)".
func (r Ratio) Words() string {
	w := changes(r.Estimate, r.Interval.Low, r.Interval.High)
	return fmt.Sprintf("%s (%s to %s)", w[0], w[1], w[2])
}

// changes are percentages unless one of them is beyond a fifth or five times.
func changes(ratios ...float64) []string {
	percentages := slices.Min(ratios) >= 0.2 && slices.Max(ratios) < 5
	var words []string
	for _, ratio := range ratios {
		percent := 100 * (ratio - 1)
		switch {
		case !percentages:
			words = append(words, factor(ratio))
		case percent > -0.05 && percent < 0.05:
			words = append(words, "0.0 %")
		default:
			words = append(words, strings.Replace(fmt.Sprintf("%+.1f %%", percent), "-", "−", 1))
		}
	}
	return words
}

func factor(ratio float64) string { return fmt.Sprintf("×%.3g", ratio) }
