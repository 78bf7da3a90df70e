package run

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// wayMsg is the chosen way on, for the page of the run. ui.Enter opens the contender, or without
// one the page of the contenders, or of the steps if there is only one. ui.Compare, ui.Start,
// ui.Resume, ui.Report and ui.Runs are of the run, ui.View leads to the charts over time.
type wayMsg struct {
	Key       ui.Key
	Contender string // label
}

// Result is the end of a run: the verdict and how sure it is, the contenders, what failed and why,
// and what to do next. Package conclusion has decided everything that it says.
type Result struct {
	tab
	past    ui.Source
	version uint64 // of the state that is concluded
	end     *ending
	grid    *ui.Grid
	other   bool // the second chart is shown, where there is room for one
	top     int  // line of the grid in the last View
}

// ending is what is said about a run. It is also the message that it is known.
type ending struct {
	conclusion.Conclusion
	of       *analysis.Run
	problems []problem
	since    string // how it compares with the run before; "": not known
}

// first returns the row that explains the verdict: the step at peak, or the contender that failed if
// the first is then in sight too.
func (e *ending) first() int {
	peak, highest := 0, 0.
	for i, row := range e.Table.Rows {
		name := row.Cells[e.Table.Heading].Text
		if e.Tone != conclusion.Good && i < inSight && len(e.Problems) > 0 && name == e.Problems[0].Contender {
			return i
		}
		if v := row.Cells[1].Sort; e.Kind == conclusion.Single && v != nil && *v > highest {
			peak, highest = i, *v
		}
	}
	return peak
}

// newResult makes the tab; past may be nil.
func newResult(past ui.Source) page {
	return &Result{tab: newTab("Result"), past: past, grid: ui.NewGrid(false)}
}

// SetSize implements ui.Page.
func (r *Result) SetSize(size ui.Size, theme *ui.Theme) {
	r.tab.SetSize(size, theme)
	r.fill()
}

// table is the evidence of the conclusion.
func (r *Result) table() table.Table {
	return r.theme.Evidence(r.end.Table, r.size.Class, ui.Marks(r.end.of))
}

func (r *Result) fill() {
	if r.end != nil && r.theme != nil {
		r.grid.Set(r.table())
	}
}

// Update implements ui.Page.
func (r *Result) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case StateMsg:
		if r.version == msg.State.Version {
			return nil
		}
		r.StateMsg, r.version = msg, msg.State.Version
		return r.conclude()
	case *ending:
		r.end = msg
		r.fill()
		r.grid.Select(msg.first())
		return nil
	case tea.KeyPressMsg:
		if r.end == nil {
			return nil
		}
		switch k := ui.KeyOf(msg); k {
		case ui.Enter:
			return ui.Cmd(wayMsg{k, r.selected()})
		case ui.Resume:
			if !resumable(r.State) {
				return nil
			}
			return ui.Cmd(wayMsg{Key: k})
		case ui.Compare, ui.Start, ui.Report, ui.Runs:
			return ui.Cmd(wayMsg{Key: k})
		case ui.View: // the other chart where there is room for one, then the charts over time
			if r.other = !r.other && r.alternates(); !r.other {
				return ui.Cmd(wayMsg{Key: k})
			}
		}
	}
	r.grid.Update(msg, r.top)
	return nil
}

// conclude returns the command that concludes: merging the latencies of a long run takes a moment.
func (r *Result) conclude() tea.Cmd {
	state, past := *r.State, r.past
	run, trials := state.Run, state.Results()
	run.Trials = slices.Clone(run.Trials)
	return func() tea.Msg {
		e := &ending{of: analysis.Of(run, trials)}
		e.Conclusion = conclusion.Of(e.of, floorOf(past, run))
		e.problems = problemsOf(&state, e.of, e.Problems)
		e.since = since(past, e.of)
		return e
	}
}

// selected returns the label of the selected contender; "" if the rows are something else.
func (r *Result) selected() string {
	rows, i := r.end.Table.Rows, r.grid.Row()
	if i < 0 || rows[i].Mark == 0 {
		return ""
	}
	return r.end.of.Ordered()[rows[i].Mark-1].Label
}

// View implements ui.Page.
func (r *Result) View() string {
	if r.end == nil {
		return strings.Join(ui.Exact([]string{" The results are being read…"}, r.size.Width, r.size.Height), "\n")
	}
	blocks, grid := r.blocks()
	view, tops := ui.Stack(r.size.Width, r.size.Height, blocks...)
	r.top = tops[grid]
	return view
}

// Keys implements ui.Page.
func (r *Result) Keys() ui.Keys {
	if r.end == nil {
		return ui.Keys{}
	}
	open := "contender"
	switch {
	case r.end.Kind == conclusion.Single:
		open = "steps"
	case r.selected() == "":
		open = "contenders"
	}
	ways := []key.Binding{ui.Hint(open, ui.Enter)}
	if resumable(r.State) {
		ways = append(ways, ui.Hint("", ui.Resume))
	}
	other := "compare with…"
	if len(r.State.Run.Profile.Contenders) == 2 {
		other = "compare both"
	}
	ways = append(ways, ui.Hint("run again", ui.Start), ui.Hint(other, ui.Compare), ui.Hint("", ui.Report),
		ui.Hint("", ui.Runs))
	moves := []key.Binding{ui.Hint("contender", ui.Up, ui.Down), ui.Hint("a page", ui.PageUp, ui.PageDown),
		ui.Hint("first, last", ui.First, ui.Last), ui.Hint("other charts", ui.View)}
	groups := []ui.Group{{Title: "on from here", Keys: ways}, {Title: "table", Keys: moves}}
	return ui.Keys{Short: ways[:min(len(ways), 6)], Groups: groups}
}
