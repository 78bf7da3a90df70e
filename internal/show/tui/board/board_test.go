package board

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// screen is a board as a screen, so it can be drawn as the program does.
type screen struct {
	*Board
	s      *fold.State
	status string
}

func (s screen) Init() tea.Cmd              { return nil }
func (s screen) Busy() bool                 { return false }
func (s screen) Title() string              { return "test" }
func (s screen) View(f ui.Frame) []string   { return s.Board.View(f, s.s, s.status) }
func (s screen) Update(msg tea.Msg) tea.Cmd { cmd, _ := s.Board.Update(msg, s.s); return cmd }

// at returns the state after the records before the n-th record for which is returns true.
func at(t testing.TB, name string, n int, is func(bench.Record) bool) *fold.State {
	t.Helper()
	s := &fold.State{}
	for _, rec := range tuitest.Until(shared(t, name), n, is) {
		s.Apply(rec)
	}
	return s
}

// shared returns records that are decoded once for all tests of the package, since decoding takes
// long. Tests must not change what the records point to; TestMain fails if one has.
func shared(t testing.TB, name string) []bench.Record {
	t.Helper()
	if sharedRecords[name] == nil {
		sharedRecords[name] = tuitest.Records(t, name)
		sharedText[name], _ = json.Marshal(sharedRecords[name])
	}
	return slices.Clone(sharedRecords[name])
}

var sharedRecords, sharedText = map[string][]bench.Record{}, map[string][]byte{}

func TestMain(m *testing.M) {
	code := m.Run()
	for name, records := range sharedRecords {
		if text, err := json.Marshal(records); err != nil || !bytes.Equal(text, sharedText[name]) {
			fmt.Printf("a test has changed the shared records %q (%v)\n", name, err)
			code = 1
		}
	}
	os.Exit(code)
}

func isA[E bench.Event](rec bench.Record) bool { _, ok := rec.Event.(E); return ok }

func never(bench.Record) bool { return false }

// middle returns the state in the third step of the second trial.
func middle(t testing.TB) *fold.State { return at(t, "limits", 40, isA[bench.WindowClosed]) }

func show(t testing.TB, s *fold.State, keys ...string) screen {
	t.Helper()
	sc := screen{New(), s, "watching"}
	// Keys work only after a drawing.
	tuitest.View(sc, tuitest.Size{Width: 80, Height: 24}, ui.NewLook(ui.LookOptions{}), s.Last)
	tuitest.Press(sc, nil, keys...)
	return sc
}

func phaseEnds(p bench.Phase) func(bench.Record) bool {
	return func(rec bench.Record) bool { e, ok := rec.Event.(bench.PhaseEnded); return ok && e.Phase == p }
}

// on applies further events to a state, each a second after the one before.
func on(s *fold.State, list ...bench.Event) *fold.State {
	for _, e := range list {
		rec := bench.Record{Seq: s.Seq + 1, At: s.Last.Add(time.Second), Event: e}
		if s.Current != nil {
			trial := s.Current.Result.Trial
			rec.Trial = &trial
		}
		s.Apply(rec)
	}
	return s
}

func TestGolden(t *testing.T) {
	seeding := at(t, "limits", 9, isA[bench.Progress])
	building := on(at(t, "limits", 1, phaseEnds(bench.PhaseBuild)), bench.Progress{Phase: bench.PhaseBuild, Text: "#12 [build 4/6] RUN cargo build --release --locked: Compiling tokio v1.47.1"})
	paused := on(at(t, "limits", 8, isA[bench.StepStarted]), bench.ChangedManually{Control: bench.Control{Kind: bench.ControlNote, Text: "the neighbor's backup runs"}},
		bench.ChangedManually{Control: bench.Control{Kind: bench.ControlPause}}, bench.Paused{})
	requested := on(middle(t), bench.ChangedManually{Control: bench.Control{Kind: bench.ControlPause}})
	second := at(t, "limits", 80, isA[bench.WindowClosed])
	complete := at(t, "limits", 1, never)
	failed := at(t, "faults", 1, never)
	for _, c := range []struct {
		name  string
		state *fold.State
		keys  []string
	}{
		{"empty", &fold.State{}, nil},
		{"seeding", seeding, nil},
		{"building", building, nil},
		{"ready", at(t, "limits", 1, isA[bench.InstanceReady]), nil},
		{"checking", at(t, "limits", 60, isA[bench.CheckDone]), nil},
		{"loading", middle(t), nil},
		{"rounds", second, []string{"o"}},
		{"zoomed-latency", middle(t), []string{"right", "enter", "left", "left", "left"}},
		{"zoomed-cpu", second, []string{"right", "right", "z", "o", "x"}},
		{"paused", paused, nil},
		{"pause-requested", requested, nil},
		{"complete", complete, nil},
		{"failed", failed, nil},
		{"failed-oom", failed, []string{"["}},
		{"steps", middle(t), []string{"2"}},
		{"steps-chosen", middle(t), []string{"2", "up"}},
		{"steps-details", middle(t), []string{"2", "up", "up", "enter"}},
		{"steps-details-oom", failed, []string{"[", "2", "z"}},
		{"steps-oom", failed, []string{"[", "2"}},
		{"contenders", complete, []string{"3"}},
		{"contenders-ordered", complete, []string{"3", "o", "o", "o", "o", "o", "o"}},
		{"contenders-early", middle(t), []string{"3"}},
		{"checks", middle(t), []string{"4"}},
		{"checks-failed", failed, []string{"4", "f"}},
		{"log", middle(t), []string{"5"}},
		{"log-filtered", middle(t), []string{"5", "/", "=", "p", "l", "enter", "up", "up"}},
		{"events", failed, []string{"6"}},
		{"events-marks", paused, []string{"tab", "tab", "tab", "tab", "tab"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tuitest.Golden(t, show(t, c.state, c.keys...), c.name, c.state.Last.Add(300*time.Millisecond))
		})
	}
}

// The compact view, down to the smallest terminal.
func TestGoldenSmall(t *testing.T) {
	failed := at(t, "faults", 1, never)
	for _, c := range []struct {
		name  string
		state *fold.State
		keys  []string
		size  tuitest.Size
	}{
		{"small-loading", middle(t), nil, tuitest.Size{Width: 50, Height: 14}},
		{"small-loading", middle(t), nil, tuitest.Size{Width: 40, Height: 10}},
		{"small-loading", middle(t), nil, tuitest.Size{Width: 20, Height: 6}},
		{"small-loading", middle(t), nil, tuitest.Size{Width: 100, Height: 12}},
		{"small-zoomed", middle(t), []string{"enter"}, tuitest.Size{Width: 50, Height: 14}},
		{"small-seeding", at(t, "limits", 9, isA[bench.Progress]), nil, tuitest.Size{Width: 40, Height: 10}},
		{"small-failed", failed, []string{"["}, tuitest.Size{Width: 50, Height: 14}},
		{"small-steps", failed, []string{"2"}, tuitest.Size{Width: 50, Height: 14}},
		{"small-closer", failed, []string{"2", "enter"}, tuitest.Size{Width: 50, Height: 14}},
		{"small-checks", failed, []string{"4"}, tuitest.Size{Width: 50, Height: 14}},
		{"small-contenders", failed, []string{"3"}, tuitest.Size{Width: 50, Height: 14}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tuitest.GoldenAt(t, show(t, c.state, c.keys...), c.name, c.size, c.state.Last.Add(300*time.Millisecond))
		})
	}
}

// TestTheFirstMoment draws a run that has begun, but not its first phase.
func TestTheFirstMoment(t *testing.T) {
	s := at(t, "limits", 1, isA[bench.PhaseStarted])
	l := ui.NewLook(ui.LookOptions{NoColor: true})
	text := strings.Join(New().View(ui.Frame{Width: 80, Height: 23, Look: l, Now: s.Last.Add(2 * time.Second)}, s, ""), "\n")
	testenv.Contains(t, text, "preparing", "for 2s")
}
