package measure

import (
	"slices"

	"github.com/locbench/locbench/internal/bench"
)

// Place is a table or another list of measures in an output.
type Place int

// The places.
const (
	Compared     Place = iota // compare and history
	OnlyGated                 // compared only where a condition of --fail-on names them
	Ranked                    // ratios between contenders with different limits
	TextSteps                 // final table of the steps of a contender
	TextLive                  // table that grows during a trial; measures with a Drop are not in the narrow one
	TextDetails               // lines about a step that --verbose adds
	ScreenSteps               // table of steps in the dashboard
	ReportCharts              // charts over the steps
)

// Shown is a measure at a place.
type Shown struct {
	Measure
	Head     string // heading of its column
	Drop     int    // in narrow tables, columns with a higher number are dropped first; 0: never
	Optional bool   // omitted if no contender has a value, or none that reaches From
	From     float64
}

// Worth reports whether a value is a reason to show an optional measure.
func (s Shown) Worth(v float64, known bool) bool { return known && v >= s.From }

// at is a measure at a place, with its heading there.
type at struct {
	id       ID
	head     string
	drop     int
	optional bool
	from     float64
}

// OfNote is the share of compilers or collectors from which it has a column.
const OfNote = .02

// longFirst is when first responses have a column.
const longFirst = float64(bench.LongFirstResponses)

var views = map[Place][]at{
	Compared: {{id: Throughput}, {id: P99Half}, {id: StartUp}, {id: PeakTime}, {id: MemoryPeak}, {id: CPURequest},
		{id: Switches}, {id: First}},
	OnlyGated: {{id: P50Half}, {id: ErrorRate}},
	Ranked:    {{id: Throughput}, {id: CPURequest}, {id: StartUp}, {id: PeakTime}, {id: MemoryPeak}},
	TextSteps: {
		{id: Throughput}, {id: Errors}, {id: P50}, {id: P90, drop: 5}, {id: P99}, {id: Max, drop: 6},
		{id: CPURequest, drop: 2}, {id: InUse, drop: 7},
		{id: Throttled, drop: 4}, {id: MemoryUsed, drop: 3}, {id: Switches, drop: 8, optional: true},
		{id: Compiled, drop: 2, optional: true, from: OfNote}, {id: Collected, drop: 2, optional: true, from: OfNote},
		{id: First, drop: 1, optional: true, from: longFirst},
	},
	TextDetails: {{id: Switches}, {id: DrainMax}},
	TextLive: {{id: Throughput}, {id: Errors}, {id: P50}, {id: P99}, {id: Max, drop: 1}, {id: CPURequest},
		{id: Throttled, drop: 1}, {id: MemoryUsed}},
	ScreenSteps: {
		{id: Throughput}, {id: Errors, drop: 2}, {id: P50, drop: 5}, {id: P99, drop: 1}, {id: CPURequest, drop: 6},
		{id: InUse, drop: 9}, {id: Throttled, drop: 8}, {id: MemoryUsed, drop: 7},
		{id: First, drop: 3, optional: true, from: longFirst},
	},
	ReportCharts: {
		{id: Throughput}, {id: InFlight}, {id: ErrorRate}, {id: Unexpected}, {id: P50}, {id: P90}, {id: P99}, {id: MemoryPeak},
		{id: MemoryStep}, {id: MemoryRate}, {id: MemoryUsed},
		{id: CPUTime}, {id: CPURequest}, {id: Compiled}, {id: Collected}, {id: Switches}, {id: Throttled},
	},
}

// Group is measures of one subject.
type Group struct {
	Name string
	IDs  []ID
}

// Groups returns all measures by subject, as the report shows them.
func Groups() []Group {
	return []Group{
		{"Throughput", []ID{Throughput, Sent, InFlight}},
		{"Latency", []ID{P50, P75, P90, P95, P99, P999, Max, Mean, P50Half, P99Half, First, DrainMax}},
		{"Errors", append([]ID{ErrorRate, Unexpected, Errors}, Counters()...)},
		{"CPU and cost", []ID{CPURequest, Cost, InUse, CPUTime, Throttled, ThrottledTime, Switches, Compiled, Collected}},
		{"Memory", []ID{MemoryPeak, MemoryUsed, MemoryStep, MemoryRate}},
		{"Start-up", []ID{StartUp, PeakTime}},
	}
}

// Counters returns the counts of the load that are rows of the table by themselves.
func Counters() (ids []ID) {
	for _, m := range All() {
		if m.counter {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// View returns the measures of a place, in order.
func View(p Place) []Shown {
	var all []Shown
	of := views[p]
	if p == TextDetails {
		for _, id := range Counters() {
			of = append(slices.Clip(of), at{id: id, from: 1})
		}
	}
	for _, v := range of {
		m := Get(v.id)
		s := Shown{Measure: m, Head: m.Head, Drop: v.drop, Optional: v.optional, From: v.from}
		if v.head != "" {
			s.Head = v.head
		}
		all = append(all, s)
	}
	return all
}
