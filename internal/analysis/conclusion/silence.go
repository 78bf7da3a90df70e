package conclusion

import (
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
)

// silent is a contender without a success in any measured step, although it is not excluded.
type silent struct {
	analysis.Contender
	why analysis.Silence
}

// silent returns the contenders of which nothing is known but that nothing succeeded.
func (d *draft) silent() (all []silent) {
	for _, c := range d.ranked() {
		if why, ok := c.Silence(); ok {
			all = append(all, silent{c, why})
		}
	}
	return all
}

// silentProblems returns the contenders that had no success as problems, with what to do: steps
// that are long enough for all of them.
func (d *draft) silentProblems() (all []Problem) {
	least := time.Duration(0)
	for _, s := range d.silent() {
		least = max(least, s.why.Least)
	}
	for _, s := range d.silent() {
		p := Problem{Remedy: "see its steps in the report"}
		switch {
		case s.why.Least > 0:
			p = remedy("give longer steps", d.again("--duration="+units.Exact(least)))
		case s.why.Reason == analysis.AllError:
			p.Remedy = "see the failed requests in the report"
		}
		p.Contender, p.Warning, p.What = label(s.Contender), true, "had no success: "+s.why.String()
		all = append(all, p)
	}
	return all
}

// withoutRatio returns the throughput of the leader and of the next one, if one of them has values of
// 0: "19.0/s, b 0/s"; "" if they have a ratio.
func withoutRatio(s analysis.Standing, leader, next int) string {
	c, ok := s.Pair(leader, next)
	if !ok || c.Ratio != nil {
		return ""
	}
	unit := measure.Get(s.Measure).Unit
	return unit.Text(c.New.Median) + ", " + nameOf(s, next) + " " + unit.Text(c.Old.Median)
}
