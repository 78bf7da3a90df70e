// Package measure is the table of all measures: what each is called, its unit, which way is better,
// how its value is taken from a step, from a step over all rounds and from a contender, what its
// definition is, and which outputs show it where.
//
// Outputs iterate over the table (Charts, Claims, View …) instead of naming measures: a new one is
// a row in table.go and its places in views.go. It is pure.
package measure

import (
	"fmt"
	"math"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/figures/stats"
)

// ID names a measure. Those of a Claim are also keys in results, --measure and --fail-on.
type ID string

// Measure is one row of the table.
type Measure struct {
	ID     ID
	Name   string // "p99", "CPU time per request"
	Head   string // of a narrow column: "CPU/req"
	Unit   Unit
	Higher bool // is better; else lower is

	// Of takes the value from one step of one round; nil: it belongs to a whole life only.
	Of func(bench.StepResult) (v float64, ok bool)
	// AtLeast reports whether a value is an estimate, the true one as high or higher. Nil: never.
	AtLeast func(bench.StepResult) bool

	Definition    Definition
	Chart         *Chart      // over the steps in the report; nil: none
	Comparison    *Comparison // how contenders are compared by it; nil: they are not
	CSV           Column      // in the CSV and the JSON export; without a name: none
	Prometheus    *Metric     // of a finished step; nil: none
	Live          *Metric     // of a running contender; nil: none
	Benchmark     string      // unit in Go's benchmark format; "": none
	ConditionName string      // what objectives call it: "p99"; "": they cannot name it

	// over takes the value of all rounds together, where the median of the rounds would be wrong:
	// medians of an even number of rounds would average quantiles.
	over func(stats.Step) (v float64, ok bool)
	// life takes the value from a whole life; nil: it is that of the step with the peak.
	life func(stats.Contender) Result
}

// Definition is the sentence that says what is measured, in which unit, and who counted it.
type Definition struct {
	Term string // "CPU time per request (µs)"; "": the measure has none of its own
	Text string
}

// Chart is how the report draws a measure over the steps.
type Chart struct {
	ID, Title, Note string // Title without the unit
	Unit            string // that of the axis: "ms"
	Log             bool   // logarithmic axis
	Marked          bool   // its points say what bound the step
	Zero            bool   // 0 is a value; else it says that nothing was measured
	Optional        bool   // left out where no step has a value
}

// Axis returns a value of the measure on the axis of its chart.
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
		return m.Unit.Base(v)
	case "MiB":
		return v / (1 << 20)
	}
	return v
}

// Where says at which step of a contender a measure is compared.
type Where int

// The places.
const (
	AtPeak          Where = iota // the step with its own peak
	AtHalf                       // one step for all, at half of a peak
	FromStartToStop              // none: a whole life
)

// Comparison is how contenders are compared by a measure.
type Comparison struct {
	Title string // "throughput at peak"
	Long  string // Title that names the step also where the table does not; "" is Title
	Head  string // of a narrow column of the history
	At    Where
	Kind  stats.Kind // what takes a contender out of the comparison
	Best  string     // what being first in it is: "starts the fastest"
	Noun  string     // "start-up time"
	Guess string     // the warning where a value is AtLeast
	// shown without a verdict: it explains others, whose p values are not adjusted for it; left out where nobody has it
	Apart bool
}

// Column is one column of the CSV export, and one key of each object of the JSON export.
type Column struct{ Name, Doc string }

// Metric is one metric in Prometheus' text format.
type Metric struct {
	Name, Kind, Help string
	Of               func(bench.Usage) (v float64, ok bool) // of a live one
}

// Result is the value of a measure over the rounds.
type Result struct {
	Known bool
	// what tables show: the median of the rounds; of quantiles and shares that of all rounds together
	Value    float64
	AtLeast  bool            // an estimate: it is this or more
	Rounds   []float64       // of each round
	Interval *stats.Interval // 95%, of the median of Rounds; nil with fewer than stats.MinInterval
}

// ResultOf returns the median of the rounds.
func ResultOf(v stats.Value) Result {
	return Result{Known: v.Known(), Value: v.Median, Rounds: v.Values, Interval: v.Interval}
}

// Over returns the measure of a step over the rounds that finished it.
func (m Measure) Over(s stats.Step) Result {
	if m.ID == Throughput {
		return ResultOf(s.Throughput)
	}
	var rounds []float64
	atLeast := false
	if m.Of == nil {
		return Result{}
	}
	for _, r := range s.Results {
		if v, ok := m.Of(r); ok {
			rounds = append(rounds, v)
			atLeast = atLeast || m.AtLeast != nil && m.AtLeast(r)
		}
	}
	f := ResultOf(stats.NewValue(rounds))
	f.AtLeast = atLeast
	if m.over != nil {
		f.Value, f.Known = m.over(s)
	}
	return f
}

// Quantile reports whether it is one of a distribution: of all requests of all rounds together.
func (m Measure) Quantile() bool { return m.over != nil && m.Unit == Nanoseconds }

// Contender returns the measure of a contender: of its whole life, or of the step with its peak.
func (m Measure) Contender(c stats.Contender) Result {
	if m.life != nil {
		return m.life(c)
	}
	peak, ok := c.PeakStep()
	if !ok {
		return Result{}
	}
	return m.Over(peak)
}

// Get returns the measure of that name; the zero Measure where there is none.
func Get(id ID) Measure {
	for _, m := range table {
		if m.ID == id {
			return m
		}
	}
	return Measure{}
}

// ByConditionName returns the measure that objectives call so.
func ByConditionName(name string) (Measure, bool) {
	i := slices.IndexFunc(table, func(m Measure) bool { return name != "" && m.ConditionName == name })
	if i < 0 {
		return Measure{}, false
	}
	return table[i], true
}

// Judged returns the measures that verdicts are given on: the family over which p values are adjusted.
func Judged() []Shown {
	return slices.DeleteFunc(View(Compared), func(m Shown) bool { return m.Comparison.Apart })
}

// All returns all measures.
func All() []Measure { return slices.Clone(table) }

// Unit says what a value is in, and how it is written.
type Unit int

// The units.
const (
	PerSecond   Unit = iota
	Nanoseconds      // of time, or of CPU time
	Bytes
	Share // 0 to 1
	Count
	Number // a mean
	CPUs
	MemoryPerRate // MiB·s
	Dollars
	PerRequest
)

// String returns the unit's name in results.
func (u Unit) String() string {
	return [...]string{"1/s", "ns", "bytes", "share", "count", "number", "CPUs", "MiB·s", "dollars", "1/request"}[u]
}

// Whole reports whether a value has no fraction worth keeping.
func (u Unit) Whole() bool { return u == Nanoseconds || u == Bytes || u == Count }

// Base turns a value into the base unit that Prometheus asks for: seconds instead of nanoseconds.
func (u Unit) Base(v float64) float64 {
	if u == Nanoseconds {
		return time.Duration(v).Seconds()
	}
	return v
}

// Cell writes a value for a table whose heading names the unit: "4,455", "5.02 ms", "61 MiB".
func (u Unit) Cell(v float64) string {
	switch u {
	case Nanoseconds:
		return units.Duration(time.Duration(v))
	case Bytes:
		return units.Bytes(int64(v))
	case Share:
		if v == 0 {
			return "0"
		}
		return units.Tenths(v)
	case Count:
		return units.Count(int64(v))
	case CPUs, Dollars:
		return fmt.Sprintf("%.2f", v)
	case MemoryPerRate, PerRequest, Number:
		return fmt.Sprintf("%.3g", v)
	}
	return units.Rate(v)
}

// Text writes a value with its unit: "4,455/s".
func (u Unit) Text(v float64) string {
	if u == PerSecond {
		return u.Cell(v) + "/s"
	}
	return u.Cell(v)
}
