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
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
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

func TestPages(t *testing.T) {
	building := on(at(t, "limits", 1, phaseEnds(bench.PhaseBuild)),
		bench.Progress{Phase: bench.PhaseBuild, Text: "#12 [build 4/6] RUN cargo build --release --locked"})
	pause := bench.ChangedManually{Control: bench.Control{Kind: bench.ControlPause}}
	note := bench.ChangedManually{Control: bench.Control{Kind: bench.ControlNote, Text: "the neighbor's backup runs"}}
	paused := on(at(t, "limits", 8, isA[bench.StepStarted]), note, pause, bench.Paused{})
	second, complete := at(t, "limits", 80, isA[bench.WindowClosed]), at(t, "limits", 1, never)
	failed := at(t, "faults", 1, never)
	end := middle(t).Last.Add(300 * time.Millisecond)
	tuitest.Golden(t, show(t, middle(t)), "loading", end)
	for _, c := range []struct {
		name  string
		state *fold.State
		keys  string
		want  []string
	}{
		{"empty", &fold.State{}, "", []string{"starting …", "waiting for the run to start"}},
		{"seeding", at(t, "limits", 9, isA[bench.Progress]), "", []string{"2 contenders, 2 rounds", "seeding the store",
			"about 2%", "elapsed 2s, about 1m44s left, ends at ~15:51", "7,890 of 15,008 documents, 3,427/s"}},
		{"building", building, "", []string{"building", "seed: bundled data, 15,008 documents (4.58 s)", "RUN cargo build"}},
		{"ready", at(t, "limits", 1, isA[bench.InstanceReady]), "", []string{"waiting until ready", "of max 30s", "2 passed"}},
		{"checking", at(t, "limits", 60, isA[bench.CheckDone]), "", []string{"trial 1 of 4", "59 checks done", "59 passed",
			"last: closest/by headers, the nearest featured city across a border"}},
		{"rounds", second, "o", []string{"round 2 of 2", "trial 4 of 4", "step 2 of 4: 8 connections", "about 86%",
			"4,089 req/s, 407 KiB/s", "○ p99 of round 1", "8.19 MiB of 64 MiB, peak 8.52 MiB", "earlier rounds faint"}},
		{"zoomed latency", middle(t), "right enter left left left", []string{"▸ latency", "at 0:11.5, step 2: 8 connections",
			"load at 0:11.5:", "3,717 req/s", "max 64.7 ms", "371 KiB/s bodies", "counters at 0:12:", "peak 8.46 MiB"}},
		{"zoomed CPU", second, "right right z o x", []string{"last 60 s, earlier rounds faint", "newest", "4,089 req/s",
			"max 80.7 ms", "407 KiB/s bodies", "counters at 0:08:", "memory 8.19 MiB"}},
		{"paused", paused, "", []string{"paused before step 4 of 4", "about 49%", "3,076 req/s", "the neighbor's backup runs▼"}},
		{"pause requested", on(middle(t), pause), "", []string{"pauses after this step", "▼pause", "▶ 64 connections"}},
		{"complete", complete, "", []string{"✓ complete", "results in results/20261121-155000-quick",
			"showing go-nethttp, round 2, trial 4, complete", "2 Steps 4/4", "2,555 req/s, 254 KiB/s",
			"29.9 MiB of 64 MiB, peak 29.9 MiB", "limit 64 MiB", "quota 98%"}},
		{"failed", failed, "", []string{"✗ my-exit excluded: died: exit code 7, 3.34 s after its start",
			"✗ trial failed: the contender died: exit code 7", "8,721 req/s, 25.5 KiB/s, 26.3 errors/s",
			"connection refused 10, connection reset 2"}},
		{"out of memory", failed, "[", []string{"0 req/s, 32.0 errors/s", "387 MiB of 512 MiB, peak 387 MiB",
			"connection refused 9, connection reset 3"}},
		{"steps", middle(t), "2", []string{"▸2 Steps 3/4", "▸ 64 connections", "step 3: 64 connections, 6s",
			"3 windows so far; showing the last one", "bars: share of 26,232"}},
		{"an earlier step", middle(t), "2 up", []string{"▸ 1 connection", "step 1: 1 connection, 6s", "n = 1 round",
			"bars: share of 10,924"}},
		{"details of a step", middle(t), "2 up up enter", []string{"req/s 1,821", "errors 0",
			"CPU/req 221 µs", "throttled 60/60", "for 3.56 s", "memory 7.38 MiB"}},
		{"steps of a trial out of memory", failed, "[ 2", []string{"▸2 Steps 1/2", "step 1: 2 connections, 3s",
			"✗ stopped early: the contender died: killed by SIGKILL (out of memory)",
			"3,972 successes in 1.38 s, bodies 11.6 KiB: 3 B each, 8.46 KiB/s"}},
		{"details without counters", failed, "[ 2 z", []string{"req/s 2,888", "errors 12",
			"CPU/req –", "throttled –", "memory –"}},
		{"contenders", complete, "3", []string{"▸3 Contenders 2", "go-nethttp 4,438 req/s at 8 (n = 2)",
			"go-nethttp:release 4,052 req/s at 8 (n = 2)", "n = 2 rounds", "round 1", "round 2"}},
		{"contenders in another order", complete, "3 o o o o o o", []string{"▸3 Contenders 2", "round 2"}},
		{"contenders so far", middle(t), "3", []string{"2 contenders so far, 2 rounds planned", "start-up", "req/s at peak"}},
		{"checks", middle(t), "4", []string{"▸4 Checks 123", "go-nethttp:release, round 1: 123 passed, 0 failed",
			"no-environment", "exit code 1 after 10ms"}},
		{"failed checks", failed, "4 f", []string{"▸4 Checks 124 ✗27", "my-exit, round 1: 2 passed, ✗ 27 failed, 95 skipped",
			"failed only", "GET /canary-18ea1a5502d4bca3-0"}},
		{"log", middle(t), "5", []string{"▸5 Log", "go-nethttp:release, round 1, 64 lines, 44,776 skipped", "32 to 64 of 64 (end)"}},
		{"filtered log", middle(t), "5 / = p l enter up up", []string{"9 lines; esc clears", "language=pl", "!language=de"}},
		{"events", failed, "6", []string{"▸6 Events 83", "60 to 83 of 83 (end)", "✗ error my-exit-1",
			"check failed: get/id missing"}},
		{"events with marks", paused, "tab tab tab tab tab", []string{"▸6 Events 24", "24 lines", "trial complete",
			"step 2, 8 connections: 4,401 req/s, p99 61.2 ms", "stopped gracefully in 34.7 ms"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := show(t, c.state, strings.Fields(c.keys)...)
			tuitest.Shows(t, page, c.state.Last.Add(300*time.Millisecond), c.want...)
		})
	}
}

// The compact view, down to the smallest terminal.
func TestPages_Small(t *testing.T) {
	failed, fifty := at(t, "faults", 1, never), tuitest.Size{Width: 50, Height: 14}
	for _, c := range []struct {
		name  string
		state *fold.State
		keys  string
		size  tuitest.Size
		want  []string
	}{
		{"loading", middle(t), "", fifty, []string{"step 3/4: 64 connections · 4s of 6s", "~58s left", "▸1 View  2 Steps",
			"▸req/s           2,890", "8 connections    4,371  60.3 ms  quota 100%", "▶ 64 connections"}},
		{"loading, the least size", middle(t), "", tuitest.Size{Width: 20, Height: 6}, []string{"CPU     0.40 of 0.4"}},
		{"loading, few lines", middle(t), "", tuitest.Size{Width: 100, Height: 12}, []string{"elapsed 50s", "▶ 64 connections"}},
		{"zoomed", middle(t), "enter", fifty, []string{"▸ throughput  2,890 req/s", "at 0:14.5, step 3: 64 connections  newest"}},
		{"seeding", at(t, "limits", 9, isA[bench.Progress]), "", tuitest.Size{Width: 40, Height: 10},
			[]string{"⠋ seeding the store  7,890…  ~1m44s left", "53%", "7,890 of 15,008 documents, 3,427/s"}},
		{"failed", failed, "[", fifty, []string{"✗ trial failed: the contender died: killed by SIG…", "CPU          – of 1.5",
			"2 connections  2,888  284 µs  died, errors 0.3%"}},
		{"steps", failed, "2", fifty, []string{"11 more lines: pgdown"}},
		{"details of a step", failed, "2 enter", fifty, []string{"p50 130 µs  p99 242 µs", "13 more lines: pgdown"}},
		{"checks", failed, "4", fifty, []string{"checks  my-exit, round 1: 2 passed, ✗ 27 failed, …"}},
		{"contenders", failed, "3", fifty, []string{"go-nethttp     1/1         11,798  10.9 ms"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := show(t, c.state, strings.Fields(c.keys)...)
			testenv.Contains(t, tuitest.Text(page, c.size, c.state.Last.Add(300*time.Millisecond)), c.want...)
		})
	}
}

// A run that has begun, but not its first phase.
func TestPages_FirstMoment(t *testing.T) {
	s := at(t, "limits", 1, isA[bench.PhaseStarted])
	l := ui.NewLook(ui.LookOptions{NoColor: true})
	text := strings.Join(New().View(ui.Frame{Width: 80, Height: 23, Look: l, Now: s.Last.Add(2 * time.Second)}, s, ""), "\n")
	testenv.Contains(t, text, "preparing", "for 2s")
}
