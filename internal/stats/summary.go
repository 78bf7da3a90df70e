package stats

import (
	"fmt"
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// Value is a figure that each round has once.
type Value struct {
	Values   []float64 // in the order of the rounds
	Median   float64
	Interval *Interval // 95 %, of the median; nil with fewer than MinInterval values
}

// Known tells whether there is any value.
func (v Value) Known() bool { return len(v.Values) > 0 }

// Duration is the median of a value in nanoseconds.
func (v Value) Duration() time.Duration { return time.Duration(v.Median) }

// NewValue is the median of one value of each round, and its interval.
func NewValue(xs []float64) Value {
	v := Value{Values: xs}
	v.Median, _ = Median(xs)
	if interval, ok := MedianInterval(xs, 0.95); ok {
		v.Interval = &interval
	}
	return v
}

// Step is one step of a contender over all rounds that finished it.
type Step struct {
	Index      int
	Step       bench.Step
	Rounds     int   // that finished it; the figures but the counts are of these
	Aborted    int   // rounds in which it ended early
	Drifting   int   // of Rounds: those in which it was not in a steady state, by bench.Drift
	Warming    int   // of Drifting: those in which it became faster
	Succeeded  int64 // in all rounds, aborted ones included, also before and after the intervals
	Failed     map[bench.ErrorKind]int64
	Throughput Value              // successes per second
	Latency    bench.Latencies    // of the successes of all rounds, merged
	Results    []bench.StepResult // of the rounds that finished it; package measure takes all other figures from them
}

// FailedTotal is the number of errors in all rounds.
func (s Step) FailedTotal() int64 { return bench.Load{Failed: s.Failed}.FailedTotal() }

// ErrorRatio is errors / (errors + successes) of all rounds together; 0 when nothing was asked.
func (s Step) ErrorRatio() float64 {
	return bench.Load{Failed: s.Failed, Succeeded: s.Succeeded}.ErrorRatio()
}

// Contender is the summary of one contender over its rounds.
type Contender struct {
	Label    string
	Service  bench.Service
	Legs     int // seen
	Complete int // that ran every step
	Failures []string
	StartUp  Value // nanoseconds
	PeakTime Value // nanoseconds, from TimeToPeak
	Idle     Value // CPUs in use while nobody asked anything, in the rests of the load
	Steps    []Step
	Peak     int // index into Steps of the measured step with the highest median throughput; -1 without one
	Errors   map[bench.ErrorKind]int64

	MemoryPeak         int64 // bytes, the highest of all rounds; 0 where it is not known
	MemoryPeakIsSample bool  // it is the largest sample: the true one may be higher
	Memory             Value // bytes, the highest of each complete round
	ErrorRatio         Value // errors / (errors + successes) of each round in which anything was asked

	Cost     *Cost // of the median round by Total; nil where it is not known
	CostEach Value // dollars per 10⁹ requests of each round
	Checks   map[bench.CheckStatus]int
	Warnings []string
}

// PeakStep is the step with the highest median throughput; ok is false where none was measured.
func (c Contender) PeakStep() (Step, bool) {
	if c.Peak < 0 || c.Peak >= len(c.Steps) {
		return Step{}, false
	}
	return c.Steps[c.Peak], true
}

// ErrorsTotal is the number of errors in all steps of all rounds.
func (c Contender) ErrorsTotal() int64 { return bench.Load{Failed: c.Errors}.FailedTotal() }

// Summarise groups legs by the label of their contender, in the order in which they first appear.
// Warm-up steps have summaries too, but cannot be the peak. pricePerHour is that of a vCPU in US
// dollars; 0 is DefaultPrice.
func Summarise(legs []bench.LegResult, pricePerHour float64) []Contender {
	return summariseAll(legs, pricePerHour, hdr.Merge)
}

// SummarisePeaks is Summarise, but merges no histograms other than those of each contender's peak:
// merging takes a millisecond, and a run has hundreds of them.
func SummarisePeaks(legs []bench.LegResult, pricePerHour float64) []Contender {
	all := summariseAll(legs, pricePerHour, mergeNothing)
	for _, c := range all {
		if peak, ok := c.PeakStep(); ok && peak.Rounds > 1 {
			var rounds []bench.Latencies
			for _, r := range peak.Results {
				rounds = append(rounds, r.Load.Latency)
			}
			c.Steps[c.Peak].Latency, _ = hdr.Merge(rounds...)
		}
	}
	return all
}

func summariseAll(legs []bench.LegResult, pricePerHour float64, merge merger) []Contender {
	if pricePerHour <= 0 {
		pricePerHour = DefaultPrice
	}
	var order []string
	groups := map[string][]bench.LegResult{}
	for _, leg := range legs {
		label := leg.Leg.Label()
		if groups[label] == nil {
			order = append(order, label)
		}
		groups[label] = append(groups[label], leg)
	}
	contenders := make([]Contender, 0, len(order))
	for _, label := range order {
		contenders = append(contenders, summarise(label, groups[label], pricePerHour, merge))
	}
	return contenders
}

// Rounds summarises some rounds of one contender for what is compared round by round: no histogram
// is merged.
func Rounds(legs []bench.LegResult) Contender {
	return summarise(legs[0].Leg.Label(), legs, DefaultPrice, mergeNothing)
}

// merger makes one distribution of several.
type merger func(...bench.Latencies) (bench.Latencies, error)

func mergeNothing(...bench.Latencies) (bench.Latencies, error) { return bench.Latencies{}, nil }

// errorRatio is errors / (errors + successes) of a leg; ok is false where nothing was asked.
func errorRatio(leg bench.LegResult) (ratio float64, ok bool) {
	var failed, all int64
	for _, s := range leg.Steps {
		failed += s.Load.FailedTotal()
		all += s.Load.FailedTotal() + s.Load.AllSucceeded()
	}
	return float64(failed) / float64(max(1, all)), all > 0
}

func summarise(label string, legs []bench.LegResult, price float64, merge merger) Contender {
	c := Contender{
		Label: label, Service: legs[0].Service, Legs: len(legs), Peak: -1,
		Errors: map[bench.ErrorKind]int64{}, Checks: map[bench.CheckStatus]int{},
	}
	var startUps, peakTimes, idle, memory, errors, costs []float64
	var parts []Cost
	for _, leg := range legs {
		if leg.State == bench.LegComplete {
			c.Complete++
		}
		if leg.Failure != "" {
			c.Failures = append(c.Failures, fmt.Sprintf("round %d: %s", leg.Leg.Round, leg.Failure))
		}
		if leg.StartUp != nil {
			startUps = append(startUps, float64(*leg.StartUp))
		}
		if p, ok := TimeToPeak(leg); ok {
			peakTimes = append(peakTimes, float64(p.After))
		}
		if cpus, ok := idleCPUs(leg); ok {
			idle = append(idle, cpus)
		}
		for _, check := range leg.Checks {
			c.Checks[check.Status]++
		}
		peak, sample := LegMemoryPeak(leg)
		if peak > c.MemoryPeak {
			c.MemoryPeak, c.MemoryPeakIsSample = peak, sample
		}
		if peak > 0 && leg.State == bench.LegComplete { // one that ended early has not been loaded enough
			memory = append(memory, float64(peak))
		}
		if ratio, ok := errorRatio(leg); ok {
			errors = append(errors, ratio)
		}
		// The cost of a life that was cut short is mostly that of its start.
		if cost, ok := LegCost(leg, price); ok && leg.State == bench.LegComplete {
			parts, costs = append(parts, cost), append(costs, cost.Total)
		}
	}
	c.StartUp, c.PeakTime, c.CostEach = NewValue(startUps), NewValue(peakTimes), NewValue(costs)
	c.Idle, c.Memory, c.ErrorRatio = NewValue(idle), NewValue(memory), NewValue(errors)
	c.Cost = medianCost(parts)
	c.steps(legs, merge)
	for i, s := range c.Steps {
		for kind, n := range s.Failed {
			c.Errors[kind] += n
		}
		if !s.Step.WarmUp && s.Throughput.Known() && (c.Peak < 0 || s.Throughput.Median > c.Steps[c.Peak].Throughput.Median) {
			c.Peak = i
		}
	}
	return c
}
