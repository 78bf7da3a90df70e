package board

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func itoa(n int) string { return strconv.Itoa(n) }

// stepColumns returns the columns of a table of steps; name and notes are cells at most.
func (v *view) stepColumns(p measure.Place, name, drop, notes int) []ui.Column {
	return slices.Concat([]ui.Column{{Title: "  step", Left: true, Max: name}}, v.measureColumns(v.shown(p)),
		[]ui.Column{{Title: "notes", Left: true, Drop: drop, Max: notes}})
}

// shown returns the measures of a place, without optional ones that no step of the trial has.
func (v *view) shown(p measure.Place) []measure.Shown {
	return slices.DeleteFunc(measure.View(p), func(m measure.Shown) bool {
		return m.Optional && !slices.ContainsFunc(v.trial.Steps, func(s *fold.Step) (ok bool) {
			if s.Result != nil {
				_, ok = m.Of(*s.Result)
			}
			return ok
		})
	})
}

func (v *view) measureColumns(shown []measure.Shown) (columns []ui.Column) {
	for _, m := range shown {
		columns = append(columns, ui.Column{Title: v.own(m.Head), Drop: m.Drop})
	}
	return columns
}

// row returns a step as a row of a table: its results, or its last second if it is running.
func (v *view) row(s *fold.Step, name string, p measure.Place) []string {
	if s.Result == nil {
		return v.runningRow(s, name, p)
	}
	cells := []string{name}
	for _, m := range v.shown(p) {
		cells = append(cells, v.stepCell(m.Measure, s.Result))
	}
	return append(cells, v.notes(s.Result))
}

func (v *view) stepCell(m measure.Measure, r *bench.StepResult) string {
	x, ok := m.Of(*r)
	t, throttling := r.Throttling()
	switch {
	case m.ID == measure.Throttled && throttling:
		return fmt.Sprintf("%d/%d", t.Throttled, t.Periods)
	case m.ID == measure.Throughput:
		return rate(x)
	case !ok:
		return v.missing()
	case m.AtLeast != nil && m.ID == measure.MemoryPeak && m.AtLeast(*r):
		return v.l.Glyph.AtLeast + v.cell(m, x)
	}
	return v.cell(m, x)
}

func (v *view) cell(m measure.Measure, x float64) string {
	switch m.ID {
	case measure.Errors:
		return v.errorCount(int64(x))
	case measure.Throughput:
		return rate(x)
	}
	return v.own(m.Unit.Cell(x))
}

func (v *view) errorCount(n int64) string {
	if n == 0 {
		return "0"
	}
	return v.l.Bad.S(units.Count(n))
}

// runningRow returns the last window of a running step (quantiles do not add up) and all errors.
func (v *view) runningRow(s *fold.Step, name string, p measure.Place) []string {
	load, usage, errors := v.latest(s)
	cells, alive, last := []string{name}, v.trial.Result.State == bench.TrialRunning, v.l.Faint.S("last second")
	for _, m := range v.shown(p) {
		switch {
		case m.ID == measure.Errors:
			cells = append(cells, v.errorCount(errors))
		case alive:
			cells = append(cells, v.now(m.ID, load, usage))
		default:
			cells = append(cells, v.missing())
		}
	}
	if !alive {
		last = v.l.Warn.S("did not end")
	}
	return append(cells, last)
}

func (v *view) now(id measure.ID, load *fold.LoadPoint, u *fold.UsagePoint) string {
	switch {
	case id == measure.Throughput && load != nil:
		return rate(load.Throughput)
	case id == measure.P50 && load != nil:
		return v.seconds(load.P50)
	case id == measure.P99 && load != nil:
		return v.seconds(load.P99)
	case id == measure.CPURequest && u != nil && u.Known && load != nil && load.Throughput > 0:
		return v.seconds(u.CPUs / load.Throughput)
	case id == measure.Throttled && u != nil && u.Throttled >= 0:
		return units.Tenths(u.Throttled)
	case id == measure.MemoryUsed && u != nil && u.Used > 0:
		return size(u.Used)
	}
	return v.missing()
}

// latest returns the newest window of a step in which requests were sent and the newest reading of
// the counters, nil where there is none, and the step's errors so far.
func (v *view) latest(s *fold.Step) (load *fold.LoadPoint, usage *fold.UsagePoint, errors int64) {
	if n := len(v.trial.Usage); n > 0 && v.trial.Usage[n-1].T >= s.From {
		usage = &v.trial.Usage[n-1]
	}
	for i := len(v.trial.Load) - 1; i >= 0 && v.trial.Load[i].T >= s.From; i-- {
		p := &v.trial.Load[i]
		if load == nil && !p.Drain {
			load = p
		}
		for _, n := range p.Kinds {
			errors += n
		}
	}
	return load, usage, errors
}

// table draws the steps in h lines with the header, planned ones faint, following the running one.
func (v *view) table(w, h int) []string {
	if h < 2 {
		return nil
	}
	begun := v.trial.Steps
	planned := v.planned()
	n := len(begun) + len(planned)
	p := &v.b.pages[overview]
	if !p.moved {
		// One planned step stays in sight.
		p.top = max(0, min(len(begun)+1, n)-(h-1))
	}
	p.top = max(0, min(p.top, n-(h-1)))
	p.first, p.count = p.top, h-1
	var rows [][]string
	for i := p.top; i < n && len(rows) < h-1; i++ {
		if i >= len(begun) {
			rows = append(rows, []string{v.l.Faint.S("  " + v.stepName(planned[i-len(begun)]))})
			continue
		}
		name := "  " + v.stepName(begun[i].Step)
		if begun[i].Result == nil {
			name = v.l.Strong.S(v.l.Glyph.Run + " " + v.stepName(begun[i].Step))
		}
		rows = append(rows, v.row(begun[i], name, measure.ScreenOverview))
	}
	return v.l.Table(v.stepColumns(measure.ScreenOverview, 30, 1, 32), rows, w)
}

func (v *view) planned() []bench.Step {
	all := v.s.Run.Profile.Steps
	if v.trial.Result.State != bench.TrialRunning || len(v.trial.Steps) >= len(all) {
		return nil
	}
	return all[len(v.trial.Steps):]
}
