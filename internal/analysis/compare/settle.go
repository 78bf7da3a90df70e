package compare

import (
	"fmt"
	"time"

	"locbench/internal/analysis"
	"locbench/internal/bench/units"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
)

// interleaveRounds is the number of interleaved rounds from which every measure of two contenders
// can have a verdict.
const interleaveRounds = stats.MinPaired

// settle returns what would settle the inconclusive rows soonest: "interleave …", or more rounds,
// with the time that they take; "" if nothing is inconclusive, or nothing helps.
func settle(c analysis.Couple, rows []Row) string {
	least, floored := 0, false
	title := ""
	for _, r := range rows {
		if r.Verdict != stats.Inconclusive || r.NotComparable != "" || r.Ratio == nil || r.P == nil {
			continue
		}
		floored = floored || r.More == 0
		if r.More > 0 && (least == 0 || r.More < least) {
			least, title = r.More, measure.Get(r.Measure).Comparison.Title
		}
	}
	each := roundTime(c)
	switch {
	case least == 0 && floored:
		return "More rounds do not help: the changes are below the noise floor."
	case least == 0:
		return ""
	case c.OneRun && !c.Paired && c.A.Profile().Interleave == 0 && least > interleaveRounds/2 &&
		c.A.Planned().CPUs == c.B.Planned().CPUs: // slices would let the smaller one exceed its quota
		return fmt.Sprintf("Interleaving settles it soonest: run again with --interleave 100ms --rounds %d%s.",
			interleaveRounds, about(interleaveRounds, each))
	case least >= stats.MaxRounds:
		return ""
	}
	return fmt.Sprintf("Soonest settled: %s, by %s%s.", title, units.Plural(least, "more round"), about(least, each))
}

func about(rounds int, each time.Duration) string {
	switch total := time.Duration(rounds) * each; {
	case total <= 0:
		return ""
	case total < time.Minute:
		return ", less than 1 min"
	default:
		return fmt.Sprintf(", about %.0f min", total.Minutes())
	}
}

// roundTime returns the median time that both contenders take in a round; 0: not known.
func roundTime(c analysis.Couple) time.Duration {
	a, b := trialTime(c.A), trialTime(c.B)
	if a == 0 || b == 0 {
		return 0
	}
	if c.Paired {
		return max(a, b)
	}
	return a + b
}

// trialTime returns the median time from the start of the contender to the end of its last step.
func trialTime(c analysis.Contender) time.Duration {
	var all []float64
	for _, trial := range c.Results {
		if n := len(trial.Steps); n > 0 && trial.Instance != nil && !trial.Instance.StartedAt.IsZero() {
			last := trial.Steps[n-1].Load
			if d := last.Started.Add(last.Elapsed).Sub(trial.Instance.StartedAt); d > 0 && d < 24*time.Hour {
				all = append(all, float64(d))
			}
		}
	}
	median, _ := stats.Median(all)
	return time.Duration(median)
}
