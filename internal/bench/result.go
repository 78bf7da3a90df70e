package bench

import (
	"reflect"
	"time"
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
