// Package slo reads what a service level objective says ("p99<50ms,errors<0.1%") and tells which of
// its conditions a step of load has kept.
//
// The measures are those that results hold already, so that nothing is estimated here. What follows
// from a broken condition (an exit code, a lower rate, an early stop) is left to others.
package slo

import (
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/measure"
)

// Metric is what a condition is about.
type Metric string

// The metrics that are no quantiles; those are "p50", "p75", "p90", "p95", "p99" and "p99.9".
const (
	Mean       Metric = "mean" // latencies, of successes; in an open loop from when a request was due
	Max        Metric = "max"
	Errors     Metric = "errors"     // share of the requests sent or due that were not answered rightly: errors and dropped ones
	Throughput Metric = "throughput" // successes per second
)

// Op compares a measured value with the one of the condition.
type Op string

// The comparisons.
const (
	Less           Op = "<"
	LessOrEqual    Op = "<="
	Greater        Op = ">"
	GreaterOrEqual Op = ">="
)

// Condition is one comparison.
type Condition struct {
	Metric Metric
	Op     Op
	Limit  float64 // latencies: ns; errors: a share, 0 … 1; throughput: successes per second
}

// Objective is all conditions, in the order of their text. Each metric is in it once.
type Objective []Condition

// String is the form that Parse reads.
func (o Objective) String() string {
	var texts []string
	for _, c := range o {
		texts = append(texts, c.String())
	}
	return strings.Join(texts, ",")
}

// String is the form that Parse reads: "p99<50ms".
func (c Condition) String() string {
	limit := time.Duration(c.Limit).String()
	switch c.Metric {
	case Errors:
		limit = number(100*c.Limit, 9) + "%"
	case Throughput:
		limit = number(c.Limit, 9) + "/s"
	}
	return string(c.Metric) + string(c.Op) + limit
}

// Show writes a measured value for people, with three or four figures: "50ms", "0.1%", "1250/s".
func (c Condition) Show(value float64) string {
	switch c.Metric {
	case Errors:
		return number(100*value, 3) + "%"
	case Throughput:
		return number(value, 4) + "/s"
	}
	return round(time.Duration(value)).String()
}

// round leaves four figures of a measured latency.
func round(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d.Abs() < 10_000*unit {
			return d.Round(unit)
		}
	}
}

// number has no more figures than that, which takes away what 100 × 0.001 adds too.
func number(v float64, figures int) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', figures, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// Value is the measured one; ok is false when there is none, as no latency without any success.
func (c Condition) Value(l bench.Load) (v float64, ok bool) {
	if c.Metric == Errors { // dropped ones among them
		bad := l.FailedTotal() + l.Dropped
		all := bad + l.AllSucceeded()
		return float64(bad) / float64(max(all, 1)), all > 0
	}
	m, _ := measure.ByObjective(string(c.Metric)) // Parse takes no other
	return m.Of(bench.StepResult{Load: l})
}

// Holds tells whether the step has kept the condition; what was not measured is not kept.
func (c Condition) Holds(l bench.Load) bool {
	v, ok := c.Value(l)
	return ok && c.keeps(v)
}

func (c Condition) keeps(v float64) bool {
	switch c.Op {
	case Less:
		return v < c.Limit
	case LessOrEqual:
		return v <= c.Limit
	case Greater:
		return v > c.Limit
	}
	return v >= c.Limit
}

// Broken are the conditions that the step has not kept.
func (o Objective) Broken(l bench.Load) (broken []Condition) {
	for _, c := range o {
		if !c.Holds(l) {
			broken = append(broken, c)
		}
	}
	return broken
}

// Explain says in words how the step broke the condition: "p99 is 71.2ms, not <50ms".
func (c Condition) Explain(l bench.Load) string {
	if v, ok := c.Value(l); ok {
		return c.tell(&v, false)
	}
	return c.tell(nil, false)
}
