package bench

import (
	"testing"
	"time"
)

// Values of a step need readings at both ends, from the same source, with counters that did not
// decrease.
func TestValuesOfAStep(t *testing.T) {
	usage := func(n int64, source string) *Usage {
		return &Usage{
			CPU: time.Duration(n), CPUUser: new(time.Duration(n)), CPUSystem: new(time.Duration(2 * n)),
			Memory:   &Memory{MinorFaults: new(3 * n), MajorFaults: new(4 * n), StepPeak: new(5 * n)},
			Switches: &Switches{Source: source, Voluntary: 6 * n, Involuntary: 7 * n}, Network: &Network{Source: source, Received: 8 * n, Sent: 9 * n},
			Pressure: &Pressure{Source: source, CPU: &Stall{Some: time.Duration(10 * n), Full: new(time.Duration(11 * n))}, IO: &Stall{Some: time.Duration(n)}},
		}
	}
	s := StepResult{Before: usage(1, "a"), After: usage(3, "a")}
	if user, system, ok := s.CPUSplit(); user != 2 || system != 4 || !ok {
		t.Error(user, system, ok)
	}
	if minor, major, ok := s.Faults(); minor != 6 || major != 8 || !ok {
		t.Error(minor, major, ok)
	}
	if v, i, ok := s.Switches(); v != 12 || i != 14 || !ok {
		t.Error(v, i, ok)
	}
	if in, out, ok := s.Network(); in != 16 || out != 18 || !ok {
		t.Error(in, out, ok)
	}
	if n, ok := s.StepPeak(); n != 15 || !ok {
		t.Error(n, ok)
	}
	if p := s.Pressure(); p == nil || p.CPU.Some != 20 || *p.CPU.Full != 22 || p.IO.Full != nil || p.Memory != nil {
		t.Errorf("%+v", p)
	}
	for name, s := range map[string]StepResult{
		"nothing": {}, "one end": {After: usage(3, "a")}, "empty": {Before: &Usage{}, After: &Usage{}}, "empty memory": {Before: &Usage{Memory: &Memory{}}, After: &Usage{Memory: &Memory{}}},
		"back": {Before: usage(3, "a"), After: usage(1, "a")},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, ok1 := s.CPUSplit()
			_, _, ok2 := s.Faults()
			_, _, ok3 := s.Switches()
			_, _, ok4 := s.Network()
			if ok1 || ok2 || ok3 || ok4 || s.Pressure() != nil || s.HostPressure() != nil {
				t.Errorf("%s: %v %v %v %v %v", name, ok1, ok2, ok3, ok4, s.Pressure())
			}
			if _, ok := s.StepPeak(); ok && name != "back" { // the peak of a step needs no difference
				t.Errorf("%s: a peak", name)
			}
		})
	}
	other := StepResult{Before: usage(1, "a"), After: usage(3, "b")}
	if _, _, ok := other.Switches(); ok {
		t.Error("context switches of two sources were subtracted")
	}
	if _, _, ok := other.Network(); ok || other.Pressure() != nil {
		t.Error("network bytes or pressure of two sources were subtracted")
	}
	host := func(n int64) *HostReading { return &HostReading{Host: &HostUsage{Throttles: new(n)}} }
	if n, ok := (StepResult{HostBefore: host(2), HostAfter: host(5)}).Throttles(); n != 3 || !ok {
		t.Error(n, ok)
	}
	if _, ok := (StepResult{HostBefore: host(2), HostAfter: &HostReading{Host: &HostUsage{}}}).Throttles(); ok {
		t.Error("throttles that were not measured")
	}
}
