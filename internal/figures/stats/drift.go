package stats

import (
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

const (
	// minDrift is the minimum number of windows for a drift. Below fewWindows, driftNoiseFew
	// applies: there a quick warm-up is hard to tell from noise.
	minDrift   = 4
	fewWindows = 6

	driftNoise    = 0.01
	driftNoiseFew = 0.05
)

// Drift tests the windows of a measured step for a trend in throughput or CPU time per request. The
// trend must exceed bench.DriftWithin, with p at most 1% (5% in short steps). nil: none.
func Drift(s bench.StepResult) *bench.Drift {
	noise := driftNoise
	if len(wholeWindows(s.Load)) < fewWindows {
		noise = driftNoiseFew
	}
	return drift(s, noise)
}

// PossibleDrift returns a trend above bench.DriftWithin that is within noise; nil: none.
func PossibleDrift(s bench.StepResult) *bench.Drift {
	if Drift(s) != nil {
		return nil
	}
	return drift(s, 1)
}

// drift returns the trends with a p value of at most noise.
func drift(s bench.StepResult, noise float64) *bench.Drift {
	if s.Step.WarmUp || s.Aborted != "" || changing(s.Step) {
		return nil
	}
	windows := wholeWindows(s.Load)
	rates := make([]float64, len(windows))
	for i, w := range windows {
		rates[i] = w.Throughput()
	}
	d := bench.Drift{Throughput: trend(rates, noise), CPU: trend(costs(s, windows), noise)}
	if d == (bench.Drift{}) {
		return nil
	}
	return &d
}

// changing reports whether the load of a step varies.
func changing(s bench.Step) bool {
	return s.RampTo > 0 || s.RampFrom > 0 || s.Wave != nil || s.Arrivals != nil
}

func trend(series []float64, noise float64) *bench.Trend {
	l, ok := FitLine(series)
	if len(series) < minDrift || !ok || math.Abs(l.Change()) <= bench.DriftWithin {
		return nil
	}
	t := bench.Trend{Change: l.Change(), P: l.P()}
	if t.P > noise {
		return nil
	}
	return &t
}

// wholeWindows returns the windows of full length, without those of a drain.
func wholeWindows(l bench.Load) (whole []bench.Window) {
	longest := time.Duration(0)
	for _, w := range l.Windows {
		if !w.Drain {
			longest = max(longest, w.Length)
		}
	}
	for _, w := range l.Windows {
		if !w.Drain && w.Length >= longest*9/10 {
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
