package bench

import (
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
			if base.Same(other) != c.same || other.Same(base) != c.same {
				t.Errorf("the same: %v and %v, want %v", base.Same(other), other.Same(base), c.same)
			}
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
			if c.a.Same(c.b) != c.same || c.b.Same(c.a) != c.same {
				t.Errorf("the same: %v", c.a.Same(c.b))
			}
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
		users    = ": expected 1 to 1000000 users and requests, and a time]"
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
		"no user":            {arrive(0, 1, 1), "[arrivals of 0 users over 1ns with 1 requests each" + users},
		"too many users":     {arrive(1e6+1, 1, 1), "[arrivals of 1000001 users over 1ns with 1 requests each" + users},
		"users, no requests": {arrive(1, 1, 0), "[arrivals of 1 users over 1ns with 0 requests each" + users},
		"users, too many":    {arrive(1, 1, 1e6+1), "[arrivals of 1 users over 1ns with 1000001 requests each" + users},
		"at once":            {arrive(1, 0, 1), "[arrivals of 1 users over 0s with 1 requests each" + users},
		"users with a limit": {Step{Arrivals: &Arrivals{1, 1, 1}, Duration: 1, MaxRequests: 5}, "[at most 5 requests: not with arrivals, which set the number of requests]"},
		"two ways":           {open(1, func(s *Step) { s.Connections = 1 }), ways},
		"two others":         {open(1, func(s *Step) { s.Arrivals = &Arrivals{} }), ways},
		"a share and more":   {closed(1, func(s *Step) { s.PeakShare = .5 }), ways},
		"the highest limits": {limits(65535, MaxKeptRequests, 1, 1), "[]"},
		"too many at most":   {limits(65536, 0, 0, 1), "[at most 65536 connections: must be 1 to 65535]"},
		"too many to keep":   {limits(0, MaxKeptRequests+1, 0, 1), "[10001 kept requests: must be 1 to 10000]"},
		"all below 0": {limits(-1, -1, -1, 0), "[at most -1 connections: must be 1 to 65535 duration 0s: must be positive " +
			"at most -1 requests: must not be negative -1 kept requests: must be 1 to 10000]"},
	} {
		check(t, fact{name, test.step.Validate(), test.want})
	}
}

func TestStep_Kinds(t *testing.T) {
	interleaved := func(s Step) any { return s.CheckInterleave() }
	at := func(connections int, n int64, change func(*StepResult)) StepResult {
		s := StepResult{Step: Step{Connections: connections}, Load: Load{Succeeded: n, Elapsed: time.Second}}
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
		s.Load.Requests = []RequestLoad{{Name: "item", Succeeded: 6}, {Name: "order", Succeeded: 24}}
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
