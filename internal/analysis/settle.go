package analysis

import (
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Open is an inconclusive measure of two contenders.
type Open struct {
	Measure measure.ID
	Rounds  int // per side; of the smaller side
	More    int // stats.Comparison.More
}

// Open returns the inconclusive pairs of the contenders in tiers.
func (s Standing) Open() (all []Open) {
	for b := range s.Members {
		for a := range b {
			if c, ok := s.Pair(a, b); ok && c.Verdict == stats.Inconclusive && (c.Ratio != nil || c.More > 0) {
				all = append(all, Open{s.Measure, min(len(c.Old.Values), len(c.New.Values)), c.More})
			}
		}
	}
	return all
}

// SettleOpen returns what settles the first of the inconclusive measures, with the time that it
// takes: interleaving, if the run was not interleaved for a reason that the user can change, or
// more rounds; "" if nothing is inconclusive, or more rounds than stats.MaxRounds are necessary.
// run is nil for contenders of two runs.
func SettleOpen(open []Open, run *Run, paired bool) string {
	var best Open
	for _, o := range open {
		if o.More > 0 && (best.More == 0 || o.More < best.More) {
			best = o
		}
	}
	all := best.Rounds + best.More
	soonest := func(how string) string {
		return fmt.Sprintf("Soonest settled: %s, by %s%s.", measure.Get(best.Measure).Comparison.Title,
			units.Plural(best.More, "more round"), how)
	}
	switch flags := run.interleaving(); {
	case len(open) == 0:
		return ""
	case best.More == 0:
		return "More rounds do not help: the changes are below the noise floor."
	case flags != "" && !paired && all > stats.MinPaired:
		return fmt.Sprintf("Interleaving settles it soonest: run again with %s%s.", flags, run.about(stats.MinPaired))
	case best.More >= stats.MaxRounds:
		return ""
	case run == nil:
		return soonest(" per side; sooner in one run, interleaved")
	}
	return soonest(fmt.Sprintf(": run again with --rounds %d%s", all, run.about(all)))
}

// interleaving returns the flags that interleave another run with the same profile; "" if that is
// not possible, or not known.
func (r *Run) interleaving() string {
	if r == nil || r.Run.Plain == nil {
		return ""
	}
	return map[bench.PlainReason]string{
		bench.PlainRounds: fmt.Sprintf("--rounds %d", stats.MinPaired),
		bench.PlainChosen: fmt.Sprintf("--interleave auto --rounds %d", stats.MinPaired),
	}[r.Run.Plain.Reason]
}

// about returns ", about 4 min": the time of rounds like those of the run; "" if it is not known.
func (r *Run) about(rounds int) string {
	each, ok := r.Run.RoundTime(r.Trials)
	switch total := time.Duration(rounds) * each; {
	case !ok || total <= 0:
		return ""
	case total < time.Minute:
		return ", less than 1 min"
	default:
		return fmt.Sprintf(", about %.0f min", total.Minutes())
	}
}
