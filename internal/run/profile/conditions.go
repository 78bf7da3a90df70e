package profile

import (
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/figures/measure"
)

// Metric is what a condition is about: "p99", "mean", "max", as table measure calls them.
type Metric string

// The metrics that are not a latency.
const (
	// Errors is the share of the requests sent or due that were not answered rightly: errors and dropped ones.
	Errors     Metric = "errors"
	Throughput Metric = "throughput" // successes per second
)

// Condition is one comparison.
type Condition struct {
	Metric Metric
	Op     string  // "<", "<=", ">" or ">="
	Limit  float64 // latencies: ns; errors: a share, 0 … 1; throughput: successes per second
}

// Conditions is all conditions, in the order of their text. Each metric is in it once.
type Conditions []Condition

// String returns the form that ParseConditions reads.
func (o Conditions) String() string {
	texts := make([]string, len(o))
	for i, c := range o {
		texts[i] = c.String()
	}
	return strings.Join(texts, ",")
}

// String returns the form that ParseConditions reads: "p99<50ms".
func (c Condition) String() string { return string(c.Metric) + c.limit() }

func (c Condition) limit() string {
	switch c.Metric {
	case Errors:
		return c.Op + figures(100*c.Limit, 9) + "%"
	case Throughput:
		return c.Op + figures(c.Limit, 9) + "/s"
	}
	return c.Op + time.Duration(c.Limit).String()
}

// show writes a measured value for people, with three or four figures: "50ms", "0.1%", "1250/s".
func (c Condition) show(value float64) string {
	switch c.Metric {
	case Errors:
		return figures(100*value, 3) + "%"
	case Throughput:
		return figures(value, 4) + "/s"
	}
	d, unit := time.Duration(value), time.Duration(1)
	for d.Abs() >= 10_000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}

// figures has at most so many figures, which takes away what 100 × 0.001 adds too.
func figures(v float64, most int) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', most, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// value returns the measured one; ok is false when there is none, as no latency without any success.
func (c Condition) value(l bench.Load) (v float64, ok bool) {
	if c.Metric == Errors { // dropped ones among them
		bad := l.FailedTotal() + l.Dropped
		all := bad + l.AllSucceeded()
		return float64(bad) / float64(max(all, 1)), all > 0
	}
	m, _ := measure.ByConditionName(string(c.Metric)) // ParseConditions takes no other
	return m.Of(bench.StepResult{Load: l})
}

// judge returns what became of the condition; what was not measured is not kept.
func (c Condition) judge(l bench.Load) bench.ThresholdResult {
	j := bench.ThresholdResult{Condition: c.String()}
	v, ok := c.value(l)
	if !ok {
		j.Text = string(c.Metric) + " is unknown: no success"
		return j
	}
	j.Value = &v
	switch c.Op {
	case "<":
		j.Passed = v < c.Limit
	case "<=":
		j.Passed = v <= c.Limit
	case ">":
		j.Passed = v > c.Limit
	case ">=":
		j.Passed = v >= c.Limit
	}
	not := "not "
	if j.Passed {
		not = ""
	}
	j.Text = string(c.Metric) + " is " + c.show(v) + ", " + not + c.limit()
	return j
}

// Judge returns what became of each condition in a step with this load.
func (o Conditions) Judge(l bench.Load) (all []bench.ThresholdResult) {
	for _, c := range o {
		all = append(all, c.judge(l))
	}
	return all
}

// Missed says of each condition that the load has not kept how it has not: "p99 is 71.2ms, not <50ms".
func (o Conditions) Missed(l bench.Load) (texts []string) {
	for _, j := range o.Judge(l) {
		if !j.Passed {
			texts = append(texts, j.Text)
		}
	}
	return texts
}
