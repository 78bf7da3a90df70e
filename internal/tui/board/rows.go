package board

import (
	"fmt"
	"strconv"

	"locbench/internal/bench"
	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

func itoa(n int) string { return strconv.Itoa(n) }

// tableColumns are those of the table of steps on the overview.
func tableColumns() []look.Column {
	return []look.Column{
		{Title: "  step", Left: true, Max: 30}, {Title: "req/s"}, {Title: "errors", Drop: 2}, {Title: "p50", Drop: 3}, {Title: "p99"},
		{Title: "CPU/req", Drop: 1}, {Title: "throttled", Drop: 5}, {Title: "memory", Drop: 4}, {Title: "bound, doubt", Left: true, Drop: 1, Max: 32},
	}
}

// row is a step in the table of the overview: what it has come to, or what its last second was.
func (v *view) row(s *fold.Step) []string {
	if s.Result == nil {
		return v.runningRow(s)
	}
	r := s.Result
	l := r.Load
	cells := []string{"  " + v.stepName(s.Step), rate(l.Throughput()), v.errorCount(l.FailedTotal()), v.quantile(l.Latency, l.Latency.P50), v.quantile(l.Latency, l.Latency.P99)}
	cells = append(cells, v.usageCells(r)...)
	return append(cells, v.judged(r))
}

func (v *view) errorCount(n int64) string {
	if n == 0 {
		return "0"
	}
	return v.l.Bad.S(units.Count(n))
}

// usageCells are CPU time for each request, throttled periods and memory.
func (v *view) usageCells(r *bench.StepResult) []string {
	perRequest, throttled, used := v.missing(), v.missing(), v.missing()
	if d, ok := r.CPUPerRequest(); ok {
		perRequest = v.duration(d)
	}
	if t, ok := r.Throttling(); ok {
		throttled = fmt.Sprintf("%d/%d", t.Throttled, t.Periods)
	}
	if r.After != nil && r.After.Memory != nil {
		used = units.Bytes(r.After.Memory.Used)
	}
	return []string{perRequest, throttled, used}
}

// runningRow shows the last window of a step that runs: quantiles of several windows cannot be put together. Errors are of all
// windows so far.
func (v *view) runningRow(s *fold.Step) []string {
	name := v.l.Strong.S(v.l.Glyph.Run + " " + v.stepName(s.Step))
	load, errors := v.latest(s)
	cells := []string{name, v.missing(), v.errorCount(errors), v.missing(), v.missing(), v.missing(), v.missing(), v.missing()}
	if v.leg.Result.State != bench.LegRunning {
		return append(cells, v.l.Warn.S("never ended"))
	}
	if load != nil {
		cells[1], cells[3], cells[4] = rate(load.Throughput), v.seconds(load.P50), v.seconds(load.P99)
	}
	if n := len(v.leg.Usage); n > 0 {
		if u := &v.leg.Usage[n-1]; u.T >= s.From {
			if u.Known && load != nil && load.Throughput > 0 {
				cells[5] = v.seconds(u.CPUs / load.Throughput)
			}
			if u.Throttled >= 0 {
				cells[6] = percent(u.Throttled)
			}
			if u.Used > 0 {
				cells[7] = size(u.Used)
			}
		}
	}
	return append(cells, v.l.Faint.S("runs: last second"))
}

// latest is the newest window of a step in which was sent, and its errors so far.
func (v *view) latest(s *fold.Step) (load *fold.LoadPoint, errors int64) {
	for i := len(v.leg.Load) - 1; i >= 0 && v.leg.Load[i].T >= s.From; i-- {
		p := &v.leg.Load[i]
		if load == nil && !p.Drain {
			load = p
		}
		for _, n := range p.Kinds {
			errors += n
		}
	}
	return load, errors
}

// table draws the steps in h lines, header included: those that have begun and, faint, those to come; it follows the running one.
func (v *view) table(w, h int) []string {
	if h < 2 {
		return nil
	}
	begun := v.leg.Steps
	planned := v.planned()
	n := len(begun) + len(planned)
	p := &v.pages[overview]
	if !p.moved {
		// One of those to come stays in sight.
		p.top = max(0, min(len(begun)+1, n)-(h-1))
	}
	p.top = max(0, min(p.top, n-(h-1)))
	p.first, p.count = p.top, h-1
	var rows [][]string
	for i := p.top; i < n && len(rows) < h-1; i++ {
		if i < len(begun) {
			rows = append(rows, v.row(begun[i]))
		} else {
			rows = append(rows, []string{v.l.Faint.S("  " + v.stepName(planned[i-len(begun)]))})
		}
	}
	header, lines := v.l.Table(tableColumns(), rows, w)
	return append([]string{header}, lines...)
}

// planned are the steps that the shown leg has still to come.
func (v *view) planned() []bench.Step {
	all := v.s.Run.Profile.Steps
	if v.leg.Result.State != bench.LegRunning || len(v.leg.Steps) >= len(all) {
		return nil
	}
	return all[len(v.leg.Steps):]
}
