package cgroup

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
)

// Own returns the limits of this process: a quota in CPUs and memory in bytes; 0 means no limit.
func (t Tree) Own() (cpus float64, memory int64) {
	l, _ := t.Limits("self")
	return l.CPUs, l.Memory
}

// Limits returns the limits of a process, the tightest of its group and the groups above it, and whether
// these let it swap; 0 means no limit.
func (t Tree) Limits(pid string) (l bench.Limits, swaps bool) {
	places, _ := t.places(pid) // without a group there are no limits
	swaps = true
	for _, p := range places {
		for _, dir := range p.in.candidates(p.path) {
			l.CPUs = tighter(l.CPUs, dirQuota(dir))
			l.Memory = tighter(l.Memory, dirNumber(dir, "memory.max", "memory.limit_in_bytes"))
			l.PIDs = tighter(l.PIDs, dirNumber(dir, "pids.max"))
			none, _ := os.ReadFile(filepath.Join(dir, "memory.swap.max"))
			swaps = swaps && string(none) != "0\n"
		}
	}
	return l, swaps
}

// OwnCPUs returns the CPUs this process may use, by its affinity and the quota of its cgroup.
func OwnCPUs() float64 {
	cpus := float64(runtime.NumCPU()) // from the start of this process; the affinity may have changed since
	if now := len(cpuset.Allowed()); now > 0 {
		cpus = float64(now)
	}
	if quota, _ := (Tree{}).Own(); quota > 0 {
		cpus = min(cpus, quota)
	}
	return cpus
}

func tighter[N float64 | int64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// dirQuota reads cpu.max ("150000 100000", "max 100000") of v2 or the two files of v1.
func dirQuota(dir string) float64 {
	data, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
	if err != nil {
		quota, _ := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
		period, _ := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
		data = slices.Concat(quota, []byte(" "), period)
	}
	f := strings.Fields(string(data))
	if len(f) != 2 {
		return 0
	}
	quota, err1 := strconv.ParseInt(f[0], 10, 64)
	period, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil || quota <= 0 || period <= 0 {
		return 0
	}
	return float64(quota) / float64(period)
}

func dirNumber(dir string, names ...string) int64 {
	for _, name := range names {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		if n, ok := number(data); ok && n < 1<<62 {
			return n
		}
	}
	return 0
}

// Swaps reports whether this machine uses swap, which lets a group grow beyond its memory. It
// returns true if that is not known.
func Swaps() bool { return swapsIn("/proc/swaps") }

func swapsIn(file string) bool {
	data, err := os.ReadFile(file)
	return err != nil || strings.Count(string(data), "\n") > 1 // the first line is a heading
}
