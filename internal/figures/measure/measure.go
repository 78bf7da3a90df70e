// Package measure is the table of all measures: names, units, whether higher is better, how to take
// a value from a step, from a step over all rounds and from a contender, definitions, and the
// outputs that show the measure.
//
// Outputs iterate over the table (Compared, View …) instead of naming measures: a new measure is a
// row in table.go and its places at the end of this file. The package is pure.
package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
)

// ID names a measure. IDs of compared measures are also keys in results, --measure and --fail-on.
type ID string

// Measure is one row of the table.
type Measure struct {
	ID     ID
	Name   string // "p99", "CPU time per request"
	Head   string // heading of a narrow column: "CPU/req"
	Unit   Unit
	Higher bool // higher is better; false: lower is better

	// Of returns the value in one step of one round; nil: the measure is of a whole trial.
	Of func(bench.StepResult) (v float64, ok bool)
	// AtLeast reports whether the value is a lower bound of the true one; nil: never.
	AtLeast func(bench.StepResult) bool
	// Estimate reports whether the value is an estimate from a part of the responses; nil: never.
	Estimate func(bench.StepResult) bool

	Definition    Definition
	Chart         *Chart      // chart over the steps in the report; nil: none
	Comparison    *Comparison // how contenders are compared by the measure; nil: not at all
	CSV           Column      // column of the CSV and JSON exports; without a name: none
	Live          *Metric     // metric of a running contender; nil: none
	ConditionName string      // name in conditions: "p99"; "": none

	// over returns the value over all rounds, if it is not the median of the rounds: medians of an
	// even number of rounds would average quantiles.
	over func(stats.Step) (v float64, ok bool)
	// whole returns the value of whole trials; nil: the value of the step with the highest
	// throughput.
	whole func(stats.Contender) Result
	// it is a count of the load, which has its places without being named there
	counter bool
}

// Definition says what is measured, in which unit, and what counted it.
type Definition struct {
	Term string // "CPU time per request (µs)"; "": the measure has no definition
	Text string
}

// Chart is the chart of a measure over the steps in the report.
type Chart struct {
	ID, Title, Note string // Title without the unit
	Unit            string // unit of the axis: "ms"
	Log             bool   // logarithmic axis
	Zero            bool   // 0 is a value; false: 0 means not measured
}

// Axis converts a value of the measure to the unit of its chart.
func (m Measure) Axis(v float64) float64 {
	if m.Unit.Whole() {
		v = math.Trunc(v)
	}
	switch m.Chart.Unit {
	case "%":
		return v * 100
	case "ms":
		return v / 1e6
	case "µs":
		return v / 1e3
	case "s":
		return v / 1e9
	case "MiB":
		return v / (1 << 20)
	}
	return v
}

// Where is the step of a contender at which a measure is compared.
type Where int

// The places.
const (
	AtPeak          Where = iota // the peak step of each contender
	AtHalf                       // one step for all, at half peak of the reference
	AtReference                  // one step for all, the peak step of the reference
	FromStartToStop              // no step: whole trials
	AtFreeze                     // one load for both sides, warm-ups included: where one freezes longest
)

// Comparison says how contenders are compared by a measure.
type Comparison struct {
	Title string // "throughput at peak"
	Long  string // Title with the step, for places that do not show it; "": Title
	Head  string // heading of a narrow column of the history
	At    Where
	Kind  stats.Kind // which contenders are not compared
	Guess string     // warning about a value that is AtLeast
	What  string     // what a condition of --fail-on compares; "": none names the measure
	Key   string     // name in such a condition; "": the ID
	Near  float64    // stats.Rule.Within
	Zero  string     // what a value of 0 means: "nothing succeeded"; "": 0 is a value as any other
	// shown without a verdict, to explain other measures; omitted without values
	Apart bool
	// only where a side froze, and tested for itself: the p values of other measures are as without
	Own bool
}

// Column is a column of the CSV export, and a key of the JSON export.
type Column struct{ Name, Doc string }

// Metric is a metric in the text format of Prometheus.
type Metric struct {
	Name, Kind, Help string
	Of               func(bench.Usage) (v float64, ok bool) // value of a live metric
}

// Result is the value of a measure over the rounds.
type Result struct {
	Known bool
	// value for tables: the median of the rounds; of quantiles and shares that of all rounds
	Value    float64
	AtLeast  bool            // the true value may be higher
	Estimate bool            // the value is an estimate from a part of the responses
	Rounds   []float64       // value of each round
	Interval *stats.Interval // 95% CI of the median of Rounds; nil below stats.MinInterval rounds
}

// ResultOf returns the result for a value of each round.
func ResultOf(v stats.Value) Result {
	return Result{Known: v.Known(), Value: v.Median, Rounds: v.Values, Interval: v.Interval}
}

// Over returns the result of a step over the rounds that completed it.
func (m Measure) Over(s stats.Step) Result {
	if m.ID == Throughput {
		return ResultOf(s.Throughput)
	}
	var rounds []float64
	atLeast, estimate := false, false
	if m.Of == nil {
		return Result{}
	}
	for _, r := range s.Results {
		if v, ok := m.Of(r); ok {
			rounds = append(rounds, v)
			atLeast = atLeast || m.AtLeast != nil && m.AtLeast(r)
			estimate = estimate || m.Estimate != nil && m.Estimate(r)
		}
	}
	f := ResultOf(stats.NewValue(rounds))
	f.AtLeast, f.Estimate = atLeast, estimate
	if m.over != nil {
		f.Value, f.Known = m.over(s)
	}
	return f
}

// Quantile reports whether the measure is a quantile of the latencies of all rounds together.
func (m Measure) Quantile() bool { return m.over != nil && m.Unit == Nanoseconds }

// Contender returns the result of a contender: of whole trials, or of its peak step.
func (m Measure) Contender(c stats.Contender) Result {
	if m.whole != nil {
		return m.whole(c)
	}
	if m.ID == Throughput {
		return ResultOf(c.PeakThroughput())
	}
	peak, ok := c.PeakStep()
	if !ok {
		return Result{}
	}
	return m.Over(peak)
}

// Text returns a result as text, the unit in the heading: "4,455", "≥ 61 MiB", "~0.5%", "–".
func (m Measure) Text(r Result) string {
	switch {
	case !r.Known:
		return units.Missing
	case r.AtLeast:
		return "≥ " + m.Unit.Cell(r.Value)
	case r.Estimate:
		return "~" + m.Unit.Cell(r.Value)
	}
	return m.Unit.Cell(r.Value)
}

// Get returns the measure with the ID; the zero Measure if there is none.
func Get(id ID) Measure {
	for _, m := range table {
		if m.ID == id {
			return m
		}
	}
	return ofNeed(id)
}

// ByConditionName returns the measure with a name in conditions.
func ByConditionName(name string) (Measure, bool) {
	i := slices.IndexFunc(table, func(m Measure) bool { return name != "" && m.ConditionName == name })
	if i < 0 {
		return Measure{}, false
	}
	return table[i], true
}

// Tested returns the measures with verdicts: the family over which p values are adjusted.
func Tested() []Shown {
	return slices.DeleteFunc(View(Compared), func(m Shown) bool { return m.Comparison.Apart || m.Comparison.Own })
}

// Gated returns the measures that conditions of --fail-on name, but for those of needs.
func Gated() []Shown {
	return append(Tested(), View(OnlyGated)...)
}

// Key returns the name of the measure in conditions of --fail-on: "throughput", "db cpu".
func (m Measure) Key() string {
	if need := m.NeedName(); need != "" {
		return need + " " + string(NeedCPURequest)
	}
	return cmp.Or(m.Comparison.Key, string(m.ID))
}

// All returns all measures.
func All() []Measure { return slices.Clone(table) }

// Unit is the unit of a value and decides how it is formatted.
type Unit int

// The units.
const (
	PerSecond   Unit = iota
	Nanoseconds      // time, or CPU time
	Bytes
	Share // 0 to 1
	Count
	Number // a mean
	CPUs
	MemoryPerRate // MiB·s
	Dollars
	PerRequest
	BytesPerSecond
)

// String returns the unit's name in results.
func (u Unit) String() string {
	return [...]string{"1/s", "ns", "bytes", "share", "count", "number", "CPUs", "MiB·s", "dollars", "1/request", "bytes/s"}[u]
}

// Whole reports whether a value has no fraction worth keeping.
func (u Unit) Whole() bool { return u == Nanoseconds || u == Bytes || u == Count }

// Cell formats a value for a table with the unit in its heading: "4,455", "5.02 ms", "61 MiB".
func (u Unit) Cell(v float64) string {
	switch u {
	case Nanoseconds:
		return units.Duration(time.Duration(v))
	case Bytes, BytesPerSecond:
		return units.Bytes(int64(v))
	case Share:
		return units.Share(v)
	case Count:
		return units.Count(int64(v))
	case CPUs:
		return fmt.Sprintf("%.2f", v)
	case Dollars:
		return units.Dollars(v)
	}
	return units.Number(v)
}

// Text formats a value with its unit: "4,455/s".
func (u Unit) Text(v float64) string {
	switch u {
	case PerSecond, BytesPerSecond:
		return u.Cell(v) + "/s"
	case CPUs:
		return u.Cell(v) + " CPUs"
	case MemoryPerRate:
		return u.Cell(v) + " MiB·s"
	}
	return u.Cell(v)
}
