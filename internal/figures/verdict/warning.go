package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/stats"
)

// values are the values of a warning, by name; times in nanoseconds.
type values = map[string]float64

// found returns a warning. Values that are not finite numbers remain in the sentence only.
func found(kind bench.WarningKind, f values, sentence string, args ...any) bench.Warning {
	for name, v := range f {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			delete(f, name)
		}
	}
	return bench.Warning{Kind: kind, Text: fmt.Sprintf(sentence, args...), Values: f}
}

// The following warnings are for packages that detect the cause themselves.

// WaitedForPorts returns the warning that a step started late for lack of local ports.
func WaitedForPorts(took time.Duration, ports int64) bench.Warning {
	return found(bench.WarnWaitedForPorts, values{"took_ns": float64(took), "ports": float64(ports)},
		"step started %s late, once %s local ports were free: closed connections hold theirs for a minute",
		units.Length(took.Round(time.Second)), units.Count(ports))
}

// Paused returns the warning that the run was paused before a step.
func Paused(d time.Duration) bench.Warning {
	return found(bench.WarnRunPaused, values{"pause_ns": float64(d)},
		"run was paused for %s before this step", units.Duration(d))
}

// CountersMissing returns the warning that a step has no counters at one of its ends.
func CountersMissing(why string) bench.Warning {
	return found(bench.WarnCountersMissing, nil, "counters missing for this step: %s", why)
}

// ReadingsFailed returns the warning that n readings within a step failed.
func ReadingsFailed(n int) bench.Warning {
	return found(bench.WarnReadingsFailed, values{"readings": float64(n)}, "%s failed", units.Plural(n, "reading"))
}

// OtherRun returns the warning that another run was active on the same machine, with its process
// and folder.
func OtherRun(which string) bench.Warning {
	return found(bench.WarnOtherRun, nil, "another locbench run is active on this machine (%s); both may be slower than alone", which)
}

// NeedNotMeasured returns the warning that a need has no counters, so it is never named as a
// bottleneck.
func NeedNotMeasured(n bench.NeedInfo) bench.Warning {
	return found(bench.WarnNeedNotMeasured, nil, "%s (%s) is not measured: it may limit steps without being named as "+
		"their bottleneck", n.Label(), n.From)
}

// OwnNeeds returns the warning that two services have needs of one name that differ.
func OwnNeeds(a, b bench.NeedSpec) bench.Warning {
	return found(bench.WarnOwnNeeds, nil, "%s and %s have their own %s, each as its manifest says", a.Service, b.Service, a.Name)
}

// Incident returns the warning about an incident; after is omitted if not positive.
func Incident(in bench.Incident, after time.Duration) bench.Warning {
	f, text := values(nil), in.Text
	if after > 0 {
		f = values{"after_ns": float64(after)}
		text += ", " + units.Duration(after) + " after its start"
	}
	return found(bench.WarningKind(in.Kind), f, "%s", text)
}

// ClockSet returns the warning about a jump of the clock in or before a step, counted from 1.
func ClockSet(moved time.Duration, step int) bench.Warning {
	way := "forward"
	if moved < 0 {
		way = "back"
	}
	return found(bench.WarnClockSet, values{"moved_ns": float64(moved), "step": float64(step)},
		"the clock was set %s by %s in or before step %d, or the machine slept; "+
			"durations are correct, timestamps use the old clock",
		way, moved.Abs().Round(100*time.Millisecond), step)
}

// Hung returns the warning that a contender was killed because it did not stop within grace of a
// signal, with the remedy for a program that ignores it as PID 1 of a container if asPID1.
func Hung(grace time.Duration, signal string, asPID1 bool) bench.Warning {
	remedy := ""
	if asPID1 {
		remedy = ": PID 1 of a container ignores it without a handler; handle it, " +
			"or start the program with tini, and from a shell with exec"
	}
	return found(bench.WarnHung, values{"grace_ns": float64(grace)},
		"did not stop within %s of %s and was killed (SIGKILL)%s", grace, signal, remedy)
}

// Overcommitted returns the warning that interleaved contenders may use more memory than there is.
func Overcommitted(contenders, all, machine int64) bench.Warning {
	return found(bench.WarnOvercommitted, values{"contenders": float64(contenders), "bytes": float64(all),
		"machine_bytes": float64(machine)},
		"%d contenders run at the same time and may use %s; this machine has %s", contenders,
		units.Bytes(all), units.Bytes(machine))
}

// DelayedACKs returns the warning that latencies pile up at 40 ms, as they do if a response comes in
// two segments, and the second one waits for the client's delayed acknowledgment of the first.
func DelayedACKs(res bench.StepResult) bench.Warnings {
	l := res.Load.Latency
	if t, ok := res.Throttling(); ok && float64(t.Throttled) > idle*float64(t.Periods) || l.Max < delayedFrom || l.Min > delayedTo {
		return nil
	}
	h, err := hdr.Decode(l)
	if err != nil || h == nil {
		return nil
	}
	var at, around int64
	for _, b := range h.Bars() {
		switch width := delayedTo - delayedFrom; {
		case b.From >= delayedFrom && b.To < delayedTo:
			at += b.Count
		case b.To >= delayedFrom-width && b.From < delayedTo+width:
			around += b.Count
		}
	}
	share := float64(at) / float64(max(1, l.Count))
	if at < someDelayed || share < delayed || at < fewer*around {
		return nil
	}
	return bench.Warnings{found(bench.WarnDelayedACKs, values{"responses": float64(at), "share": share},
		"%s of responses took about 40 ms, the time of a delayed acknowledgment, and hardly any a little less or more: "+
			"if the contender writes head and body of a response apart, set TCP_NODELAY or write both at once", units.Percent(share))}
}

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

// unread returns the warning that bodies to compare were not looked at: about the kind of request
// with the highest share of them, or about the step if it has one kind.
func unread(l bench.Load) bench.Warnings {
	kinds := l.Requests
	if len(kinds) == 0 {
		kinds = []bench.RequestLoad{{Outcomes: l.Outcomes}}
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(r bench.RequestLoad) bool {
		return unreadShare(r) < notLookedAt && r.Unread[bench.UnreadBroken] == 0
	})
	if len(kinds) == 0 {
		return nil
	}
	slices.SortStableFunc(kinds, func(a, b bench.RequestLoad) int {
		return cmp.Or(cmp.Compare(unreadShare(b), unreadShare(a)), cmp.Compare(b.UnreadTotal(), a.UnreadTotal()))
	})
	r := kinds[0]
	n, broken := r.UnreadTotal(), r.Unread[bench.UnreadBroken]
	text := fmt.Sprintf("%s of %s bodies to compare were not looked at, and are neither right nor wrong: %s",
		units.Count(n), units.Count(n+r.Checked), reasons(r))
	if r.Name != "" {
		text = fmt.Sprintf("%q: ", r.Name) + text
	}
	if broken > 0 {
		text += ". Clients cannot read a broken body either: fix the contender"
	}
	if len(kinds) > 1 {
		text += fmt.Sprintf(" (and %s of requests)", units.Plural(len(kinds)-1, "other kind"))
	}
	return bench.Warnings{found(bench.WarnNotLookedAt, values{
		"not_looked_at": float64(n), "compared": float64(r.Checked), "broken": float64(broken), "kinds": float64(len(kinds)),
	}, "%s", text)}
}

// reasons returns why bodies were not looked at, the most frequent reason first.
func reasons(r bench.RequestLoad) (text string) {
	kinds := slices.SortedFunc(maps.Keys(r.Unread), func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(r.Unread[b], r.Unread[a]), cmp.Compare(a, b))
	})
	for i, kind := range kinds {
		if i > 0 {
			text += ", "
		}
		if len(kinds) > 1 {
			text += units.Count(r.Unread[kind]) + " × "
		}
		text += cmp.Or(r.Examples[kind], kind.Words())
	}
	return text
}

// unreadShare returns the share of the bodies to compare that were not looked at.
func unreadShare(r bench.RequestLoad) float64 {
	n := r.UnreadTotal()
	return float64(n) / float64(max(1, n+r.Checked))
}
