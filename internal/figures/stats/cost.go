package stats

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// DefaultPrice is the price of a vCPU-hour in US dollars, as in the published comparison.
const DefaultPrice = 0.0275

// CostPerBillion returns the price of a billion requests in US dollars: CPU seconds / successes ×
// 1e9 / 3600 × price per vCPU-hour. ok is false without successes.
func CostPerBillion(cpu time.Duration, successes int64, pricePerHour float64) (dollars float64, ok bool) {
	if successes <= 0 || cpu < 0 {
		return 0, false
	}
	return cpu.Seconds() / float64(successes) * 1e9 / 3600 * pricePerHour, true
}

// Cost is the price of a billion requests of a trial in US dollars, from all CPU time since its
// start. Marginal excludes start-up and warm-up, which weigh too much in a short trial.
type Cost struct {
	Total     float64
	Marginal  float64       // steady CPU time / steady successes; 0 without a steady step
	CPU       time.Duration // since start
	Successes int64
}

// TrialCost returns the cost of one trial; ok is false if CPU time or successes are not known. A
// trial in whose measured steps nothing succeeded has none: what succeeded in a warm-up,
// a lead-in or a drain does not count.
func TrialCost(trial bench.TrialResult, pricePerHour float64) (Cost, bool) {
	var c Cost
	var steady time.Duration
	var successes, steadySuccesses int64
	measured, answered := false, false
	for _, s := range trial.Steps {
		measured = measured || !s.Step.WarmUp
		answered = answered || !s.Step.WarmUp && s.Load.Throughput() > 0
		// The counter runs since start, so the last reading covers all earlier steps, even those
		// without a reading.
		successes += s.Load.AllSucceeded()
		if s.After == nil {
			continue
		}
		cpu, ok := s.CPU()
		c.CPU, c.Successes = max(c.CPU, s.After.CPU), successes
		if !ok {
			continue
		}
		c.CPU = max(c.CPU, s.Before.CPU+cpu)
		if !s.Step.WarmUp {
			steady += cpu
			steadySuccesses += s.Load.Counted()
		}
	}
	if measured && !answered {
		return Cost{}, false
	}
	var ok bool
	if c.Total, ok = CostPerBillion(c.CPU, c.Successes, pricePerHour); !ok {
		return Cost{}, false
	}
	c.Marginal, _ = CostPerBillion(steady, steadySuccesses, pricePerHour)
	return c, true
}

// NeedCosts returns, for each need, the price of the CPU time that it used in the measured
// intervals of a trial, warm-ups included, over a billion of the successes in them. What it uses
// before, between and after the steps is not in it, nor what it is allowed to use.
func NeedCosts(trial bench.TrialResult, pricePerHour float64) map[string]float64 {
	cpu, successes := map[string]time.Duration{}, map[string]int64{}
	for _, s := range trial.Steps {
		for _, name := range s.Needs() {
			if used := s.Need(name).CPU; used != nil {
				cpu[name] += *used
				successes[name] += s.Load.Counted()
			}
		}
	}
	all := map[string]float64{}
	for name, used := range cpu {
		if dollars, ok := CostPerBillion(used, successes[name], pricePerHour); ok {
			all[name] = dollars
		}
	}
	return all
}
