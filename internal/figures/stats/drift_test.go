package stats

import (
	"math"
	"math/rand/v2"
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

// The critical values are those of printed tables of Student's t.
func TestStudent(t *testing.T) {
	for _, row := range []struct {
		freedom int
		t, p    float64
	}{
		{1, 12.706, .05}, {2, 4.303, .05}, {3, 5.841, .01}, {4, 2.776, .05}, {5, 4.032, .01}, {8, 3.355, .01},
		{10, 2.228, .05}, {15, 1.753, .10},
		{30, 2.042, .05}, {30, .683, .50}, {120, 2.617, .01},
	} {
		for _, sign := range []float64{1, -1} {
			p := studentP(sign*row.t, row.freedom)
			testenv.Check(t, !(math.Abs(p-row.p) > row.p*.002), "t %g with %d degrees of freedom: p %.5f, want %g", sign*row.t, row.freedom, p, row.p)
		}
	}
}

func TestFitLine(t *testing.T) {
	l, ok := FitLine([]float64{90, 95, 100, 105, 110})
	testenv.Check(t, ok && !(math.Abs(l.Slope-.05) > 1e-12) && !(l.Error > 1e-12) && !(math.Abs(l.Change()-.25) > 1e-12) && !(l.P() > 1e-9),
		"%+v, %v", l, ok)
	if l, ok := FitLine([]float64{7, 7, 7}); !ok || l.Slope != 0 || l.P() != 1 {
		t.Errorf("values that are the same: %+v, %v", l, ok)
	}
	// By hand: the mean is 2, the slope .75; the values are −.25, +.5 and −.25 from the line.
	l, _ = FitLine([]float64{1, 2.5, 2.5})
	testenv.Check(t, math.Abs(l.Slope-.375) <= 1e-12 && math.Abs(l.Error-.25*math.Sqrt(3)/2) <= 1e-12, "%+v", l)
	for _, bad := range [][]float64{nil, {1, 2}, {1, 0, 2}, {1, math.NaN(), 2}, {1, math.Inf(1), 2}, {-1, 1, 1}} {
		l, ok := FitLine(bad)
		testenv.Check(t, !ok, "%v: %+v", bad, l)
	}
}

// trialWith returns a trial whose steps follow each other without a gap, 5 s after process start.
func trialWith(steps ...bench.StepResult) bench.TrialResult {
	at := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	trial := bench.TrialResult{Instance: &bench.InstanceInfo{Runtime: bench.RuntimeDocker,
		StartedAt: at.Add(-5 * time.Second)}}
	for i, s := range steps {
		s.Index = i
		s.Load.Started = at
		at = at.Add(s.Load.Elapsed)
		trial.Steps = append(trial.Steps, s)
	}
	return trial
}

// warm returns a warm-up step of this length in seconds.
func warm(seconds int, of func(at float64) float64) bench.StepResult {
	s := stepOf(seconds, func(at float64) (float64, float64) { return of(at), 1.5 })
	s.Step.WarmUp = true
	return s
}

func at(s bench.StepResult, connections int) bench.StepResult {
	s.Step.Connections = connections
	return s
}

func TestTimeToPeak(t *testing.T) {
	full := func(float64) float64 { return 2000 }
	jumpAt := func(begin float64) func(float64) float64 {
		return func(at float64) float64 {
			if at < begin {
				return 1000
			}
			return 2000
		}
	}
	jump := jumpAt(12)
	// but is jump, with another rate between two moments.
	but := func(from, to, factor float64) func(float64) float64 {
		return func(at float64) float64 {
			if at > from && at < to {
				return jump(at) * factor
			}
			return jump(at)
		}
	}
	cpu := func(of func(float64) float64, from float64) func(float64) (float64, float64) {
		return func(at float64) (float64, float64) { return of(at + from), 1.5 }
	}
	arriving := stepOf(20, level)
	arriving.Step.Arrivals = &bench.Arrivals{Users: 5}
	ended := warm(10, full)
	ended.Aborted = "interrupted"
	atOnce := trialWith(warm(20, full))
	atOnce.Instance.StartedAt = atOnce.Steps[0].Load.Started
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name  string
		trial bench.TrialResult
		want  time.Duration // 0: not known
	}{
		{"level from the start", trialWith(warm(20, full)), 5 * time.Second},
		{"ten windows", trialWith(warm(10, full)), 5 * time.Second},
		{"nine windows", trialWith(warm(9, full)), 0},
		{"half speed for 12 s", trialWith(warm(30, jump)), 17 * time.Second},
		{"right before the last third", trialWith(warm(30, jumpAt(20))), 25 * time.Second},
		{"within the last third", trialWith(warm(30, jumpAt(21))), 0},
		{"and in the measured step", trialWith(warm(18, jump), stepOf(10, level), at(stepOf(10, level), 128)),
			17 * time.Second},
		{"reached in the measured step", trialWith(warm(10, jump), stepOf(20, cpu(jump, 10))), 17 * time.Second},
		{"several warm-ups of one load", trialWith(at(warm(10, full), 1),
			at(warm(10, func(float64) float64 { return 500 }), 1),
			at(warm(10, full), 1), at(warm(20, full), 1), stepOf(10, level)), 25 * time.Second},
		{"only the last load", trialWith(at(warm(10, full), 1), warm(30, jump), at(stepOf(10, level), 128)),
			27 * time.Second},
		{"after a warm-up that ended early", trialWith(ended, warm(20, full)), 15 * time.Second},
		{"without a warm-up", trialWith(stepOf(30, cpu(jump, 0)), at(stepOf(30, level), 128)), 17 * time.Second},
		{"comes near", trialWith(warm(40, func(at float64) float64 { return 2000 * (1 - .6*math.Exp(-at/4)) })),
			17 * time.Second},
		{"a pause of a window", trialWith(warm(30, but(20, 21, .5))), 17 * time.Second},
		{"a pause of the last window", trialWith(warm(30, but(29, 30, .5))), 17 * time.Second},
		{"a step in between does not stay", trialWith(warm(30, but(15, 19, .9))), 24 * time.Second},
		{"noise of 10%", trialWith(warm(40, func(at float64) float64 { return jump(at) * (1 + .1*rng.NormFloat64()) })),
			17 * time.Second},
		{"rises to the end", trialWith(warm(30, func(at float64) float64 { return 1000 + 30*at })), 0},
		{"no success", trialWith(warm(20, func(float64) float64 { return 0 })), 0},
		{"no steps", trialWith(), 0},
		{"users that arrive", trialWith(arriving), 0},
		{"no time after the start", atOnce, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok := TimeToPeak(c.trial)
			testenv.Check(t, ok == (c.want > 0) && (!ok || p.After == c.want), "%s, %v; want %s", p.After, ok, c.want)
			testenv.Check(t, !ok || math.Abs(p.Level/2000-1) <= .1 && p.Within >= .03 && p.Step == "64 connections",
				"%+v", p)
		})
	}
	// Between neighbors is a difference of 200: 200 / 0.6745 / √2 is a standard deviation of 209.7.
	p, _ := TimeToPeak(trialWith(warm(30, func(at float64) float64 { return 2000 + 200*math.Mod(math.Floor(at), 2) })))
	testenv.Check(t, math.Abs(p.Within-2*209.67/p.Level) <= 1e-5, "%+v", p)
	for name, change := range map[string]func(*bench.TrialResult){
		"a target":    func(l *bench.TrialResult) { l.Instance.Runtime = bench.RuntimeURL },
		"no instance": func(l *bench.TrialResult) { l.Instance = nil },
		"no start":    func(l *bench.TrialResult) { l.Instance.StartedAt = time.Time{} },
		"interleaved": func(l *bench.TrialResult) { l.Steps[0].Interleave = &bench.Interleave{With: []string{"b"}} },
	} {
		trial := trialWith(warm(20, full))
		change(&trial)
		p, ok := TimeToPeak(trial)
		testenv.Check(t, !ok, "%s: %+v", name, p)
	}
}
