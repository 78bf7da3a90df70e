// Package verdict judges: it finds what is doubtful about a step (see bench.Warning), with the
// sentences that say so, and what bound the step (see Bound), by what the results hold: counters at
// the two ends of the step, the client's own figures, and the other steps of the same trial. The rules
// are one table, in rules.go; all thresholds are in limits.go (docs/decisions/2026-11-22-warnings.md).
package verdict

import (
	"math"

	"locbench/internal/bench"
)

// Bound names what limited a step.
type Bound string

// The bounds, in the order in which they are looked for.
const (
	Errors      Bound = "errors"      // most of it failed: no throughput to speak of
	Memory      Bound = "memory"      // processes were killed, or memory had to be won back at the limit
	Quota       Bound = "quota"       // the CPUs that it may use
	Client      Bound = "client"      // locbench's own threads
	Store       Bound = "store"       //
	Machine     Bound = "machine"     // its CPUs, all of them together
	Rate        Bound = "rate"        // an open loop that was kept: nothing bound it but what was asked
	Connections Bound = "connections" // too few of them: more would bring more
	Contender   Bound = "contender"   // idle CPUs, and yet no more with more connections: locks, pools, threads
	Unclear     Bound = "unclear"     // nothing stands out
)

// Verdict is what bound a step.
type Verdict struct {
	Bound Bound
	Text  string       // the figures that it rests on, without the name of the bound
	Drift *bench.Drift // of the step, if it was not in a steady state: what bound it then may not be what bounds it later
}

// String returns a line: "quota: 98% of 1.5 CPUs, 61 of 100 periods throttled, 4.10 s lost".
func (v Verdict) String() string { return string(v.Bound) + ": " + v.Words() }

// Words returns the figures that it rests on, and the drift of the step.
func (v Verdict) Words() string {
	if v.Drift == nil {
		return v.Text
	}
	return v.Text + "; " + v.Drift.String()
}

// Trial judges the steps of a trial, of which more may follow. cpus are the machine's. A step that was
// cut short or has no figures has the zero Verdict.
func Trial(cpus int, trial bench.TrialResult) []Verdict {
	known := facts{machine: float64(max(cpus, 1)), local: trial.Instance != nil && trial.Instance.PID != 0}
	if i := trial.Instance; i != nil && i.LimitsEnforced {
		known.quota, known.memory = i.Limits.CPUs, i.Limits.Memory
	}
	all := make([]Verdict, len(trial.Steps))
	for i, s := range trial.Steps {
		f, ok := known.of(trial.Steps, i)
		if !ok {
			continue
		}
		all[i] = Verdict{Unclear, f.unclear(), s.Drift}
		for _, r := range rules {
			if text := r.holds(f); text != "" {
				all[i].Bound, all[i].Text = r.bound, text
				break
			}
		}
	}
	return all
}

// facts are the figures of a step that the rules look at. What is not known has ok false or is 0.
type facts struct {
	// Of all steps of the trial.
	quota   float64 // CPUs; 0: none
	memory  int64   // bytes; 0: none
	machine float64 // CPUs
	local   bool    // the contender is on this machine

	step  bench.StepResult
	below []bench.StepResult // comparable steps with fewer connections,
	above []bench.StepResult // and with more

	cpus      float64 // that the contender used
	cpusOK    bool
	throttled bench.Throttling
	client    float64 // CPUs that locbench used, an embedded store among them
	store     float64 // and a store next to it
	storeOK   bool
	storeSet  float64 // CPUs that it is kept to; 0: all of the machine's
	inStore   float64 // calls that an embedded store was at
	inStoreOK bool
	host      float64 // CPUs whose time busy is a share of: all of the machine's, of which locbench itself may have fewer
	busy      float64 // 0 to 1
	steal     float64
	busyOK    bool
}

// of adds those of one step; ok is false of one without figures.
func (f facts) of(steps []bench.StepResult, i int) (_ facts, ok bool) {
	s := steps[i]
	f.step, f.client = s, clientCPUs(s.Load)
	if s.Aborted != "" || wall(s.Load) <= 0 || s.Load.Succeeded+s.Load.FailedTotal() == 0 {
		return f, false
	}
	f.cpus, f.cpusOK = s.CPUs()
	f.throttled, _ = s.Throttling()
	if f.store, f.storeOK = s.StoreCPUs(); f.storeOK {
		f.storeSet = float64(s.HostAfter.Store.CPUs)
	}
	f.inStore, f.inStoreOK = s.StoreInFlight()
	f.busy, f.steal, f.busyOK = s.HostShare()
	if f.host = f.machine; f.busyOK {
		b, a := s.HostBefore.Host, s.HostAfter.Host
		if between := a.At.Sub(b.At); between > 0 {
			f.host = max(1, math.Round(float64(a.Whole()-b.Whole())/float64(between)))
		}
	}
	for j, o := range steps {
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

// Summary is what bound a step in the rounds of a contender.
type Summary struct {
	Verdict     // of the bound that most rounds have, from the last of these rounds
	Rounds  int // that have a verdict
	Agree   int // of them with this bound
}

// Rounds judges the trials of one contender, by the index of the step.
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
