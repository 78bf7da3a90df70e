package report

import (
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The peak memory of a step has a chart only if the kernel kept a counter for it.
func TestMemoryOfAStep(t *testing.T) {
	run, trials := small()
	find := func() (chart, bool) {
		all := newCharts(run, newLayout(analysis.Of(run, trials)))
		i := slices.IndexFunc(all, func(c chart) bool { return c.ID == "memory-step" })
		if i < 0 {
			return chart{}, false
		}
		testenv.Equal(t, all[i-1].ID, "memory-peak", "the chart is after")
		return all[i], true
	}
	if c, ok := find(); ok {
		t.Fatalf("a chart without a counter: %+v", c.Rows)
	}
	for i, s := range trials[0].Steps {
		if s.Before != nil && s.After != nil {
			before, after := *s.Before.Memory, *s.After.Memory
			before.StepPeak, after.StepPeak = new(int64(20<<20)), new(int64(40<<20))
			trials[0].Steps[i].Before, trials[0].Steps[i].After = &bench.Usage{Memory: &before}, &bench.Usage{Memory: &after}
		}
	}
	c, ok := find()
	if !ok || !slices.ContainsFunc(c.Rows, func(r chartRow) bool { return slices.Contains(r.Cells, mebibytes(40<<20)) }) {
		t.Errorf("%v %+v", ok, c.Rows)
	}
}
