package screens

import (
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/browse"
	"github.com/locbench/locbench/internal/show/tui/compare"
	"github.com/locbench/locbench/internal/show/tui/live"
	"github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// pages makes the pages, each with its links to the others: pages do not know each other.
type pages struct {
	opener ui.Opener     // starts and watches runs
	source browse.Source // results folders
	roots  string        // the places that source searches, in words
}

// setUp returns the links from a setup to the other pages.
func (p pages) setUp() setup.Options {
	return setup.Options{Start: p.start, Browse: func() tea.Cmd { return ui.Cmd(ui.OpenMsg{Page: p.browse()}) }}
}

// start starts a run and shows it, or reports the error.
func (p pages) start(args []string) tea.Cmd {
	return p.open(func() (ui.Session, error) { return p.opener.Start(args) })
}

// watch shows a run that was started elsewhere, in progress or finished.
func (p pages) watch(dir string) tea.Cmd {
	return p.open(func() (ui.Session, error) { return p.opener.Watch(dir) })
}

func (p pages) open(begin func() (ui.Session, error)) tea.Cmd {
	return func() tea.Msg {
		session, err := begin()
		if err != nil {
			return ui.Outcome("", err)
		}
		return ui.OpenMsg{Page: old.NewPage(p.live(session, false))}
	}
}

// live returns the screen of a run. With leave, the program ends with the run.
func (p pages) live(session ui.Session, leave bool) *live.Screen {
	return live.New(live.Options{Session: session, Opener: p.opener, Leave: leave})
}

// browse returns the list of results folders.
func (p pages) browse() ui.Page {
	o := browse.Options{Source: p.source, Roots: p.roots, Watch: p.watch, Compare: p.compare}
	return old.NewPage(browse.New(o))
}

// compare compares two results folders, or the contenders of one.
func (p pages) compare(a, b string) tea.Cmd {
	return ui.Cmd(ui.OpenMsg{Page: old.NewPage(compare.New(a, b, p.source))})
}
