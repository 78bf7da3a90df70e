package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Requests are the kinds of requests of the mix on both sides, at the step of p99.
type Requests struct {
	At    string    `json:"at"`
	Kinds []Request `json:"kinds"`
	// "Mostly POST /bookings: p50 ×20.5 at 4 connections."; "" unless few kinds changed more than all others
	Mostly string `json:"mostly,omitempty"`
}

// Request is a kind of request on both sides.
type Request struct {
	Name     string   `json:"name"`
	Ended    [2]int64 `json:"ended"` // requests of the old and of the new side
	Failed   [2]int64 `json:"failed"`
	Measures []Row    `json:"measures"` // those of kindMeasures
}

// kindMeasures are the measures of a kind of request, the requests that each round has to have, and the
// value of a round.
var kindMeasures = []struct {
	measure.ID
	least int64
	of    func(bench.RequestLoad) float64
}{
	{measure.P50, 20, func(r bench.RequestLoad) float64 { return float64(r.Latency.P50) }},
	{measure.P99, 100, func(r bench.RequestLoad) float64 { return float64(r.Latency.P99) }},
	{measure.ErrorRate, 20, func(r bench.RequestLoad) float64 { return r.ErrorRate() }},
}

// kindTest is the test of a kind of request in a measure, by their indices.
type kindTest struct {
	kind, of int
	p        float64
	pair     stats.Pair
}

// byRequest compares each kind of request; nil for fewer than two. Each measure is a family over all
// kinds; the difference has to hold over the measures of a kind and the other pairs of contenders of
// the run, too. why is the reason if there is no verdict.
func byRequest(couple analysis.Couple, o Options, why string) *Requests {
	kinds, step := couple.Kinds()
	if len(kinds) < 2 {
		return nil
	}
	all := Requests{At: step.Name, Kinds: make([]Request, len(kinds))}
	var tests []*kindTest
	for k, kind := range kinds {
		r := &all.Kinds[k]
		r.Name, r.Measures = kind.Name, make([]Row, len(kindMeasures))
		for i, side := range kind.Sides {
			r.Ended[i], r.Failed[i] = side.Ended(), side.FailedTotal()
		}
		for n := range kindMeasures {
			var values [2][]float64
			if r.Measures[n], values = rowOf(kind, n, why); r.Measures[n].Sentence == "" {
				tests = append(tests, &kindTest{kind: k, of: n, pair: stats.Pair{Measure: string(kindMeasures[n].ID), Old: values[0], New: values[1],
					Paired: couple.Paired && stats.SameLength(values[:]...), Words: stats.Words{Text: measure.Get(kindMeasures[n].ID).Unit.Text}}})
			}
		}
	}
	others := len(couple.OtherPairs(measure.Throughput))
	for _, t := range tests {
		// few pairs cannot be significant among many kinds, whatever they are; both samples can
		t.pair.Paired = t.pair.Paired && o.Rule.Decides(len(t.pair.Old), max(len(kinds), len(kindMeasures)+others), true)
		t.p = stats.PValue(t.pair.Old, t.pair.New, t.pair.Paired)
	}
	for n := range kindMeasures {
		var family []stats.Pair
		var rows []*Row
		for _, t := range tests {
			if t.of != n {
				continue
			}
			for _, other := range tests {
				if other.kind == t.kind && other != t {
					t.pair.With = append(t.pair.With, stats.Weighted{P: other.p})
				}
			}
			t.pair.With = append(t.pair.With, slices.Repeat([]stats.Weighted{{P: t.p}}, others)...)
			family, rows = append(family, t.pair), append(rows, &all.Kinds[t.kind].Measures[n])
		}
		for i, c := range o.Rule.Compare(family) {
			rows[i].decide(c)
			rows[i].Paired = family[i].Paired
		}
	}
	all.Mostly = all.mostly()
	return &all
}

// rowOf returns a measure of a kind of request with the values of both sides; its Sentence says why
// it cannot be tested.
func rowOf(kind analysis.Kind, n int, why string) (row Row, values [2][]float64) {
	j, m := kindMeasures[n], measure.Get(kindMeasures[n].ID)
	row = Row{Measure: j.ID, Unit: m.Unit.String(), NotComparable: why}
	few, only, none := false, "", true
	for i, rounds := range kind.Rounds {
		count := func(r bench.RequestLoad) int64 {
			if j.ID == measure.ErrorRate {
				return r.Ended()
			}
			return r.Latency.Count
		}
		for _, r := range rounds {
			v := j.of(r)
			values[i], few, none = append(values[i], v), few || count(r) < j.least, none && v == 0
		}
		if total := kind.Sides[i]; kind.Sides[1-i].Name != "" && total.Name == "" {
			only = "only in " + sides[1-i]
		} else if count(total) > 0 {
			*[]*Side{&row.Old, &row.New}[i] = side(values[i], measure.Result{Known: true, Value: j.of(total)})
		}
	}
	switch {
	case only != "":
		row.Sentence = only
	case few:
		row.Sentence = "too few requests"
	case none && why == "": // no failures
		row.Verdict, row.Sentence = stats.Same, stats.Same.String()
	case why != "":
		row.Sentence = "not comparable"
	}
	return row, values
}

// mostly says which requests have changed: at most half of the kinds, each certainly more than any
// other kind may have; "" otherwise. Failures come first, then p50, then p99.
func (r Requests) mostly() string {
	type kind struct {
		Request
		Row
		near, far float64 // the least and the most that it may have changed
	}
	for _, n := range []int{2, 0, 1} {
		var all []kind
		for _, k := range r.Kinds {
			one := kind{Request: k, Row: k.Measures[n]}
			decided := one.Verdict == stats.Worse || one.Verdict == stats.Better && n < 2
			switch in := one.Ratio; {
			case one.Verdict != stats.Same && one.P == nil:
				continue
			case n == 2 && decided:
				one.near = slices.Min(one.New.Rounds) - slices.Max(one.Old.Rounds)
			case n == 2:
				one.far = slices.Max(append(slices.Clone(one.New.Rounds), 0))
			case in == nil:
				continue
			default:
				low, high := math.Abs(math.Log(in.Low)), math.Abs(math.Log(in.High))
				if one.far = max(low, high); decided {
					one.near = min(low, high)
				}
			}
			all = append(all, one)
		}
		slices.SortStableFunc(all, func(a, b kind) int { return cmp.Compare(b.near, a.near) })
		first, widest := 0, 0.
		for n := 1; 2*n <= len(all); n++ {
			most := slices.MaxFunc(all[n:], func(a, b kind) int { return cmp.Compare(a.far, b.far) })
			if gap := all[n-1].near - most.far; gap > widest {
				first, widest = n, gap
			}
		}
		if first > 0 {
			var names, amounts []string
			for _, k := range all[:first] {
				names = append(names, safe.Line(k.Name, 60))
				if n == 2 {
					amounts = append(amounts, k.Old.Text(measure.Share)+" → "+k.New.Text(measure.Share)+" failed")
				} else {
					amounts = append(amounts, size(*k.Ratio))
				}
			}
			what := measure.Get(kindMeasures[n].ID).Head + " "
			if n == 2 {
				what = ""
			}
			return fmt.Sprintf("Mostly %s: %s%s at %s.", strings.Join(names, " and "), what, strings.Join(amounts, " and "), safe.Line(r.At, 60))
		}
	}
	return ""
}

// Mostly says which requests have changed, in a sentence; "" unless few have changed more than all
// others.
func (c Contender) Mostly() string {
	if c.Requests == nil {
		return ""
	}
	return c.Requests.Mostly
}

// RequestTable returns a row for each kind of request, those that changed first, up to a number of
// rows; none if there are fewer than two kinds.
func (c Contender) RequestTable(most int) table.Table {
	var t table.Table
	if c.Requests == nil {
		return t
	}
	t.Columns = []table.Column{{Title: "request at " + safe.Line(c.Requests.At, 60), Left: true}, {Title: "requests", Drop: 2}, {Title: "p50"},
		{Title: "p99", Drop: 1}, {Title: "failed", Drop: 3}, {Title: "verdict", Left: true, Wrap: true}}
	kinds := slices.Clone(c.Requests.Kinds)
	decided := func(k Request) bool {
		return slices.ContainsFunc(k.Measures, func(r Row) bool { return r.Verdict == stats.Better || r.Verdict == stats.Worse })
	}
	slices.SortStableFunc(kinds, func(a, b Request) int {
		return cmp.Compare(map[bool]int{true: 1}[decided(b)], map[bool]int{true: 1}[decided(a)])
	})
	for _, k := range kinds[:min(len(kinds), most)] {
		both := func(of func(i int) string) string { return of(0) + " → " + of(1) }
		latency := func(n int) string {
			return both(func(i int) string { return [2]Side{k.Measures[n].Old, k.Measures[n].New}[i].Text(measure.Nanoseconds) })
		}
		said, tone := k.said()
		row := t.Add(safe.Line(k.Name, 60), both(func(i int) string { return units.Count(k.Ended[i]) }), latency(0), latency(1),
			both(func(i int) string { return units.Count(k.Failed[i]) }), said)
		row.Cells[5].Tone = tone
	}
	if more := len(kinds) - most; more > 0 {
		t.Footnotes = append(t.Footnotes, units.Plural(more, "more request")+" without a change in the report")
	}
	return t
}

// said returns the decided changes of a kind of request, or why there is none.
func (k Request) said() (text string, tone table.Tone) {
	var parts []string
	for n, r := range k.Measures {
		mark := map[stats.Verdict]string{stats.Better: "✓ ", stats.Worse: "✗ "}[r.Verdict]
		if mark == "" {
			continue
		}
		if r.Verdict == stats.Worse || tone == table.Plain {
			tone = map[stats.Verdict]table.Tone{stats.Better: table.Good, stats.Worse: table.Bad}[r.Verdict]
		}
		switch {
		case r.Ratio != nil:
			parts = append(parts, mark+measure.Get(kindMeasures[n].ID).Head+" "+size(*r.Ratio))
		default:
			parts = append(parts, mark+measure.Get(kindMeasures[n].ID).Name)
		}
	}
	if len(parts) == 0 {
		first := k.Measures[0]
		if first.P != nil {
			return first.Verdict.String(), tone
		}
		return first.Sentence, tone
	}
	return strings.Join(parts, "; "), tone
}
