package stats

import (
	"errors"
	"fmt"
	"strings"
)

// Sentence says the verdict with the figures that support it: "better: +8.3 % (+6.1 % to +10.2 %), p 0.011".
func (c Comparison) Sentence() string {
	var s strings.Builder
	s.WriteString(c.Verdict.String())
	if c.Verdict == Same {
		fmt.Fprintf(&s, " within %g %%", 100*c.Rule.Margin)
	}
	if c.Err != nil {
		var need NeedRounds
		if errors.As(c.Err, &need) {
			fmt.Fprintf(&s, ": %d rounds, need ≥ %d: %s", need.Have, need.Need, moreWords(c.More))
			return s.String()
		}
		fmt.Fprintf(&s, ": %v", c.Err)
		return s.String()
	}
	if c.Ratio == nil {
		return s.String()
	}
	fmt.Fprintf(&s, ": %s (%s to %s)", Change(c.Ratio.Estimate), Change(c.Ratio.Interval.Low), Change(c.Ratio.Interval.High))
	switch c.Verdict {
	case Better, Worse:
		fmt.Fprintf(&s, ", p %.2g", c.Adjusted)
	case CannotTell:
		if c.Adjusted <= c.Rule.Alpha && !c.Ratio.Interval.Holds(1) {
			fmt.Fprintf(&s, "; less than this machine can show (%g %%)", 100*c.Rule.Floor)
		} else if c.More > 0 {
			fmt.Fprintf(&s, "; need about %s", moreWords(c.More))
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

// Change writes a ratio as a change: "+8.3 %", or as a factor, "×3.2", where that is easier to grasp.
func Change(ratio float64) string {
	if ratio >= 0.5 && ratio < 3 {
		if percent := 100 * (ratio - 1); percent <= -0.05 || percent >= 0.05 {
			return strings.Replace(fmt.Sprintf("%+.1f %%", percent), "-", "−", 1)
		}
		return "0.0 %"
	}
	return factor(ratio)
}

func factor(ratio float64) string { return fmt.Sprintf("×%.3g", ratio) }
