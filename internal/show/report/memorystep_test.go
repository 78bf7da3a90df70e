package report

import (
	"slices"
	"testing"

	"locbench/internal/analysis"
	"locbench/internal/bench"
)

// The high-water mark of a step is a figure where a kernel kept one, and none at all where not.
func TestMemoryOfAStep(t *testing.T) {
	run, trials := small()
	find := func() (figure, bool) {
		all := figures(run, newLayout(analysis.Of(run, trials)))
		i := slices.IndexFunc(all, func(f figure) bool { return f.ID == "memory-step" })
		if i < 0 {
			return figure{}, false
		}
		if all[i-1].ID != "memory-peak" {
			t.Errorf("it stands behind %s", all[i-1].ID)
		}
		return all[i], true
	}
	if f, ok := find(); ok {
		t.Fatalf("nobody kept one: %+v", f.Rows)
	}
	for i, s := range trials[0].Steps {
		if s.Before != nil && s.After != nil {
			before, after := *s.Before.Memory, *s.After.Memory
			before.StepPeak, after.StepPeak = new(int64(20<<20)), new(int64(40<<20))
			trials[0].Steps[i].Before, trials[0].Steps[i].After = &bench.Usage{Memory: &before}, &bench.Usage{Memory: &after}
		}
	}
	f, ok := find()
	if !ok || !slices.ContainsFunc(f.Rows, func(r figureRow) bool { return slices.Contains(r.Cells, mebibytes(40<<20)) }) {
		t.Errorf("%v %+v", ok, f.Rows)
	}
}
