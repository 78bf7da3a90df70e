// Package run is the page of a run, in progress or finished: a header, and one page for each of its
// tabs. It holds the state; the tabs get it by message. A key sends a request to the run; the page
// shows the change when the run has reported it.
package run

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Options configure the page.
type Options struct {
	Session ui.Session
	Opener  ui.Opener
	Past    ui.Source // results to judge the end with; nil: none
	Leave   bool      // close the program as soon as the run has ended, as "locbench run" does
	Links
}

// StateMsg goes to all tabs when records were applied, another trial was chosen, or a second has
// passed. State is the same pointer each time: it must not be changed. State.Version changes with it.
type StateMsg struct {
	State *fold.State
	Trial *fold.Trial // the one that is shown; nil before the first
	At    time.Time   // the present for all durations
}

// Run is the page.
type Run struct {
	options Options
	state   fold.State
	control controls
	failed  kept[[]problem]
	tabs    []page
	at      int
	shown   *bench.Trial // the trial that was chosen; nil: the running one
	clock   time.Time
	size    ui.Size
	body    ui.Size // of the tabs
	theme   *ui.Theme
	stale   bool // the tabs do not know the newest records
	gone    bool // no more events will come
	ended   bool
	code    int
	stderr  string // output of the run to standard error
}

// New makes the page.
func New(o Options) *Run {
	return &Run{options: o, tabs: []page{newOverview(), newSteps(), newChecks(), newLog(), newResult(o.Past)}}
}

type (
	batchMsg struct {
		records []bench.Record
		ok      bool
	}
	endedMsg struct {
		code   int
		stderr string
		saved  *fold.State // of a run whose event log lacks its end; else nil
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
	r.size, r.theme, r.body = size, theme, ui.Size{}
}

// fit gives the tabs what a header leaves.
func (r *Run) fit(header int) {
	size := r.size
	size.Height = max(1, size.Height-header)
	if size == r.body {
		return
	}
	r.body = size
	for _, tab := range r.tabs {
		tab.SetSize(size, r.theme)
	}
}

// Update implements ui.Page.
func (r *Run) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case batchMsg:
		return r.batch(msg)
	case endedMsg:
		return r.end(msg)
	case ui.TickMsg:
		if r.clock = msg.Now; !r.ended {
			return r.tell()
		}
		return nil
	case ui.StopMsg:
		return r.interrupt()
	case act:
		return msg(r)
	case ui.CopyMsg: // of a question
		return ui.Cmd(msg)
	case *ending:
		return r.tabs[0].Update(msg)
	case tea.KeyPressMsg:
		r.refresh()
		return r.key(msg)
	}
	return r.tabs[r.at].Update(msg)
}

func (r *Run) batch(msg batchMsg) tea.Cmd {
	for _, rec := range msg.records {
		r.state.Apply(rec)
	}
	r.stale = true
	if msg.ok {
		return r.next()
	}
	r.gone = true
	session, past, logged := r.options.Session, r.options.Past, r.state.Ended != nil
	return func() tea.Msg {
		code, stderr := session.Wait()
		end := endedMsg{code: code, stderr: stderr}
		if past != nil && !logged && !session.CanSteer() {
			if run, trials, _ := past.Load(session.Dir()); run.State != "" && run.State != bench.RunRunning {
				saved := fold.OfResults(run, trials, session.Dir())
				end.saved = &saved
			}
		}
		return end
	}
}

// end lets the result, so far the last tab, and the charts over time change places.
func (r *Run) end(msg endedMsg) tea.Cmd {
	r.ended, r.code, r.stderr = true, msg.code, msg.stderr
	if msg.saved != nil {
		r.state = *msg.saved
	}
	if r.options.Leave {
		return ui.Cmd(ui.QuitMsg{})
	}
	last := len(r.tabs) - 1
	r.tabs[0], r.tabs[last] = r.tabs[last], r.tabs[0]
	r.tabs[0].(*Result).over = true
	if r.control.asked { // the question is obsolete
		return tea.Batch(r.tell(), ui.Cmd(ui.SettledMsg{}))
	}
	return r.tell()
}

// onResult reports whether the result is in sight after the end.
func (r *Run) onResult() bool { return r.ended && r.at == 0 }

// onCharts reports whether the charts over time are in sight after the end.
func (r *Run) onCharts() bool { return r.ended && r.at == len(r.tabs)-1 }

// now is the present for all durations.
func (r *Run) now() time.Time { return r.state.Now(r.clock) }

// refresh passes the state on before the tabs are used: many records make one frame. While a run is
// in progress, they have no commands.
func (r *Run) refresh() {
	if r.stale {
		r.tell()
	}
}

// tell passes the state to the tabs.
func (r *Run) tell() tea.Cmd {
	r.stale = false
	msg := StateMsg{State: &r.state, Trial: r.trial(), At: r.now()}
	var cmds []tea.Cmd
	for _, tab := range r.tabs {
		cmds = append(cmds, tab.Update(msg))
	}
	return tea.Batch(cmds...)
}

// View implements ui.Page.
func (r *Run) View() string {
	r.refresh()
	lines := heading{r}.lines()
	r.fit(len(lines))
	header := strings.Join(lines, "\n")
	if r.ended && r.state.Version == 0 { // it never began: there is only what it wrote
		return header
	}
	return header + "\n" + r.tabs[r.at].View()
}

// Typing implements ui.Page.
func (r *Run) Typing() bool { return false }

// Calm implements ui.Calm.
func (r *Run) Calm() bool { return r.state.Loading() && !r.state.Current.Growing() }

// Title implements ui.Page.
func (r *Run) Title() string { return "run, page " + r.tabs[r.at].Title() }
