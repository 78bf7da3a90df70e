// Package pages makes the pages of the dashboard, each with its links to the others: pages do not
// know each other.
package pages

import (
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/browse"
	"github.com/locbench/locbench/internal/show/tui/compare"
	"github.com/locbench/locbench/internal/show/tui/live"
	"github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Pages makes the pages.
type Pages struct {
	Opener ui.Opener     // starts and watches runs
	Source browse.Source // results folders
	Roots  string        // the places that Source searches, in words
}

// SetUp returns the links from a setup to the other pages.
func (p Pages) SetUp() setup.Options {
	return setup.Options{Runs: p.Source, Start: p.start, Browse: func() tea.Cmd { return ui.Cmd(ui.OpenMsg{Page: p.Browse()}) }}
}

// start starts a run and shows it, or reports the error.
func (p Pages) start(args []string) tea.Cmd {
	return p.open(func() (ui.Session, error) { return p.Opener.Start(args) })
}

// watch shows a run that was started elsewhere, in progress or finished.
func (p Pages) watch(dir string) tea.Cmd {
	return p.open(func() (ui.Session, error) { return p.Opener.Watch(dir) })
}

func (p Pages) open(begin func() (ui.Session, error)) tea.Cmd {
	return func() tea.Msg {
		session, err := begin()
		if err != nil {
			return ui.Outcome("", err)
		}
		return ui.OpenMsg{Page: old.NewPage(p.Live(session, false))}
	}
}

// Live returns the screen of a run. With leave, the program ends with the run.
func (p Pages) Live(session ui.Session, leave bool) *live.Screen {
	return live.New(live.Options{Session: session, Opener: p.Opener, Leave: leave})
}

// Browse returns the list of results folders.
func (p Pages) Browse() ui.Page {
	o := browse.Options{Source: p.Source, Roots: p.Roots, Watch: p.watch, Compare: p.compare}
	return old.NewPage(browse.New(o))
}

// compare compares two results folders, or the contenders of one.
func (p Pages) compare(a, b string) tea.Cmd {
	return ui.Cmd(ui.OpenMsg{Page: old.NewPage(compare.New(a, b, p.Source))})
}
