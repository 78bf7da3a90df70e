package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// Times are shown in the zone of the machine.
func init() { time.Local = time.UTC }

func TestLog(t *testing.T) {
	alone(newLog, stateOf(inAStep(t))).Frames(t, "log")
	alone(newLog, stateOf(tuitest.Records(t, "faults")), "v", "v", "home").Frames(t, "log-errors")
}

// logOfOutput is a state with n lines of output, one each millisecond, and an error after line 50.
func logOfOutput(n int) StateMsg {
	at := benchtest.Start()
	s := &fold.State{}
	trial := benchtest.ID("orders-go", 1)
	apply := func(e bench.Event) {
		s.Apply(bench.Record{Seq: s.Seq + 1, At: at, Trial: &trial, Event: e})
	}
	apply(bench.TrialStarted{Number: 1, Of: 1})
	for i := range n {
		at = at.Add(time.Millisecond)
		apply(bench.LogLines{Lines: []bench.LogLine{{At: at, Stream: "stdout", Text: fmt.Sprintf("line %d.", i+1)}}})
		if i+1 == 50 {
			apply(bench.Notice{Level: "error", Text: "broken"})
			apply(bench.Notice{Level: "error", Text: "broken again"})
		}
	}
	return StateMsg{State: s, Trial: s.Current, At: s.Last}
}

// logPlay opens the log of a state in 120×40.
func logPlay(t *testing.T, state StateMsg, use func(l *Log, p *tuitest.Program)) {
	t.Helper()
	var l *Log
	page := tuitest.Page{Msgs: []tea.Msg{state}, New: func(*testing.T) ui.Page {
		l = newLog().(*Log)
		return l
	}}
	page.Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) { use(l, p) })
}

// An error is shown with the last three lines that its contender wrote before, once.
func TestLog_OutputBeforeAnError(t *testing.T) {
	logPlay(t, logOfOutput(100), func(_ *Log, p *tuitest.Program) {
		frame := p.Frame()
		testenv.Contains(t, frame, "line 48.", "line 49.", "line 50.", "broken again")
		testenv.Check(t, strings.Count(frame, "line ") == 3, "%s", frame)
		p.Press("v")
		testenv.Contains(t, p.Frame(), "line 100.", "follows", "lines 65 to 100 of 100")
		p.Press("v")
		testenv.Check(t, !strings.Contains(p.Frame(), "round 1"), "an event without an error:\n%s", p.Frame())
	})
}

// The log follows its end until it is scrolled, and again from its end on.
func TestLog_Follows(t *testing.T) {
	state := logOfOutput(100)
	logPlay(t, state, func(l *Log, p *tuitest.Program) {
		p.Press("v")
		p.Frame()
		grow := func(text string) {
			line := bench.LogLine{At: state.State.Last.Add(time.Second), Text: text}
			state.State.Apply(bench.Record{Seq: state.State.Seq + 1, At: line.At, Trial: &state.Trial.Result.Trial,
				Event: bench.LogLines{Lines: []bench.LogLine{line}}})
			p.Send(state)
		}
		grow("newest")
		testenv.Contains(t, p.Frame(), "newest", "follows")
		p.Press("up")
		grow("later")
		testenv.Contains(t, p.Frame(), "of 102", "!follows")
		testenv.Check(t, !strings.Contains(p.Frame(), "later"), "it follows although it was scrolled")
		p.Press("end")
		testenv.Contains(t, p.Frame(), "later", "follows")
		p.Press("home")
		testenv.Contains(t, p.Frame(), "lines 1 to 36 of 102", "line 1.")
		p.Press("down")
		testenv.Contains(t, p.Frame(), "lines 2 to 37 of 102")
	})
}

// Long lines of output are wrapped: nothing of them is lost.
func TestLog_LongLines(t *testing.T) {
	state := logOfOutput(1)
	state.Trial.Log[0].Text = "begin " + strings.Repeat("x", 100) + " end"
	logPlay(t, state, func(_ *Log, p *tuitest.Program) {
		p.Press("v")
		testenv.Contains(t, p.Frame(), "begin\n", strings.Repeat("x", 80), " end\n")
	})
}

// whileChecking returns the records up to a check of a trial, and what the check that runs then
// adds.
func whileChecking(t testing.TB, trial, n int, runs time.Duration) []bench.Record {
	started := 0
	records := tuitest.Until(tuitest.Records(t, "faults"), n, func(rec bench.Record) bool {
		if _, ok := rec.Event.(bench.TrialStarted); ok {
			started++
		}
		_, ok := rec.Event.(bench.CheckDone)
		return ok && started == trial
	})
	last := records[len(records)-1]
	last.At, last.Event = last.At.Add(runs), bench.Notice{Level: "info", Text: "waiting"}
	return append(records, last)
}

// TestFramesOfChecks: how many are done.
func TestFramesOfChecks(t *testing.T) {
	for name, records := range map[string]func(testing.TB) []bench.Record{
		"live-checking": func(t testing.TB) []bench.Record { return whileChecking(t, 2, 31, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			var d desk
			deskOf(&d, records).Frames(t, name)
		})
	}
}
