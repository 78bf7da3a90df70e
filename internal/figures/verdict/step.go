package verdict

import (
	"slices"
	"strconv"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// BusyOutOfTurn is about a contender that was at work while it waited for its turns.
func BusyOutOfTurn(res bench.StepResult) (all bench.Warnings) {
	if t := res.Interleave; t != nil && t.WaitingCPUs() > restless {
		all = append(all, found(bench.WarnBusyOutOfTurn, values{"cpus": t.WaitingCPUs()},
			"used %.2f CPUs while others were loaded, which may have slowed them",
			t.WaitingCPUs()))
	}
	return all
}

// Killed is about processes that the kernel killed; the main one may have survived them.
func Killed(res bench.StepResult) (all bench.Warnings) {
	if n := oomKills(res); n > 0 {
		all = append(all, found(bench.WarnOOM, values{"processes": float64(n)},
			"out of memory: the kernel killed %d processes", n))
	}
	return all
}

// memories returns empty where they are not known at both ends.
func memories(res bench.StepResult) (before, after bench.Memory) {
	if res.Before == nil || res.After == nil || res.Before.Memory == nil || res.After.Memory == nil {
		return before, after
	}
	return *res.Before.Memory, *res.After.Memory
}

func oomKills(res bench.StepResult) int64 {
	b, a := memories(res)
	return a.OOMKills - b.OOMKills
}

// PossibleDrift is about the first step after a warm-up, which may have been too short.
func PossibleDrift(d bench.Drift) bench.Warning {
	f := values{}
	if d.Throughput != nil {
		f["throughput_change"], f["throughput_p"] = d.Throughput.Change, d.Throughput.P
	}
	if d.CPU != nil {
		f["cpu_change"], f["cpu_p"] = d.CPU.Change, d.CPU.P
	}
	return found(bench.WarnMaybeUnstable, f, "possibly %s; within noise",
		d)
}

// MachineStalls is about a machine whose shortStalls are the highest latencies.
func MachineStalls(res bench.StepResult) bench.Warnings {
	h := res.Hiccups
	if h == nil || h.Count == 0 {
		return nil
	}
	share := h.Share(res.Load.Wall)
	if h.Max < longStall && share < shortStalls {
		return nil
	}
	doubt := "the highest latencies may come from it"
	if !h.Realtime {
		doubt += ", or all CPUs were busy (no real-time priority for the watchdog thread)"
	}
	return bench.Warnings{found(bench.WarnMachineStall,
		values{"times": float64(h.Count), "longest_ns": float64(h.Max), "share": share},
		"machine stalls: %d of 1 ms or more, longest %s, %.1f%% of the step per CPU; %s",
		h.Count, units.Duration(h.Max), 100*share, doubt)}
}

// OnThisMachine returns what a machine of so many CPUs, on which contender and client run, may have done
// to a step: others' work, heat, and the client. An embedded store's work is the client's here.
func OnThisMachine(res bench.StepResult, inst bench.InstanceInfo, cpus int) (all bench.Warnings) {
	if _, steal, ok := res.HostShare(); ok && steal >= stealSeen {
		all = append(all, found(bench.WarnSteal, values{"share": steal},
			"CPU steal: other VMs took %.1f%% of this machine's CPU time", 100*steal))
	}
	if n, ok := res.Throttles(); ok && n > 0 {
		all = append(all, found(bench.WarnOverheated, values{"times": float64(n)},
			"thermal throttling (%d times)", n))
	}
	used, ok := res.CPUs()
	if !ok {
		return all
	}
	limit := inst.Limits.CPUs
	if !inst.LimitsEnforced {
		limit = 0
	}
	return append(all, bottleneck(res.Load, used, limit, cpus)...)
}

// bottleneck reports whether the client limited a step: the contender left CPU time of its limit (0:
// none) unused although the client had most of the machine, or both together nearly all of it.
func bottleneck(l bench.Load, used, limit float64, cpus int) (all bench.Warnings) {
	machine, client := float64(cpus), clientCPUs(l)
	if limit <= 0 || limit > machine {
		limit = machine
	}
	if wall(l) > 0 && used < usedUp*limit && (client >= machine/2 || client+used >= usedUp*machine) {
		all = append(all, found(bench.WarnClientMaybeBound,
			values{"client_cpus": client, "machine_cpus": machine, "contender_cpus": used, "contender_limit": limit},
			"the client may be the bottleneck: it used %.2f of %d CPUs, the contender only %.2f of its %.2g",
			client, cpus, used, limit))
	}
	return all
}

// FromOutside returns the warnings that something else than the contender may have limited a step.
func FromOutside(res bench.StepResult) bench.Warnings {
	outside := []bench.WarningKind{bench.WarnClientMaybeBound, bench.WarnSteal, bench.WarnOverheated}
	return slices.DeleteFunc(slices.Clone(res.Warnings),
		func(f bench.Warning) bool { return !slices.Contains(outside, f.Kind) })
}

// ShareOfOthers returns the share of the machine's CPU time that neither contender nor client nor store has
// used (stolen time among it), where that may have been what limited a contender of so many CPUs
// (0: not limited); else 0.
func ShareOfOthers(res bench.StepResult, quota float64) float64 {
	busy, steal, ok := res.HostShare()
	cpu, known := res.CPU()
	if !ok || !known || res.Load.Wall <= 0 || busy+steal < fullyBusy || AtQuota(res, quota) {
		return 0
	}
	b, a := res.HostBefore.Host, res.HostAfter.Host
	whole := a.Whole() - b.Whole()
	own := cpu + res.Load.ClientCPU
	if store, ok := res.StoreCPUs(); ok {
		own += time.Duration(store * float64(res.Load.Wall))
	}
	if share := busy + steal - own.Seconds()/whole.Seconds(); share >= crowded {
		return share
	}
	return 0
}

// AtQuota reports whether a contender was at its own limit of so many CPUs (0: none).
func AtQuota(res bench.StepResult, quota float64) bool {
	used, ok := res.CPUs()
	if quota <= 0 || !ok {
		return false
	}
	t, _ := res.Throttling()
	often := t.Periods > 0 && float64(t.Throttled) >= throttling*float64(t.Periods)
	return used >= usedUp*quota || often
}

// Mark is what counters say about a step in one share: of its requests, periods or memory.
type Mark struct {
	Kind  bench.WarningKind
	Share float64
}

// Marks returns those that are worth a word next to the figures, the gravest first.
func Marks(res bench.StepResult, limits bench.Limits) (all []Mark) {
	if ratio := res.Load.ErrorRate(); ratio >= ErrorsMatter {
		all = append(all, Mark{bench.WarnErrors, ratio})
	}
	if n := res.Load.Dropped; n > 0 && res.Load.Scheduled > 0 {
		all = append(all, Mark{bench.WarnDropped, float64(n) / float64(res.Load.Scheduled)})
	}
	if t, ok := res.Throttling(); ok && t.Periods > 0 {
		if share := float64(t.Throttled) / float64(t.Periods); share >= throttlingSeen {
			all = append(all, Mark{bench.WarnThrottled, share})
		}
	}
	if res.After != nil && res.After.Memory != nil && limits.Memory > 0 {
		if share := float64(res.After.Memory.Used) / float64(limits.Memory); share >= memorySeen {
			all = append(all, Mark{bench.WarnMemory, share})
		}
	}
	return all
}

// BusyBefore returns the load average of a machine before a run, if it says that others were at work.
func BusyBefore(m bench.Machine) (load float64, busy bool) {
	load, err := strconv.ParseFloat(m.Load1, 64)
	return load, err == nil && m.CPUs > 0 && load > busyLoad*float64(m.CPUs)
}
