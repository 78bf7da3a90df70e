// Package ui holds what the pages of the dashboard are built on: the interface of a page and its
// messages to the program, keys, theme, layout by priority, tables, problems and questions, and the
// interfaces to everything outside (sessions, reports), which package screens implements.
package ui

import (
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
)

// Page is one page of the dashboard, a pointer used by one goroutine. Only SetSize and Update change
// what View draws.
type Page interface {
	// Init is called once, when the page is opened.
	Init() tea.Cmd
	// Update handles a message. Messages of the page's own commands come back to it, also while
	// another page covers it. Commands must not use tea.Sequence.
	Update(msg tea.Msg) tea.Cmd
	// View draws the page, at most as large as the last SetSize.
	View() string
	// SetSize is called before the first View and after every change of either. The size is at least
	// 20 by 5 cells.
	SetSize(size Size, theme *Theme)
	// Keys returns the keys that work now.
	Keys() Keys
	// Typing reports whether letters are text now, and not keys of the program.
	Typing() bool
	// Title returns the name of the page.
	Title() string
}

// Calm is a page that measures something at times: it is then drawn once a second, and otherwise
// only after a key, since drawing must not disturb the measurement.
type Calm interface{ Calm() bool }

// Messages from pages to the program.
type (
	// OpenMsg shows another page on top of this one.
	OpenMsg struct{ Page Page }
	// ReplaceMsg shows another page in place of this one.
	ReplaceMsg struct{ Page Page }
	// BackMsg closes this page; the program ends with the last one.
	BackMsg struct{}
	// QuitMsg ends the program.
	QuitMsg struct{}
	// AskMsg shows a question over this page. The message of the choice comes back to the page.
	AskMsg struct{ Ask }
	// SettledMsg closes the question of this page: its reason is gone.
	SettledMsg struct{}
	// TellMsg shows a text in place of the keys for some seconds.
	TellMsg struct {
		Text string
		Bad  bool
	}
	// CopyMsg copies text to the clipboard of the terminal, and shows it, since not every terminal
	// has one.
	CopyMsg struct {
		Text  string
		What  string
		Shown string // shown instead of Text, which holds a password; "" shows Text
	}
)

// Messages from the program to pages, next to those of Bubble Tea (keys, paste).
type (
	// ShownMsg reports that the page above has closed.
	ShownMsg struct{}
	// TickMsg comes once a second to the page on top.
	TickMsg struct{ Now time.Time }
	// StopMsg is Ctrl-C: a page that runs something opens a question, others send QuitMsg.
	StopMsg struct{}
)

// Cmd wraps a message.
func Cmd(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// Outcome returns the message that shows text, or err.
func Outcome(text string, err error) TellMsg {
	if err != nil {
		return TellMsg{Text: err.Error(), Bad: true}
	}
	return TellMsg{Text: text}
}

// Copied returns a message that copies text, or one of err.
func Copied(text string, err error, what string) tea.Msg {
	if err != nil {
		return Outcome("", err)
	}
	return CopyMsg{Text: text, What: what}
}

// Session is a run that a page watches, and controls if it has started it.
type Session interface {
	Dir() string              // results folder; "" until it is known
	Send(bench.Control) error // never blocks long; an error if the run cannot be controlled
	// Next waits for the next batch of events; ok is false after the last one.
	Next() (batch []bench.Record, ok bool)
	// Wait returns when the run has ended, with its exit code and the end of its standard error.
	Wait() (code int, stderr string)
	// Stop stops the run gracefully, as the signal s would; a second call forces it, a third kills.
	Stop(s os.Signal)
	// Detach lets the run continue without this program, which ends.
	Detach() error
	// CanSteer is false for a run that another process started, which is only watched.
	CanSteer() bool
}

// Opener starts runs and opens results. Its methods may block: they are called in commands.
type Opener interface {
	// Start starts a run as "locbench run args…" would.
	Start(args []string) (Session, error)
	// Watch follows the run in the folder dir, in progress or finished.
	Watch(dir string) (Session, error)
	// Report writes the report of dir, opens it if there is a browser, and returns where it is.
	Report(dir string) (text string, err error)
}

// Source finds and reads results folders. Its methods may block: they are called in commands.
type Source interface {
	// List finds the folders; left is the number of folders that exceed the limit of the list.
	List() (entries []results.Entry, left int)
	// Load returns the plan and the trials of a folder; with an error, those that could be read.
	Load(dir string) (bench.Run, []bench.TrialResult, error)
	// Floor returns the noise floor of the machine of two runs; nil: not known.
	Floor(old, fresh bench.Run, dirs ...string) *compare.Floor
}

// Since compares a run, which is in dirs if they are known, with the one in an earlier folder.
func Since(source Source, earlier string, now *analysis.Run, dirs ...string) (compare.Result, error) {
	run, trials, err := source.Load(earlier)
	if len(trials) == 0 && err != nil {
		return compare.Result{}, err
	}
	return compare.Compare(compare.Set{Run: analysis.Of(run, trials)}, compare.Set{Run: now},
		compare.Options{Floor: source.Floor(run, now.Run, append(dirs, earlier)...)})
}
