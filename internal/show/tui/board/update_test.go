package board

import (
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

// text returns the whole view, without colors.
func text(b *Board, s *fold.State, w, h int) string {
	return ansi.Strip(strings.Join(b.View(ui.Frame{Width: w, Height: h, Look: ui.NewLook(ui.LookOptions{}), Now: s.Last}, s, ""), "\n"))
}

// press sends keys, which the board must all handle, with a view in between as on a screen.
func press(t *testing.T, b *Board, s *fold.State, keys ...string) {
	t.Helper()
	for _, k := range keys {
		_, handled := b.Update(tuitest.Key(k), s)
		testenv.Check(t, handled, "key %q is not taken", k)
		text(b, s, 80, 23)
	}
}

// shows presses keys and looks for parts of the view, as testenv.Contains does.
func shows(t *testing.T, b *Board, s *fold.State, keys string, parts ...string) {
	t.Helper()
	press(t, b, s, strings.Fields(keys)...)
	testenv.Contains(t, text(b, s, 80, 23), parts...)
}

// find returns the place of a word on the screen.
func find(t *testing.T, view, word string) (x, y int) {
	t.Helper()
	for y, line := range strings.Split(view, "\n") {
		if before, _, ok := strings.Cut(line, word); ok {
			return ansi.StringWidth(before), y
		}
	}
	t.Fatalf("no %q in:\n%s", word, view)
	return 0, 0
}

func TestOtherKeysAreLeftAlone(t *testing.T) {
	s, b := middle(t), New()
	text(b, s, 80, 23)
	for _, k := range []string{"p", "s", "q", "a", "n", "y", "r", "esc", "+", "ctrl+c", "f", "/"} {
		_, handled := b.Update(tuitest.Key(k), s)
		testenv.Check(t, !handled, "%q was taken", k)
	}
	_, handled := b.Update(ui.Resized{Width: 80, Height: 23}, s)
	testenv.Check(t, !handled, "a resize is not the board's own")
}

func TestTrials(t *testing.T) {
	s, b := middle(t), New()
	testenv.Contains(t, text(b, s, 80, 23), "! showing ")
	shows(t, b, s, "[ [", "showing go-nethttp, round 1, trial 1, complete")
	shows(t, b, s, "] ] ]", "! showing ")
	press(t, b, s, "[")
	for _, rec := range tuitest.Until(shared(t, "limits"), 3, isA[bench.TrialStarted])[s.Seq:] {
		s.Apply(rec)
	}
	testenv.Contains(t, text(b, s, 80, 23), "trial 1, complete")
	shows(t, b, s, ".", "! showing ")
}

func TestMouse(t *testing.T) {
	s, b := middle(t), New()
	click := func(word string) {
		t.Helper()
		x, y := find(t, text(b, s, 80, 23), word)
		_, handled := b.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}, s)
		testenv.Check(t, handled, "a click on %q does nothing", word)
	}
	click("CPU  0.40")
	testenv.Contains(t, text(b, s, 80, 23), "▸ CPU")
	click("CPU  0.40")
	testenv.Contains(t, text(b, s, 80, 23), "esc: all charts")
	press(t, b, s, "esc")
	click("2 Steps")
	click("1 connection")
	testenv.Contains(t, text(b, s, 80, 23), "step 1: 1 connection")
	click("6 Events")
	b.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp}, s)
	testenv.Contains(t, text(b, s, 80, 23), "!(end)")
	_, handled := b.Update(tea.MouseClickMsg{X: 79, Y: 0, Button: tea.MouseLeft}, s)
	testenv.Check(t, !handled, "a click on nothing was taken")
}

func TestCursorShowsExactValues(t *testing.T) {
	s, b := middle(t), New()
	press(t, b, s, "enter", "left", "left", "left")
	load := s.Current.Load
	p := load[len(load)-4]
	testenv.Contains(t, text(b, s, 80, 23), "at "+clock(p.T), rate(p.Throughput)+" req/s")
	shows(t, b, s, "home", "at "+clock(load[0].T)+", step 1")
	press(t, b, s, "end")
	v := text(b, s, 80, 23)
	testenv.Check(t, strings.Contains(v, "newest") && !b.pinned, "it does not follow the newest point:\n%s", v)
}

func TestFilter(t *testing.T) {
	s, b := middle(t), New()
	press(t, b, s, "5", "/")
	testenv.Need(t, b.Typing(), "nothing is typed")
	press(t, b, s, "1", "q", "backspace", "backspace", "=", "P", "L")
	b.Update(tea.PasteMsg{Content: " 200\x1b\n"}, s)
	press(t, b, s, "enter")
	v := text(b, s, 120, 30)
	if b.Typing() || b.filter.Text != "=PL 200" || strings.Contains(v, "language=de") || !strings.Contains(v, "language=pl 200") {
		t.Errorf("filter %q:\n%s", b.filter.Text, v)
	}
	press(t, b, s, "esc")
	testenv.Contains(t, text(b, s, 120, 30), "language=de")
}

func TestLogFollowsItsEnd(t *testing.T) {
	s, b := middle(t), New()
	add := func(line string) {
		s.Apply(bench.Record{At: s.Last.Add(time.Second), Trial: &s.Current.Result.Trial, Event: bench.LogLines{Lines: []bench.LogLine{{At: s.Last, Stream: "stderr", Text: line}}}})
	}
	press(t, b, s, "5")
	add("first word")
	testenv.Contains(t, text(b, s, 80, 23), "e first word")
	press(t, b, s, "up")
	before := text(b, s, 80, 23)
	add("second word")
	after := text(b, s, 80, 23)
	if strings.Contains(after, "second word") || strings.Split(after, "\n")[8] != strings.Split(before, "\n")[8] {
		t.Errorf("it moves although it was scrolled:\n%s", after)
	}
	press(t, b, s, "end")
	add("third word")
	testenv.Contains(t, text(b, s, 80, 23), "third word")
}

func TestUnchangedViewsAreNotDrawnAgain(t *testing.T) {
	s, b := middle(t), New()
	f := ui.Frame{Width: 120, Height: 39, Look: ui.NewLook(ui.LookOptions{}), Now: s.Last}
	b.View(f, s, "")
	kept := &b.body.lines[0]
	f.Tick, f.Now = 5, f.Now.Add(time.Second)
	b.View(f, s, "")
	testenv.Check(t, &b.body.lines[0] == kept, "drawn again although only time has passed")
	s.Apply(bench.Record{At: s.Last, Trial: &s.Current.Result.Trial, Event: bench.UsageRead{Usage: bench.Usage{At: s.Last, CPU: time.Hour}}})
	b.View(f, s, "")
	testenv.Check(t, &b.body.lines[0] != kept, "not drawn again after another reading of the counters")
	got, want := text(b, s, 120, 39), text(New(), s, 120, 39)
	testenv.Check(t, got == want, "the kept view is wrong:\n%s\nwant\n%s", got, want)
}

func TestEarlierRoundsAreAtTheSameStep(t *testing.T) {
	s := at(t, "limits", 80, isA[bench.WindowClosed])
	b := New()
	v := &view{b: b, s: s, trial: s.Current, l: ui.NewLook(ui.LookOptions{})}
	rounds := v.rounds()
	if len(rounds) != 1 || rounds[0].Result.Trial.Label() != s.Current.Result.Trial.Label() || rounds[0].Result.Trial.Round != 1 {
		t.Fatalf("rounds %+v", rounds)
	}
	shift := v.shifts(rounds[0])
	for i, step := range s.Current.Steps {
		testenv.Equal(t, rounds[0].Steps[i].From+shift[i], step.From, "step", i+1)
	}
	end := s.Current.Steps[len(s.Current.Steps)-1]
	for _, series := range v.earlier(throughput, v.axis(80)) {
		for _, p := range series.Points {
			if p.X > end.From+end.Step.Duration.Seconds()+1 {
				t.Errorf("a point at %v of a step that the running round has not had", p.X)
			}
		}
	}
}

// TestOpenLoop: an open-loop step shows its target rate, and a requested stop is shown.
func TestOpenLoop(t *testing.T) {
	s := &fold.State{}
	for _, rec := range tuitest.Until(shared(t, "limits"), 40, isA[bench.WindowClosed]) {
		if w, ok := rec.Event.(bench.WindowClosed); ok {
			w.Window.Rate = 7654
			rec.Event = w
		}
		s.Apply(rec)
	}
	on(s, bench.ChangedManually{Control: bench.Control{Kind: bench.ControlStop}}, bench.ChangedManually{Control: bench.Control{Kind: bench.ControlRate, Rate: 7654}})
	b := New()
	if v := text(b, s, 120, 39); !strings.Contains(v, "target/s") || !strings.Contains(v, "stops after this step") || !strings.Contains(v, ", now 7,654/s") || s.Current.Flags[1].Text != "rate 7,654" {
		t.Errorf("the target rate, the stop or the flag of the rate is missing:\n%s", v)
	}
	press(t, b, s, "z")
	testenv.Contains(t, text(b, s, 120, 39), "target 7,654/s")
}

func TestSummaryIsThatOfStats(t *testing.T) {
	for _, name := range []string{"limits", "faults"} {
		trials := at(t, name, 1, never).Results()
		want := stats.Summarize(bench.Run{}, trials)
		for i, got := range stats.SummarizePeaks(bench.Run{}, trials) {
			a, okA := got.PeakStep()
			b, okB := want[i].PeakStep()
			if okA != okB || !reflect.DeepEqual(a, b) || got.ErrorsTotal() != want[i].ErrorsTotal() || !reflect.DeepEqual(got.CostEach, want[i].CostEach) {
				t.Errorf("%s: %+v\nwant %+v", got.Label, a, b)
			}
		}
	}
}
