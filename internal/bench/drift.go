package bench

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
)

// Drift says that a measured step was not in a steady state: the compilers of its runtime took more than
// CompilingWithin of its CPU time, or its windows have a trend of more than DriftWithin over the step,
// beyond noise. Such a round takes part in no comparison.
type Drift struct {
	// share of its CPU time that threads of compilers took in the second half of the step; 0: at most
	// CompilingWithin, or not known
	Compiled   float64 `json:"compiled,omitempty"`
	Throughput *Trend  `json:"throughput,omitempty"`      // nil: no trend
	CPU        *Trend  `json:"cpu_per_request,omitempty"` // nil: no trend, or no CPU time per window
	// The contenders interleaved with it changed alike: it was the machine, and the round is compared.
	Machine bool `json:"machine,omitempty"`
}

// Trend is the trend over the windows of a step.
type Trend struct {
	// change from start to end of the step along a line through its windows, as a share of their
	// mean
	Change float64 `json:"change"`
	P      float64 `json:"p"` // two-sided p value for a slope of zero
}

// String returns the change between start and end of the step: "rose by 12%". Ratios above ten are
// not spelled out, because a start near zero makes them meaningless.
func (t Trend) String() string {
	begin, end := 1-t.Change/2, 1+t.Change/2 // of the line, as multiples of the mean
	switch {
	case end > 10*begin:
		return "rose over 10×"
	case begin > 10*end:
		return "fell over 90%"
	case end < begin:
		return "fell by " + units.Tenths(1-end/begin)
	}
	return "rose by " + units.Tenths(end/begin-1)
}

// DriftWithin is the largest change over a step that counts as steady.
const DriftWithin = 0.03

// CompilingWithin is the share of CPU time up to which compilers at work count as a steady state; see
// docs/decisions/2026-11-29-warming-up.md.
const CompilingWithin = 0.02

// Own reports whether the contender itself was not in a steady state.
func (d *Drift) Own() bool { return d != nil && !d.Machine }

// Warming reports whether the contender was compiled, or became faster.
func (d Drift) Warming() bool {
	return d.Compiled > 0 || d.Throughput != nil && d.Throughput.Change > 0 || d.CPU != nil && d.CPU.Change < 0
}

// The names of the two drifts, as tables and warnings print them.
const (
	StillWarmingUp = "still warming up"
	Unstable       = "unstable" // the contender became slower
)

// Name returns StillWarmingUp or Unstable, or that the machine changed.
func (d Drift) Name() string {
	switch {
	case d.Machine:
		return "the machine changed"
	case d.Warming():
		return StillWarmingUp
	}
	return Unstable
}

// String returns the warning: "still warming up: throughput rose by 12% and CPU time per request
// fell by 9.8% over the step".
func (d Drift) String() string {
	if d.Compiled > 0 {
		return d.Name() + ": compilers took " + units.Tenths(d.Compiled) + " of its CPU time in the second half of the step"
	}
	var parts []string
	if d.Throughput != nil {
		parts = append(parts, "throughput "+d.Throughput.String())
	}
	if d.CPU != nil {
		parts = append(parts, "CPU time per request "+d.CPU.String())
	}
	text := d.Name() + ": " + strings.Join(parts, " and ") + " over the step"
	if d.Machine {
		text += ", as with the contenders next to it"
	}
	return text
}

// AllWarnings returns the warnings about a step: its drift, those of the load and its own.
func (s StepResult) AllWarnings() Warnings {
	var own Warnings
	if d := s.Drift; d != nil {
		own = Warnings{{Kind: WarnDrifting, Text: d.String()}}
		switch {
		case d.Machine:
			own[0].Kind = WarnMachineChanged
		case d.Warming():
			own[0].Kind = WarnWarmingUp
		}
	}
	return slices.Concat(own, s.Load.Warnings, s.Warnings)
}
