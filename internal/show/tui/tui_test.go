package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/board"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// page is a screen that records its messages.
type page struct {
	name   string
	got    []string
	typing bool
	busy   bool
	broken bool
}

func (p *page) Init() tea.Cmd {
	if p.broken {
		panic("a screen fails")
	}
	p.got = append(p.got, "init")
	return nil
}
func (p *page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		p.got = append(p.got, msg.String())
		switch msg.String() {
		case "o":
			return ui.Cmd(ui.Open{Screen: &page{name: "second"}})
		case "q":
			return ui.Cmd(ui.Back{})
		case "t":
			return ui.Cmd(ui.StatusMsg{Text: "a \x1b[31mword\x1b[0m"})
		}
	case ui.Resized:
		p.got = append(p.got, "resized")
	case ui.Shown:
		p.got = append(p.got, "shown")
	}
	return nil
}

func (p *page) View(f ui.Frame) []string {
	return []string{p.name, strings.Repeat("x", 500)}
}
func (p *page) Keys() []ui.Key { return []ui.Key{{Name: "o", Help: "open"}} }
func (p *page) Typing() bool   { return p.typing }
func (p *page) Busy() bool     { return p.busy }
func (p *page) Title() string  { return p.name }

// open returns the program on its first screen, in which no time passes.
func open(o Options) *Model {
	m := newModel(o)
	m.after = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	return m
}

// send passes a message to the model and runs the commands that follow at once.
func send(m *Model, msg tea.Msg) (quit bool) {
	_, cmd := m.Update(msg)
	return run(m, cmd)
}

func run(m *Model, cmd tea.Cmd) (quit bool) {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case nil:
		return false
	case tea.BatchMsg:
		for _, c := range msg {
			quit = run(m, c) || quit
		}
		return quit
	case tea.QuitMsg:
		return true
	default:
		return send(m, msg)
	}
}

func TestScreensStack(t *testing.T) {
	first := &page{name: "first"}
	m := open(Options{First: first, Theme: "dark"})
	run(m, m.Init())
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24})
	send(m, tuitest.Key("o"))
	testenv.Need(t, m.top().Title() == "second" && strings.HasPrefix(m.View().Content, "second"), "on top is %q",
		m.top().Title())
	testenv.Check(t, !send(m, tuitest.Key("q")) && m.top() == ui.Screen(first),
		"closing the second screen does not show the first")
	testenv.Equal(t, strings.Join(first.got, " "), "init resized o resized shown", "the first screen got")
	testenv.Check(t, send(m, tuitest.Key("q")), "closing the last screen does not end the program")
}

func TestHelpCoversAndCloses(t *testing.T) {
	first := &page{name: "first"}
	m := open(Options{First: first, Theme: "dark"})
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24})
	send(m, tuitest.Key("?"))
	testenv.Contains(t, m.View().Content, "suspend the screen")
	first.got = nil
	send(m, tuitest.Key("q"))
	testenv.Check(t, !strings.Contains(m.View().Content, "suspend") && len(first.got) == 0,
		"the help stays, or the key went to the screen: %v", first.got)
	first.typing = true
	send(m, tuitest.Key("?"))
	testenv.Check(t, !m.help && first.got[0] == "?", "a screen in which text is typed does not get its question mark")
}

func TestEveryFrameFillsTheTerminal(t *testing.T) {
	m := open(Options{First: &page{name: "first"}, Theme: "light"})
	for _, size := range []tuitest.Size{{Width: 20, Height: 6}, {Width: 60, Height: 20}, {Width: 200, Height: 50}, {Width: 33, Height: 7}} {
		send(m, tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
		tuitest.Exact(t, strings.Split(m.View().Content, "\n"), size, false)
		send(m, tuitest.Key("t"))
		lines := strings.Split(m.View().Content, "\n")
		tuitest.Exact(t, lines, size, false)
		testenv.Contains(t, lines[len(lines)-1], "word")
		m.message = message{}
	}
	send(m, tea.WindowSizeMsg{Width: 10, Height: 3})
	text := m.View().Content
	testenv.Check(t, len(text) <= 12 && strings.Contains(text, "10x3"), "%q", text)
}

// TestNothingIsDrawnWithoutAChange keeps idle frames free: Bubble Tea asks for a view after every
// message.
func TestNothingIsDrawnWithoutAChange(t *testing.T) {
	p := &page{name: "first"}
	m := open(Options{First: p, Theme: "dark"})
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24})
	_ = m.View()
	p.name = "changed without a message"
	send(m, tickMsg(time.Now()))
	testenv.Contains(t, m.View().Content, "!changed")
	p.busy = true
	send(m, tickMsg(time.Now()))
	testenv.Contains(t, m.View().Content, "changed")
}

func TestAPanicInAScreenIsAnError(t *testing.T) {
	var out bytes.Buffer
	err := Run(context.Background(), Options{First: &page{broken: true}, Input: strings.NewReader(""), Output: &out, Theme: "dark", Env: []string{"TERM=xterm"}})
	testenv.Check(t, err != nil && errors.Is(err, tea.ErrProgramPanic), "%v", err)
}

func TestTheEndOfTheContextIsNotAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	testenv.OK(t,
		Run(ctx, Options{First: &page{}, Input: strings.NewReader(""), Output: &out, Theme: "dark", Env: []string{"TERM=xterm"}}))
}

// wordy has more help than a small terminal has lines.
type wordy struct{ page }

func (wordy) Keys() []ui.Key {
	var keys []ui.Key
	for _, name := range strings.Fields("a b c d e f g h") {
		keys = append(keys, ui.Key{Name: name, Help: "does " + name, Long: "key " + name + " does something that takes many words to explain, up to its end" + name})
	}
	return keys
}

func TestHelpIsCompleteInASmallTerminal(t *testing.T) {
	m := open(Options{First: &wordy{}, Theme: "dark", NoColor: true})
	size := tuitest.Size{Width: 40, Height: 12}
	send(m, tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
	send(m, tuitest.Key("?"))
	seen := ""
	for range 60 {
		lines := strings.Split(m.View().Content, "\n")
		tuitest.Exact(t, lines, size, false)
		seen += m.View().Content
		send(m, tuitest.Key("down"))
	}
	testenv.Contains(t, seen, "enda", "endh", "redraw", "of ")
	last := m.View().Content
	send(m, tuitest.Key("down"))
	testenv.Check(t, m.View().Content == last && m.help, "the help scrolls beyond its end, or closes by that")
	send(m, tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	testenv.Check(t, m.View().Content != last, "the wheel does not scroll the help")
	send(m, tuitest.Key("x"))
	testenv.Check(t, !m.help, "another key does not close the help")
}

func TestTheHelpIsNotOfferedWhileTextIsTyped(t *testing.T) {
	p := &page{name: "first"}
	m := open(Options{First: p, Theme: "dark", NoColor: true})
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24})
	testenv.Contains(t, ansi.Strip(m.View().Content), "? keys")
	p.typing = true
	m.dirty = true
	testenv.Contains(t, ansi.Strip(m.View().Content), "!? keys")
}

func TestAMessageOfOneScreenIsNotShownOnTheNext(t *testing.T) {
	m := open(Options{First: &page{name: "first"}, Theme: "dark", NoColor: true})
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24})
	send(m, tuitest.Key("t"))
	send(m, tuitest.Key("o"))
	if text := m.View().Content; strings.Contains(text, "word") || !strings.HasPrefix(text, "second") {
		t.Errorf("the second screen:\n%s", text)
	}
}

// boardScreen shows a state that does not change.
type boardScreen struct {
	page
	board *board.Board
	state fold.State
}

func (s *boardScreen) View(f ui.Frame) []string { return s.board.View(f, &s.state, "") }

func inAStep(b *testing.B) *boardScreen {
	b.Helper()
	s := &boardScreen{page: page{busy: true}, board: board.New()}
	records := tuitest.Until(tuitest.Records(b, "limits"), 7, func(rec bench.Record) bool {
		_, ok := rec.Event.(bench.StepEnded)
		return ok
	})
	for _, rec := range records[:len(records)-3] {
		s.state.Apply(rec)
	}
	return s
}

// BenchmarkFrame measures a frame of a running step at 200 by 50 cells: drawn after a tick of the
// clock, after a new event, and then rendered to the terminal.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		name         string
		event, bring bool
	}{{"tick", false, false}, {"event", true, false}, {"tick+renderer", false, true}, {"event+renderer", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			s := inAStep(b)
			m := newModel(Options{First: s, Theme: "dark"})
			send(m, tea.WindowSizeMsg{Width: 200, Height: 50})
			screen := uv.NewScreenBuffer(200, 50)
			renderer := uv.NewTerminalRenderer(io.Discard, []string{"TERM=xterm-256color"})
			renderer.Resize(200, 50)
			m.now = s.state.Last
			for b.Loop() {
				m.now = m.now.Add(100 * time.Millisecond)
				m.dirty = true
				m.ticks++
				if c.event {
					s.state.Version++
				}
				content := m.View().Content
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
