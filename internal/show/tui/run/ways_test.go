package run

import (
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// pastOf is a list of results folders.
type pastOf []results.Entry

func (p pastOf) List() ([]results.Entry, int)                       { return p, 0 }
func (pastOf) Load(string) (bench.Run, []bench.TrialResult, error)  { return bench.Run{}, nil, nil }
func (pastOf) Floor(bench.Run, bench.Run, ...string) *compare.Floor { return nil }
func linked(kind string) func(...string) tea.Cmd {
	return func(args ...string) tea.Cmd { return ui.Cmd(append([]string{kind}, args...)) }
}

// saved is a results folder of a run that has ended.
type saved struct{ pastOf }

func (saved) Load(string) (bench.Run, []bench.TrialResult, error) {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete}
	return bench.Run{ID: "saved", State: bench.RunComplete}, []bench.TrialResult{trial}, errors.New("a file cannot be read")
}

// TestWithoutALog: a run that was watched and whose log lacks the end is shown as its results have it.
func TestWithoutALog(t *testing.T) {
	over := make(chan struct{})
	close(over)
	r := New(Options{Session: &session{watched: true, stay: over}, Past: saved{}})
	r.end(r.batch(batchMsg{})().(endedMsg))
	testenv.Check(t, r.state.Run.ID == "saved" && len(r.state.Results()) == 1 && r.state.Ended != nil, "%+v", r.state)
}

// TestWaysOn: each way on from the end of a run leads to its page. A command of a results folder is
// shown before it is started.
func TestWaysOn(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	entry := func(dir, profile string, state bench.RunState, n int) results.Entry {
		return results.Entry{Dir: dir, ID: dir, Profile: profile, State: state, Started: day(n), Complete: map[bench.RunState]int{bench.RunComplete: 1}[state]}
	}
	r := New(Options{Session: &session{}, Past: pastOf{
		entry("before", "quick", bench.RunComplete, 3), entry("other", "slow", bench.RunComplete, 4),
		entry("failed", "quick", bench.RunFailed, 5), entry("after", "quick", bench.RunComplete, 9), entry("older", "quick", bench.RunComplete, 1),
	}, Links: Links{
		Start:   func(args []string) tea.Cmd { return linked("start")(args...) },
		Compare: func(a, b string) tea.Cmd { return linked("compare")(a, b) },
		Runs:    func() tea.Cmd { return linked("runs")() },
	}})
	r.size = ui.SizeOf(80, 24)
	r.state.Run = bench.Run{ID: "this", Started: day(7), Profile: bench.Profile{Name: "quick"}, Given: []string{"locbench", "run", "a"}}
	for _, c := range []struct {
		key  ui.Key
		want []string
	}{
		{ui.Runs, []string{"runs"}}, {ui.Compare, []string{"compare", "before", r.options.Session.Dir()}},
		{ui.Start, []string{"start", "a"}}, {ui.Resume, []string{"start", "--resume", r.options.Session.Dir()}},
	} {
		msg := ways{r}.way(wayMsg{Key: c.key})()
		if ask, ok := msg.(ui.AskMsg); ok {
			testenv.Contains(t, ask.Text, "locbench run ")
			msg = r.Update(ask.Choices[0].Msg)()
		}
		testenv.Equal(t, msg, tea.Msg(c.want))
	}
	r.state.Run.Profile.Contenders = []bench.Selection{{Contender: "a"}, {Contender: "b"}}
	testenv.Equal(t, ways{r}.way(wayMsg{Key: ui.Compare})(), tea.Msg([]string{"compare", r.options.Session.Dir(), r.options.Session.Dir()}),
		"the two contenders of the run")
	r.state.Run.Profile.Contenders = nil
	r.state.Run.Profile.Name = "new"
	tell, ok := ways{r}.way(wayMsg{Key: ui.Compare})().(ui.TellMsg)
	testenv.Check(t, ok && tell.Bad, "a profile without an earlier run: %v", tell)
}

// TestAReport is written once at a time.
func TestAReport(t *testing.T) {
	r := New(Options{Session: &session{}, Opener: reporter{}})
	first := r.report()
	testenv.Check(t, r.report() == nil, "a second report is written at the same time")
	testenv.Equal(t, r.Update(first())(), tea.Msg(ui.TellMsg{Text: "report " + r.options.Session.Dir()}))
	testenv.Check(t, r.report() != nil, "no report after the first")
}

type reporter struct{ ui.Opener }

func (reporter) Report(dir string) (string, error) { return "report " + dir, nil }
