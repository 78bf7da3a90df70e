package stats

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

// Value is a value per round.
type Value struct {
	Values   []float64 // in the order of the rounds
	Median   float64
	Interval *Interval // 95% CI of the median; nil below MinInterval values
}

// Known reports whether any round has a value.
func (v Value) Known() bool { return len(v.Values) > 0 }

// Duration returns the median of a value in nanoseconds.
func (v Value) Duration() time.Duration { return time.Duration(v.Median) }

// NewValue returns the Value of a sample with one value per round.
func NewValue(xs []float64) Value {
	v := Value{Values: xs}
	v.Median, _ = Median(xs)
	if interval, ok := MedianInterval(xs, 0.95); ok {
		v.Interval = &interval
	}
	return v
}

// Contender is the summary of one contender over its rounds.
type Contender struct {
	Label              string
	Service            bench.Service
	Trials             int      // number of rounds
	Complete           int      // rounds that ran every step
	Failures           []string // of each round that is not complete
	FailedRounds       int      // rounds that the contender failed; aborted ones, and those of a lost need, do not count
	StartUp            Value    // nanoseconds
	PeakTime           Value    // nanoseconds, from TimeToPeak
	Steps              []Step
	Peak               int // index into Steps of the measured step with the highest median throughput above 0; -1 without one
	Errors             bench.Kinds
	MemoryPeak         int64            // bytes, the highest of all rounds; 0: not known
	MemoryPeakIsSample bool             // MemoryPeak is the largest sample; the true peak may be higher
	Memory             Value            // bytes, the highest of each complete round
	ErrorRate          Value            // errors / (errors + successes) of each round with requests
	Cost               *Cost            // cost of the median round by Total; nil: not known
	CostEach           Value            // dollars per billion requests of each round
	NeedCosts          map[string]Value // the same of each need, by its name; see NeedCosts
	Checks             map[bench.CheckStatus]int
	Warnings           bench.Warnings   // about steps and latencies that are not in the summary
	Excluded           *bench.Exclusion // why it is excluded; nil: it is not

	growth       *bench.Warning // of memory in most rounds, with the highest rate
	firstFailure string         // failure of the first failed round
}

// MemoryGrowth returns the warning of memory that grew in most rounds, with the highest rate of
// all; ok is false without one.
func (c Contender) MemoryGrowth() (w bench.Warning, ok bool) {
	if c.growth == nil {
		return w, false
	}
	return *c.growth, true
}

// WhyExcluded returns why the contender is not compared, as a predicate on one line: unexpected
// responses, errors or failed rounds; "" if it is compared.
func (c Contender) WhyExcluded() string {
	switch {
	case c.Excluded != nil && c.Excluded.Cause != nil && c.Trials > 1:
		return safe.Line(fmt.Sprintf("%s, in %d of %s", c.Excluded, c.FailedRounds,
			units.Plural(c.Trials, "round")), 500)
	case c.Excluded != nil:
		return safe.Line(c.Excluded.String(), 500)
	case c.FailedRounds == 0:
		return ""
	}
	text := fmt.Sprintf("failed in %d of %s", c.FailedRounds, units.Plural(c.Trials, "round"))
	if c.firstFailure != "" {
		text += "; first: " + c.firstFailure
	}
	return safe.Line(text, 500)
}

// ExcludedLast orders excluded contenders after all others.
func ExcludedLast(a, b Contender) int {
	return cmp.Compare(min(1, len(a.WhyExcluded())), min(1, len(b.WhyExcluded())))
}

// PeakStep returns the step with the highest median throughput; ok is false if there is none.
func (c Contender) PeakStep() (Step, bool) {
	if c.Peak < 0 || c.Peak >= len(c.Steps) {
		return Step{}, false
	}
	return c.Steps[c.Peak], true
}

// PeakThroughput returns the throughput at the peak step. Without one it is 0 in each round if
// nothing succeeded in any measured step, and not known otherwise.
func (c Contender) PeakThroughput() Value {
	if peak, ok := c.PeakStep(); ok {
		return peak.Throughput
	}
	if nothing, ok := c.NothingStep(); ok {
		return nothing.Throughput
	}
	return Value{}
}

// NothingStep returns the measured step with the most rounds if nothing succeeded in any measured
// step of any round; ok is false if something did, or if no step was measured.
func (c Contender) NothingStep() (step Step, ok bool) {
	for _, s := range c.Steps {
		switch {
		case s.Step.WarmUp || s.Rounds == 0:
		case s.Answered() > 0:
			return Step{}, false
		case s.Rounds > step.Rounds:
			step, ok = s, true
		}
	}
	return step, ok
}

// BusiestStep returns the peak step or, without one, the measured step with the most requests,
// errors and rejected ones included; ok is false without any request.
func (c Contender) BusiestStep() (busiest Step, ok bool) {
	if peak, ok := c.PeakStep(); ok {
		return peak, true
	}
	var most int64
	for _, s := range c.Steps {
		if sent := s.Ended(); !s.Step.WarmUp && sent > most {
			busiest, most = s, sent
		}
	}
	return busiest, most > 0
}

// ErrorsTotal returns the number of errors in all steps of all rounds.
func (c Contender) ErrorsTotal() int64 { return c.Errors.Total() }

// TotalErrorRate returns the error rate of all steps of all rounds together; ok is false without
// any request.
func (c Contender) TotalErrorRate() (ratio float64, ok bool) {
	var failed float64
	var all int64
	for _, s := range c.Steps {
		n := s.Ended()
		failed, all = failed+s.ErrorRate()*float64(n), all+n
	}
	return failed / float64(max(1, all)), all > 0
}

// Compared returns the number of bodies compared in all steps of all rounds, and whether an error
// rate of a step is an estimate from these.
func (c Contender) Compared() (bodies int64, estimate bool) {
	for _, s := range c.Steps {
		bodies, estimate = bodies+s.Checked, estimate || s.ErrorRateIsEstimate()
	}
	return bodies, estimate
}

// Unread returns the number of bodies that were to be compared and were not looked at.
func (c Contender) Unread() (n int64) {
	for _, s := range c.Steps {
		n += s.UnreadTotal()
	}
	return n
}

// HalfPeak returns the index in Steps of the step at half peak: the open-loop step at 50% of peak,
// or of the lowest peak, if the profile has one, else the closed-loop step with the same requests,
// up to the peak, that is nearest to half. share is its throughput over that of the highest step; ok
// is false without a peak.
func (c Contender) HalfPeak() (step int, share float64, ok bool) {
	for i, s := range c.Steps {
		if s.Step.PeakShare == 0.5 && !s.Step.WarmUp && s.Rounds > 0 {
			return i, 0.5, true
		}
	}
	return c.ClosedHalf()
}

// ClosedHalf is HalfPeak without the open-loop steps.
func (c Contender) ClosedHalf() (step int, share float64, ok bool) {
	peak, known := c.PeakStep()
	if !known {
		return 0, 0, false
	}
	nearest := math.Inf(1)
	for i, s := range c.Steps {
		if s.Index > peak.Index || s.Excluded || s.Step.WarmUp || s.Step.Open() || s.Step.Request != peak.Step.Request {
			continue
		}
		part := 1. // of a peak with a success in fewer than half of the rounds
		if peak.Throughput.Median > 0 {
			part = s.Throughput.Median / peak.Throughput.Median
		} else if s.Index < peak.Index {
			continue
		}
		if off := math.Abs(math.Log(2 * part)); off < nearest {
			step, share, ok, nearest = i, part, true, off
		}
	}
	return step, share, ok
}
