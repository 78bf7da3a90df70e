package profile

import (
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
)

// Metric is what a condition limits, such as "p99", "mean" or "max": measure has the table.
type Metric string

// Metrics other than latencies.
const (
	// Errors is the share of the scheduled or sent requests without success, dropped ones included.
	Errors     Metric = "errors"
	Throughput Metric = "throughput" // successes per second
)

// Condition is one comparison.
type Condition struct {
	Metric Metric
	Op     string  // "<", "<=", ">" or ">="
	Limit  float64 // latencies: ns; errors: a share from 0 to 1; throughput: successes per second
}

// Conditions are in the order of their text, with each metric at most once.
type Conditions []Condition

// String returns the form that ParseConditions reads.
func (cs Conditions) String() string {
	texts := make([]string, len(cs))
	for i, c := range cs {
		texts[i] = c.String()
	}
	return strings.Join(texts, ",")
}

// String returns the form that ParseConditions reads: "p99<50ms".
func (c Condition) String() string { return string(c.Metric) + c.limit() }

func (c Condition) limit() string {
	switch c.Metric {
	case Errors:
		return c.Op + decimal(100*c.Limit, 9) + "%"
	case Throughput:
		return c.Op + decimal(c.Limit, 9) + "/s"
	}
	return c.Op + time.Duration(c.Limit).String()
}

// show returns a measured value for people, with three or four digits: "50ms", "0.1%", "1250/s".
func (c Condition) show(value float64) string {
	switch c.Metric {
	case Errors:
		return decimal(100*value, 3) + "%"
	case Throughput:
		return decimal(value, 4) + "/s"
	}
	d, unit := time.Duration(value), time.Duration(1)
	for d.Abs() >= 10_000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}

// decimal returns v with at most n significant digits, which also hides the error of 100 × 0.001.
func decimal(v float64, n int) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// value returns the measured value; ok is false without one, such as a latency without a success.
func (c Condition) value(l bench.Load) (v float64, ok bool) {
	if c.Metric == Errors {
		return l.ErrorRateWithDropped(), l.Ended()+l.Dropped > 0
	}
	m, _ := measure.ByConditionName(string(c.Metric)) // ParseConditions accepts only these
	return m.Of(bench.StepResult{Load: l})
}

// check returns the result of the condition; it is not passed without a measured value.
func (c Condition) check(l bench.Load) bench.ThresholdResult {
	r := bench.ThresholdResult{Condition: c.String()}
	v, ok := c.value(l)
	if !ok {
		r.Text = string(c.Metric) + " is unknown: no success"
		return r
	}
	r.Value = &v
	switch c.Op {
	case "<":
		r.Passed = v < c.Limit
	case "<=":
		r.Passed = v <= c.Limit
	case ">":
		r.Passed = v > c.Limit
	case ">=":
		r.Passed = v >= c.Limit
	}
	not := "not "
	if r.Passed {
		not = ""
	}
	r.Text = string(c.Metric) + " is " + c.show(v) + ", " + not + c.limit()
	return r
}

// Check returns the result of each condition for a step with this load.
func (cs Conditions) Check(l bench.Load) (all []bench.ThresholdResult) {
	for _, c := range cs {
		all = append(all, c.check(l))
	}
	return all
}

// Missed returns a text for each condition that the load missed: "p99 is 71.2ms, not <50ms".
func (cs Conditions) Missed(l bench.Load) (texts []string) {
	for _, r := range cs.Check(l) {
		if !r.Passed {
			texts = append(texts, r.Text)
		}
	}
	return texts
}
