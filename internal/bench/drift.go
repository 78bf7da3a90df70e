package bench

import (
	"slices"
	"strings"

	"locbench/internal/bench/units"
)

// Drift says that a measured step was not in a steady state: its windows go one way, by more than
// DriftWithin over the step and by more than noise. Its figures are of a service on its way, and
// take part in no claim.
type Drift struct {
	Throughput *Trend `json:"throughput,omitempty"`      // nil: no trend
	CPU        *Trend `json:"cpu_per_request,omitempty"` // nil: no trend, or not known by the window
}

// Trend is where the windows of a step go.
type Trend struct {
	// from its beginning to its end, of a line through its windows, as a share of their mean
	Change float64 `json:"change"`
	P      float64 `json:"p"` // two-sided, of a line without any slope
}

// String returns how much higher or lower the end is than the beginning: "rose by 12%". A beginning
// near zero has no such ratio.
func (t Trend) String() string {
	begin, end := 1-t.Change/2, 1+t.Change/2 // of the line through the windows, times their mean
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

// DriftWithin is the change over a step up to which it counts as steady.
const DriftWithin = 0.03

// Warming reports whether the service was becoming faster.
func (d Drift) Warming() bool {
	return d.Throughput != nil && d.Throughput.Change > 0 || d.CPU != nil && d.CPU.Change < 0
}

const (
	StillWarmingUp = "still warming up"
	Unstable    = "unstable" // where the service was becoming slower
)

// Name returns that of the warning.
func (d Drift) Name() string {
	if d.Warming() {
		return StillWarmingUp
	}
	return Unstable
}

// String returns the warning with its figures: "still warming: throughput rose by 12% and CPU time per
// request fell by 9.8% over the step".
func (d Drift) String() string {
	var parts []string
	if d.Throughput != nil {
		parts = append(parts, "throughput "+d.Throughput.String())
	}
	if d.CPU != nil {
		parts = append(parts, "CPU time per request "+d.CPU.String())
	}
	return d.Name() + ": " + strings.Join(parts, " and ") + " over the step"
}

// Warnings are all the warnings about a step: its drift, those of the load and its own.
func (s StepResult) AllWarnings() Warnings {
	var own Warnings
	if d := s.Drift; d != nil {
		own = Warnings{{Kind: WarnDrifting, Text: d.String()}}
		if d.Warming() {
			own[0].Kind = WarnWarmingUp
		}
	}
	return slices.Concat(own, s.Load.Warnings, s.Warnings)
}
