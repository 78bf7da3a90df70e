package tuitest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/show/tui"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// Program is the dashboard itself on a page, without a terminal: messages go in, frames come out.
// No time passes but that of Tick.
type Program struct {
	t       testing.TB
	app     *tui.App
	size    Size
	look    Look
	blocked []chan tea.Msg // of commands that have not returned yet
	quit    bool
}

// Look is how a program is drawn; the zero value is without colors. Light is the background.
type Look struct{ Colors, ASCII, Light bool }

// Page is a page with what leads to the frame to look at.
type Page struct {
	// New makes the page. What lets its commands return, such as the end of a run, is a Cleanup of t.
	New  func(t *testing.T) ui.Page
	Msgs []tea.Msg // sent at first
	Keys []string  // pressed then
}

// Play opens the dashboard on a page and calls use, in a bubble of package synctest: a command that
// waits for something is left alone until it returns.
func (c Page) Play(t *testing.T, size Size, look Look, use func(p *Program)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &Program{t: t, size: size, look: look}
		theme := map[bool]string{true: "light", false: "dark"}[look.Light]
		p.app = tui.New(tui.Options{First: c.New(t), ASCII: look.ASCII, NoColor: !look.Colors, Theme: theme,
			After: func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }})
		p.Send(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
		p.run(p.app.Init())
		for _, msg := range c.Msgs {
			p.Send(msg)
		}
		p.Press(c.Keys...)
		use(p)
	})
}

// Send passes a message to the program, and runs all commands that follow from it.
func (p *Program) Send(msg tea.Msg) {
	_, cmd := p.app.Update(msg)
	p.run(cmd)
}

// Settle handles what commands have returned since.
func (p *Program) Settle() { p.run(nil) }

func (p *Program) run(cmd tea.Cmd) {
	queue := []tea.Cmd{cmd}
	for n := 0; n < 1000; n++ {
		for _, c := range queue {
			if c != nil {
				done := make(chan tea.Msg, 1)
				p.blocked = append(p.blocked, done)
				go func() { done <- c() }()
			}
		}
		queue = nil
		synctest.Wait()
		waiting := p.blocked
		p.blocked = nil
		for _, done := range waiting {
			select {
			case msg := <-done:
				queue = append(queue, p.handle(msg)...)
			default:
				p.blocked = append(p.blocked, done)
			}
		}
		if len(queue) == 0 {
			return
		}
	}
	p.t.Fatal("commands without end")
}

func (p *Program) handle(msg tea.Msg) []tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case tea.QuitMsg:
		p.quit = true
	case tea.BatchMsg:
		return msg
	default:
		_, next := p.app.Update(msg)
		return []tea.Cmd{next}
	}
	return nil
}

// Press sends keys as Bubble Tea names them ("enter", "a", "ctrl+c").
func (p *Program) Press(keys ...string) {
	for _, k := range keys {
		p.Send(Key(k))
	}
}

// Tick lets the pages know that a second has passed, and draws what events have changed.
func (p *Program) Tick(now time.Time) { p.Send(tui.Tick(now)) }

// Quit reports whether the program has ended.
func (p *Program) Quit() bool { return p.quit }

// Frame returns the last frame without escape sequences. It fails unless it fills the terminal.
func (p *Program) Frame() string {
	p.t.Helper()
	p.Send(tui.Draw())
	lines := strings.Split(p.app.View().Content, "\n")
	Exact(p.t, lines, p.size, p.look.ASCII)
	for i, line := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Resize gives the terminal another size.
func (p *Program) Resize(size Size) {
	p.size = size
	p.Send(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
	p.Tick(time.Time{}) // for what a page then reads again
}

// frames returns the frames of a page in terminals of all sizes, one after the other, with their styles
// or without.
func (c Page) frames(t *testing.T, look Look) (plain, styled map[Size]string) {
	t.Helper()
	plain, styled = map[Size]string{}, map[Size]string{}
	sizes := append(Sizes(), Size{20, 6}, Size{40, 12}, Size{50, 14}, Size{100, 12}, Size{79, 24})
	c.Play(t, Size{80, 24}, look, func(p *Program) {
		for _, size := range sizes {
			p.Resize(size)
			plain[size] = p.Frame()
			styled[size] = p.app.View().Content
		}
		KeysHold(t, p.app.Keys())
	})
	return plain, styled
}

// Frames compares the frames of a page with testdata/NAME.*.txt: one for each class of terminals,
// and one in ASCII alone. It also looks at all sizes, as Whole does.
func (c Page) Frames(t *testing.T, name string) {
	t.Helper()
	plain, ascii := c.whole(t)
	golden := func(size Size, ascii, frame string) {
		testenv.Golden(t, filepath.Join("testdata", fmt.Sprintf("%s.%s%dx%d.txt", name, ascii, size.Width, size.Height)), frame)
	}
	for _, size := range []Size{{40, 12}, {80, 24}, {120, 40}, {200, 50}} {
		golden(size, "", plain[size])
	}
	golden(Size{80, 24}, "ascii.", ascii[Size{80, 24}])
}

// Whole fails unless the page fills terminals of all sizes to the cell, in ASCII too, colors change
// only colors, and its keys keep the rules.
func (c Page) Whole(t *testing.T) {
	t.Helper()
	c.whole(t)
}

func (c Page) whole(t *testing.T) (plain, ascii map[Size]string) {
	t.Helper()
	plain, _ = c.frames(t, Look{})
	ascii, _ = c.frames(t, Look{ASCII: true})
	colored, dark := c.frames(t, Look{Colors: true})
	_, light := c.frames(t, Look{Colors: true, Light: true})
	for size := range plain {
		if curves(colored[size]) != curves(plain[size]) {
			t.Errorf("%v: colors change the text:\n%s\n%s", size, colored[size], plain[size])
		}
		lit(t, size, dark[size], light[size])
	}
	return plain, ascii
}

// KeysHold fails if keys break a rule: at most six in the last line, no key twice, and the help has
// all keys of the last line.
func KeysHold(t testing.TB, keys ui.Keys) {
	t.Helper()
	testenv.Check(t, len(keys.Short) <= 6, "%d keys for the last line", len(keys.Short))
	once := func(all []key.Binding) map[string]bool {
		seen := map[string]bool{}
		for _, b := range all {
			for _, name := range b.Keys() {
				testenv.Check(t, !seen[name], "key %s twice", name)
				seen[name] = true
			}
		}
		return seen
	}
	short := once(keys.Short)
	if len(keys.Groups) == 0 {
		return
	}
	var all []key.Binding
	for _, g := range keys.Groups {
		all = append(all, g.Keys...)
	}
	full := once(all)
	for name := range short {
		testenv.Check(t, full[name], "key %s is missing in the help", name)
	}
}
