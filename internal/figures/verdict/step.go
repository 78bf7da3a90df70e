package verdict

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// BusyOutOfTurn returns the warnings that a contender, or a need that it has for itself, used CPUs
// between its slices, such as for a vacuum.
func BusyOutOfTurn(of string, res bench.StepResult) (all bench.Warnings) {
	t := res.Interleave
	if t == nil {
		return nil
	}
	if t.WaitingCPUs() > busyWaiting {
		all = append(all, found(bench.WarnBusyOutOfTurn, values{"cpus": t.WaitingCPUs()},
			"used %.2f CPUs while others were loaded, which may have slowed them",
			t.WaitingCPUs()))
	}
	for _, name := range slices.Sorted(maps.Keys(t.WaitedNeeds)) {
		if cpus := t.NeedWaitingCPUs(name); cpus > busyWaiting {
			all = append(all, found(bench.WarnBusyOutOfTurn, values{"cpus": cpus},
				"%s of %s used %.2f CPUs while others were loaded, which may have slowed them", name, of, cpus))
		}
	}
	return all
}

// Killed returns the warnings that the kernel killed processes of the contender or of needs; the
// main process may have survived.
func Killed(res bench.StepResult) (all bench.Warnings) {
	if n := oomKills(res); n > 0 {
		all = append(all, found(bench.WarnOOM, values{"processes": float64(n)},
			"out of memory: the kernel killed %s", units.Plural(n, "process")))
	}
	for _, name := range res.Needs() {
		if n := res.Need(name); n.OOMKills > 0 {
			limit := ""
			if n.Memory.Limit > 0 {
				limit = " at its limit of " + units.Bytes(n.Memory.Limit)
			}
			all = append(all, found(bench.WarnOOM, values{"processes": float64(n.OOMKills)},
				"%s out of memory: the kernel killed %s%s", name, units.Plural(n.OOMKills, "process"), limit))
		}
	}
	return all
}

// memories returns memory at both ends of a step; zero values unless both are known.
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

// MachineStalls returns the warning about machine stalls that may affect the highest latencies.
func MachineStalls(res bench.StepResult) bench.Warnings {
	h := res.Hiccups
	if h == nil || h.Count == 0 {
		return nil
	}
	share := h.Share(res.Load.Wall)
	if h.Max < longStall && share < shortStalls {
		return nil
	}
	cause := "the highest latencies may come from them"
	if !h.Realtime {
		cause += ", or all CPUs were busy (no real-time priority for the watchdog thread)"
	}
	return bench.Warnings{found(bench.WarnMachineStall,
		values{"times": float64(h.Count), "longest_ns": float64(h.Max), "share": share},
		"machine stalls: %d of 1 ms or more, longest %s, %.1f%% of the step per CPU; %s",
		h.Count, units.Duration(h.Max), 100*share, cause)}
}

// OnThisMachine returns warnings about the influence of the machine on a step: steal, heat, and the
// client. cpus is the number of CPUs; an embedded need counts as part of the client.
func OnThisMachine(res bench.StepResult, inst bench.InstanceInfo, cpus int) (all bench.Warnings) {
	if _, steal, ok := res.HostShare(); ok && steal >= stealSeen {
		all = append(all, found(bench.WarnSteal, values{"share": steal},
			"CPU steal: other VMs took %.1f%% of this machine's CPU time", 100*steal))
	}
	if n, ok := res.Throttles(); ok && n > 0 {
		all = append(all, found(bench.WarnOverheated, values{"times": float64(n)},
			"thermal throttling (%s)", units.Plural(n, "time")))
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

// bottleneck returns the warning that the client may have limited a step: the contender left part
// of its limit (0: none) unused, and the client used most of the machine, or both used nearly all
// of it.
func bottleneck(l bench.Load, used, limit float64, cpus int) (all bench.Warnings) {
	machine, client := float64(cpus), ClientCPUs(l)
	if limit <= 0 || limit > machine {
		limit = machine
	}
	if used < usedUp*limit && (client >= machine/2 || client+used >= usedUp*machine) {
		all = append(all, found(bench.WarnClientMaybeBound,
			values{"client_cpus": client, "machine_cpus": machine, "contender_cpus": used, "contender_limit": limit},
			"the client may be the bottleneck: it used %.2f of %s, the contender only %.2f of its %.2g",
			client, units.Plural(cpus, "CPU"), used, limit))
	}
	return all
}

// FromOutside returns the warnings that something other than the contender may have limited a step.
func FromOutside(res bench.StepResult) bench.Warnings {
	outside := []bench.WarningKind{bench.WarnClientMaybeBound, bench.WarnSteal, bench.WarnOverheated}
	return slices.DeleteFunc(slices.Clone(res.Warnings),
		func(f bench.Warning) bool { return !slices.Contains(outside, f.Kind) })
}

// ShareOfOthers returns the share of the machine's CPU time used outside the run, steal included,
// if it may have limited a contender with this quota in CPUs (0: none); else 0.
func ShareOfOthers(res bench.StepResult, quota float64) float64 {
	busy, steal, ok := res.HostShare()
	_, known := res.CPU()
	if !ok || !known || res.Load.Wall <= 0 || busy+steal < fullyBusy || AtQuota(res, quota) {
		return 0
	}
	b, a := res.HostBefore.Host, res.HostAfter.Host
	whole := a.Whole() - b.Whole()
	own := res.After.CPU - res.Before.CPU + res.Load.ClientCPU
	for _, name := range res.Needs() {
		cpus, _ := res.NeedCPUs(name)
		own += time.Duration(cpus * float64(res.Load.Wall))
	}
	own += time.Duration(res.LogCPUs() * float64(res.Load.Wall))
	if share := busy + steal - own.Seconds()/whole.Seconds(); share >= crowded {
		return share
	}
	return 0
}

// AtQuota reports whether a contender used up its quota in CPUs (0: none).
func AtQuota(res bench.StepResult, quota float64) bool {
	used, ok := res.CPUs()
	t, _ := res.Throttling()
	return ok && atQuota(used, quota, t)
}

func atQuota(used, quota float64, t bench.Throttling) bool {
	often := t.Periods > 0 && float64(t.Throttled) >= throttling*float64(t.Periods)
	return quota > 0 && (used >= usedUp*quota || often)
}

// BusyBefore returns the load average before a run, and whether the machine was busy.
func BusyBefore(m bench.Machine) (load float64, busy bool) {
	load, err := strconv.ParseFloat(m.Load1, 64)
	return load, err == nil && m.CPUs > 0 && load > busyLoad*float64(m.CPUs)
}
