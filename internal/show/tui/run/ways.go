package run

import (
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Links lead to other pages. Their commands may block.
type Links struct {
	Start   func(args []string) tea.Cmd // starts a run, which takes the place of this page
	Compare func(a, b string) tea.Cmd   // compares two results folders
	Runs    func() tea.Cmd              // the past runs
}

// starts starts a run in place of this one.
func starts(args ...string) act { return func(r *Run) tea.Cmd { return r.options.Start(args) } }

// report writes a report of the run so far.
func (r *Run) report() tea.Cmd {
	dir, opener := r.options.Session.Dir(), r.options.Opener
	switch {
	case dir == "" || opener == nil:
		return bad("no results yet")
	case r.control.writing:
		return nil
	}
	r.control.writing = true
	return func() tea.Msg {
		told := ui.Outcome(opener.Report(dir))
		return act(func(r *Run) tea.Cmd {
			r.control.writing = false
			return ui.Cmd(told)
		})
	}
}

// copyCommand copies the command that repeats the run.
func (r *Run) copyCommand() tea.Cmd {
	if r.state.Started.IsZero() {
		return bad("the run has not started")
	}
	_, text, err := ui.Again(r.state.Run)
	return ui.Cmd(ui.Copied(text, err, "command"))
}

func floorOf(past ui.Source, run bench.Run) *compare.Floor {
	if past == nil {
		return nil
	}
	return past.Floor(run, run)
}

// previous returns the last run of the same profile before a run.
func previous(past ui.Source, now bench.Run) *results.Entry {
	if past == nil {
		return nil
	}
	entries, _ := past.List()
	return ui.Before(entries, now.Profile.Name, now.Started)
}

// since says how the throughput changed since the previous run; "" if there is none.
func since(past ui.Source, now *analysis.Run) string {
	last := previous(past, now.Run)
	if last == nil {
		return ""
	}
	r, err := ui.Since(past, last.Dir, now)
	if err != nil {
		return ""
	}
	return "Throughput since " + last.Started.Format("2 Jan 15:04") + ": " + r.Brief(measure.Throughput) + "."
}
