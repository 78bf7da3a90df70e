package run

import (
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
func alone(tab func() ui.Page, state StateMsg, keys ...string) tuitest.Page {
	return tuitest.Page{New: func(*testing.T) ui.Page { return tab() }, Msgs: []tea.Msg{state}, Keys: keys}
}

// TestTabs: every tab takes every recording, in every size.
func TestTabs(t *testing.T) {
	for _, tab := range New(Options{}).tabs {
		t.Run(tab.Title(), func(t *testing.T) {
			for _, records := range [][]bench.Record{nil, inAStep(t), tuitest.Records(t, "faults")} {
				alone(func() ui.Page { return tab }, stateOf(records)).Whole(t)
			}
		})
	}
}

// finished returns a run that has ended and that another process started.
func finished(records []bench.Record) *session {
	s := &session{records: records, watched: true, stay: make(chan struct{})}
	close(s.stay)
	return s
}

func TestThePageOfARun(t *testing.T) {
	var page *Run
	c := tuitest.Page{New: func(t *testing.T) ui.Page {
		page = New(Options{Session: finished(tuitest.Records(t, "faults"))})
		return page
	}}
	c.Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) {
		_, _, ended := page.Outcome()
		testenv.Check(t, ended, "the run has not ended")
		testenv.Contains(t, p.Frame(), "▸1 Result", "2 Steps")
		p.Press("3")
		testenv.Contains(t, p.Frame(), "▸3 Contenders")
		p.Press("esc")
		testenv.Check(t, p.Quit(), "esc does not close the page")
	})
	c.Whole(t)
}
