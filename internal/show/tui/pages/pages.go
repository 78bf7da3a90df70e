// Package pages makes the pages of the dashboard, each with its links to the others: pages do not
// know each other.
package pages

import (
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/compare"
	"github.com/locbench/locbench/internal/show/tui/run"
	"github.com/locbench/locbench/internal/show/tui/runs"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Pages makes the pages.
type Pages struct {
	Opener ui.Opener // starts and watches runs
	Source ui.Source // results folders
	Roots  string    // the places that Source searches, in words
}

// SetUp returns the links from a setup to the other pages.
func (p Pages) SetUp() setup.Options {
	return setup.Options{Start: p.start, Browse: p.browse}
}

// start starts a run and shows it, or reports the error.
func (p Pages) start(args []string) tea.Cmd {
	return p.live(func() (ui.Session, error) { return p.Opener.Start(args) },
		func(page ui.Page) tea.Msg { return ui.OpenMsg{Page: page} })
}

// next starts a run in place of one that has ended.
func (p Pages) next(args []string) tea.Cmd {
	return p.live(func() (ui.Session, error) { return p.Opener.Start(args) },
		func(page ui.Page) tea.Msg { return ui.ReplaceMsg{Page: page} })
}

// watch shows a run that was started elsewhere, in progress or finished.
func (p Pages) watch(dir string) tea.Cmd {
	return p.live(func() (ui.Session, error) { return p.Opener.Watch(dir) },
		func(page ui.Page) tea.Msg { return ui.OpenMsg{Page: page} })
}

func (p Pages) live(begin func() (ui.Session, error), show func(ui.Page) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		session, err := begin()
		if err != nil {
			return ui.Outcome("", err)
		}
		return show(p.Live(session, false))
	}
}

// Live returns the page of a run. With leave, the program ends with the run.
func (p Pages) Live(session ui.Session, leave bool) *run.Run {
	links := run.Links{Start: p.next, Compare: p.compare, Runs: p.browse}
	return run.New(run.Options{Session: session, Opener: p.Opener, Past: p.Source, Leave: leave, Links: links})
}

func (p Pages) browse() tea.Cmd { return ui.Cmd(ui.OpenMsg{Page: p.Browse()}) }

// Browse returns the page of past runs.
func (p Pages) Browse() ui.Page {
	return runs.New(runs.Options{Source: p.Source, Roots: p.Roots, Open: p.watch, Compare: p.compare, Start: p.start,
		Report: p.Opener.Report})
}

// compare compares two results folders, or the contenders of one.
func (p Pages) compare(a, b string) tea.Cmd {
	return ui.Cmd(ui.OpenMsg{Page: compare.New(a, b, p.Source)})
}
