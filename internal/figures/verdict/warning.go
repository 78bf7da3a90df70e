package verdict

import (
	"fmt"
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
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
