package tui_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui"
	"github.com/locbench/locbench/internal/show/tui/run"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// page is a page that records its messages.
type page struct {
	name   string
	got    []string
	typing bool
	calm   bool
	broken bool
	size   ui.Size
	late   chan struct{} // what the key l waits for
}

type lateMsg struct{}

func (p *page) Init() tea.Cmd {
	if p.broken {
		panic("a page fails")
	}
	p.got = append(p.got, "init")
	return nil
}

func (p *page) SetSize(size ui.Size, _ *ui.Theme) { p.size = size; p.got = append(p.got, "size") }

func (p *page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		p.got = append(p.got, msg.String())
		switch msg.String() {
		case "o":
			return ui.Cmd(ui.OpenMsg{Page: &page{name: "second"}})
		case "e":
			return ui.Cmd(ui.ReplaceMsg{Page: &page{name: "other"}})
		case "q":
			return ui.Cmd(ui.BackMsg{})
		case "t":
			return ui.Cmd(ui.TellMsg{Text: "a \x1b[31mword\x1b[0m"})
		case "n":
			return ui.Cmd(ui.AskMsg{Ask: ui.Ask{Title: "Note", Limit: 10, Reply: func(s string) tea.Msg { return s }}})
		case "y":
			return ui.Cmd(ui.CopyMsg{Text: "locbench run --key secret", What: "command", Shown: "locbench run --key ***"})
		case "l":
			late := p.late
			return func() tea.Msg { <-late; return lateMsg{} }
		}
	case ui.ShownMsg:
		p.got = append(p.got, "shown")
	case ui.StopMsg:
		p.got = append(p.got, "stop")
	case lateMsg:
		p.got = append(p.got, "late")
	case string:
		p.got = append(p.got, "typed "+msg)
	}
	return nil
}

func (p *page) View() string { return p.name + "\n" + strings.Repeat("x", 500) }
func (p *page) Keys() ui.Keys {
	open := []key.Binding{key.NewBinding(key.WithKeys("o"), key.WithHelp("o", "open"))}
	if p.name == "many" {
		for _, k := range []ui.Key{ui.Start, ui.Resume, ui.Pause, ui.Stop, ui.Detach, ui.Report, ui.Copy} {
			open = append(open, ui.Hint("", k))
		}
	}
	return ui.Keys{Short: open, Groups: []ui.Group{{Title: "page", Keys: open}}}
}
func (p *page) Typing() bool  { return p.typing }
func (p *page) Calm() bool    { return p.calm }
func (p *page) Title() string { return p.name }

func (p *page) words() string {
	s := strings.Join(p.got, " ")
	p.got = nil
	return s
}

// play opens the dashboard on a page named first.
func play(t *testing.T, size tuitest.Size, use func(first *page, p *tuitest.Program)) {
	t.Helper()
	first := &page{name: "first"}
	c := tuitest.Page{New: func(t *testing.T) ui.Page {
		first.late = make(chan struct{})
		return first
	}}
	c.Play(t, size, tuitest.Look{}, func(p *tuitest.Program) { use(first, p) })
}

var usual = tuitest.Size{Width: 80, Height: 24}

func TestPagesStack(t *testing.T) {
	play(t, usual, func(first *page, p *tuitest.Program) {
		p.Press("o")
		testenv.Contains(t, p.Frame(), "second")
		p.Press("q")
		testenv.Contains(t, p.Frame(), "first")
		testenv.Equal(t, first.words(), "size init o size shown", "the first page got")
		testenv.Check(t, !p.Quit(), "closing the second page ends the program")
		p.Press("e")
		testenv.Contains(t, p.Frame(), "other", "!first")
		p.Press("q")
		testenv.Check(t, p.Quit(), "closing the last page does not end the program")
	})
}

// TestAMessageFindsItsPage also when another one covers it; a page that has closed gets none.
func TestAMessageFindsItsPage(t *testing.T) {
	for keys, want := range map[string]string{"l o": "late", "l": "late", "l e": "!late"} {
		play(t, usual, func(first *page, p *tuitest.Program) {
			p.Press(strings.Fields(keys)...)
			close(first.late)
			p.Settle()
			testenv.Contains(t, first.words(), want)
		})
	}
}

func TestHelpCoversAndCloses(t *testing.T) {
	play(t, usual, func(first *page, p *tuitest.Program) {
		first.words()
		p.Press("?")
		testenv.Contains(t, p.Frame(), "keys: first", "o  open", "suspend", "any key closes", " ↑↓ scroll  esc close")
		p.Press("q")
		testenv.Contains(t, p.Frame(), "!suspend")
		testenv.Equal(t, first.words(), "", "the page got")
		first.typing = true
		p.Press("?")
		testenv.Equal(t, first.words(), "?", "a page in which text is typed got")
	})
}

func TestHelpIsCompleteInASmallTerminal(t *testing.T) {
	play(t, tuitest.Size{Width: 40, Height: 9}, func(_ *page, p *tuitest.Program) {
		p.Press("?")
		seen := ""
		for range 20 {
			seen += p.Frame()
			p.Press("down")
		}
		testenv.Contains(t, seen, "open", "redraw", "(fg returns)", "of ")
		last := p.Frame()
		p.Press("down")
		testenv.Check(t, p.Frame() == last, "the help scrolls beyond its end, or closes by that")
		p.Press("up")
		testenv.Check(t, p.Frame() != last, "the help does not scroll back")
		p.Press("x")
		testenv.Contains(t, p.Frame(), "first")
	})
}

// TestTheLastLine names the keys and that of the help, unless letters are text; a word takes its
// place.
func TestTheLastLine(t *testing.T) {
	last := func(p *tuitest.Program) string {
		lines := strings.Split(strings.TrimRight(p.Frame(), "\n"), "\n")
		return lines[len(lines)-1]
	}
	play(t, usual, func(first *page, p *tuitest.Program) {
		testenv.Equal(t, last(p), " o open  ? all keys", "keys")
		first.typing = true
		testenv.Equal(t, last(p), " o open", "keys while typing")
		first.typing = false
		p.Press("t")
		testenv.Equal(t, last(p), " a ␛[31mword␛[0m", "word")
		p.Press("o")
		testenv.Equal(t, last(p), " o open  ? all keys", "the word of one page on the next")
	})
	play(t, tuitest.Size{Width: 200, Height: 24}, func(first *page, p *tuitest.Program) {
		first.name = "many"
		testenv.Equal(t, strings.Count(last(p), "  "), 6, "gaps in the line of a page with many keys")
	})
	play(t, tuitest.Size{Width: 20, Height: 6}, func(_ *page, p *tuitest.Program) {
		testenv.Equal(t, last(p), " o open  ? all keys", "in the smallest terminal")
	})
}

func TestAQuestionForText(t *testing.T) {
	for keys, want := range map[string]string{
		"h i enter": "typed hi", "? q enter": "typed ?q", "h esc": "", "enter": "", "h ctrl+c": "stop",
	} {
		play(t, usual, func(first *page, p *tuitest.Program) {
			p.Press("n")
			testenv.Contains(t, p.Frame(), "╭─ Note ─", " enter save  esc discard")
			first.words()
			p.Press(strings.Fields(keys)...)
			testenv.Equal(t, first.words(), want, keys)
		})
	}
}

func TestEveryFrameFillsTheTerminal(t *testing.T) {
	for _, size := range []tuitest.Size{{Width: 20, Height: 6}, {Width: 60, Height: 20}, {Width: 200, Height: 50}, {Width: 33, Height: 7}} {
		for _, keys := range []string{"", "t", "?", "n"} {
			play(t, size, func(_ *page, p *tuitest.Program) {
				p.Press(strings.Fields(keys)...)
				p.Frame()
			})
		}
	}
	a := tui.New(tui.Options{First: &page{}, Theme: "light"})
	a.Update(tea.WindowSizeMsg{Width: 10, Height: 3})
	text := a.View().Content
	testenv.Check(t, len(text) <= 12 && strings.Contains(text, "10x3"), "%q", text)
}

// TestNothingIsDrawnWithoutAChange keeps idle frames free: Bubble Tea asks for a view after every
// message. Events wait for a frame in a moment, during a step for the clock.
func TestNothingIsDrawnWithoutAChange(t *testing.T) {
	first := &page{name: "first"}
	var waits []time.Duration
	a := tui.New(tui.Options{First: first, Theme: "dark",
		After: func(d time.Duration, _ func(time.Time) tea.Msg) tea.Cmd { waits = append(waits, d); return nil }})
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	event := func() {
		_, cmd := a.Update(tuitest.Key("l"))
		_ = a.View()
		waits = nil
		a.Update(cmd())
	}
	first.late = make(chan struct{})
	close(first.late)
	event()
	testenv.Equal(t, waits, []time.Duration{200 * time.Millisecond}, "after an event")
	first.name = "changed"
	testenv.Contains(t, a.View().Content, "!changed")
	a.Update(tui.Draw())
	testenv.Contains(t, a.View().Content, "changed")
	first.calm = true
	event()
	testenv.Equal(t, len(waits), 0, "waits for a frame during a step")
	first.name = "later"
	testenv.Contains(t, a.View().Content, "!later")
	a.Update(tui.Tick(time.Now()))
	testenv.Contains(t, a.View().Content, "later")
}

func TestAPanicInAPageIsAnError(t *testing.T) {
	var out bytes.Buffer
	err := tui.Run(context.Background(), tui.Options{First: &page{broken: true}, Input: strings.NewReader(""), Output: &out,
		Theme: "dark", Env: []string{"TERM=xterm"}})
	testenv.Check(t, err != nil && errors.Is(err, tea.ErrProgramPanic), "%v", err)
}

func TestTheEndOfTheContextIsNotAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	testenv.OK(t, tui.Run(ctx, tui.Options{First: &page{}, Input: strings.NewReader(""), Output: &out, Theme: "dark",
		Env: []string{"TERM=xterm"}}))
}

// steady is a run in the middle of a step.
type steady struct {
	ui.Session
	records []bench.Record
}

func (*steady) Detach() error  { return nil }
func (*steady) CanSteer() bool { return true }
func (*steady) Dir() string    { return "" }
func (s *steady) Next() ([]bench.Record, bool) {
	records := s.records
	s.records = nil
	return records, true
}

// BenchmarkFrame measures a frame of a running step at 200 by 50 cells: drawn after a tick of the
// clock, after a new event, and then rendered to the terminal.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		name         string
		event, bring bool
	}{{"tick", false, false}, {"event", true, false}, {"tick+renderer", false, true}, {"event+renderer", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			records := tuitest.Until(tuitest.Records(b, "limits"), 7, func(rec bench.Record) bool {
				_, ok := rec.Event.(bench.StepEnded)
				return ok
			})
			session := &steady{records: records[:len(records)-3]}
			page := run.New(run.Options{Session: session})
			page.Update(page.Init()())
			notice := []bench.Record{{At: records[len(records)-4].At, Event: bench.Notice{Text: "something"}}}
			a := tui.New(tui.Options{First: page, Theme: "dark"})
			a.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
			screen := uv.NewScreenBuffer(200, 50)
			renderer := uv.NewTerminalRenderer(io.Discard, []string{"TERM=xterm-256color"})
			renderer.Resize(200, 50)
			for b.Loop() {
				a.Update(tui.Draw())
				if c.event {
					session.records = notice
					page.Update(page.Init()())
				}
				content := a.View().Content
				if c.bring {
					screen.Clear()
					uv.NewStyledString(content).Draw(screen, screen.Bounds())
					renderer.Render(screen.RenderBuffer)
					_ = renderer.Flush()
				}
			}
		})
	}
}

// BenchmarkHour measures the memory of a dashboard after an hour of events: a window and a reading
// each second, and a hundred lines of log.
func BenchmarkHour(b *testing.B) {
	records := tuitest.Until(tuitest.Records(b, "limits"), 7, func(rec bench.Record) bool {
		_, ok := rec.Event.(bench.StepEnded)
		return ok
	})
	last := records[len(records)-4]
	session := &steady{records: records[:len(records)-3]}
	page := run.New(run.Options{Session: session})
	page.Update(page.Init()())
	a := tui.New(tui.Options{First: page, Theme: "dark"})
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	var used runtime.MemStats
	for b.Loop() {
		for i := range 3600 {
			at := last.At.Add(time.Duration(i) * time.Second)
			add := func(e bench.Event) {
				session.records = append(session.records, bench.Record{At: at, Trial: last.Trial, Event: e})
			}
			add(bench.WindowClosed{Index: 2, Window: bench.Window{Start: time.Duration(i) * time.Second, Length: time.Second, Succeeded: int64(1000 + i%50),
				P50: time.Millisecond, P90: 2 * time.Millisecond, P99: 3 * time.Millisecond, Max: 5 * time.Millisecond}})
			add(bench.UsageRead{Usage: bench.Usage{At: at, CPU: time.Duration(i) * 400 * time.Millisecond}})
			lines := make([]bench.LogLine, 100)
			for n := range lines {
				lines[n] = bench.LogLine{At: at, Stream: "stdout", Text: fmt.Sprintf("GET /things/%d/%d 200 0.071 ms, a line of a usual length", i, n)}
			}
			add(bench.LogLines{Lines: lines})
			page.Update(page.Init()())
			a.Update(tui.Draw())
			_ = a.View().Content
		}
		runtime.GC()
		runtime.ReadMemStats(&used)
	}
	runtime.KeepAlive(a)
	b.ReportMetric(float64(used.HeapAlloc)/(1<<20), "MiB-in-use")
	b.ReportMetric(float64(used.Sys)/(1<<20), "MiB-of-the-system")
}

// overview has the keys of a page of a run.
type overview struct{ page }

func (overview) Keys() ui.Keys {
	own := []key.Binding{
		ui.Hint("chart above, below", ui.Up, ui.Down), ui.Hint("time cursor, by one point", ui.Left, ui.Right),
		ui.Hint("full page (esc: back)", ui.Enter), ui.Hint("range: trial, 60 s, step", ui.View),
		ui.Hint("mark; again: zoom", ui.Space), ui.Hint("", ui.Current),
		ui.Hint("trial before, after", ui.TrialBefore, ui.TrialAfter),
	}
	run := []key.Binding{
		ui.Hint("pause, resume", ui.Pause), ui.Hint("stop… (4 choices)", ui.Stop), ui.Hint("", ui.Detach),
		ui.Hint("report so far", ui.Report), ui.Hint("", ui.Copy),
	}
	return ui.Keys{
		Short:  []key.Binding{own[0], own[2], own[3], run[0], run[1], run[4]},
		Groups: []ui.Group{{Title: "page: overview", Keys: own}, {Title: "this run", Keys: run}},
		Legend: []string{
			"Signs  ▶ runs  ✓ passed, complete  ! caution  ✗ failed  ○ skipped  · for information  – none",
			"Words  trial: one contender, started, checked, loaded, stopped. step: one level of load.",
		},
	}
}

func TestHelpFrames(t *testing.T) {
	c := tuitest.Page{New: func(*testing.T) ui.Page { return &overview{page{name: "run, page 1 Overview"}} }, Keys: []string{"?"}}
	c.Frames(t, "help")
	c.Light(t, "help")
	c.Keys = nil
	c.Whole(t)
}
