package stats

import (
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

const (
	// minDrift is the minimum number of windows for a drift.
	minDrift = 4

	// largest p values of a trend: of a contender that became faster, which in a runtime without threads
	// of compilers nothing else shows; of one that became slower, and of either one relative to the
	// others of its slices
	fasterNoise = 0.001
	slowerNoise = 0.01
)

// Drift returns why a measured step was not in a steady state; nil: it was. Threads of compilers show
// it by their share of CPU time. A runtime that has none shows it by a trend in throughput or CPU time per
// request; where other contenders were loaded in the same slices, they must not have the trend too, else
// it was the machine.
func Drift(s bench.StepResult, beside ...bench.StepResult) *bench.Drift {
	if s.Step.WarmUp || s.Aborted != "" || changing(s.Step) {
		return nil
	}
	share, compiles := s.Compiling(.5)
	if share > bench.CompilingWithin {
		return &bench.Drift{Compiled: share}
	}
	rates, costs := series(s)
	var theirRates, theirCosts [][]float64
	for _, other := range beside {
		r, c := series(other)
		theirRates, theirCosts = append(theirRates, r), append(theirCosts, c)
	}
	var own, shared bench.Drift
	own.Throughput, shared.Throughput = trend(rates, theirRates, 1, compiles)
	own.CPU, shared.CPU = trend(costs, theirCosts, -1, compiles)
	switch {
	case own != (bench.Drift{}):
		return &own
	case shared != (bench.Drift{}):
		shared.Machine = true
		return &shared
	}
	return nil
}

// series returns throughput and CPU time per success of the windows of a step.
func series(s bench.StepResult) (rates, cost []float64) {
	windows := wholeWindows(s.Load)
	for _, w := range windows {
		rates = append(rates, w.Throughput())
	}
	return rates, costs(s, windows)
}

// changing reports whether the load of a step varies.
func changing(s bench.Step) bool {
	return s.RampTo > 0 || s.RampFrom > 0 || s.Wave != nil || s.Arrivals != nil
}

// trend returns the trend of a contender, and one that its others have as well. faster is the sign of
// the change of a contender that becomes faster, which says nothing of one that compiles on threads
// that did not.
func trend(of []float64, beside [][]float64, faster float64, compiles bool) (own, shared *bench.Trend) {
	l, ok := FitLine(of)
	if len(of) < minDrift || !ok || math.Abs(l.Change()) <= bench.DriftWithin {
		return nil, nil
	}
	t, rises, noise := &bench.Trend{Change: l.Change(), P: l.P()}, l.Change()*faster > 0, slowerNoise
	if rises {
		noise = fasterNoise
	}
	if t.P > noise {
		return nil, nil
	}
	apart, ok := FitLine(besideThem(of, beside))
	switch {
	case ok && math.Abs(apart.Change()) <= math.Abs(t.Change)/2:
		return nil, t
	case rises && compiles, ok && (apart.Change()*t.Change < 0 || apart.P() > slowerNoise):
		return nil, nil
	}
	return t, nil
}

// besideThem returns a series divided by the geometric mean of its others; nil without any that is known.
func besideThem(of []float64, beside [][]float64) []float64 {
	beside = slices.DeleteFunc(beside, func(b []float64) bool { return len(b) < minDrift || slices.Min(b) <= 0 })
	if len(beside) == 0 {
		return nil
	}
	for _, b := range beside {
		of = of[:min(len(of), len(b))]
	}
	ratio := slices.Clone(of)
	for i := range ratio {
		for _, b := range beside {
			ratio[i] /= math.Pow(b[i], 1/float64(len(beside)))
		}
	}
	return ratio
}

// wholeWindows returns the windows of full length.
func wholeWindows(l bench.Load) (whole []bench.Window) {
	longest := time.Duration(0)
	for _, w := range l.Windows {
		longest = max(longest, w.Length)
	}
	for _, w := range l.Windows {
		if w.Length >= longest*9/10 {
			whole = append(whole, w)
		}
	}
	return whole
}

// costs returns the CPU time per success of each window; nil if it is not known for all. Counters
// are read about once a second; between readings it interpolates linearly.
func costs(s bench.StepResult, windows []bench.Window) []float64 {
	if s.Before == nil || s.After == nil {
		return nil
	}
	readings := append(append([]bench.Usage{*s.Before}, s.Samples...), *s.After)
	longest := time.Duration(0)
	for _, w := range windows {
		longest = max(longest, w.Length)
	}
	for i := 1; i < len(readings); i++ {
		if gap := readings[i].At.Sub(readings[i-1].At); gap < 0 || gap > 2*longest || readings[i].CPU < readings[i-1].CPU {
			return nil // too few readings, or the clock was set
		}
	}
	used := func(at time.Time) float64 {
		i := slices.IndexFunc(readings, func(u bench.Usage) bool { return u.At.After(at) })
		if i < 0 {
			i = len(readings) - 1
		}
		i = max(i, 1)
		a, b := readings[i-1], readings[i]
		between := b.At.Sub(a.At)
		if between <= 0 {
			return float64(a.CPU)
		}
		share := min(max(float64(at.Sub(a.At))/float64(between), 0), 1)
		return float64(a.CPU) + share*float64(b.CPU-a.CPU)
	}
	all := make([]float64, len(windows))
	for i, w := range windows {
		from := s.Load.Started.Add(w.Start)
		if w.Succeeded == 0 {
			return nil
		}
		all[i] = (used(from.Add(w.Length)) - used(from)) / float64(w.Succeeded)
	}
	return all
}
