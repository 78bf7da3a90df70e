package compare

import (
	"math"
	"slices"
	"time"

	"locbench/internal/bench"
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

// Word is what may be said of two sides of a figure.
type Word int

// The words. Apart and Overlap need rounds enough for an interval on both sides.
const (
	Unknown Word = iota // one of the sides was not measured
	Equal               // all values of both sides are the same
	NoClaim             // too few rounds
	Overlap             // the 95 % intervals of the medians overlap
	Apart               // they do not
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
}

// Change is (B − A) / A; ok is false where that is not known, or A is 0.
func (f Figure) Change() (ratio float64, ok bool) {
	if !f.A.Known || !f.B.Known || f.A.Value == 0 {
		return 0, false
	}
	ratio = (f.B.Value - f.A.Value) / f.A.Value
	return ratio, !math.IsNaN(ratio) && !math.IsInf(ratio, 0)
}

// Word is what the rounds support.
func (f Figure) Word() Word {
	switch {
	case !f.A.Known || !f.B.Known:
		return Unknown
	case len(f.A.Rounds) > 0 && constant(append(slices.Clone(f.A.Rounds), f.B.Rounds...)) && f.A.Value == f.B.Value:
		return Equal
	case f.A.Interval == nil || f.B.Interval == nil:
		return NoClaim
	case f.A.Interval.Low <= f.B.Interval.High && f.B.Interval.Low <= f.A.Interval.High:
		return Overlap
	}
	return Apart
}

// Better tells which side the intervals speak for: 'A', 'B', or 0 where they speak for none.
func (f Figure) Better() byte {
	if f.Word() != Apart {
		return 0
	}
	if (f.B.Interval.Low > f.A.Interval.High) == f.Higher {
		return 'B'
	}
	return 'A'
}

// Least is the smaller number of rounds of the two sides.
func (f Figure) Least() int { return min(len(f.A.Rounds), len(f.B.Rounds)) }

func constant(xs []float64) bool {
	for _, x := range xs {
		if x != xs[0] {
			return false
		}
	}
	return true
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

// Headline compares the figures by which a contender is chosen. Those "at the peak" are of the step with each side's own peak.
func Headline(a, b Contender) []Figure {
	of := func(name string, unit Unit, higher bool, side func(Contender) Side) Figure {
		return Figure{Name: name, Unit: unit, Higher: higher, A: side(a), B: side(b)}
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
	return []Figure{
		of("start-up", Nanoseconds, false, func(c Contender) Side { return ofValue(c.StartUp) }),
		of("peak throughput", PerSecond, true, func(c Contender) Side {
			peak, _ := c.PeakStep()
			return ofValue(peak.Throughput)
		}),
		of("p50 at the peak", Nanoseconds, false, quantile(p50)),
		of("p99 at the peak", Nanoseconds, false, quantile(p99)),
		of("errors", Share, false, Contender.errors),
		of("CPU/req at the peak", Nanoseconds, false, func(c Contender) Side {
			peak, _ := c.PeakStep()
			return ofValue(peak.CPURequest)
		}),
		of("peak memory", Bytes, false, Contender.memory),
		of("cost of 10⁹ req", Dollars, false, func(c Contender) Side { return ofValue(c.CostEach) }),
	}
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
			n += s.Load.FailedTotal() + s.Load.Succeeded
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
