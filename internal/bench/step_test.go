package bench

import (
	"fmt"
	"testing"
	"time"
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
		{Step{Arrivals: &Arrivals{4000, time.Minute, 1}}, "4000 users over 1m", "4,000 users", "4,000 users over 60.0 s", "4000 users over 1m"},
	} {
		if got := c.step.DefaultName(); got != c.name {
			t.Errorf("named %q, want %q", got, c.name)
		}
		c.step.Name = c.name
		if short, words, at := c.step.Short(), c.step.Words(), c.step.At(); short != c.short || words != c.words || at != c.atIt {
			t.Errorf("%s: short %q, in words %q, at %q; want %q, %q, %q", c.name, short, words, at, c.short, c.words, c.atIt)
		}
	}
	if got := (Step{Name: "a", WarmUp: true}).Title(); got != "a (warm-up)" {
		t.Errorf("title %q", got)
	}
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

func TestStepCanBeInterleaved(t *testing.T) {
	for want, s := range map[string]Step{
		"<nil>":                              {Connections: 5, WarmUp: true},
		"its load varies":                    {RampTo: 5},
		"it has arrivals":                    {Arrivals: &Arrivals{}},
		"it ends after a number of requests": {MaxRequests: 1},
	} {
		t.Run(want, func(t *testing.T) {
			if got := fmt.Sprint(s.CheckInterleave()); got != want {
				t.Errorf("%+v: %q, want %q", s, got, want)
			}
		})
	}
}
