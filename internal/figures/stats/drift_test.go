package stats

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// stepOf returns a step with windows of 1 s; of returns successes and CPU time of each window.
func stepOf(seconds int, of func(at float64) (succeeded, cpu float64)) bench.StepResult {
	began := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	s := bench.StepResult{Step: bench.Step{Name: "64 connections", Connections: 64}}
	s.Load.Started = began
	s.Load.Elapsed = time.Duration(seconds) * time.Second
	used := time.Second
	s.Before = &bench.Usage{At: began, CPU: used}
	for i := range seconds {
		n, cpu := of(float64(i) + .5)
		used += time.Duration(cpu * 1e9)
		w := bench.Window{Start: time.Duration(i) * time.Second, Length: time.Second, Succeeded: int64(n)}
		s.Load.Windows, s.Load.Succeeded = append(s.Load.Windows, w), s.Load.Succeeded+w.Succeeded
		s.Samples = append(s.Samples, bench.Usage{At: began.Add(w.Start + w.Length), CPU: used})
	}
	s.After = &bench.Usage{At: began.Add(s.Load.Elapsed + time.Millisecond), CPU: used}
	return s
}

// level is a steady contender: 2,000 successes per second, 1.5 CPUs.
func level(float64) (float64, float64) { return 2000, 1.5 }

func TestDrift(t *testing.T) {
	for name, c := range map[string]struct {
		step bench.StepResult
		want string
	}{
		"level":     {stepOf(10, level), ""},
		"too short": {stepOf(3, func(at float64) (float64, float64) { return 1000 * at, 1.5 }), ""},
		"rises under a quota": {stepOf(10, func(at float64) (float64, float64) { return 2000 + 20*at, 1.5 }),
			"still warming up: throughput rose by 10% and CPU time per request fell by 9.1% over the step"},
		"cheaper at the same rate": {stepOf(10, func(at float64) (float64, float64) { return 2000, 1 - .01*at }),
			"still warming up: CPU time per request fell by 10% over the step"},
		"slower and slower": {stepOf(10, func(at float64) (float64, float64) { return 2000 - 20*at, 1.5 - .015*at }),
			"unstable: throughput fell by 10% over the step"},
		"by 2%":     {stepOf(10, func(at float64) (float64, float64) { return 2000 + 4*at, 1.5 }), ""},
		"kt-spring": {stepOf(4, func(at float64) (float64, float64) { return []float64{1442, 2390, 3188, 3500}[int(at)], 1.5 }), "still warming up: throughput rose by 226% over the step"},
		"one bad window": {stepOf(10, func(at float64) (float64, float64) {
			if at > 9 {
				return 1500, 1.5
			}
			return 2000 + 10*math.Mod(at*7, 3), 1.5
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if d := Drift(c.step); d != nil {
				got = d.String()
			}
			if got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		})
	}
}

// A measured step of kt-spring-webflux: its first second is slower, and the trend of the others is
// within noise.
func TestPossibleDrift(t *testing.T) {
	seen := func(rates ...float64) bench.StepResult {
		return stepOf(len(rates), func(at float64) (float64, float64) { return rates[int(at)], 1.5 * rates[int(at)] / 2000 })
	}
	for name, c := range map[string]struct {
		step bench.StepResult
		want string
	}{
		"level":     {stepOf(10, level), ""},
		"clear":     {stepOf(10, func(at float64) (float64, float64) { return 2000 + 50*at, 1.5 }), ""},
		"hidden":    {seen(1310, 1615, 1748, 1732, 1645, 1557, 1652, 1792, 1881, 1879), "still warming up: throughput rose by 28% over the step"},
		"falls":     {seen(1977, 1781, 1600, 969, 1008, 1064, 1520, 1650, 1645, 808), "unstable: throughput fell by 34% over the step"},
		"too short": {seen(100, 200), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if d := PossibleDrift(c.step); d != nil {
				got = d.String()
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Warm-ups, aborted steps and varying loads have no drift; windows of a drain do not count.
func TestDriftIsOfMeasuredSteps(t *testing.T) {
	rising := stepOf(10, func(at float64) (float64, float64) { return 2000 + 50*at, 1.5 })
	for name, change := range map[string]func(*bench.StepResult){
		"warm-up":  func(s *bench.StepResult) { s.Step.WarmUp = true },
		"aborted":  func(s *bench.StepResult) { s.Aborted = "interrupted" },
		"ramp":     func(s *bench.StepResult) { s.Step.RampTo = 10 },
		"joining":  func(s *bench.StepResult) { s.Step.RampFrom = 1 },
		"wave":     func(s *bench.StepResult) { s.Step.Wave = &bench.Wave{} },
		"arrivals": func(s *bench.StepResult) { s.Step.Arrivals = &bench.Arrivals{} },
		"drain": func(s *bench.StepResult) {
			for i := range s.Load.Windows {
				s.Load.Windows[i].Drain = i > 2
			}
		},
		"no success in a window": func(s *bench.StepResult) { s.Load.Windows[0].Succeeded, s.Load.Windows[1].Succeeded = 0, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := rising
			s.Load.Windows = append([]bench.Window(nil), s.Load.Windows...)
			change(&s)
			if d := Drift(s); d != nil {
				t.Errorf("%s: %s", name, d)
			}
		})
	}
	short := rising
	short.Load.Windows = append(append([]bench.Window(nil), rising.Load.Windows...), bench.Window{Start: 10 * time.Second, Length: 50 * time.Millisecond, Succeeded: 2})
	if a, b := Drift(rising), Drift(short); a == nil || b == nil || *a.Throughput != *b.Throughput {
		t.Errorf("with a short window %v, without %v", b, a)
	}
	for name, change := range map[string]func(*bench.StepResult){
		"no counters":   func(s *bench.StepResult) { s.Before = nil },
		"no samples":    func(s *bench.StepResult) { s.Samples = nil },
		"a clock set":   func(s *bench.StepResult) { s.Samples[4].At = s.Samples[4].At.Add(-time.Hour) },
		"counter reset": func(s *bench.StepResult) { s.Samples[4].CPU = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := rising
			s.Samples = append([]bench.Usage(nil), s.Samples...)
			change(&s)
			if d := Drift(s); d == nil || d.Throughput == nil || d.CPU != nil {
				t.Errorf("%s: %+v", name, d)
			}
		})
	}
}

func TestDriftIsAWarning(t *testing.T) {
	s := stepOf(10, func(at float64) (float64, float64) { return 2000 + 50*at, 1.5 })
	s.Drift = Drift(s)
	s.Load.Warnings, s.Warnings = bench.Warnings{{Text: "client-bound"}}, bench.Warnings{{Text: "machine stalls"}}
	if got := s.AllWarnings().Join("|"); !strings.HasPrefix(got, "still warming up: throughput rose by 25%") || !strings.HasSuffix(got, "|client-bound|machine stalls") {
		t.Error(got)
	}
}
