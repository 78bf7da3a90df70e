package bench

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
)

// StepResult is one finished step of a trial.
type StepResult struct {
	Index int  `json:"index"` // index of the step, from 0
	Step  Step `json:"step"`
	Load  Load `json:"load"`
	// counters of the contender at the two ends of the measured interval; nil if not readable
	Before  *Usage  `json:"before,omitempty"`
	After   *Usage  `json:"after,omitempty"`
	Samples []Usage `json:"samples,omitempty"` // one reading per second between the two ends

	// BusiestThread is the CPU time of the busiest of the contender's threads between the two ends;
	// nil: not known.
	BusiestThread *Duration `json:"busiest_thread_ns,omitempty"`

	HostBefore *HostReading `json:"host_before,omitempty"` // host and needs at the same two ends
	HostAfter  *HostReading `json:"host_after,omitempty"`

	Hiccups    *Hiccups    `json:"hiccups,omitempty"`    // machine stalls between the same two ends
	Interleave *Interleave `json:"interleave,omitempty"` // nil: the step was not interleaved
	Drift      *Drift      `json:"drift,omitempty"`      // trend over the windows of a measured step; nil: none

	Warnings Warnings `json:"warnings,omitempty"`
	Aborted  string   `json:"aborted,omitempty"` // why the step ended early, as text: "the contender died", "interrupted"
	Ending   Ending   `json:"ending,omitempty"`  // why the step ended early; "" if it did not

	Thresholds []ThresholdResult `json:"thresholds,omitempty"` // results of the thresholds that applied
}

// LongFirstResponses is the time from which on the first responses of a step are worth showing.
const LongFirstResponses = time.Second

// FirstResponses returns the longest time from the first request of a connection to its response;
// ok is false for an open loop.
func (s StepResult) FirstResponses() (longest time.Duration, ok bool) {
	return s.Load.FirstResponse, s.Load.FirstResponse > 0 && !s.Step.Open()
}

// Texts of StepResult.Aborted.
const (
	AbortedDied    = "the contender died"
	AbortedSkipped = "skipped by the user"
)

// Ending is why a step ended early; "" if it did not.
type Ending string

// The endings.
const (
	EndedByDeath Ending = "died"
	EndedBySkip  Ending = "skipped"
	EndedByNeed  Ending = "need" // a need ended or did not respond
	EndedEarly   Ending = "aborted"
)

// CPU returns the CPU time of the contender in the step; ok is false if it is not known.
func (s StepResult) CPU() (d time.Duration, ok bool) {
	if s.Before == nil || s.After == nil || s.After.CPU < s.Before.CPU {
		return 0, false
	}
	d = s.After.CPU - s.Before.CPU
	if s.Interleave != nil {
		d += s.Interleave.AddedCPU
	}
	return d, true
}

// CPUs returns how many CPUs the contender used in the step.
func (s StepResult) CPUs() (cpus float64, ok bool) {
	if _, ok := s.CPU(); !ok {
		return 0, false
	}
	return s.perTime(s.After.CPU - s.Before.CPU)
}

// perTime returns CPU time over the time between the two readings, which may be a little late. If
// these have no times, it uses the client's, or else the length of the step.
func (s StepResult) perTime(cpu time.Duration) (cpus float64, ok bool) {
	for _, between := range []time.Duration{s.After.At.Sub(s.Before.At), s.Load.Wall, s.Load.Elapsed} {
		if between > 0 {
			return float64(cpu) / float64(between), true
		}
	}
	return 0, false
}

// CPUPerRequest returns the CPU time of the step divided by the successes in the same time.
func (s StepResult) CPUPerRequest() (time.Duration, bool) {
	cpu, ok := s.CPU()
	if !ok || s.Load.Counted() == 0 {
		return 0, false
	}
	return cpu / time.Duration(s.Load.Counted()), true
}

// Throttling returns the throttling in the step; ok is false if it is not known.
func (s StepResult) Throttling() (t Throttling, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *Throttling { return u.Throttling })
	return Throttling{a.Periods - b.Periods, a.Throttled - b.Throttled, a.Time - b.Time}, ok
}

// MemorySeconds returns peak memory since start, at the end of the step, over throughput, in MiB·s.
func (s StepResult) MemorySeconds() (float64, bool) {
	if s.After == nil || s.After.Memory == nil || s.Load.Throughput() == 0 {
		return 0, false
	}
	return float64(s.After.Memory.Peak) / (1 << 20) / s.Load.Throughput(), true
}

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

// Advance returns u with its clock and counters advanced by the difference between two readings.
// Values that are not counters (`advance:"no"`) are those of the later reading. It joins the
// readings of slices. What one of the readings does not have, or has from another source, is unknown.
func (u Usage) Advance(from, to Usage) Usage { return *advanced(&u, &from, &to) }

// Advance returns b advanced by the difference between two readings, as Usage.Advance does.
func (b *HostReading) Advance(from, to *HostReading) *HostReading { return advanced(b, from, to) }

func advanced[T any](a, from, to *T) *T {
	if a == nil || from == nil || to == nil {
		return nil
	}
	return new(advance(reflect.ValueOf(*a), reflect.ValueOf(*from), reflect.ValueOf(*to)).Interface().(T))
}

// advance advances a counter, or all below a value, by the difference between two readings.
func advance(a, from, to reflect.Value) reflect.Value {
	out := reflect.New(to.Type()).Elem()
	switch to.Kind() {
	case reflect.Int, reflect.Int64:
		out.SetInt(a.Int() + to.Int() - from.Int())
	case reflect.Pointer:
		if _, memory := to.Interface().(*Memory); memory {
			out.Set(to) // its use is known without counters
		}
		if a.IsNil() || from.IsNil() || to.IsNil() || !sameSource(from, to) {
			return out
		}
		out.Set(reflect.New(to.Type().Elem()))
		out.Elem().Set(advance(a.Elem(), from.Elem(), to.Elem()))
	case reflect.Map:
		for _, key := range to.MapKeys() {
			zero := reflect.Zero(to.Type().Elem())
			in := func(m reflect.Value) reflect.Value {
				if v := m.MapIndex(key); v.IsValid() {
					return v
				}
				return zero
			}
			v := advance(in(a), in(from), in(to))
			if a.IsNil() || from.IsNil() || v.Kind() == reflect.Pointer && v.IsNil() {
				continue
			}
			if out.IsNil() {
				out.Set(reflect.MakeMap(to.Type()))
			}
			out.SetMapIndex(key, v)
		}
	case reflect.Struct:
		if at, ok := to.Interface().(time.Time); ok {
			return reflect.ValueOf(a.Interface().(time.Time).Add(at.Sub(from.Interface().(time.Time))))
		}
		out.Set(to)
		for i, f := range reflect.VisibleFields(to.Type()) {
			if f.Tag.Get("advance") != "no" {
				out.Field(i).Set(advance(a.Field(i), from.Field(i), to.Field(i)))
			}
		}
	default:
		out.Set(to)
	}
	return out
}

// sameSource reports whether two readings are of one source, and what has been read from disks has
// not become less.
func sameSource(from, to reflect.Value) bool {
	if d, ok := to.Interface().(*Disk); ok {
		return d.since(from.Interface().(*Disk)) != nil
	}
	if to.Elem().Kind() != reflect.Struct {
		return true
	}
	source := to.Elem().FieldByName("Source")
	return !source.IsValid() || source.String() == from.Elem().FieldByName("Source").String()
}
