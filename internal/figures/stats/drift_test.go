package stats

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
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
	falling := func(at float64) (float64, float64) { return 2000 - 20*at, 1.5 - .015*at }
	const rose = "still warming up: throughput rose by 25% and CPU time per request fell by 20% over the step"
	const fell = "unstable: throughput fell by 10% over the step"
	// the p value of the trend of each is in the name
	for _, c := range []struct {
		name   string
		step   bench.StepResult
		beside []bench.StepResult
		want   string
	}{
		{"level", stepOf(10, level), nil, ""},
		{"too short", stepOf(3, func(at float64) (float64, float64) { return 1000 * at, 1.5 }), nil, ""},
		{"clear", stepOf(10, rising), nil, rose},
		{"rises under a quota", stepOf(10, func(at float64) (float64, float64) { return 2000 + 20*at, 1.5 }), nil,
			"still warming up: throughput rose by 10% and CPU time per request fell by 9.1% over the step"},
		{"cheaper at the same rate", stepOf(10, func(at float64) (float64, float64) { return 2000, 1 - .01*at }), nil,
			"still warming up: CPU time per request fell by 10% over the step"},
		{"slower and slower", stepOf(10, falling), nil, fell},
		{"by 2%", stepOf(10, func(at float64) (float64, float64) { return 2000 + 4*at, 1.5 }), nil, ""},
		{"faster, 1.4%", rates(100, 103, 102, 105, 104, 107), nil, ""},
		{"faster, 0.5%", rates(100, 103, 102, 105, 105, 108), nil, ""},
		{"faster, 0.07%", rates(100, 102, 103, 104, 105, 108), nil, "still warming up: throughput rose by 8.6% over the step"},
		{"slower, 0.5%", rates(108, 105, 105, 102, 103, 100), nil, "unstable: throughput fell by 7.8% over the step"},
		{"slower, 1.4%", rates(107, 104, 105, 102, 103, 100), nil, ""},
		{"a first second that is slower", rates(1310, 1615, 1748, 1732, 1645, 1557, 1652, 1792, 1881, 1879), nil, ""},
		{"noise", rates(1977, 1781, 1600, 969, 1008, 1064, 1520, 1650, 1645, 808), nil, ""},
		{"rises next to one that is level", stepOf(10, rising), of(stepOf(10, level)), rose},
		{"falls next to one that is level", stepOf(10, falling), of(stepOf(10, level)), fell},
		{"level next to one that falls", stepOf(10, level), of(stepOf(10, falling)), ""},
		{"both rise", stepOf(10, rising), of(stepOf(10, rising)),
			"the machine changed: throughput rose by 25% and CPU time per request fell by 20% over the step, as with the contenders next to it"},
		{"both fall, one by a third less", stepOf(10, falling),
			of(stepOf(10, func(at float64) (float64, float64) { return 2000 - 13*at, 1.5 - .01*at })),
			"the machine changed: throughput fell by 10% over the step, as with the contenders next to it"},
		{"falls next to one that falls far more", stepOf(10, falling),
			of(stepOf(10, func(at float64) (float64, float64) { return 2000 - 60*at, 1.5 - .045*at })), ""},
		{"both fall, one by two thirds less", stepOf(10, falling),
			of(stepOf(10, func(at float64) (float64, float64) { return 2000 - 6*at, 1.5 - .005*at })), fell},
		{"next to one that jumps", rates(2000, 1980, 1960, 1940, 1920, 1900, 1880, 1860, 1840, 1820),
			of(rates(1500, 2500, 1000, 3000, 2000, 1800, 2500, 1500, 1200, 2600)), ""},
		{"next to two, one of which rises", stepOf(10, rising), of(stepOf(10, level), stepOf(10, rising)),
			"still warming up: throughput rose by 25% over the step"},
		{"next to one without a success", stepOf(10, rising), of(rates(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), rose},
		{"compiled in its second half", compiled(stepOf(10, level), .5, .05), of(stepOf(10, level)),
			"still warming up: compilers took 5.0% of its CPU time in the second half of the step"},
		{"compiled in its first half", compiled(stepOf(10, level), 0, .05), nil, ""},
		{"compiled as much as counts as steady", compiled(stepOf(10, level), .5, .02), nil, ""},
		{"compiled a little more", compiled(stepOf(10, level), .5, .0202), nil,
			"still warming up: compilers took 2.0% of its CPU time in the second half of the step"},
		{"faster, its compilers idle", compiled(stepOf(10, rising), 0, .05), of(stepOf(10, level)), ""},
		{"slower, its compilers idle", compiled(stepOf(10, falling), 0, .05), of(stepOf(10, level)), fell},
	} {
		t.Run(c.name, func(t *testing.T) {
			drift := Drift(c.step, c.beside...)
			testenv.Check(t, (drift == nil) == (c.want == "") && (drift == nil || drift.String() == c.want),
				"%+v, want %q", drift, c.want)
		})
	}
}

func of(all ...bench.StepResult) []bench.StepResult { return all }

// compiled returns the step of a runtime whose compilers took a share of its CPU time in half of it, from
// a share of the step on; before and after they were idle.
func compiled(s bench.StepResult, from, share float64) bench.StepResult {
	used, last := 0., s.Before.CPU
	read := func(u *bench.Usage) {
		at := u.At.Sub(s.Before.At).Seconds() / s.Load.Elapsed.Seconds()
		if at > from && at <= from+.501 {
			used += share * float64(u.CPU-last)
		}
		last = u.CPU
		u.ThreadTime = &bench.ThreadTime{Compiled: 1e9 + time.Duration(used)}
	}
	read(s.Before)
	for i := range s.Samples {
		read(&s.Samples[i])
	}
	read(s.After)
	return s
}

// Warm-ups, aborted steps and varying loads have no drift.
func TestDrift_MeasuredSteps(t *testing.T) {
	for name, change := range map[string]func(*bench.StepResult){
		"a warm-up":              func(s *bench.StepResult) { s.Step.WarmUp = true },
		"an aborted step":        func(s *bench.StepResult) { s.Aborted = "interrupted" },
		"a ramp":                 func(s *bench.StepResult) { s.Step.RampTo = 10 },
		"a ramp of connections":  func(s *bench.StepResult) { s.Step.RampFrom = 1 },
		"a wave":                 func(s *bench.StepResult) { s.Step.Wave = &bench.Wave{} },
		"arrivals":               func(s *bench.StepResult) { s.Step.Arrivals = &bench.Arrivals{} },
		"no success in a window": func(s *bench.StepResult) { s.Load.Windows[0].Succeeded = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := stepOf(10, func(at float64) (float64, float64) { return 2000 + 50*at, 1.5 })
			change(&s)
			d := Drift(s)
			testenv.Check(t, d == nil, "%v", d)
		})
	}
}

// Windows count that have at least 90% of the length of the longest.
func TestWholeWindows(t *testing.T) {
	window := func(ms time.Duration) bench.Window { return bench.Window{Length: ms * time.Millisecond} }
	all := []bench.Window{window(900), window(899), window(1000)}
	whole := wholeWindows(bench.Load{Windows: all})
	testenv.Check(t, len(whole) == 2 && whole[0].Length == all[0].Length && whole[1].Length == all[2].Length,
		"%+v", whole)
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
			testenv.Check(t, slices.EqualFunc(got, test.want, func(a, b float64) bool { return near(a, b*1e6) }),
				"%v, want %v", got, test.want)
			s.Before = nil
			testenv.Check(t, costs(s, windows) == nil, "known without a reading at the beginning")
		})
	}
}
