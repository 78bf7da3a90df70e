// Package verdict finds the warnings about a step (see bench.Warning), with their sentences, and
// its bottleneck (see Bound). It uses counters at the two ends of the step, the client's own
// measurements, and the other steps of the trial. The rules are a table in rules.go; all limits are
// at the end of step.go (docs/decisions/2026-11-22-warnings.md).
package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/locbench/locbench/internal/bench"
)

// Bound names what limited a step: one of the constants, or a need by its name.
type Bound string

// The bottlenecks.
const (
	Errors      Bound = "errors"      // most requests failed
	Memory      Bound = "memory"      // out of memory, or the page cache is thrashing at the limit
	Quota       Bound = "quota"       // the CPU quota of the contender
	Disk        Bound = "disk"        // the contender waits for a disk
	Client      Bound = "client"      // the load generator
	Machine     Bound = "machine"     // all CPUs of the machine
	Threads     Bound = "threads"     // one busy thread, with CPUs left in the quota
	Rate        Bound = "rate"        // the rate of an open loop, which was kept
	Connections Bound = "connections" // too few connections
	Contender   Bound = "contender"   // more connections bring nothing although CPUs are idle: locks, pools
	Unclear     Bound = "unclear"     // no limit found
)

// Need reports whether it is the name of a need.
func (b Bound) Need() bool {
	return !slices.Contains([]Bound{
		"", Errors, Memory, Quota, Disk, Client, Machine, Threads, Rate, Connections, Contender, Unclear,
	}, b)
}

// Verdict is the bottleneck of a step.
type Verdict struct {
	Bound Bound
	Text  string       // the numbers behind it, without the name of the bottleneck
	Drift *bench.Drift // drift of the step, if any: the bottleneck may differ in a steady state
}

// String returns a line: "quota: 98% of 1.5 CPUs, 61 of 100 periods throttled for 4.10 s".
func (v Verdict) String() string { return string(v.Bound) + ": " + v.Words() }

// Words returns the text, and the drift of the step.
func (v Verdict) Words() string {
	if v.Drift == nil {
		return v.Text
	}
	return v.Text + "; " + v.Drift.String()
}

// Trial returns the bottlenecks of the steps of a trial so far. cpus is the number of CPUs of the
// machine. An aborted step and a step without requests have the zero Verdict.
func Trial(cpus int, trial bench.TrialResult) []Verdict {
	known := factsOf(cpus, trial)
	all := make([]Verdict, len(trial.Steps))
	for i, s := range trial.Steps {
		f, ok := known.of(trial.Steps, i)
		if !ok {
			continue
		}
		all[i] = Verdict{Unclear, f.unclear(), s.Drift}
		for _, r := range rules {
			bound, text := r.of(f)
			if text != "" {
				all[i].Bound, all[i].Text = bound, text
				break
			}
		}
	}
	return all
}

// facts are the inputs of the rules. A value that is not known is 0, or its OK is false.
type facts struct {
	// Of all steps of the trial.
	quota   float64 // CPUs; 0: none
	may     float64 // CPUs that the contender may use
	memory  int64   // bytes; 0: none
	machine float64 // CPUs
	local   bool    // the contender is on this machine

	language string // of the contender's manifest

	step  bench.StepResult
	below []*bench.StepResult // comparable steps with fewer connections
	above []*bench.StepResult // comparable steps with more connections

	cpus      float64 // CPUs that the contender used
	cpusOK    bool
	throttled bench.Throttling
	logCPUs   float64 // CPUs that the engine used for its log
	client    float64 // CPUs that the client used, embedded needs included
	needs     []need  // those that are measured
	host      float64 // CPUs of the machine, of which locbench may use fewer; busy and steal are shares of them
	busy      float64 // 0 to 1
	steal     float64
	busyOK    bool
}

// need is a need that is measured in a step.
type need struct {
	name   string
	cpus   float64 // that it used outside the client
	cpusOK bool
	set    float64 // size of its CPU set; 0: all CPUs
	quota  float64 // its limit in CPUs; 0: none
	// how its quota throttled it
	throttled bench.Throttling
	thread    float64 // share of the step in which its busiest thread ran
	held      float64 // calls in flight, if it is embedded
	heldOK    bool
}

func needsOf(s bench.StepResult) (all []need) {
	for _, name := range s.Needs() {
		n := need{name: name}
		if n.cpus, n.cpusOK = s.NeedCPUs(name); n.cpusOK {
			u := s.HostAfter.Needs[name]
			n.set, n.quota = float64(u.CPUs), u.Quota
			n.throttled, _ = s.NeedThrottling(name)
			n.thread = s.Need(name).BusyThread
		}
		if n.held, n.heldOK = s.NeedInFlight(name); n.cpusOK || n.heldOK {
			all = append(all, n)
		}
	}
	return all
}

// factsOf returns the facts of all steps of a trial.
func factsOf(cpus int, trial bench.TrialResult) facts {
	known := facts{machine: float64(max(cpus, 1)), local: trial.Instance != nil && trial.Instance.PID != 0,
		language: trial.Service.Language}
	known.may = known.machine
	if i := trial.Instance; i != nil && i.LimitsEnforced {
		known.quota, known.memory = i.Limits.CPUs, i.Limits.Memory
		known.may = min(cmp.Or(known.quota, known.machine), float64(cmp.Or(len(i.CPUSet), cpus)))
	}
	return known
}

// of adds the facts of one step; ok is false if it was aborted or has no requests.
func (f facts) of(steps []bench.StepResult, i int) (_ facts, ok bool) {
	s := steps[i]
	f.step, f.client = s, ClientCPUs(s.Load)
	if s.Aborted != "" || wall(s.Load) <= 0 || s.Load.Ended() == 0 {
		return f, false
	}
	f.cpus, f.cpusOK = s.CPUs()
	f.throttled, _ = s.Throttling()
	f.logCPUs = s.LogCPUs()
	f.needs = needsOf(s)
	f.busy, f.steal, f.busyOK = s.HostShare()
	if f.host = f.machine; f.busyOK {
		b, a := s.HostBefore.Host, s.HostAfter.Host
		if between := a.At.Sub(b.At); between > 0 {
			f.host = max(1, math.Round(float64(a.Whole()-b.Whole())/float64(between)))
		}
	}
	for j := range steps {
		o := &steps[j]
		if j == i || o.Aborted != "" || o.Step.Open() || s.Step.Open() || o.Step.Request != s.Step.Request ||
			o.Load.Succeeded == 0 {
			continue
		}
		switch {
		case o.Step.WarmUp && !s.Step.WarmUp:
		case o.Step.Connections < s.Step.Connections:
			f.below = append(f.below, o)
		case o.Step.Connections > s.Step.Connections:
			f.above = append(f.above, o)
		}
	}
	return f, true
}

// Summary is the bottleneck of a step over the rounds of a contender.
type Summary struct {
	Verdict     // most frequent bottleneck, from the last round that has it
	Rounds  int // number of rounds with a verdict
	Agree   int // number of rounds with this bottleneck
}

// Rounds returns the bottlenecks of one contender by the index of the step.
func Rounds(cpus int, trials []bench.TrialResult) map[int]Summary {
	type key struct {
		step  int
		bound Bound
	}
	votes, last := map[key]int{}, map[key]Verdict{}
	all := map[int]Summary{}
	for _, trial := range trials {
		for i, v := range Trial(cpus, trial) {
			if v.Bound == "" {
				continue
			}
			k := key{trial.Steps[i].Index, v.Bound}
			votes[k]++
			last[k] = v
			s := all[k.step]
			s.Rounds++
			if votes[k] >= votes[key{k.step, s.Bound}] {
				s.Bound = v.Bound
			}
			all[k.step] = s
		}
	}
	for step, s := range all {
		k := key{step, s.Bound}
		s.Verdict, s.Agree = last[k], votes[k]
		all[step] = s
	}
	return all
}
