package verdict

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
)

// MemoryGrowth returns the warning that memory grows with the requests of the last of steps, and of
// the steps of the same load right before it. limit is in bytes; 0: none.
func MemoryGrowth(steps []bench.StepResult, limit int64) bench.Warnings {
	if len(steps) == 0 {
		return nil
	}
	last := steps[len(steps)-1]
	from := len(steps) - 1
	for from > 0 && sameLoad(steps[from-1], last) {
		from--
	}
	if !sameLoad(last, last) {
		return nil
	}
	var points []stats.MemoryPoint
	before := 0.0
	for _, s := range steps[from:] {
		points = append(points, stats.StepMemory(s, before)...)
		before += float64(s.Load.AllSucceeded() + s.Load.Rejected.Total() + s.Load.FailedTotal())
	}
	rate, ok := stats.MemoryGrowth(points)
	if !ok {
		return nil
	}
	f := values{bench.GrowthRate: rate}
	text := "memory use grew by " + units.Bytes(int64(rate)) + " per request at an unchanged load"
	used, perSecond := points[len(points)-1].Bytes, rate*last.Load.Throughput()
	if left := float64(limit) - used; left > 0 && left/perSecond < (365*24*time.Hour).Seconds() {
		full := time.Duration(left / perSecond * float64(time.Second))
		f["full_after_ns"] = float64(full)
		text += ": " + units.Bytes(limit) + " are full after another " + units.Approx(full)
	}
	return bench.Warnings{found(bench.WarnMemoryGrowth, f, "%s", text)}
}

// sameLoad reports whether two steps put the same, constant load on the contender.
func sameLoad(a, b bench.StepResult) bool {
	return a.Aborted == "" && constant(a.Step) && constant(b.Step) &&
		a.Step.Connections == b.Step.Connections &&
		a.Step.Rate == b.Step.Rate && a.Step.Request == b.Step.Request
}

func constant(s bench.Step) bool {
	return s.RampTo == 0 && s.RampFrom == 0 && s.Wave == nil && s.Arrivals == nil
}
