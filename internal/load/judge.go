package load

import (
	"runtime"

	"locbench/internal/bench"
	"locbench/internal/cgroup"
	"locbench/internal/cpuset"
	"locbench/internal/load/record"
	"locbench/internal/verdict"
)

// judge is the doubt that the client itself has about its result.
func judge(l bench.Load, rec *record.Result) bench.Findings {
	return verdict.Loop{
		Open: rec.Open, Whole: rec.Whole, Parts: rec.Turns, Connections: rec.Connections,
		Reopened: rec.Reopened, Answers: l.Succeeded + total(rec.Ended.Failed), LateAfter: record.LateAfter,
		Busy: rec.Busy, Shared: rec.Shared, Counted: rec.Counted, Rested: rec.Rested,
	}.Judge(l)
}

// total is the number of failures of all kinds.
func total(failed map[bench.ErrorKind]int64) (n int64) {
	for _, m := range failed {
		n += m
	}
	return n
}

// ownCPUs are the CPUs that this process may use: those of its affinity, or fewer by the quota of
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
