package load

import (
	"runtime"

	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
	"locbench/internal/figures/verdict"
	"locbench/internal/host/cgroup"
	"locbench/internal/load/record"
)

// judge returns the warning that the client itself has about its result.
func judge(l bench.Load, rec *record.Result) bench.Warnings {
	return verdict.Loop{
		Open: rec.Open, Whole: rec.Whole, Parts: rec.Interleaved, Connections: rec.Connections,
		Reopened: rec.Reopened, LateAfter: record.LateAfter,
		Responses: l.Succeeded + bench.Load{Failed: rec.Ended.Failed}.FailedTotal(),
		Busy:      rec.ServiceTime, Shared: rec.IntervalTime, Counted: rec.InFlightIntegral, Rested: rec.BackoffTime,
	}.Warnings(l)
}

// ownCPUs returns the CPUs that this process may use: those of its affinity, or fewer by the quota of
// its cgroup.
func ownCPUs() float64 {
	cpus := float64(runtime.NumCPU()) // as it was when this process was started: it may keep to fewer since
	if now := len(cpuset.Allowed()); now > 0 {
		cpus = float64(now)
	}
	if quota, _ := (cgroup.Tree{}).Own(); quota > 0 {
		cpus = min(cpus, quota)
	}
	return cpus
}
