package run

import (
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// stateOf returns the message to the tabs after records.
func stateOf(records []bench.Record) StateMsg {
	s := &fold.State{}
	for _, rec := range records {
		s.Apply(rec)
	}
	return StateMsg{State: s, Trial: s.Current, At: s.Last}
}

// inAStep returns the records up to the middle of the third step of the second trial.
func inAStep(t testing.TB) []bench.Record {
	records := tuitest.Until(tuitest.Records(t, "limits"), 7, func(rec bench.Record) bool {
		_, ok := rec.Event.(bench.StepEnded)
		return ok
	})
	return records[:len(records)-3]
}

// alone is a tab without the rest of the page, for its golden frames.
func alone(tab func() page, state StateMsg, keys ...string) tuitest.Page {
	return tuitest.Page{New: func(*testing.T) ui.Page { return tab() }, Msgs: []tea.Msg{state}, Keys: keys}
}

// TestTabs: every tab takes every recording, in every size.
func TestTabs(t *testing.T) {
	for _, tab := range New(Options{}).tabs {
		t.Run(tab.Title(), func(t *testing.T) {
			for _, records := range [][]bench.Record{nil, inAStep(t), tuitest.Records(t, "faults")} {
				alone(func() page { return tab }, stateOf(records)).Whole(t)
			}
		})
	}
}

func TestThePageOfARun(t *testing.T) {
	var page *Run
	c := tuitest.Page{New: func(t *testing.T) ui.Page {
		page = New(Options{Session: tuitest.Finished("results/faults", tuitest.Records(t, "faults"))})
		return page
	}}
	c.Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Check(t, page.ended, "the run has not ended")
		testenv.Contains(t, p.Frame(), "▸1 Result", "2 Steps")
		p.Press("3")
		testenv.Contains(t, p.Frame(), "▸3 Checks", "5 Overview")
		p.Press("1", "v")
		testenv.Contains(t, p.Frame(), "▸5 Overview")
		p.Press("esc")
		p.Press("esc")
		testenv.Check(t, p.Quit(), "esc does not close the page")
	})
	c.Frames(t, "end-run")
}

// TestAWatchedRunIsNotControlled: keys do not change a run of another process.
func TestAWatchedRunIsNotControlled(t *testing.T) {
	var d desk
	watched := func(s *session, _ *Options) { s.watched = true }
	deskOf(&d, inAStep, watched).Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "watching")
		p.Press("p", "x", "n", "+", "enter", "esc", "q")
		testenv.Check(t, len(d.sent) == 0 && len(d.stops) == 0 && p.Quit(), "sent %v, stopped %v, quit %v", d.sent, d.stops, p.Quit())
	})
}

// TestAnIncompleteFolder is shown with what could not be read.
func TestAnIncompleteFolder(t *testing.T) {
	var d desk
	broken := func(s *session, _ *Options) { s.watched, s.stderr = true, "a-1.json: line 3\n" }
	records := func(t testing.TB) []bench.Record { return tuitest.Records(t, "limits") }
	deskOf(&d, records, broken).Play(t, normal, tuitest.Look{}, func(p *tuitest.Program) {
		close(d.stay)
		d.stops = append(d.stops, syscall.SIGINT)
		p.Settle()
		testenv.Contains(t, p.Frame(), "the results are incomplete", "a-1.json: line 3", "!watching")
	})
}

// TestTrialsArePicked: the tabs show another trial, and the running one again.
func TestTrialsArePicked(t *testing.T) {
	var d desk
	deskOf(&d, inAStep).Play(t, normal, tuitest.Look{}, func(p *tuitest.Program) {
		p.Press("[")
		testenv.Contains(t, p.Frame(), "▸ go-nethttp, round 1, trial 1: complete")
		p.Press("[", "]")
		testenv.Contains(t, p.Frame(), "!trial 1: complete")
		p.Press("[", ".")
		testenv.Contains(t, p.Frame(), "!trial 1: complete")
	})
}
