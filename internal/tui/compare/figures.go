package compare

import (
	"math"
	"time"

	"locbench/internal/bench"
	compared "locbench/internal/compare"
	"locbench/internal/stats"
)

// Unit says how a figure is written.
type Unit int

// The units of the values of a Figure.
const (
	PerSecond   Unit = iota
	Nanoseconds      // of time, or of CPU time per request
	Share            // 0 to 1
	Bytes
	Dollars
)

// Side is a figure of one contender in one run.
type Side struct {
	Known    bool
	Value    float64         // what tables show: the median of the rounds; of latency the quantile of all rounds' requests
	AtLeast  bool            // an estimate: it is this or more
	Rounds   []float64       // of each round
	Interval *stats.Interval // 95 %, of the median of Rounds; nil with fewer than stats.MinInterval
}

// Figure is one measure of two sides.
type Figure struct {
	Name   string
	Unit   Unit
	Higher bool // is better; else lower is
	A, B   Side
	Said   *Said // what the rounds say of it; nil where nobody asks: of the figures that are no headline measures
}

// Change is (B − A) / A; ok is false where that is not known, or A is 0.
func (f Figure) Change() (ratio float64, ok bool) {
	if !f.A.Known || !f.B.Known || f.A.Value == 0 {
		return 0, false
	}
	ratio = (f.B.Value - f.A.Value) / f.A.Value
	return ratio, !math.IsNaN(ratio) && !math.IsInf(ratio, 0)
}

func ofValue(v stats.Value) Side {
	return Side{Known: v.Known(), Value: v.Median, Rounds: v.Values, Interval: v.Interval}
}

func ofRounds(value float64, known bool, rounds []float64) Side {
	s := Side{Known: known, Value: value, Rounds: rounds}
	if in, ok := stats.MedianInterval(rounds, 0.95); ok {
		s.Interval = &in
	}
	return s
}

// Contender is one contender of one run, summarised.
type Contender struct {
	stats.Contender
	legs []bench.LegResult
}

// Contenders summarises the legs of a run.
func Contenders(run bench.Run, legs []bench.LegResult) []Contender {
	var out []Contender
	for _, sum := range stats.Summarise(legs, run.Profile.PriceVCPUHr) {
		c := Contender{Contender: sum}
		for _, leg := range legs {
			if leg.Leg.Label() == sum.Label {
				c.legs = append(c.legs, leg)
			}
		}
		out = append(out, c)
	}
	return out
}

// Headline compares the figures by which a contender is chosen, and says of the declared headline measures among them what 'locbench compare'
// says. Those "at the peak" are of the step with each side's own peak.
func Headline(a, b Contender, runs []compared.Difference, floor *compared.Floor) []Figure {
	said := judge(a, b, runs, floor)
	of := func(m compared.Measure, name string, unit Unit, side func(Contender) Side) Figure {
		return Figure{Name: name, Unit: unit, Higher: m.HigherIsBetter(), A: side(a), B: side(b), Said: said[m]}
	}
	quantile := func(q func(bench.Latencies) time.Duration) func(Contender) Side {
		return func(c Contender) Side {
			peak, ok := c.PeakStep()
			if !ok {
				return Side{}
			}
			return c.quantile(peak, q)
		}
	}
	all := []Figure{of(compared.StartUp, "start-up", Nanoseconds, func(c Contender) Side { return ofValue(c.StartUp) })}
	if a.PeakTime.Known() || b.PeakTime.Known() {
		all = append(all, of(compared.PeakTime, "time to peak", Nanoseconds, func(c Contender) Side { return ofValue(c.PeakTime) }))
	}
	return append(all,
		of(compared.Throughput, "peak throughput", PerSecond, func(c Contender) Side {
			peak, _ := c.PeakStep()
			return ofValue(peak.Throughput)
		}),
		halfPeak(said[compared.P99]),
		of("", "p50 at the peak", Nanoseconds, quantile(p50)),
		of("", "p99 at the peak", Nanoseconds, quantile(p99)),
		of("", "errors", Share, Contender.errors),
		of(compared.CPU, "CPU/req at the peak", Nanoseconds, func(c Contender) Side {
			peak, _ := c.PeakStep()
			return ofValue(peak.CPURequest)
		}),
		of(compared.Memory, "peak memory", Bytes, Contender.memory),
		of("", "cost of 10⁹ req", Dollars, func(c Contender) Side { return ofValue(c.CostEach) }),
	)
}

func p50(l bench.Latencies) time.Duration { return l.P50 }
func p99(l bench.Latencies) time.Duration { return l.P99 }

// quantile shows the quantile of all rounds' requests; the interval is that of the median of the rounds' own.
func (c Contender) quantile(step stats.Step, q func(bench.Latencies) time.Duration) Side {
	var rounds []float64
	for _, r := range c.rounds(step) {
		if r.Aborted == "" && r.Load.Latency.Count > 0 {
			rounds = append(rounds, float64(q(r.Load.Latency)))
		}
	}
	return ofRounds(float64(q(step.Latency)), step.Latency.Count > 0, rounds)
}

// rounds are the results of one step in all legs.
func (c Contender) rounds(step stats.Step) (out []bench.StepResult) {
	for _, leg := range c.legs {
		for _, r := range leg.Steps {
			if r.Index == step.Index && r.Step.Name == step.Step.Name {
				out = append(out, r)
			}
		}
	}
	return out
}

// errors is the share of all requests of all rounds that failed.
func (c Contender) errors() Side {
	var failed, all int64
	var rounds []float64
	for _, leg := range c.legs {
		var f, n int64
		for _, s := range leg.Steps {
			f += s.Load.FailedTotal()
			n += s.Load.FailedTotal() + s.Load.AllSucceeded()
		}
		if n > 0 {
			rounds = append(rounds, float64(f)/float64(n))
		}
		failed, all = failed+f, all+n
	}
	return ofRounds(float64(failed)/float64(max(1, all)), all > 0, rounds)
}

// memory is the highest mark of all rounds.
func (c Contender) memory() Side {
	var rounds []float64
	for _, leg := range c.legs {
		if one := stats.Summarise([]bench.LegResult{leg}, 0); len(one) == 1 && one[0].MemoryPeak > 0 {
			rounds = append(rounds, float64(one[0].MemoryPeak))
		}
	}
	s := ofRounds(float64(c.MemoryPeak), c.MemoryPeak > 0, rounds)
	s.AtLeast = c.MemoryPeakIsSample
	return s
}
