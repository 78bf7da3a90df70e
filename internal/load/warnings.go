package load

import (
	"runtime"

	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
	"locbench/internal/figures/verdict"
	"locbench/internal/host/cgroup"
	"locbench/internal/load/record"
)

// clientWarnings returns the warnings about the client itself.
func clientWarnings(l bench.Load, rec *record.Result) bench.Warnings {
	return verdict.Loop{
		Open: rec.Open, Whole: rec.Whole, Parts: rec.Interleaved, Connections: rec.Connections,
		Reopened: rec.Reopened, LateAfter: record.LateAfter,
		Responses: l.Succeeded + rec.Ended.Rejected + bench.Load{Failed: rec.Ended.Failed}.FailedTotal(),
		Busy:      rec.ServiceTime, Shared: rec.IntervalTime, Counted: rec.InFlightIntegral, Rested: rec.BackoffTime,
	}.Warnings(l)
}

// ownCPUs returns the CPUs this process may use, by its affinity and the quota of its cgroup.
func ownCPUs() float64 {
	cpus := float64(runtime.NumCPU()) // from the start of this process; the affinity may have changed since
	if now := len(cpuset.Allowed()); now > 0 {
		cpus = float64(now)
	}
	if quota, _ := (cgroup.Tree{}).Own(); quota > 0 {
		cpus = min(cpus, quota)
	}
	return cpus
}
