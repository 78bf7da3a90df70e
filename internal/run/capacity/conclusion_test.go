package capacity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/capacity"
	. "github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/table"
)

func words(c conclusion.Conclusion) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n[%d] %s\nConfidence: %s\nCost: %s\nFailures (%v): %s\nNext: %s: %s\n\n%s", c.Title, c.About, c.Tone,
		c.Verdict, c.Confidence, c.Cost, c.Failed, c.Failures, c.Next, c.Command, c.Table.Text(0))
	for _, note := range c.Table.Footnotes {
		fmt.Fprintln(&b, note)
	}
	for _, s := range c.Caveats {
		fmt.Fprintf(&b, "! %s\n", s.Text)
	}
	return b.String()
}

// The conclusions to searches that differ in one thing each.
func TestRecord_Conclude(t *testing.T) {
	one := Service{CPUs: 1, Holds: 1450}
	none := func(*capacity.Record) {}
	limited := func(limits ...bench.Limits) func(*capacity.Record) {
		return func(r *capacity.Record) {
			for i, l := range limits {
				r.Points[i].Limits, r.Points[i].Label = l, bench.Limits{Memory: l.Memory}.String()
			}
		}
	}
	var b strings.Builder
	for _, row := range []struct {
		name     string
		services []Service
		change   func(*capacity.Record)
	}{
		{"one limit", []Service{one}, none},
		{"several limits", Several(), none},
		{"of equal cost", []Service{{CPUs: .5, Holds: 690}, {CPUs: 1, Holds: 1450}}, none},
		{"memory in use", []Service{{CPUs: .5, Holds: 690, Memory: 15 << 20}, {CPUs: 1, Holds: 1450, Memory: 17<<20 + 1}}, none},
		{"memory in use, most of its limit", []Service{{CPUs: 1, Holds: 1450, Memory: 300 << 20}}, none},
		{"memory in use, sampled", []Service{{CPUs: 1, Holds: 1450, Memory: 5 << 20}}, func(r *capacity.Record) {
			for i := range r.Points[0].Outcomes {
				r.Points[0].Outcomes[i].Sampled = true
			}
		}},
		{"needs", []Service{{CPUs: .5, Holds: 690, Needs: map[string]time.Duration{"db": time.Millisecond, "cache": 10 * time.Microsecond}}, {CPUs: 2, Holds: 690}}, none},
		{"needs, one of them not measured", []Service{{CPUs: .5, Holds: 690, Needs: map[string]time.Duration{"db": time.Millisecond}}},
			func(r *capacity.Record) { r.External = []string{"db", "queue"} }},
		{"pairs of limits", []Service{{CPUs: .5, Holds: 690}, {CPUs: 1, Holds: 1450}}, func(r *capacity.Record) {
			r.Command = append(r.Command, "--limits", "cpus=0.5,1", "--limits", "memory=64MiB,128MiB")
			for i := range r.Points {
				r.Points[i].Limits.Memory = 64 << 20 << i
				r.Points[i].Label = r.Points[i].Limits.String()
			}
		}},
		{"no rate", []Service{{CPUs: .25}}, none},
		{"no rate with both limits", []Service{{CPUs: .25}, {CPUs: .5}}, none},
		{"no rate with any limit", []Service{{CPUs: .25}, {CPUs: .5}, {CPUs: .1}}, none},
		{"the client", []Service{{CPUs: 1, Holds: 4000, Client: 2920}}, none},
		{"the client, without limits", []Service{{Holds: 4000, Client: 2920}}, none},
		{"another limit may be cheaper", []Service{{CPUs: 1, Holds: 400}, {CPUs: .5, Holds: 400, Client: 150}}, none},
		{"at least, and the cheapest", []Service{{CPUs: .5, Holds: 900, Client: 400}, {CPUs: 4, Holds: 900}}, none},
		{"at least, and one replica is enough", []Service{{CPUs: 1, Holds: 4000, Client: 2920}, {CPUs: 4, Holds: 900}}, none},
		{"interrupted before a result", []Service{{CPUs: 1, Holds: 1450, Stop: 5}}, none},
		{"interrupted with a result", []Service{one, {CPUs: 2, Holds: 2920, Stop: 5}}, none},
		{"interrupted while confirming", []Service{{CPUs: 1, Holds: 1450, Stop: len(Record(one).Points[0].Outcomes) - 1}}, none},
		{"one confirming probe", []Service{one}, func(r *capacity.Record) { r.Points[0].Result.Held, r.Points[0].Result.Tried = 1, 1 }},
		{"never confirmed", []Service{one}, func(r *capacity.Record) {
			r.Points[0].Result = capacity.Result{State: capacity.Undecided, Probes: 60, AtBound: true}
		}},
		{"too many probes", []Service{one}, func(r *capacity.Record) {
			r.Points[0].Result.State, r.Points[0].Result.AtBound = capacity.AtLeast, true
		}},
		{"the highest allowed rate", []Service{one}, func(r *capacity.Record) {
			r.Points[0].Result.State, r.Points[0].Result.Above = capacity.AtLeast, 0
		}},
		{"few requests", []Service{{CPUs: .25, Holds: 60}, {CPUs: .5, Holds: 70}}, func(r *capacity.Record) { r.Length /= 10 }},
		{"few requests with the only limit", []Service{one}, func(r *capacity.Record) { r.Length = time.Second / 2 }},
		{"enough requests", []Service{one}, func(r *capacity.Record) {
			r.Length = time.Second
			p := &r.Points[0]
			for i := range p.Outcomes {
				if o := &p.Outcomes[i]; o.Rate == p.Result.Rate {
					o.Rate = 1000
				}
			}
			p.Result.Rate = 1000
		}},
		{"no limits", []Service{one}, limited(bench.Limits{})},
		{"CPUs without memory limits", []Service{one, {CPUs: 2, Holds: 2920}}, limited(bench.Limits{CPUs: 1}, bench.Limits{CPUs: 2})},
		{"a limit of processes", []Service{one}, limited(bench.Limits{CPUs: 1, PIDs: 100})},
		{"equal rates without CPU limits", []Service{one, one}, limited(bench.Limits{Memory: 1 << 28}, bench.Limits{Memory: 1 << 29})},
		{"memory", []Service{one, {CPUs: 2, Holds: 1500}},
			limited(bench.Limits{CPUs: 1, Memory: 1 << 29}, bench.Limits{CPUs: 1, Memory: 1 << 28})},
		{"memory without CPU limits", []Service{one, {CPUs: 2, Holds: 1600}},
			limited(bench.Limits{Memory: 1 << 28}, bench.Limits{Memory: 1 << 29})},
		{"no points, no command", nil, func(r *capacity.Record) { r.Command = nil }},
	} {
		r := Record(row.services...)
		row.change(&r)
		fmt.Fprintf(&b, "=== %s\n%s\n", row.name, words(r.Conclude(nil)))
	}
	testenv.Golden(t, "testdata/conclusions.txt", b.String())
}

// A verdict is green only if the rate was confirmed by several probes, and nothing is open that may
// change it.
func TestRecord_Conclude_Tone(t *testing.T) {
	held := Service{CPUs: 1, Holds: 1450}
	for want, records := range map[conclusion.Tone][]capacity.Record{
		conclusion.Good: {Record(held), Record(Several()...), Record(Service{CPUs: .25}, held),
			Record(Service{CPUs: .5, Holds: 690}, Service{CPUs: 1, Holds: 4000, Client: 500})}, // it cannot cost less
		conclusion.Neutral: {Record(Service{CPUs: 1, Holds: 1450, Stop: 3}), Record(held, Service{CPUs: 2, Holds: 9000, Stop: 3})},
		conclusion.Bad:     {Record(Service{CPUs: 1})},
	} {
		for _, r := range records {
			got := r.Conclude(nil)
			testenv.Equal(t, got.Tone, want, got.Verdict)
		}
	}
	observed := Record(held)
	observed.Points[0].Result.Held = 1
	testenv.Equal(t, observed.Conclude(nil).Tone, conclusion.Neutral)
}

// Replicas are whole: at a multiple of the sustained rate no further one is needed.
func TestRecord_Monthly(t *testing.T) {
	r := capacity.Record{Price: .1}
	p := capacity.Point{Limits: bench.Limits{CPUs: .5}, Result: capacity.Result{Rate: 250}}
	for rate, want := range map[float64]float64{1: 36.5, 250: 36.5, 251: 73, 1000: 146} {
		got, ok := r.Monthly(p, rate)
		testenv.Check(t, ok && got > want-.001 && got < want+.001, "%g requests/s cost %g, want %g", rate, got, want)
	}
	r.Price = 0 // the default
	got, _ := r.Monthly(p, 250)
	testenv.Check(t, got > 10.03 && got < 10.04, "without a price: %g", got)
	p.Result.Rate = 0
	_, ok := r.Monthly(p, 1)
	testenv.Equal(t, ok, false)
}

// The bar of a price is its share of the highest one; the chosen limit is strong.
func TestRecord_Conclude_Cells(t *testing.T) {
	var got []string
	for _, row := range Record(Several()...).Conclude(nil).Table.Rows {
		sustained, month := row.Cells[1], row.Cells[len(row.Cells)-1]
		share := "-"
		if month.Share != nil {
			share = fmt.Sprintf("%.1f", *month.Share)
		}
		got = append(got, fmt.Sprintf("%s %s %t %t", row.Cells[0].Text, share, sustained.Tone == table.Strong, month.Tone == table.Strong))
	}
	testenv.Equal(t, strings.Join(got, ", "),
		"0.25 CPUs - false false, 0.5 CPUs 0.5 false false, 1 CPU 0.5 true true, 2 CPUs 1.0 false false")
	for _, row := range Record(Service{CPUs: 1, Holds: 1450}).Conclude(nil).Table.Rows {
		testenv.Equal(t, row.Cells[1].Tone, table.Plain) // the only one
	}
}

// The caveats of the runs come after those of the search.
func TestRecord_Conclude_Caveats(t *testing.T) {
	c := Record(Several()...).Conclude([]conclusion.Caveat{{Text: "of the run"}})
	testenv.Equal(t, len(c.Caveats), 2)
	testenv.Check(t, strings.Contains(c.Caveats[0].Text, "at least"), "%v", c.Caveats)
	testenv.Equal(t, c.Caveats[1].Text, "of the run")
}
