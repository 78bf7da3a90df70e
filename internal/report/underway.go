package report

import (
	"slices"

	"locbench/internal/bench"
)

// underway leaves out of a page what is no trouble while the run goes on: that it has not ended,
// and that a leg has not.
func (p *document) underway(run bench.Run) {
	p.Loud = slices.DeleteFunc(p.Loud, func(w warning) bool { return w.Text == unfinished(run) })
	p.Troubles = slices.DeleteFunc(p.Troubles, func(t trouble) bool { return t.State == string(bench.LegRunning) && len(t.What) == 0 })
}
