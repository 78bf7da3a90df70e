package stats

import (
	"math"
	"slices"
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

// rates returns a step with these successes per second, each with the same CPU time.
func rates(each ...float64) bench.StepResult {
	return stepOf(len(each), func(at float64) (float64, float64) { return each[int(at)], 1.5 * each[int(at)] / 2000 })
}

func TestDrift(t *testing.T) {
	rising := func(at float64) (float64, float64) { return 2000 + 50*at, 1.5 }
	const rose = "still warming up: throughput rose by 25% and CPU time per request fell by 20% over the step"
	few := []float64{100, 103, 102, 105, 104, 107} // the trend of all six has a p value of 1.4%
	for _, c := range []struct {
		name     string
		step     bench.StepResult
		want     string
		possible string
	}{
		{"level", stepOf(10, level), "", ""},
		{"too short", stepOf(3, func(at float64) (float64, float64) { return 1000 * at, 1.5 }), "", ""},
		{"clear", stepOf(10, rising), rose, ""},
		{"rises under a quota", stepOf(10, func(at float64) (float64, float64) { return 2000 + 20*at, 1.5 }),
			"still warming up: throughput rose by 10% and CPU time per request fell by 9.1% over the step", ""},
		{"cheaper at the same rate", stepOf(10, func(at float64) (float64, float64) { return 2000, 1 - .01*at }),
			"still warming up: CPU time per request fell by 10% over the step", ""},
		{"slower and slower", stepOf(10, func(at float64) (float64, float64) { return 2000 - 20*at, 1.5 - .015*at }),
			"unstable: throughput fell by 10% over the step", ""},
		{"by 2%", stepOf(10, func(at float64) (float64, float64) { return 2000 + 4*at, 1.5 }), "", ""},
		{"four windows", rates(1442, 2390, 3188, 3500), "still warming up: throughput rose by 226% over the step", ""},
		{"five windows", rates(few[:5]...), "", "still warming up: throughput rose by 5.0% over the step"},
		{"six windows", rates(few...), "", "still warming up: throughput rose by 7.0% over the step"},
		{"a first second that is slower", rates(1310, 1615, 1748, 1732, 1645, 1557, 1652, 1792, 1881, 1879),
			"", "still warming up: throughput rose by 28% over the step"},
		{"noise", rates(1977, 1781, 1600, 969, 1008, 1064, 1520, 1650, 1645, 808), "",
			"unstable: throughput fell by 34% over the step"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, is := range []struct {
				drift *bench.Drift
				want  string
			}{{Drift(c.step), c.want}, {PossibleDrift(c.step), c.possible}} {
				if (is.drift == nil) != (is.want == "") || is.drift != nil && is.drift.String() != is.want {
					t.Errorf("%+v, want %q", is.drift, is.want)
				}
			}
		})
	}
}

// Warm-ups, aborted steps and varying loads have no drift; windows of a drain do not count.
func TestDrift_MeasuredSteps(t *testing.T) {
	for name, change := range map[string]func(*bench.StepResult){
		"a warm-up":              func(s *bench.StepResult) { s.Step.WarmUp = true },
		"an aborted step":        func(s *bench.StepResult) { s.Aborted = "interrupted" },
		"a ramp":                 func(s *bench.StepResult) { s.Step.RampTo = 10 },
		"a ramp of connections":  func(s *bench.StepResult) { s.Step.RampFrom = 1 },
		"a wave":                 func(s *bench.StepResult) { s.Step.Wave = &bench.Wave{} },
		"arrivals":               func(s *bench.StepResult) { s.Step.Arrivals = &bench.Arrivals{} },
		"no success in a window": func(s *bench.StepResult) { s.Load.Windows[0].Succeeded = 0 },
		"a drain": func(s *bench.StepResult) {
			for i := range s.Load.Windows {
				s.Load.Windows[i].Drain = i > 2
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stepOf(10, func(at float64) (float64, float64) { return 2000 + 50*at, 1.5 })
			change(&s)
			if d := Drift(s); d != nil {
				t.Error(d)
			}
		})
	}
}

// Windows count that have at least 90% of the length of the longest.
func TestWholeWindows(t *testing.T) {
	window := func(ms time.Duration, drain bool) bench.Window {
		return bench.Window{Length: ms * time.Millisecond, Drain: drain}
	}
	all := []bench.Window{window(900, false), window(899, false), window(5000, true), window(1000, false)}
	whole := wholeWindows(bench.Load{Windows: all})
	if len(whole) != 2 || whole[0].Length != all[0].Length || whole[1].Length != all[3].Length {
		t.Errorf("%+v", whole)
	}
}

// CPU time per success is interpolated between readings.
func TestCosts(t *testing.T) {
	type reading struct{ at, cpu float64 } // seconds
	for _, test := range []struct {
		name     string
		readings []reading
		want     []float64 // ms; nil: not known
	}{
		{"between windows", []reading{{0, 1}, {.5, 1.2}, {1.5, 2.2}, {2.5, 3.2}}, []float64{7, 10, 5}},
		{"before the first window", []reading{{-.5, 0}, {.5, 1}, {1.5, 2}, {2.5, 3}, {3.5, 4}}, []float64{10, 10, 10}},
		{"after the first window began", []reading{{.5, 1}, {1.5, 2}, {2.5, 3}, {3.5, 4}}, []float64{5, 10, 10}},
		{"two at the same time", []reading{{0, 1}, {1, 2}, {1, 2}, {2, 3}, {3, 4}}, []float64{10, 10, 10}},
		{"two at the same time, at the end", []reading{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 4}}, []float64{10, 10, 10}},
		{"two seconds apart", []reading{{0, 1}, {1, 2}, {3, 4}}, []float64{10, 10, 10}},
		{"more than two seconds apart", []reading{{0, 1}, {.9, 2}, {3, 4}}, nil},
		{"a clock set", []reading{{0, 1}, {1, 2}, {.5, 3}, {2, 3}, {3, 4}}, nil},
		{"a counter reset", []reading{{0, 1}, {1, 2}, {2, 1}, {3, 4}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			began := time.Unix(1000, 0)
			var all []bench.Usage
			for _, r := range test.readings {
				cpu := time.Duration(math.Round(r.cpu * 1e9))
				all = append(all, bench.Usage{At: began.Add(time.Duration(r.at * 1e9)), CPU: cpu})
			}
			last := len(all) - 1
			s := bench.StepResult{Before: &all[0], Samples: all[1:last], After: &all[last], Load: bench.Load{Started: began}}
			var windows []bench.Window
			for i := range time.Duration(3) {
				windows = append(windows, bench.Window{Start: i * time.Second, Length: time.Second, Succeeded: 100})
			}
			got := costs(s, windows)
			if !slices.EqualFunc(got, test.want, func(a, b float64) bool { return near(a, b*1e6) }) {
				t.Errorf("%v, want %v", got, test.want)
			}
			if s.Before = nil; costs(s, windows) != nil {
				t.Error("known without a reading at the beginning")
			}
		})
	}
}
