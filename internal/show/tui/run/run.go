// Package run is the page of a run, in progress or finished: a header, and one page for each of its
// tabs. It holds the state; the tabs get it by message. A key sends a request to the run; the page
// shows the change when the run has reported it.
package run

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Options configure the page.
type Options struct {
	Session ui.Session
	Opener  ui.Opener
	Past    Past // results to judge the end with; nil: none
	Leave   bool // close the program as soon as the run has ended, as "locbench run" does
	Links
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
	control controls
	failed  failedSoFar
	tabs    []ui.Page
	behind  ui.Page // the charts over time, or the result, which takes turns with it from the end on
	at      int
	heads   heads
	shown   *bench.Trial // the trial that was chosen; nil: the running one
	clock   time.Time
	size    ui.Size
	theme   *ui.Theme
	gone    bool // no more events will come
	ended   bool
	code    int
	stderr  string // output of the run to standard error
}

// failedSoFar are the problems so far, kept until one may be new.
type failedSoFar struct {
	at       progress
	problems []ui.Problem
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
	r.fit()
}

// fit gives the tabs what the header leaves.
func (r *Run) fit() {
	if r.theme == nil {
		return
	}
	size := r.size
	size.Height = max(1, size.Height-len(r.header()))
	for _, tab := range r.pages() {
		tab.SetSize(size, r.theme)
	}
}

// pages returns the tabs, and the page that takes turns with the first.
func (r *Run) pages() []ui.Page {
	if r.behind == nil {
		return r.tabs
	}
	return append([]ui.Page{r.behind}, r.tabs...)
}

// Update implements ui.Page.
func (r *Run) Update(msg tea.Msg) tea.Cmd {
	cmd := r.update(msg)
	r.fit() // the header may have another height
	return cmd
}

func (r *Run) update(msg tea.Msg) tea.Cmd {
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
	case abortMsg:
		return r.stop("")
	case controlMsg:
		return r.send(bench.Control(msg))
	case startMsg:
		return r.options.Start(msg.args)
	case reportMsg:
		r.control.writing = false
		return ui.Cmd(msg.TellMsg)
	case wayMsg:
		return r.way(msg)
	case *ending:
		result := r.tabs[0]
		if !r.onFirstResult() {
			result = r.behind
		}
		return result.Update(msg)
	case tea.KeyPressMsg:
		return r.key(msg)
	case tea.MouseClickMsg:
		if r.click(msg.X, msg.Y) {
			return nil
		}
		msg.Y -= len(r.header())
		return r.tabs[r.at].Update(msg)
	}
	return r.tabs[r.at].Update(msg)
}

func (r *Run) batch(msg batchMsg) tea.Cmd {
	for _, rec := range msg.records {
		r.state.Apply(rec)
	}
	if at := progressOf(&r.state); at != r.failed.at || r.state.Ended != nil {
		r.failed = failedSoFar{at, problems(&r.state)}
	}
	if msg.ok {
		return tea.Batch(r.tell(), r.next())
	}
	r.gone = true
	return tea.Batch(r.tell(), func() tea.Msg {
		code, stderr := r.options.Session.Wait()
		return endedMsg{code, stderr}
	})
}

// end puts the result in place of the charts.
func (r *Run) end(msg endedMsg) tea.Cmd {
	r.ended, r.code, r.stderr = true, msg.code, msg.stderr
	if r.options.Leave {
		return ui.Cmd(ui.QuitMsg{})
	}
	r.tabs[0], r.behind = newResult(r.options.Past), r.tabs[0]
	r.fit()
	if r.control.asked { // the question is obsolete
		return tea.Batch(r.tell(), ui.Cmd(ui.SettledMsg{}))
	}
	return r.tell()
}

// onFirstResult reports whether the first tab is the result.
func (r *Run) onFirstResult() bool {
	_, ok := r.tabs[0].(*Result)
	return ok
}

// onResult reports whether the result is in sight.
func (r *Run) onResult() bool { return r.at == 0 && r.onFirstResult() }

// now is the present for all durations.
func (r *Run) now() time.Time { return r.state.Now(r.clock) }

// tell passes the state to the tabs.
func (r *Run) tell() tea.Cmd {
	msg := StateMsg{State: &r.state, Trial: r.trial(), At: r.now()}
	var cmds []tea.Cmd
	for _, tab := range r.pages() {
		cmds = append(cmds, tab.Update(msg))
	}
	return tea.Batch(cmds...)
}

func (r *Run) key(msg tea.KeyPressMsg) tea.Cmd {
	tab := r.tabs[r.at]
	if tab.Typing() {
		return tab.Update(msg)
	}
	switch k := ui.KeyOf(msg); k {
	case ui.Digits:
		r.at = min(ui.DigitOf(msg), len(r.tabs)) - 1
	case ui.NextTab:
		r.at = (r.at + 1) % len(r.tabs)
	case ui.PrevTab:
		r.at = (r.at + len(r.tabs) - 1) % len(r.tabs)
	case ui.TrialBefore, ui.TrialAfter:
		r.choose(map[ui.Key]int{ui.TrialBefore: -1, ui.TrialAfter: 1}[k])
		return r.tell()
	case ui.Current:
		r.shown = nil
		return r.tell()
	case ui.Esc:
		return r.escape(tab)
	case ui.Leave:
		return r.leave()
	case ui.Copy:
		return r.copyCommand()
	case ui.Pause, ui.Stop, ui.Note, ui.Faster, ui.Slower:
		if r.steers() {
			return r.steer(k)
		}
	case ui.Report:
		return r.report()
	default:
		return tab.Update(msg)
	}
	return nil
}

// escape closes what is open in the tab, the charts over time after the end, or the page.
func (r *Run) escape(tab ui.Page) tea.Cmd {
	if e, ok := tab.(escaper); ok && e.Escape() {
		return nil
	}
	if r.at == 0 && r.ended && !r.onResult() {
		r.turn()
		return nil
	}
	return r.leave()
}

// View implements ui.Page.
func (r *Run) View() string {
	header := strings.Join(r.header(), "\n")
	if r.ended && r.state.Version == 0 { // it never began: there is only what it wrote
		return header
	}
	return header + "\n" + r.tabs[r.at].View()
}

// Keys implements ui.Page.
func (r *Run) Keys() ui.Keys {
	const most = 6
	keys := r.tabs[r.at].Keys()
	if r.Typing() {
		return keys
	}
	var here []key.Binding
	if r.steers() {
		pause := "pause"
		if r.pausing() {
			pause = "resume"
		}
		here = []key.Binding{ui.Hint(pause, ui.Pause), ui.Hint("", ui.Stop), ui.Hint("note", ui.Note)}
		if r.at == 0 {
			keys.Short = append(here, keys.Short...)
		} else {
			keys.Short = append(keys.Short, here...)
		}
		if r.open() {
			here = append(here, ui.Hint("rate ±10%", ui.Faster, ui.Slower))
		}
	}
	if !r.onResult() {
		here = append(here, ui.Hint("report so far", ui.Report))
	}
	if r.behind != nil && r.at == 0 && !r.onResult() {
		keys.Short = append(keys.Short, ui.Hint("result", ui.Esc))
	}
	here = append(here, ui.Hint("", ui.Copy), ui.Hint("trial before, after", ui.TrialBefore, ui.TrialAfter), ui.Hint("", ui.Current),
		ui.Hint("page", ui.Digits), ui.Hint("next page", ui.NextTab, ui.PrevTab), ui.Hint("", ui.Esc), ui.Hint("", ui.Leave))
	keys.Groups = append(keys.Groups, ui.Group{Title: "this run", Keys: here})
	if len(keys.Short) < most {
		keys.Short = append(keys.Short, ui.Hint("next", ui.NextTab))
	}
	keys.Short = keys.Short[:min(len(keys.Short), most)]
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
