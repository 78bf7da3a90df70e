package bench

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestStepIsNamed(t *testing.T) {
	for _, c := range []struct {
		step                     Step
		name, short, words, atIt string
	}{
		{Step{Connections: 1}, "1 connection", "1", "1 connection", "1 conn"},
		{Step{Connections: 1024, WarmUp: true}, "1024 connections", "w 1,024", "1,024 connections (warm-up)", "1,024 conns"},
		{Step{Connections: 64, Request: "list"}, "64 connections, list", "64", "64 connections, list", "64 connections, list"},
		{Step{Connections: 64, RampFrom: 2}, "2 to 64 connections", "64", "64 connections", "64 conns"},
		{Step{Rate: 1500}, "1500/s", "1,500/s", "1,500 requests/s", "1500/s"},
		{Step{Rate: 100, RampTo: 200}, "100 to 200/s", "100/s", "100 requests/s", "100 to 200/s"},
		{Step{Rate: 100, Wave: &Wave{50, time.Second}}, "100 ± 50/s", "100/s", "100 requests/s", "100 ± 50/s"},
		{Step{PeakShare: .125, Rate: 4000}, "12.5% of peak", "12.5%", "4,000 requests/s", "12.5% of peak"},
		{Step{PeakShare: .5, LowestPeak: true, Rate: 400}, "50% of lowest peak", "50%", "400 requests/s", "50% of lowest peak"},
		{Step{Arrivals: &Arrivals{4000, time.Minute, 1}}, "4000 users over 1m", "4,000 users", "4,000 users over 60.0 s", "4000 users over 1m"},
	} {
		testenv.Equal(t, c.step.DefaultName(), c.name, "named")
		c.step.Name = c.name
		if short, words, at := c.step.Short(), c.step.Words(), c.step.At(); short != c.short || words != c.words || at != c.atIt {
			t.Errorf("%s: short %q, in words %q, at %q; want %q, %q, %q", c.name, short, words, at, c.short, c.words, c.atIt)
		}
	}
	testenv.Equal(t, (Step{Name: "a", WarmUp: true}).Title(), "a (warm-up)", "title")
}

// Steps of two runs are compared if they have the same load. The kind of request matters, the
// duration does not.
func TestStepIsTheSame(t *testing.T) {
	base := Step{Name: "a", Connections: 64, Request: "list", Duration: time.Second}
	for name, c := range map[string]struct {
		change func(*Step)
		same   bool
	}{
		"itself":      {func(*Step) {}, true},
		"length":      {func(s *Step) { s.Duration = time.Minute }, true},
		"request":     {func(s *Step) { s.Request = "single" }, false},
		"whole mix":   {func(s *Step) { s.Request = "" }, false},
		"name":        {func(s *Step) { s.Name = "b" }, false},
		"connections": {func(s *Step) { s.Connections = 65 }, false},
		"ramp":        {func(s *Step) { s.RampFrom = 1 }, false},
		"warm-up":     {func(s *Step) { s.WarmUp = true }, false},
		"rate":        {func(s *Step) { s.Rate = 1 }, false},
		"rate's ramp": {func(s *Step) { s.RampTo = 1 }, false},
		"wave":        {func(s *Step) { s.Wave = &Wave{} }, false},
		"arrivals":    {func(s *Step) { s.Arrivals = &Arrivals{} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := base
			c.change(&other)
			testenv.Check(t, base.Same(other) == c.same && other.Same(base) == c.same,
				"the same: %v and %v, want %v", base.Same(other), other.Same(base), c.same)
		})
	}
	for name, c := range map[string]struct {
		a, b Step
		same bool
	}{
		"equal waves":       {Step{Wave: &Wave{5, 6}}, Step{Wave: &Wave{5, 6}}, true},
		"other waves":       {Step{Wave: &Wave{5, 6}}, Step{Wave: &Wave{5, 7}}, false},
		"equal arrivals":    {Step{Arrivals: &Arrivals{1, 2, 3}}, Step{Arrivals: &Arrivals{1, 2, 3}}, true},
		"shares of a peak":  {Step{PeakShare: .5, Rate: 100}, Step{PeakShare: .5, Rate: 120}, true},
		"shares of two":     {Step{PeakShare: .5, LowestPeak: true}, Step{PeakShare: .5}, false},
		"shares, requests":  {Step{PeakShare: .5, Request: "a"}, Step{PeakShare: .5, Request: "b"}, false},
		"a share, and none": {Step{PeakShare: .5, Rate: 100}, Step{Rate: 100, Name: "b"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Check(t, c.a.Same(c.b) == c.same && c.b.Same(c.a) == c.same, "the same: %v", c.a.Same(c.b))
		})
	}
}

func TestStep_Validate(t *testing.T) {
	closed := func(n int, change func(*Step)) Step {
		s := Step{Connections: n, Duration: 1}
		if change != nil {
			change(&s)
		}
		return s
	}
	open := func(rate float64, change func(*Step)) Step {
		return closed(0, func(s *Step) {
			s.Rate = rate
			if change != nil {
				change(s)
			}
		})
	}
	arrive := func(users int, over Duration, requests int) Step {
		return closed(0, func(s *Step) { s.Arrivals = &Arrivals{users, over, requests} })
	}
	ramp := func(from int) Step { return closed(5, func(s *Step) { s.RampFrom = from }) }
	wave := func(rate, by float64, period Duration) Step {
		return open(rate, func(s *Step) { s.Wave = &Wave{by, period} })
	}
	limits := func(connections, kept int, requests int64, d Duration) Step {
		return closed(1, func(s *Step) {
			s.MaxConnections, s.KeepRequests, s.MaxRequests, s.Duration = connections, kept, requests, d
		})
	}
	const (
		ways     = "[a step has either connections, a rate or arrivals]"
		constant = "[a rate is constant, a ramp or a wave with a period]"
		ramps    = " connections: must start with at least 1 and with fewer than at the end]"
		rates    = ": must be above 0 and at most 1000000]"
	)
	for name, test := range map[string]struct {
		step Step
		want string
	}{
		"one connection": {closed(1, nil), "[]"}, "the most": {closed(65535, nil), "[]"},
		"none": {closed(0, nil), "[0 connections: must be 1 to 65535]"}, "one more": {closed(65536, nil), "[65536 connections: must be 1 to 65535]"},
		"a ramp": {ramp(1), "[]"}, "a long ramp": {ramp(4), "[]"}, "a ramp from below": {ramp(-1), "[ramp from -1 to 5" + ramps},
		"a ramp without a rise": {ramp(5), "[ramp from 5 to 5" + ramps}, "a low rate": {open(.1, nil), "[]"},
		"the highest rate": {open(1e6, nil), "[]"}, "a higher one": {open(1e6+1, nil), "[rate 1.000001e+06" + rates},
		"below 0": {open(-1, nil), "[rate -1" + rates}, "NaN": {open(math.NaN(), nil), "[rate NaN" + rates},
		"a rate's ramp":      {open(1, func(s *Step) { s.RampTo = 1e6 }), "[]"},
		"a ramp too high":    {open(1, func(s *Step) { s.RampTo = 2e6 }), "[rate 2e+06" + rates},
		"a ramp and a wave":  {open(5, func(s *Step) { s.RampTo, s.Wave = 9, &Wave{1, 1} }), constant},
		"a wave":             {wave(5, 4, 1), "[]"},
		"a wave down to 0":   {wave(5, 5, 1), "[rate 0" + rates},
		"a wave too high":    {wave(1e6, -1, 1), "[rate 1.000001e+06" + rates},
		"without a period":   {wave(5, 4, 0), constant},
		"a share of a peak":  {open(7, func(s *Step) { s.PeakShare = .5 }), "[]"},
		"of an unknown peak": {open(0, func(s *Step) { s.PeakShare = .5 }), "[the rate is 50% of peak, but no earlier step has one]"},
		"users":              {arrive(1, 1, 1), "[]"},
		"the most users":     {arrive(1e6, 1, 1e6), "[]"},
		"users with a limit": {Step{Arrivals: &Arrivals{1, 1, 1}, Duration: 1, MaxRequests: 5}, "[at most 5 requests: not with arrivals, which set the number of requests]"},
		"two ways":           {open(1, func(s *Step) { s.Connections = 1 }), ways},
		"two others":         {open(1, func(s *Step) { s.Arrivals = &Arrivals{} }), ways},
		"a share and more":   {closed(1, func(s *Step) { s.PeakShare = .5 }), ways},
		"the highest limits": {limits(65535, MaxKeptRequests, 1, 1), "[]"},
		"too many at most":   {limits(65536, 0, 0, 1), "[at most 65536 connections: must be 1 to 65535]"},
		"all below 0":        {limits(-1, -1, -1, 0), "[at most -1 connections: must be 1 to 65535 duration 0s: must be positive]"},
	} {
		check(t, fact{name, test.step.Validate(), test.want})
	}
}

func TestStep_Kinds(t *testing.T) {
	interleaved := func(s Step) any { return s.CheckInterleave() }
	at := func(connections int, n int64, change func(*StepResult)) StepResult {
		s := StepResult{Step: Step{Connections: connections}, Load: Load{Outcomes: Outcomes{Succeeded: n}, Elapsed: time.Second}}
		if change != nil {
			change(&s)
		}
		return s
	}
	peak := Peak([]StepResult{
		at(1, 5, nil), at(2, 7, nil), at(4, 6, nil), at(0, 9, nil), at(8, 9, func(s *StepResult) { s.Step.WarmUp = true }),
		at(16, 9, func(s *StepResult) { s.Aborted = "x" }),
	}, nil)
	// 30 of its 40 successes are measured: 6 of a single request, 24 of sessions with 4 requests
	sessions := Peak([]StepResult{at(4, 30, func(s *StepResult) {
		s.Load.Lead, s.Load.Drain, s.Load.Sessions = 6, 4, []SessionLoad{{Begun: 8}}
		s.Load.Requests = []RequestLoad{{Name: "item", Outcomes: Outcomes{Succeeded: 6}}, {Name: "order", Outcomes: Outcomes{Succeeded: 24}}}
	})}, []Request{{Name: "order", Session: "buy"}, {Name: "item"}})
	const varies, ends = "its load varies", "it ends after a number of requests"
	check(t,
		fact{"peak", peak, 7.}, fact{"peak of sessions", sessions, 12.}, fact{"no peak", Peak(nil, nil), 0.}, fact{"half", Step{PeakShare: .5}.AtPeak(50).Rate, 25.},
		fact{"its own rate", Step{Rate: 5}.AtPeak(50).Rate, 5.}, fact{"closed", Step{Connections: 1}.Open(), false},
		fact{"a rate", Step{Rate: 1}.Open(), true}, fact{"a share", Step{PeakShare: .1}.Open(), true},
		fact{"arrivals", Step{Arrivals: &Arrivals{}}.Open(), true}, fact{"a swing", Step{Wave: &Wave{Amplitude: -5}}.Swing(), 5.},
		fact{"no swing", Step{Rate: 5}.Swing(), 0.},
		fact{"a warm-up is interleaved", interleaved(Step{Connections: 5, WarmUp: true}), nil},
		fact{"a ramp of connections", interleaved(Step{RampFrom: 1}), varies}, fact{"a ramp", interleaved(Step{RampTo: 1}), varies},
		fact{"a wave", interleaved(Step{Wave: &Wave{}}), varies},
		fact{"users", interleaved(Step{Arrivals: &Arrivals{}}), "it has arrivals"},
		fact{"a number of requests", interleaved(Step{MaxRequests: 1}), ends},
		fact{"applies", Threshold{FromStep: 2}.AppliesTo(1, Step{}), true}, fact{"applies later", Threshold{FromStep: 2}.AppliesTo(0, Step{}), false},
		fact{"a warm-up is free", Threshold{}.AppliesTo(1, Step{WarmUp: true}), false},
		fact{"missed", StepResult{Thresholds: []ThresholdResult{{Text: "a"}, {Passed: true}, {Text: "b"}}}.Missed(), []ThresholdResult{{Text: "a"}, {Text: "b"}}},
	)
}

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
			Load: Load{Wall: wall, Elapsed: elapsed, Outcomes: Outcomes{Succeeded: 1000}},
		}
		return all(s.CPUs()) + ", " + all(s.CPUPerRequest())
	}
	const sec = time.Second
	ends := func(before, after *Usage) string {
		return all(StepResult{Before: before, After: after}.CPUPerRequest())
	}
	memory := func(n int64, u *Usage) string {
		return all(StepResult{Load: Load{Outcomes: Outcomes{Succeeded: n}, Elapsed: 2 * sec}, After: u}.MemorySeconds())
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
		share := step.Need("db").BusyThread
		testenv.Check(t, c.want < 0 || share == float64(c.want)/60, "%s: the need's %g, want %d of 60", name, share, c.want)
	}
	at := time.Unix(1000, 0)
	s := StepResult{Before: &Usage{At: at}, After: &Usage{At: at.Add(time.Second)}, BusiestThread: new(950 * time.Millisecond)}
	share, ok := s.BusyThread()
	testenv.Check(t, ok && share == .95, "%g, %v", share, ok)
	s.BusiestThread = nil
	testenv.Check(t, !func() bool { _, ok := s.BusyThread(); return ok }(), "known without a reading")
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
		n, ok := (TrialResult{Steps: c.steps}).Threads()
		testenv.Check(t, n == c.want && ok == (c.want > 0), "%s: %d, %v, want %d", name, n, ok, c.want)
	}
}
