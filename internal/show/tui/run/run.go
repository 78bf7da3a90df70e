// Package run is the page of a run, in progress or finished: a header, and one page for each of its
// tabs. It holds the state; the tabs get it by message.
package run

import (
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// Options configure the page.
type Options struct {
	Session ui.Session
	Opener  ui.Opener
	Past    Past // results to judge the end with; nil: none
	Leave   bool // close the program as soon as the run has ended, as "locbench run" does
}

// StateMsg goes to all tabs when records were applied, another trial was chosen, or a second has
// passed. State is the same pointer each time: it must not be changed. State.Version changes with it.
type StateMsg struct {
	State *fold.State
	Trial *fold.Trial // the one that is shown; nil before the first
	At    time.Time   // the present for all durations
}

// escaper is a tab in which esc may close something; false: it had nothing to close.
type escaper interface{ Escape() bool }

// Run is the page.
type Run struct {
	options Options
	state   fold.State
	tabs    []ui.Page
	at      int
	size    ui.Size
	theme   *ui.Theme
	ended   bool
	code    int
	stderr  string // output of the run to standard error
}

// New makes the page.
func New(o Options) *Run {
	return &Run{options: o, tabs: []ui.Page{newOverview(), newSteps(), newContenders(), newChecks(), newLog()}}
}

type (
	batchMsg struct {
		records []bench.Record
		ok      bool
	}
	endedMsg struct {
		code   int
		stderr string
	}
)

// Init implements ui.Page.
func (r *Run) Init() tea.Cmd { return r.next() }

func (r *Run) next() tea.Cmd {
	return func() tea.Msg {
		records, ok := r.options.Session.Next()
		return batchMsg{records, ok}
	}
}

// SetSize implements ui.Page.
func (r *Run) SetSize(size ui.Size, theme *ui.Theme) {
	r.size, r.theme = size, theme
	size.Height = max(1, size.Height-len(r.header()))
	for _, tab := range r.tabs {
		tab.SetSize(size, theme)
	}
}

// Update implements ui.Page.
func (r *Run) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case batchMsg:
		for _, rec := range msg.records {
			r.state.Apply(rec)
		}
		if msg.ok {
			return tea.Batch(r.tell(), r.next())
		}
		return tea.Batch(r.tell(), func() tea.Msg {
			code, stderr := r.options.Session.Wait()
			return endedMsg{code, stderr}
		})
	case endedMsg:
		r.ended, r.code, r.stderr = true, msg.code, msg.stderr
		r.tabs[0] = newResult(r.options.Past)
		r.SetSize(r.size, r.theme)
		return r.tell()
	case ui.TickMsg:
		return r.tell()
	case *ending:
		return r.tabs[0].Update(msg)
	case tea.KeyPressMsg:
		return r.key(msg)
	}
	return r.tabs[r.at].Update(msg)
}

// tell passes the state to the tabs.
func (r *Run) tell() tea.Cmd {
	msg := StateMsg{State: &r.state, Trial: r.state.Current, At: r.state.Now(r.state.Last)}
	var cmds []tea.Cmd
	for _, tab := range r.tabs {
		cmds = append(cmds, tab.Update(msg))
	}
	return tea.Batch(cmds...)
}

func (r *Run) key(msg tea.KeyPressMsg) tea.Cmd {
	tab := r.tabs[r.at]
	if tab.Typing() {
		return tab.Update(msg)
	}
	switch ui.KeyOf(msg) {
	case ui.Digits:
		r.at = min(ui.DigitOf(msg), len(r.tabs)) - 1
	case ui.NextTab:
		r.at = (r.at + 1) % len(r.tabs)
	case ui.PrevTab:
		r.at = (r.at + len(r.tabs) - 1) % len(r.tabs)
	case ui.Esc:
		if e, ok := tab.(escaper); ok && e.Escape() {
			return nil
		}
		return ui.Cmd(ui.BackMsg{})
	default:
		return tab.Update(msg)
	}
	return nil
}

// header is the first lines: where, the row of tabs, and the first problem.
func (r *Run) header() []string {
	var names []string
	for i, tab := range r.tabs {
		name := " " + strconv.Itoa(i+1) + " " + tab.Title()
		if i == r.at && r.theme != nil {
			name = r.theme.Select.S("▸" + name[1:])
		}
		names = append(names, name)
	}
	lines := []string{" " + ui.Outside(r.state.Run.Profile.Name, 100), fit.Cut(strings.Join(names, " "), r.size.Width)}
	if found := problems(&r.state); len(found) > 0 && r.theme != nil && !r.ended {
		lines = append(lines, found[0].Short(r.theme, r.size.Width)...)
	}
	return lines
}

// View implements ui.Page.
func (r *Run) View() string { return strings.Join(r.header(), "\n") + "\n" + r.tabs[r.at].View() }

// Keys implements ui.Page.
func (r *Run) Keys() ui.Keys {
	keys := r.tabs[r.at].Keys()
	keys.Groups = append(keys.Groups, ui.Group{Title: "this run", Keys: []key.Binding{
		ui.Hint("page", ui.Digits), ui.Hint("next page", ui.NextTab, ui.PrevTab), ui.Hint("", ui.Esc),
	}})
	return keys
}

// Typing implements ui.Page.
func (r *Run) Typing() bool { return r.tabs[r.at].Typing() }

// Calm implements ui.Calm.
func (r *Run) Calm() bool { return r.state.Loading() }

// Title implements ui.Page.
func (r *Run) Title() string { return "run, page " + r.tabs[r.at].Title() }

// Outcome returns the run's exit code and standard error; ok is false while it runs.
func (r *Run) Outcome() (code int, stderr string, ok bool) { return r.code, r.stderr, r.ended }
