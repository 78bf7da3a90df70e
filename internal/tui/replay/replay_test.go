package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/tui/board"
	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
	"locbench/internal/tui/tuitest"
	"locbench/internal/tui/ui"
)

var now = time.Date(2026, 11, 21, 17, 0, 0, 0, time.UTC)

const dir = "results/20261121-154953-quick"

// standIn says what it was given to draw. The golden views are of what the replay adds; those of
// the board are in its own package.
type standIn struct{}

func (standIn) Update(tea.Msg, *fold.State) (tea.Cmd, bool) { return nil, false }
func (standIn) Keys() []ui.Key                              { return []ui.Key{{Name: "1-6", Help: "pages"}} }
func (standIn) Typing() bool                                { return false }
func (standIn) View(f ui.Frame, s *fold.State, status string) []string {
	l := f.Look
	lines := []string{l.Between("(the board) "+s.Run.Profile.Name, status, f.Width), "clock " + f.Now.Format("15:04:05.0")}
	if s.Current != nil {
		lines = append(lines, fmt.Sprintf("%s %s, %d steps", s.Current.Result.Leg, s.Current.Result.State, len(s.Current.Steps)))
	}
	if s.Ended != nil {
		lines = append(lines, "ended "+string(s.Ended.State))
	}
	for len(lines) < f.Height {
		lines = append(lines, l.Glyph.Dot)
	}
	return l.Screen(lines, f.Width, f.Height)
}

// open is a replay of folder that has loaded.
func open(t testing.TB, folder tuitest.Folder) *Screen { return openWith(t, folder, board.New()) }

func openWith(t testing.TB, folder tuitest.Folder, b Board) *Screen {
	t.Helper()
	s := New(folder.Dir, tuitest.Folders{folder}, b)
	s.Update(ui.Resized{Width: 80, Height: 23})
	tuitest.Finish(s, s.Init())
	if s.player == nil {
		t.Fatalf("not loaded: %v", s.err)
	}
	return s
}

func recorded(t testing.TB, name string) tuitest.Folder {
	return tuitest.FolderOf(dir, tuitest.Records(t, name))
}

func text(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func folded(records []bench.Record) *fold.State {
	s := &fold.State{}
	for _, rec := range records {
		s.Apply(rec)
	}
	return s
}

func TestGoldenViews(t *testing.T) {
	s := New(dir, nil, standIn{})
	s.loading, s.progress = true, &progress{}
	s.progress.set(0.25)
	tuitest.Golden(t, s, "reading", now)
	s.Update(loaded{screen: s, err: errors.New("results/x is not a results folder: it has no run.json")})
	tuitest.Golden(t, s, "unreadable", now)

	s = openWith(t, recorded(t, "limits"), standIn{})
	tuitest.Golden(t, s, "end", now)
	tuitest.Press(s, nil, "home")
	tuitest.Golden(t, s, "start", now)
	s.player.seek(s.player.steps[6].at + 4*time.Second)
	tuitest.Press(s, nil, "space", "+", "+")
	tuitest.Golden(t, s, "middle", now)

	folder := recorded(t, "faults")
	folder.NoLog = true
	s = openWith(t, folder, standIn{})
	tuitest.Golden(t, s, "no-log", now)

	folder = recorded(t, "limits")
	folder.Records = withGap(folder.Records)
	s = openWith(t, folder, standIn{})
	s.player.seek(s.player.gaps[len(s.player.gaps)-1].from + time.Second)
	tuitest.Golden(t, s, "gap", now)
}

// withGap lets half a minute pass in the middle.
func withGap(records []bench.Record) []bench.Record {
	records = slices.Clone(records)
	for i := len(records) / 2; i < len(records); i++ {
		records[i].At = records[i].At.Add(30 * time.Second)
	}
	return records
}

func TestOpensAtTheEnd(t *testing.T) {
	for _, name := range []string{"limits", "faults"} {
		folder := recorded(t, name)
		s := open(t, folder)
		if got, want := text(t, s.player.state), text(t, folded(folder.Records)); got != want {
			t.Errorf("%s: another state than that of the records", name)
		}
		if !s.player.ended() || s.note != "" {
			t.Errorf("%s: at %s of %s, note %q", name, s.player.pos, s.player.total, s.note)
		}
	}
}

// TestSeekingGivesWhatFoldingGives from wherever to wherever.
func TestSeekingGivesWhatFoldingGives(t *testing.T) {
	records := many(t, 5000)
	p, err := newPlayer(fold.State{}, records, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.kept) < 4 {
		t.Fatalf("%d states kept of %d records", len(p.kept), len(records))
	}
	for _, share := range []float64{0, 1, 0.3, 0.31, 0.9, 0.1, 0.999, 0.5, 0} {
		p.seek(time.Duration(share * float64(p.total)))
		want := folded(records[:p.until(p.pos)])
		if text(t, p.state) != text(t, want) {
			t.Errorf("at %.3f: another state than that of the %d records until then", share, p.n)
		}
	}
	p.seek(-time.Hour)
	if p.pos != 0 || p.n == 0 {
		t.Errorf("before the start: %s, %d records", p.pos, p.n)
	}
	p.seek(time.Hour * 1e5)
	if p.pos != p.total || p.n != len(records) {
		t.Errorf("behind the end: %s, %d records", p.pos, p.n)
	}
}

// many repeats the rounds of a recorded run until there are at least n records.
func many(t testing.TB, n int) []bench.Record {
	records := tuitest.Records(t, "limits")
	return tuitest.MoreRounds(records, n/len(records)+1, 1)
}

func TestPlaying(t *testing.T) {
	s := open(t, recorded(t, "limits"))
	at := now
	tick := func(d time.Duration) {
		at = at.Add(d)
		s.Update(ui.Tick{Now: at})
	}
	tuitest.Press(s, nil, "space") // at the end: from the beginning
	if !s.playing || s.player.pos != 0 || !s.Busy() {
		t.Fatalf("playing %v at %s", s.playing, s.player.pos)
	}
	tick(0)
	tick(100 * time.Millisecond)
	tick(100 * time.Millisecond)
	if s.player.pos != 200*time.Millisecond {
		t.Errorf("after 0.2 s at 1×: %s", s.player.pos)
	}
	tuitest.Press(s, nil, "+", "+")
	tick(500 * time.Millisecond)
	if s.player.pos != 2200*time.Millisecond {
		t.Errorf("after 0.5 s more at 4×: %s", s.player.pos)
	}
	tick(time.Hour) // the screen was suspended
	if s.player.pos != 6200*time.Millisecond {
		t.Errorf("after an hour away: %s", s.player.pos)
	}
	tuitest.Press(s, nil, "space")
	tick(time.Second)
	if s.player.pos != 6200*time.Millisecond || s.playing {
		t.Errorf("goes on while it is paused: %s", s.player.pos)
	}
	for range 20 {
		tuitest.Press(s, nil, "+")
	}
	tuitest.Press(s, nil, "space")
	for range 200 {
		tick(100 * time.Millisecond)
	}
	if s.playing || s.player.n != len(s.player.records) {
		t.Errorf("as fast as possible: playing %v, %d of %d records", s.playing, s.player.n, len(s.player.records))
	}
	for range 20 {
		tuitest.Press(s, nil, "-")
	}
	if speeds[s.speed] != 0.25 {
		t.Errorf("slowest %g", speeds[s.speed])
	}
}

func TestKeysSeek(t *testing.T) {
	folder := recorded(t, "limits")
	folder.Records = withGap(folder.Records)
	s := open(t, folder)
	p := s.player
	press := func(keys ...string) { tuitest.Press(s, nil, keys...) }
	is := func(what string, want time.Duration) {
		t.Helper()
		if p.pos != want {
			t.Errorf("%s: at %s, want %s", what, p.pos, want)
		}
	}
	press("home")
	is("home", 0)
	press("n")
	is("n", p.legs[0].at)
	press("n", "n")
	is("n n", p.legs[2].at)
	press("p")
	is("p", p.legs[1].at)
	press(".", "p") // a little into the leg: back to its beginning
	is(". p", p.legs[1].at)
	press("home", ">", ">")
	is("> >", p.steps[1].at)
	press("<")
	is("<", p.steps[0].at)
	press(".", ".", ",")
	is(". . ,", p.steps[0].at+5*time.Second)
	gap := p.gaps[len(p.gaps)-1]
	p.seek(gap.from + time.Second)
	if !slices.ContainsFunc(s.Keys(), func(k ui.Key) bool { return k.Name == "g" }) {
		t.Error("the key that skips the gap is not reported")
	}
	press("g")
	is("g", gap.to)
	press("end")
	is("end", p.total)
}

func TestMouseOnTheTimeLine(t *testing.T) {
	s := open(t, recorded(t, "limits"))
	s.Update(ui.Resized{Width: 80, Height: 23})
	click := func(x, y int) { s.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(barAt(80), 21)
	if s.player.pos != 0 {
		t.Errorf("a click at the left end: %s", s.player.pos)
	}
	click(79, 21)
	if !s.player.ended() {
		t.Errorf("a click at the right end: %s", s.player.pos)
	}
	click(barAt(80)+(80-barAt(80))/2, 21)
	if share := float64(s.player.pos) / float64(s.player.total); share < 0.45 || share > 0.55 {
		t.Errorf("a click in the middle: %.2f", share)
	}
	before := s.player.pos
	s.Update(tea.MouseWheelMsg{Y: 22, Button: tea.MouseWheelDown})
	if s.player.pos != before+seekBy {
		t.Errorf("the wheel: from %s to %s", before, s.player.pos)
	}
	click(2, 21)
	if !s.playing {
		t.Error("a click on the sign does not play")
	}
	s.Update(tea.MouseClickMsg{X: 40, Y: 10, Button: tea.MouseLeft})
}

// TestWithoutAnEventLog the final figures are those of the files of the legs.
func TestWithoutAnEventLog(t *testing.T) {
	for _, name := range []string{"limits", "faults"} {
		whole := recorded(t, name)
		want := folded(whole.Records)
		lost, cut, headless := whole, whole, whole
		lost.NoLog = true
		cut.Records = cut.Records[:len(cut.Records)/2]
		headless.Records = headless.Records[1:]
		for what, folder := range map[string]tuitest.Folder{"lost": lost, "cut": cut, "headless": headless} {
			s := open(t, folder)
			if !strings.Contains(s.note, "drawn from the files of the legs") {
				t.Errorf("%s, %s: note %q", name, what, s.note)
			}
			got := s.player.state
			if got.Ended == nil || got.Ended.State != want.Ended.State || len(got.Legs) != len(want.Legs) {
				t.Fatalf("%s, %s: ended %+v, %d legs", name, what, got.Ended, len(got.Legs))
			}
			for i, leg := range want.Legs {
				if a, b := text(t, got.Legs[i].Result), text(t, leg.Result); a != b {
					t.Errorf("%s, %s: leg %s is not what its file says:\n%.600s\n%.600s", name, what, leg.Result.Leg, a, b)
				}
			}
			if got.Current == nil || len(got.Current.Load) == 0 && len(want.Current.Load) > 0 {
				t.Errorf("%s, %s: nothing to draw curves of", name, what)
			}
		}
	}
}

func TestARunInProgressIsShownUntilNow(t *testing.T) {
	whole := tuitest.Records(t, "limits")
	part := tuitest.Until(whole, 6, func(rec bench.Record) bool { _, ok := rec.Event.(bench.StepEnded); return ok })
	s := open(t, tuitest.FolderOf(dir, part))
	if !strings.Contains(s.note, "killed, or still goes on") || s.player.state.Ended != nil || !s.player.state.Loading() {
		t.Errorf("note %q, ended %v, loading %v", s.note, s.player.state.Ended, s.player.state.Loading())
	}
}

func TestLeavingStopsLoading(t *testing.T) {
	folder := recorded(t, "limits")
	s := New(dir, tuitest.Folders{folder}, board.New())
	cmd := s.Init()
	left := false
	tuitest.Press(s, func(msg tea.Msg) { left = msg == ui.Back{} }, "esc")
	if !left {
		t.Error("esc does not lead back while it loads")
	}
	if msg := cmd().(loaded); !errors.Is(msg.err, errLeft) {
		t.Errorf("loaded none the less: %v", msg.err)
	}
}

func TestWordsForTheUser(t *testing.T) {
	s := open(t, recorded(t, "limits"))
	var msgs []tea.Msg
	tuitest.Press(s, func(m tea.Msg) { msgs = append(msgs, m) }, "r", "y", "esc")
	if len(msgs) != 3 || msgs[0].(ui.Tell).Text != "report "+dir+"/report.html" || !strings.HasPrefix(msgs[1].(ui.Copy).Text, "locbench run ") || msgs[2] != (ui.Back{}) {
		t.Errorf("%v", msgs)
	}
	// The board's own keys still reach it.
	before := strings.Join(tuitest.View(s, tuitest.Size{Width: 80, Height: 24}, look.New(look.Options{}), now), "\n")
	tuitest.Press(s, nil, "2")
	if after := strings.Join(tuitest.View(s, tuitest.Size{Width: 80, Height: 24}, look.New(look.Options{}), now), "\n"); after == before {
		t.Error("a key of the board changes nothing")
	}
}

// BenchmarkSeek is a seek to anywhere in 50,000 records.
func BenchmarkSeek(b *testing.B) {
	records := many(b, 50_000)
	p, err := newPlayer(fold.State{}, records, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		p.seek(time.Duration(float64((i*7919)%1000) / 1000 * float64(p.total)))
	}
}

func BenchmarkOpen(b *testing.B) {
	records := many(b, 50_000)
	for b.Loop() {
		if _, err := newPlayer(fold.State{}, records, nil); err != nil {
			b.Fatal(err)
		}
	}
}
