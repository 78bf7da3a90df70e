package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/browse"
	"github.com/locbench/locbench/internal/show/tui/live"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Screens makes the screens, each with its links to the others.
type Screens struct {
	Opener ui.Opener     // starts and watches runs
	Source browse.Source // results folders
	Roots  string        // the places that Source searches, in words
}

// SetUp returns the links from a setup to the other screens.
func (s Screens) SetUp() setup.Options {
	return setup.Options{Start: s.start, Browse: func() tea.Cmd { return ui.Cmd(ui.Open{Screen: s.Browse()}) }}
}

// start starts a run and shows it, or reports the error.
func (s Screens) start(args []string) tea.Cmd {
	return s.open(func() (ui.Session, error) { return s.Opener.Start(args) })
}

// watch shows a run that was started elsewhere, in progress or finished.
func (s Screens) watch(dir string) tea.Cmd {
	return s.open(func() (ui.Session, error) { return s.Opener.Watch(dir) })
}

func (s Screens) open(begin func() (ui.Session, error)) tea.Cmd {
	return func() tea.Msg {
		session, err := begin()
		if err != nil {
			return ui.Outcome("", err)
		}
		return ui.Open{Screen: s.Live(session, false)}
	}
}

// Live returns the screen of a run. With leave, the program ends with the run.
func (s Screens) Live(session ui.Session, leave bool) *live.Screen {
	return live.New(live.Options{Session: session, Opener: s.Opener, Leave: leave})
}

// Browse returns the list of results folders.
func (s Screens) Browse() ui.Screen {
	return browse.New(browse.Options{Source: s.Source, Roots: s.Roots, Watch: s.watch})
}
