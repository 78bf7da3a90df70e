package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/text/table"
)

// Search is a search for capacity with its conclusion. Its run has the probes of its only limit; a
// search with several limits has a run without trials, and the folder of each limit has its report.
type Search struct {
	capacity.Record
	Conclusion conclusion.Conclusion
}

// maxProbes is how many probes the report has; capacity.json has all.
const maxProbes = 1000

// apart reports whether each limit has its own folder with its report.
func (s *Search) apart() bool { return len(s.Points) > 0 && s.Points[0].Dir != "." }

// shown returns the points with the probes that the report has, and how many it leaves out.
func (s *Search) shown() (all []capacity.Point, left int) {
	all, room := slices.Clone(s.Points), maxProbes
	for i, p := range all {
		all[i].Outcomes = p.Outcomes[:min(len(p.Outcomes), room)]
		room -= len(all[i].Outcomes)
		left += len(p.Outcomes) - len(all[i].Outcomes)
	}
	return all, left
}

// probes returns a row for each probe, in the order of time.
func (s *Search) probes() table.Table {
	t := table.Table{Columns: conclusion.Columns("probe|limits<|phase<|req/s|achieved|p50|p99|errors|late|dropped|CPUs|verdict<")}
	all, left := s.shown()
	for _, p := range all {
		for _, o := range p.Outcomes {
			verdict := table.Cell{Text: "✓ passed", Tone: table.Good}
			if !o.Sustained {
				verdict = table.Cell{Text: "✗ " + cleanText(capacity.Reason(o.Why)), Tone: table.Bad}
			}
			t.Rows = append(t.Rows, conclusion.Row(o.Number, s.Name(p), cleanName(string(o.Phase)), units.Number(o.Rate), units.Number(o.Achieved),
				units.Duration(o.P50), units.Duration(o.P99), units.Share(o.Errors), units.Count(o.Late), units.Count(o.Dropped),
				cmp.Or(when(o.CPU > 0, fmt.Sprintf("%.2f", o.CPU)), missing), verdict))
		}
	}
	if left > 0 {
		t.Footnotes = []string{units.Plural(left, "more probe") + " in " + capacity.File}
	}
	if len(s.Points) < 2 {
		t = t.Without("limits")
	}
	return t
}

// reports returns where the report of each limit is, with all charts and checks.
func (s *Search) reports() table.Table {
	t := table.Table{Columns: conclusion.Columns("limits|report<")}
	if s.apart() {
		for _, p := range s.Points {
			t.Add(s.Name(p), cleanText(p.Dir)+"/report.html")
		}
	}
	return t
}

// charts returns the charts that explain the conclusion, the first two of which are on the first
// screen: sustained rate and cost over the limits, if there are several; p99 and throughput.
func (s *Search) charts() (first, more []chart) {
	p99 := s.byLimit(chart{ID: "probes-p99", Title: "p99 by probe", Note: "over scheduled requests/s", Unit: "ms", Y: "log",
		Marks: goals(bench.Profile{Thresholds: []bench.Threshold{{Condition: s.SLO}}}, "p99", 1e6)},
		func(o capacity.Outcome) float64 { return float64(o.P99) / 1e6 })
	achieved := s.byLimit(chart{ID: "probes-throughput", Title: "Throughput by probe", Note: "successes/s over scheduled requests/s",
		Unit: "/s"}, func(o capacity.Outcome) float64 { return o.Achieved })
	all := []chart{s.sustained(), s.cost(), p99, achieved}
	all = slices.DeleteFunc(all, func(ch chart) bool { return !ch.drawable() })
	n := min(2, len(all))
	for i := range n {
		all[i].First = true
		all[i].Note += when(all[i].Y == "log", ", log scale") // else it is next to the title
	}
	return all[:n], all[n:]
}

// over adds a line with its points in the order of the horizontal axis.
func (ch *chart) over(l line) {
	slices.SortStableFunc(l.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	ch.add(l)
}

// sustained returns the sustained rate over the limits; a limit without one has no point.
func (s *Search) sustained() chart {
	ch := chart{ID: "first-sustained", Title: "Sustained rate", Note: "requests/s over the CPU limit of one replica", Unit: "/s",
		xName: "CPU limit"}
	if s.ByMemory() {
		ch.Note, ch.xName = "requests/s over the memory limit of one replica", "MiB"
	}
	l := line{Name: cleanName(s.Contender.String())}
	for _, p := range s.Points {
		at := p.Limits.CPUs
		if s.ByMemory() {
			at = float64(p.Limits.Memory >> 20)
		}
		if p.Result.Rate > 0 {
			l.points = append(l.points, point{x: at, y: p.Result.Rate})
		}
	}
	ch.over(l)
	return ch
}

// cost returns the cost of the cheapest limit over the rate that is needed, in steps of whole
// replicas; the usual rate is marked.
func (s *Search) cost() chart {
	const places = 500 // about one for each pixel
	ch := chart{ID: "first-cost", Title: "Cost", Note: "$ a month over the requests/s that you need, cheapest limit", Unit: "$",
		xName: "requests/s that you need"}
	if len(s.Points) < 2 {
		return ch
	}
	most := float64(conclusion.UsualRate)
	for _, p := range s.Points {
		most = max(most, p.Result.Rate)
	}
	l := line{Name: cleanName(s.Contender.String())}
	for i := range places {
		rate := 2 * most * float64(i+1) / places
		if cost, ok := s.cheapest(rate); ok {
			l.points = append(l.points, point{x: rate, y: cost})
		}
	}
	ch.add(l)
	if cost, ok := s.cheapest(conclusion.UsualRate); ok {
		ch.Marks = []mark{{Text: units.Count(conclusion.UsualRate) + "/s: " + units.Dollars(cost), At: conclusion.UsualRate, Upright: true}}
	}
	return ch
}

func (s *Search) cheapest(rate float64) (dollars float64, ok bool) {
	for _, p := range s.Points {
		if cost, known := s.Monthly(p, rate); known && (!ok || cost < dollars) {
			dollars, ok = cost, true
		}
	}
	return dollars, ok
}

// byLimit adds points for each limit with a value of its probes over their rates; with one limit
// those that passed and those that failed.
func (s *Search) byLimit(ch chart, value func(capacity.Outcome) float64) chart {
	const red = 4 // its color
	ch.Points, ch.xName = true, "scheduled requests/s"
	all, _ := s.shown()
	for i, p := range all {
		passed, failed := line{Contender: i, Name: s.Name(p)}, line{Contender: red, Name: "✗ failed"}
		if len(all) == 1 {
			passed.Name = "passed"
		}
		for _, o := range p.Outcomes {
			if v := value(o); o.Rate > 0 && v > 0 {
				to := &passed
				if len(all) == 1 && !o.Sustained {
					to = &failed
				}
				to.points = append(to.points, point{x: o.Rate, y: v})
			}
		}
		ch.over(passed)
		ch.over(failed)
	}
	ch.fade()
	return ch
}
