package run

import (
	"fmt"
	"slices"
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// Steps is the steps of a trial: how it behaved at each load, what limited it, and how far that can
// be trusted. The cursor is on the step that ended last until it is moved away.
type Steps struct {
	tab
	grid   *ui.Grid
	bounds map[int]verdict.Verdict // by index of the step
	judged *bench.StepResult       // the last of them
	moved  bool
	text   ui.Scroll // of the page of one step
}

// newSteps makes the tab.
func newSteps() page {
	return &Steps{tab: newTab("Steps"), grid: &ui.Grid{Below: 1}, // the running step stays in sight
		text: ui.NewScroll()}
}

// SetSize implements ui.Page.
func (s *Steps) SetSize(size ui.Size, theme *ui.Theme) {
	s.tab.SetSize(size, theme)
	s.fill()
}

// Update implements ui.Page.
func (s *Steps) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case StateMsg:
		if s.Trial != msg.Trial {
			s.moved, s.full = false, false
			s.text.GotoTop()
		}
		s.StateMsg = msg
		s.fill()
		return nil
	case tea.KeyPressMsg:
		switch k := ui.KeyOf(msg); {
		case k == ui.Enter && s.step() != nil:
			s.full = !s.full
			s.text.GotoTop()
		case k == ui.Last:
			s.moved = false
			s.fill()
		case k == ui.PageUp || k == ui.PageDown:
			s.text.Update(msg)
		case s.grid.Update(k):
			s.moved = s.grid.Row() != s.newest()
			s.text.GotoTop()
		}
	}
	return nil
}

// count implements page.
func (s *Steps) count(*ui.Theme) string {
	done := len(s.steps())
	switch n := len(s.State.Run.Profile.Steps); {
	case done == 0:
		return ""
	case n > 0 && s.State.Run.Search == "":
		return fmt.Sprintf("%d/%d", done, n)
	}
	return strconv.Itoa(done)
}

// newest returns the row of the step that ended last, or of the first one.
func (s *Steps) newest() int {
	steps := s.steps()
	for i, step := range slices.Backward(steps) {
		if step.Result != nil {
			return i
		}
	}
	return 0
}

func (s *Steps) steps() []*fold.Step {
	if s.Trial == nil {
		return nil
	}
	return s.Trial.Steps
}

// planned returns the steps to come.
func (s *Steps) planned() []bench.Step {
	all := s.State.Run.Profile.Steps
	if n := len(s.steps()); s.Trial.Result.State == bench.TrialRunning && n < len(all) {
		return all[n:]
	}
	return nil
}

// step returns the selected step; nil if it has not begun.
func (s *Steps) step() *fold.Step {
	if steps, i := s.steps(), s.grid.Row(); i >= 0 && i < len(steps) {
		return steps[i]
	}
	return nil
}

// fill makes the table.
func (s *Steps) fill() {
	trial := s.Trial
	if trial == nil || s.theme == nil {
		s.grid.Set(table.Table{})
		return
	}
	s.grid.Set(s.table())
	if !s.moved {
		s.grid.Select(s.newest())
	}
}

// table has a row for each step that has begun, and for those to come.
func (s *Steps) table() table.Table {
	trial := s.Trial
	shown := measures(measure.ScreenSteps, trial)
	t := table.Table{Columns: []table.Column{{Title: "step", Left: true}}}
	for _, m := range shown {
		t.Columns = append(t.Columns, table.Column{Title: m.Head, Drop: m.Drop})
	}
	t.Columns = append(t.Columns, table.Column{Title: "bound by", Left: true, Drop: 3},
		table.Column{Title: "trust", Left: true, Drop: 4})
	s.judge()
	for _, step := range trial.Steps {
		cells := []table.Cell{{Text: stepSign(s.theme, trial, step) + " " + stepName(step.Step, s.size.Class)}}
		for _, m := range shown {
			cells = append(cells, stepCell(m.Measure, trial, step))
		}
		if r := step.Result; r != nil {
			bound := s.bounds[step.Index]
			cells = append(cells, boundCell(bound, r), trustOf(s.State.Run.Profile, r, bound.Bound).cell())
		}
		t.Rows = append(t.Rows, table.Row{Cells: cells})
	}
	for _, step := range s.planned() {
		t.Add("  " + stepName(step, s.size.Class)).Cells[0].Tone = table.Faint
	}
	return t
}

// judge finds the bottlenecks of the finished steps, when another one has ended.
func (s *Steps) judge() {
	steps := s.Trial.Result.Steps
	if len(steps) == 0 || s.judged == &steps[len(steps)-1] {
		return
	}
	s.judged, s.bounds = &steps[len(steps)-1], map[int]verdict.Verdict{}
	for i, v := range verdict.Trial(s.State.Run.Machine.CPUs, s.Trial.Result) {
		s.bounds[steps[i].Index] = v
	}
}

// View implements ui.Page.
func (s *Steps) View() string {
	if len(s.steps()) == 0 {
		return s.stack(ui.Text(1, " No step has started yet."))
	}
	s.text.SetContentLines(s.lines())
	n := s.text.TotalLineCount()
	text := ui.Block{Priority: 3, Least: min(n, 4), Most: n, Draw: func(w, h int) string { return s.text.Draw(s.theme, w, h) }}
	if s.full {
		return s.stack(ui.Text(1, s.head()), text)
	}
	blank := ui.Block{}
	if s.size.Class == ui.Full {
		blank = ui.Text(4, "")
	}
	return s.stack(s.rows(), blank, ui.Text(2, s.head()), text)
}

// rows is the table; above it is which rows are in sight, unless all are.
func (s *Steps) rows() ui.Block {
	b := s.grid.Block(s.theme, 2, 5)
	n := b.Most - 1
	b.Draw = func(w, h int) string {
		if h > n || h < 4 {
			return s.grid.View(s.theme, w, h)
		}
		view := s.grid.View(s.theme, w, h-1)
		from, to, _ := s.grid.Range()
		return s.theme.Faint.S(fmt.Sprintf("  steps %d to %d of %d", from, to, n)) + "\n" + view
	}
	return b
}

// Keys implements ui.Page.
func (s *Steps) Keys() ui.Keys {
	short := []key.Binding{ui.Hint("step", ui.Up, ui.Down), ui.Hint("all of it", ui.Enter)}
	if s.full {
		short = []key.Binding{ui.Hint("step", ui.Up, ui.Down), ui.Hint("all steps", ui.Enter)}
	}
	all := slices.Concat(short, []key.Binding{ui.Hint("its text", ui.PageUp, ui.PageDown),
		ui.Hint("first step", ui.First), ui.Hint("newest step, and follow", ui.Last)})
	return ui.Keys{Short: short, Groups: []ui.Group{{Title: "steps", Keys: all}}, Legend: []string{
		"trust: ✓ as measured, ! something else may have limited it, ✗ failed, – warm-up",
	}}
}
