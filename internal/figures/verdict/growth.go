package verdict

import (
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
)

// MemoryGrowth returns the warning that memory grows with the requests of a trial: of the last of
// steps, and of those with the same request and a constant load right before it. limit is in bytes;
// 0: none.
func MemoryGrowth(steps []bench.StepResult, limit int64) bench.Warnings {
	from := len(steps)
	for from > 0 && stats.ConstantLoad(steps[from-1]) && steps[from-1].Step.Request == steps[len(steps)-1].Step.Request {
		from--
	}
	var points [][]stats.MemoryPoint
	before, measured := 0.0, 0
	for _, s := range steps[from:] {
		points = append(points, stats.StepMemory(s, before))
		before += stats.StepRequests(s.Load)
		if !s.Step.WarmUp && (!s.Drift.Own() || !s.Drift.Warming()) {
			measured++
		}
	}
	rate, ok := stats.MemoryGrowth(points)
	if !ok {
		return nil
	}
	last := steps[len(steps)-1]
	f := values{bench.GrowthRate: rate}
	text := "memory use grew by " + units.Bytes(int64(rate)) + " per request and did not come back"
	all := slices.Concat(points...)
	used, perSecond := all[len(all)-1].Bytes, rate*last.Load.Throughput()
	seen := !last.Step.WarmUp && max(measured, collections(all)) >= leastSeen
	if left := float64(limit) - used; seen && left > 0 && left/perSecond < (365*24*time.Hour).Seconds() {
		full := time.Duration(left / perSecond * float64(time.Second))
		f["full_after_ns"] = float64(full)
		text += ": " + units.Bytes(limit) + " are full after another " + units.Approx(full)
	}
	return bench.Warnings{found(bench.WarnMemoryGrowth, f, "%s", text)}
}

// leastSeen is over how many measured steps, or collections, memory has to grow for a forecast: a young heap
// grows to its size for some time.
const leastSeen = 4

// collections returns how often memory fell by at least a MiB from a highest value since the last such fall.
func collections(points []stats.MemoryPoint) (n int) {
	top := 0.
	for _, p := range points {
		if top = max(top, p.Bytes); top-p.Bytes >= 1<<20 {
			n, top = n+1, p.Bytes
		}
	}
	return n
}
