package run

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// drawing is the charts: next to each other in a large terminal, else one of them.
func (r *Result) drawing(priority int) ui.Block {
	all := r.charts()
	if len(all) == 0 || r.size.Class == ui.Column {
		return ui.Block{}
	}
	const least = 8
	draw := func(o chart.Over) func(w, h int) string {
		return func(w, h int) string { return " " + strings.Join(o.Draw(r.theme, w-1, h), "\n ") }
	}
	block := ui.Block{Priority: priority, Least: least, Most: ui.Rest, Draw: draw(all[0])}
	switch {
	case len(all) == 1:
	case r.size.Class == ui.Full:
		block.Draw = ui.NextTo(draw(all[0]), draw(all[1]), (r.size.Width-2)/2)
	default:
		shown, other := all[0], all[1]
		if r.other {
			shown, other = other, shown
		}
		shown.Note = fit.Cut("v: "+other.Title, r.size.Width/2)
		block.Draw = draw(shown)
	}
	return block
}

// alternates reports whether one of two charts is shown.
func (r *Result) alternates() bool { return r.size.Class == ui.Compact && len(r.charts()) > 1 }

// charts returns the one or two charts that explain the verdict. One without a line of two points is
// left out.
func (r *Result) charts() (all []chart.Over) {
	switch r.end.Kind {
	case conclusion.Requests: // the table has one row for each
		return nil
	case conclusion.Arrivals:
		all = []chart.Over{r.bySecond()}
	case conclusion.FirstRequests:
		all = []chart.Over{r.byRequest()}
	case conclusion.Single:
		all = []chart.Over{r.overLoad(), r.latencies()}
	default:
		all = []chart.Over{r.overLoad(), r.overThroughput()}
	}
	drawn := func(s chart.Series) bool { return len(s.Points) > 1 }
	return slices.DeleteFunc(all, func(o chart.Over) bool { return !slices.ContainsFunc(o.Series, drawn) })
}

// overLoad is the throughput over connections or rates.
func (r *Result) overLoad() chart.Over {
	o, at := chart.OverLoad("throughput", r.end.of.Run.Profile.Steps,
		chart.Chart{Unit: chart.RateLabel, Rules: r.goals(profile.Throughput, 1)})
	o.Series = r.lines(func(_ analysis.Contender, s stats.Step) (chart.Point, bool) {
		x := at(s.Step)
		return chart.Point{X: x, Y: s.Throughput.Median}, x > 0
	})
	return o
}

// overThroughput is p99 over the throughput, up to the peak of each contender.
func (r *Result) overThroughput() chart.Over {
	p99 := measure.Get(measure.P99)
	o := chart.Over{Chart: chart.Chart{Title: "p99 over req/s, up to the peak", Unit: chart.LatencyLabel, Log: true,
		Rules: r.goals("p99", 1e9)}, NameX: "req/s"}
	o.Series = r.lines(func(c analysis.Contender, s stats.Step) (chart.Point, bool) {
		peak, ok := c.PeakStep()
		v := p99.Over(s)
		return chart.Point{X: s.Throughput.Median, Y: v.Value / 1e9},
			ok && v.Known && v.Value > 0 && s.Index <= peak.Index && !s.Step.Open()
	})
	return o
}

// latencies are the latencies of the only contender over connections or rates.
func (r *Result) latencies() chart.Over {
	o, at := chart.OverLoad("latency", r.end.of.Run.Profile.Steps,
		chart.Chart{Unit: chart.LatencyLabel, Log: true, Rules: r.goals("p99", 1e9)})
	for n, id := range []measure.ID{measure.P50, measure.P90, measure.P99} {
		m := measure.Get(id)
		for _, s := range r.lines(func(_ analysis.Contender, s stats.Step) (chart.Point, bool) {
			v, x := m.Over(s), at(s.Step)
			return chart.Point{X: x, Y: v.Value / 1e9}, v.Known && v.Value > 0 && x > 0
		}) {
			s.Name, s.Mark, s.Paint = m.Head, n, r.theme.Hue(n)
			o.Series = append(o.Series, s)
		}
	}
	return o
}

// bySecond is p99 over the seconds of the measured steps of the last round.
func (r *Result) bySecond() chart.Over {
	c := chart.Chart{Title: "p99 by second, last round", Unit: chart.LatencyLabel, Log: true, Rules: r.goals("p99", 1e9)}
	c.Series = r.ofContenders(func(c analysis.Contender) (all []chart.Point) {
		began := time.Duration(0)
		for _, s := range c.Results[len(c.Results)-1].Steps {
			for _, w := range s.Load.Windows {
				if w.P99 > 0 && !s.Step.WarmUp {
					all = append(all, chart.Point{X: (began + w.Start + w.Length).Seconds(), Y: w.P99.Seconds()})
				}
			}
			if !s.Step.WarmUp {
				began += s.Load.Elapsed
			}
		}
		return all
	})
	return chart.Over{Chart: c, NameX: "seconds"}
}

// byRequest is the latency of the first requests of the last round, in their order.
func (r *Result) byRequest() chart.Over {
	c := chart.Chart{Title: "first requests, last round", Unit: chart.LatencyLabel, Log: true}
	c.Series = r.ofContenders(func(c analysis.Contender) (all []chart.Point) {
		f := c.Results[len(c.Results)-1].FirstRequests
		if f == nil {
			return nil
		}
		for i, one := range slices.Concat([]bench.RequestPhases{f.First}, f.Kept, f.New) {
			if one.Err == "" && one.Total > 0 {
				all = append(all, chart.Point{X: float64(i + 1), Y: one.Total.Seconds()})
			}
		}
		return all
	})
	return chart.Over{Chart: c, NameX: "requests"}
}

// ofContenders returns a line for each contender that has points, in the order of the table.
func (r *Result) ofContenders(points func(analysis.Contender) []chart.Point) (all []chart.Series) {
	for i, c := range r.end.of.Ordered() {
		n := ui.MarkOf(r.end.of.Run, c.Label, i)
		s := chart.Series{Name: c.Label, Paint: r.theme.Hue(n), Mark: n, Points: points(c)}
		if r.end.Kind == conclusion.Single {
			s.Name = ""
		} else if slices.ContainsFunc(c.Results, func(t bench.TrialResult) bool { return t.WhyFailed() != nil }) {
			s.Name += " " + r.theme.Glyph.Cross
		}
		if len(s.Points) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// lines returns a line for each contender, of the measured steps that have a point.
func (r *Result) lines(at func(analysis.Contender, stats.Step) (chart.Point, bool)) []chart.Series {
	return r.ofContenders(func(c analysis.Contender) (all []chart.Point) {
		for _, step := range c.Steps {
			unexpected := step.Failed[bench.ErrWrong] > 0 && step.Excluded
			if step.Step.WarmUp || unexpected || !step.Throughput.Known() || step.Throughput.Median <= 0 {
				continue
			}
			if p, ok := at(c, step); ok {
				all = append(all, p)
			}
		}
		slices.SortStableFunc(all, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
		return all
	})
}

// goals returns the thresholds of a metric as lines across a chart, whose values are in units.
func (r *Result) goals(metric profile.Metric, unit float64) (all []chart.Rule) {
	for _, t := range r.end.of.Run.Profile.Thresholds {
		conditions, _ := profile.ParseConditions(t.Condition) // a wrong one has no line
		for _, c := range conditions {
			if c.Metric == metric {
				all = append(all, chart.Rule{Y: c.Limit / unit, Name: c.String(), Paint: r.theme.Warn})
			}
		}
	}
	return all
}
