package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// Values of a step need readings at both ends, from the same source, with counters that did not
// decrease.
func TestStepResult_Counters(t *testing.T) {
	usage := func(n int64, source string) *Usage {
		return &Usage{
			CPU: Duration(n), CPUUser: new(Duration(n)), CPUSystem: new(Duration(2 * n)),
			Memory:   &Memory{MinorFaults: new(3 * n), MajorFaults: new(4 * n), StepPeak: new(5 * n)},
			Switches: &Switches{Source: source, Voluntary: 6 * n, Involuntary: 7 * n},
			Network:  &Network{Source: source, Received: 8 * n, Sent: 9 * n},
			Pressure: &Pressure{
				Source: source, CPU: &Stall{Some: Duration(10 * n), Full: new(Duration(11 * n))}, IO: &Stall{Some: Duration(n)},
			},
			Throttling: &Throttling{Periods: 12 * n, Throttled: 13 * n, Time: Duration(14 * n)},
		}
	}
	with := func(u *Usage, change func(*Usage)) *Usage {
		change(u)
		return u
	}
	voluntary := func(u *Usage) { u.Switches.Voluntary = 100 }
	involuntary := func(u *Usage) { u.Switches.Involuntary = 100 }
	received := func(u *Usage) { u.Network.Received = 100 }
	sent := func(u *Usage) { u.Network.Sent = 100 }
	const none = "0s 0s false, 0 0 false, {0 0 0s} false"
	for name, test := range map[string]struct {
		before, after            *Usage
		split, switches, network string
		peak, pressure           string
	}{
		"both ends": {usage(1, "a"), usage(3, "a"), "2ns 4ns true, 6 8 true, {24 26 28ns} true", "12 14 true", "16 18 true",
			"15 true", `{"source":"a","cpu":{"some_ns":20,"full_ns":22},"io":{"some_ns":2}}`},
		"no change": {usage(1, "a"), usage(1, "a"), "0s 0s true, 0 0 true, {0 0 0s} true", "0 0 true", "0 0 true",
			"5 true", `{"source":"a","cpu":{"some_ns":0,"full_ns":0},"io":{"some_ns":0}}`},
		"two sources": {usage(1, "a"), usage(3, "b"), "2ns 4ns true, 6 8 true, {24 26 28ns} true", "12 14 false", "16 18 false",
			"15 true", "null"},
		"decreased": {usage(3, "a"), usage(1, "a"), "0s 0s false, 0 0 false, {-24 -26 -28ns} true", "-12 -14 false",
			"-16 -18 false", "5 true", "null"},
		"nothing":        {nil, nil, none, "0 0 false", "0 0 false", "0 false", "null"},
		"one end":        {nil, usage(3, "a"), none, "0 0 false", "0 0 false", "0 false", "null"},
		"another":        {usage(3, "a"), nil, none, "0 0 false", "0 0 false", "0 false", "null"},
		"empty":          {&Usage{}, &Usage{}, none, "0 0 false", "0 0 false", "0 false", "null"},
		"one peak":       {&Usage{Memory: &Memory{}}, usage(3, "a"), none, "0 0 false", "0 0 false", "0 false", "null"},
		"the other peak": {usage(3, "a"), &Usage{Memory: &Memory{}}, none, "0 0 false", "0 0 false", "0 false", "null"},
		"one of two decreased": {with(with(usage(1, "a"), voluntary), received), usage(3, "a"),
			"2ns 4ns true, 6 8 true, {24 26 28ns} true", "-82 14 false", "-76 18 false", "15 true",
			`{"source":"a","cpu":{"some_ns":20,"full_ns":22},"io":{"some_ns":2}}`},
		"the other of two decreased": {with(with(usage(1, "a"), involuntary), sent), usage(3, "a"),
			"2ns 4ns true, 6 8 true, {24 26 28ns} true", "12 -79 false", "16 -73 false", "15 true",
			`{"source":"a","cpu":{"some_ns":20,"full_ns":22},"io":{"some_ns":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := StepResult{Before: test.before, After: test.after}
			split := all(s.CPUSplit()) + ", " + all(s.Faults()) + ", " + all(s.Throttling())
			pressure, err := json.Marshal(s.Pressure())
			check(t, fact{"CPU, faults, throttling", split, test.split}, fact{"switches", all(s.Switches()), test.switches},
				fact{"network", all(s.Network()), test.network}, fact{"peak", all(s.StepPeak()), test.peak},
				fact{"pressure", string(pressure), test.pressure}, fact{"error", err, nil})
		})
	}
}

// A part of the counters may be unknown.
func TestStepResult_PartlyKnown(t *testing.T) {
	n := Duration(1)
	step := func(u Usage) StepResult { return StepResult{Before: &u, After: &u} }
	only := func(p Pressure) any { return step(Usage{Pressure: &p}).Pressure() != nil }
	stall := func(before, after Stall) string { return all(*after.since(&before)) }
	check(t,
		fact{"user alone", all(step(Usage{CPUUser: &n}).CPUSplit()), "0s 0s false"},
		fact{"system alone", all(step(Usage{CPUSystem: &n}).CPUSplit()), "0s 0s false"},
		fact{"minor alone", all(step(Usage{Memory: &Memory{MinorFaults: new(int64(1))}}).Faults()), "0 0 false"},
		fact{"major alone", all(step(Usage{Memory: &Memory{MajorFaults: new(int64(1))}}).Faults()), "0 0 false"},
		fact{"CPU alone", only(Pressure{CPU: &Stall{}}), true}, fact{"memory alone", only(Pressure{Memory: &Stall{}}), true},
		fact{"IO alone", only(Pressure{IO: &Stall{}}), true}, fact{"nothing", only(Pressure{}), false},
		fact{"some", stall(Stall{Some: 2}, Stall{Some: 5}), "{3ns <nil>}"},
		fact{"full decreased", stall(Stall{Some: 2, Full: new(Duration(3))}, Stall{Some: 2, Full: &n}), "{0s <nil>}"},
	)
}

// Values of host and store are shares of the time between the readings.
func TestStepResult_HostAndStore(t *testing.T) {
	at := time.Unix(1, 0)
	host := func(h HostUsage) *HostReading { return &HostReading{Host: &h} }
	before := host(HostUsage{Busy: 10, Idle: 20, Steal: 5, Throttles: new(int64(2)), Pressure: &Pressure{CPU: &Stall{Some: 1}}})
	share := func(after HostUsage) string {
		return all(StepResult{HostBefore: before, HostAfter: host(after)}.HostShare())
	}
	db := func(before, after NeedUsage) string {
		s := StepResult{HostBefore: &HostReading{Needs: map[string]*NeedUsage{"db": &before}}, HostAfter: &HostReading{Needs: map[string]*NeedUsage{"db": &after}}}
		return all(s.NeedCPUs("db")) + ", " + all(s.NeedInFlight("db"))
	}
	began, embedded := NeedUsage{At: at, Source: "/proc", CPU: 10, Busy: 7}, NeedUsage{At: at, Source: "embedded", Busy: 10}
	later := StepResult{HostBefore: before, HostAfter: host(HostUsage{Throttles: new(int64(5)), Pressure: &Pressure{CPU: &Stall{Some: 4}}})}
	check(t,
		fact{"host", share(HostUsage{Busy: 40, Idle: 60, Steal: 15}), "0.375 0.125 true"},
		fact{"host without a change", share(HostUsage{Busy: 10, Idle: 20, Steal: 5}), "0 0 false"},
		fact{"idle time only", share(HostUsage{Busy: 10, Idle: 21, Steal: 5}), "0 0 true"},
		fact{"less busy time", share(HostUsage{Busy: 9, Idle: 60, Steal: 5}), "0 0 false"},
		fact{"less steal time", share(HostUsage{Busy: 10, Idle: 60, Steal: 4}), "0 0 false"},
		fact{"no host", all(StepResult{HostBefore: before}.HostShare()), "0 0 false"},
		fact{"throttles", all(later.Throttles()), "3 true"},
		fact{"host's pressure", later.HostPressure().CPU.Some, Duration(3)},
		fact{"throttles unknown", all(StepResult{HostBefore: before, HostAfter: host(HostUsage{})}.Throttles()), "0 false"},
		fact{"need", db(began, NeedUsage{At: at.Add(40), Source: "/proc", CPU: 20, Busy: 9}), "0.25 true, 0 false"},
		fact{"idle need", db(began, NeedUsage{At: at.Add(40), Source: "/proc", CPU: 10}), "0 true, 0 false"},
		fact{"another source", db(began, NeedUsage{At: at.Add(40), Source: "cgroup v2", CPU: 20}), "0 false, 0 false"},
		fact{"less CPU time", db(began, NeedUsage{At: at.Add(40), Source: "/proc", CPU: 9}), "0 false, 0 false"},
		fact{"at the same time", db(began, NeedUsage{At: at, Source: "/proc", CPU: 20}), "0 false, 0 false"},
		fact{"embedded", db(embedded, NeedUsage{At: at.Add(10), Source: "embedded", Busy: 35}), "0 false, 2.5 true"},
		fact{"idle and embedded", db(embedded, NeedUsage{At: at.Add(10), Source: "embedded", Busy: 10}), "0 false, 0 true"},
		fact{"less busy", db(embedded, NeedUsage{At: at.Add(10), Source: "embedded", Busy: 9}), "0 false, 0 false"},
		fact{"embedded, at the same time", db(embedded, NeedUsage{At: at, Source: "embedded", Busy: 11}), "0 false, 0 false"},
		fact{"embedded later", db(began, NeedUsage{At: at.Add(10), Source: "embedded", Busy: 35}), "0 false, 0 false"},
		fact{"embedded before", db(embedded, NeedUsage{At: at.Add(10), Source: "/proc", Busy: 35}), "0 false, 0 false"},
		fact{"stalled share", Hiccups{CPUs: 2, Sum: 100}.Share(400), .125},
		fact{"stalls of no CPU", Hiccups{Sum: 100}.Share(400), 0.}, fact{"stalls in no time", Hiccups{CPUs: 2, Sum: 100}.Share(0), 0.},
	)
}

// A late reading covers a longer time; the number of CPUs does not change.
func TestStepResult_CPUs(t *testing.T) {
	step := func(used, between, wall, elapsed time.Duration) string {
		at := time.Unix(1, 0)
		s := StepResult{
			Before: &Usage{At: at, CPU: 2 * time.Second}, After: &Usage{At: at.Add(between), CPU: 2*time.Second + used},
			Load: Load{Wall: wall, Elapsed: elapsed, Succeeded: 1000},
		}
		return all(s.CPUs()) + ", " + all(s.CPUPerRequest())
	}
	const sec = time.Second
	ends := func(before, after *Usage) string {
		return all(StepResult{Before: before, After: after}.CPUPerRequest())
	}
	memory := func(n int64, u *Usage) string {
		return all(StepResult{Load: Load{Succeeded: n, Elapsed: 2 * sec}, After: u}.MemorySeconds())
	}
	check(t,
		fact{"a late reading", step(sec, 4*sec, 2*sec, 2*sec), "0.25 true, 1ms true"},
		fact{"no times of readings", step(sec, 0, 4*sec, sec), "0.25 true, 1ms true"},
		fact{"no times but the step's length", step(sec, 0, 0, 4*sec), "0.25 true, 1ms true"},
		fact{"no time at all", step(sec, 0, 0, 0), "0 false, 1ms true"},
		fact{"idle", step(0, sec, sec, sec), "0 true, 0s true"},
		fact{"a counter that decreased", step(-1, sec, sec, sec), "0 false, 0s false"},
		fact{"one reading", ends(&Usage{}, nil), "0s false"}, fact{"the other reading", ends(nil, &Usage{}), "0s false"},
		fact{"no success", ends(&Usage{}, &Usage{}), "0s false"},
		fact{"memory per rate", memory(1000, &Usage{Memory: &Memory{Used: 1, Peak: 500 << 20}}), "1 true"},
		fact{"memory per no rate", memory(0, &Usage{Memory: &Memory{Peak: 1}}), "0 false"},
		fact{"no memory", memory(1000, &Usage{}), "0 false"}, fact{"no reading of memory", memory(1000, nil), "0 false"},
	)
}

// The busiest thread is that whose CPU time grew most, of those that run at the end. One that began in
// between counts from 0, and one whose number now belongs to another does not count.
func TestBusiest(t *testing.T) {
	of := func(cpu ...time.Duration) *Usage {
		u := &Usage{ThreadCPU: map[int]time.Duration{}}
		for id, d := range cpu {
			if d > 0 {
				u.ThreadCPU[id] = d
			}
		}
		return u
	}
	for name, c := range map[string]struct {
		from, to *Usage
		want     time.Duration // -1: not known
	}{
		"the one that worked":       {of(900, 10), of(905, 40), 30},
		"one that began":            {of(900), of(905, 40), 40},
		"one that has ended":        {of(10, 10, 10), of(12, 0, 11), 2},
		"another with its number":   {of(900, 10), of(5, 12), 2},
		"none that was there":       {of(900), of(5), -1},
		"not known at the start":    {&Usage{}, of(5), -1},
		"not known at the end":      {of(5), &Usage{}, -1},
		"no reading at the start":   {nil, of(5), -1},
		"no reading at the end":     {of(5), nil, -1},
		"interleaved in two slices": {of(100, 50), new(of(100, 50).Advance(*of(100, 50), *of(130, 50)).Advance(*of(140, 50), *of(145, 90))), 40},
	} {
		step := StepResult{Before: c.from, After: c.to}
		if c.from != nil && c.to != nil {
			step.HostBefore = &HostReading{Needs: map[string]*NeedUsage{"db": {ThreadCPU: c.from.ThreadCPU}, "gone": {}}}
			step.HostAfter = &HostReading{Needs: map[string]*NeedUsage{"db": {At: time.Unix(0, 60), ThreadCPU: c.to.ThreadCPU}, "new": {}}}
			step.HostBefore.Needs["db"].At = time.Unix(0, 0)
		}
		step.KeepBusiest()
		got := time.Duration(-1)
		if step.BusiestThread != nil {
			got = *step.BusiestThread
		}
		testenv.Check(t, got == c.want, "%s: %d, want %d", name, got, c.want)
		if share := step.Need("db").BusyThread; c.want >= 0 && share != float64(c.want)/60 {
			t.Errorf("%s: the need's %g, want %d of 60", name, share, c.want)
		}
	}
	at := time.Unix(1000, 0)
	s := StepResult{Before: &Usage{At: at}, After: &Usage{At: at.Add(time.Second)}, BusiestThread: new(950 * time.Millisecond)}
	if share, ok := s.BusyThread(); !ok || share != .95 {
		t.Errorf("%g, %v", share, ok)
	}
	if s.BusiestThread = nil; func() bool { _, ok := s.BusyThread(); return ok }() {
		t.Error("known without a reading")
	}
}

// The threads after the warm-up are those at the end of its last step, or of the first step without one.
func TestTrialResult_Threads(t *testing.T) {
	step := func(warmUp bool, n int) StepResult {
		s := StepResult{Step: Step{WarmUp: warmUp}}
		if n > 0 {
			s.After = &Usage{Threads: &n}
		}
		return s
	}
	for name, c := range map[string]struct {
		steps []StepResult
		want  int // 0: not known
	}{
		"two warm-ups":                {[]StepResult{step(true, 2), step(true, 3), step(false, 9)}, 3},
		"no warm-up":                  {[]StepResult{step(false, 4), step(false, 9)}, 4},
		"not known after the warm-up": {[]StepResult{step(true, 0), step(false, 4), step(false, 9)}, 4},
		"never known":                 {[]StepResult{step(true, 0), {After: &Usage{}}}, 0},
		"no step":                     {},
	} {
		if n, ok := (TrialResult{Steps: c.steps}).Threads(); n != c.want || ok != (c.want > 0) {
			t.Errorf("%s: %d, %v, want %d", name, n, ok, c.want)
		}
	}
}
