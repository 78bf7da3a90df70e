// Package tui is the dashboard: a Bubble Tea program that shows a stack of pages, each in a package
// below. They show a fold over the events of a run (package fold), so the run does not wait for the
// screen or depend on it. Package screens implements everything that reaches outside (starting a
// run, reading folders, writing a report) behind interfaces of package ui.
package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// App is the program, a tea.Model: a stack of pages, and what may lie over the one on top.
type App struct {
	options       Options
	theme         *ui.Theme
	stack         []ui.Page
	width, height int
	ask           *ui.Ask
	help          *help
	word          word
	frame         frame
}

// word is a text in place of the keys.
type word struct {
	text string
	bad  bool
	n    int // counts the words: the end of one does not remove the next
}

// frame is the last view, and whether the next one is drawn again.
type frame struct {
	text    string
	dirty   bool
	pending bool // a frame comes in a moment
}

// Messages of the program to itself.
type (
	// fromPage is the message of a page's command. It finds its page also under another one.
	fromPage struct {
		page ui.Page
		msg  tea.Msg
	}
	tickMsg  time.Time
	drawMsg  struct{}
	wordsEnd struct{ n int }
)

// Tick and Draw are the messages of the clock and of a pending frame, for tests, in which no
// time passes.
func Tick(now time.Time) tea.Msg { return tickMsg(now) }

// Draw makes the program draw its next frame.
func Draw() tea.Msg { return drawMsg{} }

// New returns the program.
func New(o Options) *App {
	if o.After == nil {
		o.After = tea.Tick
	}
	a := &App{options: o, stack: []ui.Page{o.First}}
	a.paint(o.Theme == "light")
	return a
}

func (a *App) paint(light bool) {
	a.theme = ui.NewTheme(ui.ThemeOptions{Light: light, ASCII: a.options.ASCII, NoColor: a.options.NoColor})
	a.resize()
}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd {
	cmds := []tea.Cmd{a.from(a.top(), a.top().Init()), a.tick()}
	if a.options.Theme == "" && !a.options.NoColor {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

func (a *App) tick() tea.Cmd {
	return a.options.After(clock, func(t time.Time) tea.Msg { return tickMsg(t) })
}

func (a *App) top() ui.Page { return a.stack[len(a.stack)-1] }

func (a *App) size() ui.Size { return ui.SizeOf(a.width, a.height) }

// fits reports whether the terminal is large enough for a page.
func (a *App) fits() bool { return a.width >= leastWidth && a.height >= leastHeight }

func (a *App) resize() {
	a.frame.dirty = true
	if a.fits() {
		a.top().SetSize(a.size(), a.theme)
	}
}

// from marks the messages of a page's command.
func (a *App) from(page ui.Page, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case nil:
			return nil
		case tea.BatchMsg:
			for i, c := range msg {
				msg[i] = a.from(page, c)
			}
			return msg
		default:
			return fromPage{page, msg}
		}
	}
}

// Update implements tea.Model.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return a, a.update(msg) }

func (a *App) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case fromPage:
		if !slices.Contains(a.stack, msg.page) {
			return nil // it has closed
		}
		if cmd, ok := a.navigate(msg.page, msg.msg); ok {
			a.frame.dirty = true
			return cmd
		}
		return tea.Batch(a.pass(msg.page, msg.msg), a.soon())
	case tickMsg:
		a.frame.dirty = true
		return tea.Batch(a.pass(a.top(), ui.TickMsg{Now: time.Time(msg)}), a.tick())
	case drawMsg:
		a.frame.dirty, a.frame.pending = true, false
		return nil
	case wordsEnd:
		if msg.n == a.word.n {
			a.word.text, a.frame.dirty = "", true
		}
		return nil
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
		a.resize()
	case tea.BackgroundColorMsg:
		if a.options.Theme == "" {
			a.paint(!msg.IsDark())
		}
	case tea.KeyPressMsg:
		a.frame.dirty = true
		return a.key(msg)
	case tea.ColorProfileMsg, tea.EnvMsg, tea.FocusMsg, tea.BlurMsg, tea.ModeReportMsg,
		tea.KeyboardEnhancementsMsg, tea.KeyReleaseMsg:
	case tea.PasteMsg:
		a.frame.dirty = true
		switch {
		case a.help != nil:
			return nil
		case a.ask != nil:
			return a.choose(msg)
		}
		return a.pass(a.top(), msg)
	case tea.ResumeMsg:
		a.frame.dirty = true
		return tea.ClearScreen
	default:
		return tea.Batch(a.pass(a.top(), msg), a.soon())
	}
	return nil
}

func (a *App) pass(page ui.Page, msg tea.Msg) tea.Cmd { return a.from(page, page.Update(msg)) }

// soon draws the effect of an event: several events make one frame, and during a step they wait for
// the clock.
func (a *App) soon() tea.Cmd {
	if c, ok := a.top().(ui.Calm); a.frame.pending || ok && c.Calm() {
		return nil
	}
	a.frame.pending = true
	return a.options.After(apart, func(time.Time) tea.Msg { return drawMsg{} })
}

func (a *App) key(msg tea.KeyPressMsg) tea.Cmd {
	k := ui.KeyOf(msg)
	typing := a.top().Typing()
	if a.ask != nil {
		typing = a.ask.Typing()
	}
	switch {
	case k == ui.Suspend:
		return tea.Suspend
	case k == ui.Redraw:
		return tea.ClearScreen
	case k == ui.Interrupt:
		return a.interrupt()
	case a.help != nil:
		a.helped(msg)
		return nil
	case k == ui.Help && !typing:
		a.help = newHelp(a.top().Title(), a.Keys())
		return nil
	case a.ask != nil:
		return a.choose(msg)
	}
	return a.pass(a.top(), msg)
}

// interrupt handles Ctrl-C, which chooses where a question has a choice for it.
func (a *App) interrupt() tea.Cmd {
	a.help = nil
	if ask := a.ask; ask != nil {
		a.ask = nil
		if ask.Interrupt != nil {
			return a.pass(a.top(), ask.Interrupt)
		}
	}
	return a.pass(a.top(), ui.StopMsg{})
}

// choose passes a message to the question.
func (a *App) choose(msg tea.Msg) tea.Cmd {
	done, chosen, cmd := a.ask.Update(msg)
	if !done {
		return cmd
	}
	a.ask = nil
	if chosen == nil {
		return nil
	}
	return a.pass(a.top(), chosen)
}

// navigate handles the messages of pages to the program.
func (a *App) navigate(page ui.Page, msg tea.Msg) (cmd tea.Cmd, handled bool) {
	switch msg := msg.(type) {
	case ui.OpenMsg:
		return a.show(append(a.stack, msg.Page)), true
	case ui.ReplaceMsg:
		return a.show(append(a.stack[:slices.Index(a.stack, page)], msg.Page)), true
	case ui.BackMsg:
		if len(a.stack) == 1 {
			return tea.Quit, true
		}
		top := a.top()
		a.stack = slices.DeleteFunc(a.stack, func(p ui.Page) bool { return p == page })
		if a.top() == top {
			return nil, true
		}
		a.ask = nil
		a.resize()
		return a.pass(a.top(), ui.ShownMsg{}), true
	case ui.QuitMsg:
		return tea.Quit, true
	case ui.AskMsg:
		if msg.Ask.Opened != nil {
			msg.Ask.Opened()
		}
		if page != a.top() {
			return nil, true // it would ask about something out of sight
		}
		a.ask = &msg.Ask
		return a.ask.Init(), true
	case ui.SettledMsg:
		if page == a.top() {
			a.ask = nil
		}
		return nil, true
	case ui.TellMsg:
		return a.tell(msg.Text, msg.Bad), true
	case ui.CopyMsg:
		return tea.Batch(a.tell("copied "+msg.What+": "+cmp.Or(msg.Shown, msg.Text), false), tea.SetClipboard(msg.Text)), true
	}
	return nil, false
}

// show shows the last page of a stack for the first time.
func (a *App) show(stack []ui.Page) tea.Cmd {
	a.stack, a.ask, a.help, a.word.text = stack, nil, nil, "" // they were about the previous page
	a.resize()
	return a.from(a.top(), a.top().Init())
}

func (a *App) tell(text string, bad bool) tea.Cmd {
	a.word = word{ui.Outside(strings.TrimSpace(text), 2000), bad, a.word.n + 1}
	n := a.word.n
	return a.options.After(wordFor, func(time.Time) tea.Msg { return wordsEnd{n} })
}
