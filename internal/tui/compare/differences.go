package compare

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/units"
)

// Weight says what a difference does to a comparison.
type Weight int

// The weights, the gravest first.
const (
	Breaks Weight = iota // the figures answer different questions
	Sways                // may move the figures
	Tells                // good to know
)

// Difference is something besides the contender that two runs do not have in common.
type Difference struct {
	What   string
	A, B   string // "" where it is not on record, or none
	Weight Weight
}

// Differences are what differs between two runs, the gravest first.
func Differences(a, b bench.Run) []Difference {
	var out []Difference
	for w := Breaks; w <= Tells; w++ {
		for _, d := range candidates(a, b) {
			if d.Weight == w && d.A != d.B {
				out = append(out, d)
			}
		}
	}
	return out
}

func candidates(a, b bench.Run) []Difference {
	d := func(what string, w Weight, of func(bench.Run) string) Difference {
		return Difference{What: what, A: of(a), B: of(b), Weight: w}
	}
	out := []Difference{
		d("limits", Breaks, func(r bench.Run) string { return limits(r.Profile.Limits) }),
		d("runtime", Breaks, func(r bench.Run) string { return string(r.Profile.Runtime) }),
		d("requests", Breaks, func(r bench.Run) string { return requests(r.Profile.Requests) }),
		d("data", Breaks, func(r bench.Run) string {
			if r.Data.Hash == "" {
				return r.Data.Name
			}
			return strings.TrimSpace(r.Data.Name + " " + r.Data.Hash)
		}),
		d("store", Breaks, func(r bench.Run) string { return string(r.Store.Kind) }),
		d("latency added by the store", Breaks, func(r bench.Run) string { return added(r.Profile.Store) }),
		d("CPU", Breaks, func(r bench.Run) string { return fmt.Sprintf("%d × %s", r.Machine.CPUs, r.Machine.CPUModel) }),
		d("architecture", Breaks, func(r bench.Run) string { return r.Machine.OS + "/" + r.Machine.Arch }),
		d("started by somebody else", Breaks, func(r bench.Run) string { return r.Target }),
		d("store version", Sways, func(r bench.Run) string { return r.Store.Version }),
		d("store address", Sways, func(r bench.Run) string {
			if r.Store.Kind != bench.StoreExternal {
				return "" // our own: any free port
			}
			return r.Store.URL
		}),
		d("kernel", Sways, func(r bench.Run) string { return r.Machine.Kernel }),
		d("memory of the machine", Sways, func(r bench.Run) string { return size(r.Machine.MemoryBytes) }),
		d("CPU governor", Sways, func(r bench.Run) string { return r.Machine.Governor }),
		d("cgroup version", Sways, func(r bench.Run) string { return number(r.Machine.CgroupVersion) }),
		d("locbench", Sways, func(r bench.Run) string { return r.Software.Locbench }),
		d("Docker", Sways, func(r bench.Run) string { return r.Software.Docker }),
		d("time-out of a request", Sways, func(r bench.Run) string { return length(r.Profile.Timeout) }),
		d("time of a step", Sways, func(r bench.Run) string { return stepTimes(r.Profile.Steps) }),
		d("price of a vCPU-hour", Sways, func(r bench.Run) string {
			if r.Profile.PriceVCPUHr <= 0 {
				return ""
			}
			return fmt.Sprintf("$%g", r.Profile.PriceVCPUHr)
		}),
		d("profile", Tells, func(r bench.Run) string { return r.Profile.Name }),
		d("steps", Tells, func(r bench.Run) string { return ladder(r.Profile.Steps) }),
		d("rounds", Tells, func(r bench.Run) string { return number(r.Profile.Rounds) }),
		d("checks", Tells, func(r bench.Run) string {
			return strings.Join(append(append([]string(nil), r.Profile.Checks.Lifecycle...), r.Profile.Checks.Suites...), " ")
		}),
		d("Go", Tells, func(r bench.Run) string { return r.Software.Go }),
		d("state", Tells, func(r bench.Run) string { return string(r.State) }),
	}
	return out
}

// LegDifferences are differences between how two contenders really ran.
func LegDifferences(a, b Contender) []Difference {
	var out []Difference
	for _, c := range []struct {
		what string
		w    Weight
		of   func(bench.LegResult) string
	}{
		{"runtime in use", Breaks, func(l bench.LegResult) string {
			if l.Instance == nil {
				return ""
			}
			return string(l.Instance.Runtime)
		}},
		{"limits enforced", Breaks, func(l bench.LegResult) string {
			switch {
			case l.Instance == nil:
				return ""
			case l.Instance.LimitsEnforced:
				return "yes"
			}
			return "no"
		}},
		{"version of the contender", Tells, func(l bench.LegResult) string { return l.Service.Version }},
	} {
		va, vb := first(a.legs, c.of), first(b.legs, c.of)
		if va != vb && va != "" && vb != "" {
			out = append(out, Difference{What: c.what, A: va, B: vb, Weight: c.w})
		}
	}
	return out
}

// first is what the first leg that knows it says.
func first(legs []bench.LegResult, of func(bench.LegResult) string) string {
	for _, l := range legs {
		if v := of(l); v != "" {
			return v
		}
	}
	return ""
}

func limits(l bench.Limits) string {
	var parts []string
	if l.CPUs > 0 {
		parts = append(parts, units.CPUs(l.CPUs))
	}
	if l.CPUSet > 0 {
		parts = append(parts, fmt.Sprintf("set of %d", l.CPUSet))
	}
	if l.Memory > 0 {
		parts = append(parts, units.Bytes(l.Memory))
	}
	if l.PIDs > 0 {
		parts = append(parts, fmt.Sprintf("%d processes", l.PIDs))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// requests tells the mixes apart; beyond the first it says how many there are and what else decides.
func requests(rs []bench.Request) string {
	if len(rs) == 0 {
		return "none"
	}
	data, err := json.Marshal(rs)
	if err != nil {
		return fmt.Sprintf("%d", len(rs))
	}
	return fmt.Sprintf("%d of sum %08x, first %s %s", len(rs), sum32(data), rs[0].Method, rs[0].Path)
}

// sum32 is FNV-1a.
func sum32(data []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range data {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

func added(s bench.StoreSpec) string {
	if s.Latency == 0 {
		return ""
	}
	text := units.Duration(s.Latency)
	if s.P99 > 0 {
		text += ", p99 " + units.Duration(s.P99)
	}
	return text
}

func size(n int64) string {
	if n <= 0 {
		return ""
	}
	return units.Bytes(n)
}

func number(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func length(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return units.Duration(d)
}

func stepTimes(steps []bench.Step) string {
	var out []string
	for _, s := range steps {
		text := length(s.Duration)
		if s.WarmUp {
			text += " warm-up"
		}
		if len(out) == 0 || out[len(out)-1] != text {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

func ladder(steps []bench.Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, StepPair{Step: s}.Short())
	}
	return strings.Join(out, " ")
}
