package compare

import (
	"fmt"
	"math"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/stats"
)

// Measure names a headline measure, in results and in --fail-on.
type Measure string

// The declared headline measures: those that both sides have are the family over which p values are adjusted. There are no others, so that nobody can look at many and
// tell the one that came out well.
const (
	Throughput Measure = "throughput"   // successes per second at the step with the side's own peak
	P99        Measure = "p99"          // nanoseconds, at half of the peak
	StartUp    Measure = "start-up"     // nanoseconds until the first answer
	PeakTime   Measure = "time-to-peak" // nanoseconds until the final speed, see stats.TimeToPeak
	Memory     Measure = "memory"       // bytes, the highest of a complete leg
	CPU        Measure = "cpu"          // nanoseconds of CPU time for each success, at the step with the side's own peak
)

// Measures are all of them in the order in which they are shown.
func Measures() []Measure { return []Measure{Throughput, P99, StartUp, PeakTime, Memory, CPU} }

// HigherIsBetter tells which way is up.
func (m Measure) HigherIsBetter() bool { return m == Throughput }

// unit is that of the values in results.
func (m Measure) unit() string {
	switch m {
	case Throughput:
		return "1/s"
	case Memory:
		return "bytes"
	}
	return "ns"
}

// Row is one measure of a contender on both sides.
type Row struct {
	Measure        Measure       `json:"measure"`
	Unit           string        `json:"unit"`
	HigherIsBetter bool          `json:"higher_is_better"`
	At             string        `json:"at,omitempty"` // at which step, in words
	Old            Side          `json:"old"`
	New            Side          `json:"new"`
	Ratio          *Ratio        `json:"ratio,omitempty"` // nil where too few rounds, or a value of 0, leave none
	P              *float64      `json:"p,omitempty"`
	PHolm          *float64      `json:"p_holm,omitempty"`
	Verdict        stats.Verdict `json:"verdict"`
	More           int           `json:"more_rounds,omitempty"` // about so many on each side would tell
	Sentence       string        `json:"sentence"`
	Paired         bool          `json:"paired,omitempty"`      // the sides took turns with each other: round against round
	BelowFloor     bool          `json:"below_floor,omitempty"` // the change is smaller than what the machine can show
	Doubts         []string      `json:"doubts,omitempty"`
	NotComparable  string        `json:"not_comparable,omitempty"` // why there is no verdict whatever the figures are
}

// Side is the sample of one side.
type Side struct {
	Rounds []float64 `json:"rounds"` // of each round
	Median *float64  `json:"median,omitempty"`
	Low    *float64  `json:"low,omitempty"` // 95 % interval of the median; from six rounds on
	High   *float64  `json:"high,omitempty"`
}

// Ratio is new to old, with its 95 % interval.
type Ratio struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

func (r Ratio) words() string {
	return stats.Ratio{Estimate: r.Estimate, Interval: stats.Interval{Low: r.Low, High: r.High}}.Words()
}

// rows decides the family of one contender.
func rows(a, b contender, o Options) []Row {
	var all []Row
	var family []stats.Pair
	var of []int // rows that family is of: what a side does not have is not tested
	both, paired := together([]contender{a, b})
	a, b = both[0], both[1]
	for _, m := range Measures() {
		old, fresh, at, doubts := m.samples(a, b)
		all = append(all, Row{Measure: m, Unit: m.unit(), HigherIsBetter: m.HigherIsBetter(), At: at, Doubts: doubts, Paired: paired && stats.SameLength(old, fresh)})
		r := &all[len(all)-1]
		r.Old, r.New = side(stats.NewValue(old)), side(stats.NewValue(fresh))
		switch {
		case len(old) == 0 && len(fresh) == 0:
			r.Sentence = "not measured"
		case len(old) == 0:
			r.Sentence = "not measured in old"
		case len(fresh) == 0:
			r.Sentence = "not measured in new"
		default:
			of = append(of, len(all)-1)
			family = append(family, stats.Pair{Measure: string(m), HigherIsBetter: m.HigherIsBetter(), Old: old, New: fresh, Paired: r.Paired, Floor: o.Floor.Of(m)})
		}
	}
	for i, c := range o.Rule.Compare(family) {
		r := &all[of[i]]
		r.Verdict, r.More, r.Sentence = c.Verdict, c.More, c.Sentence()
		r.Doubts = append(r.Doubts, c.Doubts...)
		if c.Ratio != nil {
			r.Ratio = &Ratio{c.Ratio.Estimate, c.Ratio.Interval.Low, c.Ratio.Interval.High}
			r.P, r.PHolm = &c.Test.P, &c.Adjusted
			r.BelowFloor = math.Abs(math.Log(c.Ratio.Estimate)) < math.Log1p(c.Rule.Floor)
		}
	}
	return all
}

// step is the one of c that the measure is of, where it is of one: p99 that of a step which both sides have.
func (m Measure) step(c contender, p99 bench.Step) stats.Step {
	switch m {
	case Throughput, CPU:
		peak, _ := c.PeakStep()
		return peak
	case P99:
		for _, s := range slices.Backward(c.Steps) {
			if alike(s.Step, p99) {
				return s
			}
		}
	}
	return stats.Step{}
}

// unsteady names the sides whose step was not in a steady state; "" where both were.
func (m Measure) unsteady(a, b contender) string {
	p99, _, _ := half(a)
	reason := ""
	for _, side := range []struct {
		name string
		contender
	}{{"old", a}, {"new", b}} {
		if step := m.step(side.contender, p99); step.Drifting > 0 {
			reason = both(reason, side.name+": "+step.DriftWords())
		}
	}
	return reason
}

// withhold takes the verdict back; the figures stay.
func (r *Row) withhold(reason string) {
	r.NotComparable, r.Verdict, r.More = reason, stats.CannotTell, 0
	r.Sentence = "not comparable"
	if r.Ratio != nil {
		r.Sentence += ": " + r.Ratio.words()
	}
}

func side(v stats.Value) Side {
	s := Side{Rounds: v.Values}
	if v.Known() {
		s.Median = &v.Median
	}
	if v.Interval != nil {
		s.Low, s.High = &v.Interval.Low, &v.Interval.High
	}
	return s
}

// samples are the values of both sides, one of each round that has one, and what they are of.
func (m Measure) samples(a, b contender) (old, fresh []float64, at string, doubts []string) {
	switch m {
	case StartUp:
		return a.StartUp.Values, b.StartUp.Values, "", nil
	case PeakTime:
		return a.PeakTime.Values, b.PeakTime.Values, "", nil
	case Memory:
		var guessA, guessB bool
		old, guessA = a.memory()
		fresh, guessB = b.memory()
		if guessA || guessB {
			doubts = append(doubts, "a peak is the largest reading; the true one may be higher")
		}
		return old, fresh, "", doubts
	case P99:
		step, share, ok := half(a)
		if !ok {
			return nil, nil, "", nil
		}
		at = step.Name
		if step.PeakShare == 0 {
			at += fmt.Sprintf(" (%.0f %% of the old peak)", 100*share)
		}
		return a.p99(step), b.p99(step), at, nil
	}
	peakA, okA := a.PeakStep()
	peakB, okB := b.PeakStep()
	of := func(s stats.Step) []float64 { return s.Throughput.Values }
	if m == CPU {
		of = func(s stats.Step) []float64 { return s.CPURequest.Values }
	}
	switch {
	case okA && okB && peakA.Step.Name != peakB.Step.Name:
		at = peakA.Step.Name + " → " + peakB.Step.Name
	case okA:
		at = peakA.Step.Name
	case okB:
		at = peakB.Step.Name
	}
	return of(peakA), of(peakB), at, nil
}

// memory are the peaks of the complete legs: one that ended early has not been loaded enough.
func (c contender) memory() (peaks []float64, sample bool) {
	for _, leg := range c.legs {
		if leg.State != bench.LegComplete {
			continue
		}
		if peak, s := stats.LegMemoryPeak(leg); peak > 0 {
			peaks, sample = append(peaks, float64(peak)), sample || s
		}
	}
	return peaks, sample
}

// half is the step at half of the peak, by stats.Contender.HalfPeak. The old side chooses, and the new one is measured at the same step.
func half(c contender) (step bench.Step, share float64, ok bool) {
	i, share, ok := c.HalfPeak()
	if !ok {
		return bench.Step{}, 0, false
	}
	return c.Steps[i].Step, share, true
}

// p99 are the quantiles of the rounds that finished the step.
func (c contender) p99(step bench.Step) (values []float64) {
	for _, leg := range c.legs {
		// Of several steps of that name the last: the earlier ones warm up.
		for _, s := range slices.Backward(leg.Steps) {
			if alike(s.Step, step) {
				if s.Aborted == "" && s.Load.Latency.Count > 0 && s.Load.Latency.P99 > 0 {
					values = append(values, float64(s.Load.Latency.P99))
				}
				break
			}
		}
	}
	return values
}

// alike tells whether two steps put the same load on a contender; the rate of a share of the peak follows each side's own.
func alike(a, b bench.Step) bool {
	if a.PeakShare > 0 && a.PeakShare == b.PeakShare {
		return a.WarmUp == b.WarmUp && a.Request == b.Request
	}
	return a.Name == b.Name && a.Connections == b.Connections && a.Rate == b.Rate && a.WarmUp == b.WarmUp && a.Request == b.Request
}
