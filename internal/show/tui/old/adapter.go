package old

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Adapter shows a screen as a page.
type Adapter struct {
	Screen Screen
	size   ui.Size
	look   *Look
	ticks  int
	now    func() time.Time
}

// NewPage returns the page of a screen.
func NewPage(s Screen) *Adapter { return &Adapter{Screen: s, now: time.Now} }

// At sets the clock, for tests.
func (a *Adapter) At(now time.Time) *Adapter {
	a.now = func() time.Time { return now }
	return a
}

// Init implements ui.Page.
func (a *Adapter) Init() tea.Cmd { return a.Screen.Init() }

// SetSize implements ui.Page.
func (a *Adapter) SetSize(size ui.Size, theme *ui.Theme) {
	a.size, a.look = size, &Look{theme}
	a.Screen.Update(Resized{Width: size.Width, Height: size.Height})
}

// Update implements ui.Page.
func (a *Adapter) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ui.StopMsg:
		if i, ok := a.Screen.(Interrupter); ok {
			return i.Interrupt()
		}
		return Cmd(Quit{})
	case ui.TickMsg:
		a.ticks++
		if !a.Screen.Busy() {
			return nil
		}
		return a.Screen.Update(msg)
	}
	return a.Screen.Update(msg)
}

// View implements ui.Page.
func (a *Adapter) View() string {
	lines := a.Screen.View(Frame{Width: a.size.Width, Height: a.size.Height, Look: a.look,
		Now: a.now().Truncate(time.Second), Tick: a.ticks})
	return strings.Join(lines, "\n")
}

// Keys implements ui.Page.
func (a *Adapter) Keys() ui.Keys {
	var k ui.Keys
	all := ui.Group{Title: a.Title()}
	for _, one := range a.Screen.Keys() {
		binding := func(words string) key.Binding {
			return key.NewBinding(key.WithKeys(one.Name), key.WithHelp(one.Name, words))
		}
		if len(k.Short) < 6 && !one.Wide {
			k.Short = append(k.Short, binding(one.Help))
		}
		if one.Long == "" {
			one.Long = one.Help
		}
		all.Keys = append(all.Keys, binding(one.Long))
	}
	k.Groups = []ui.Group{all}
	return k
}

// Typing implements ui.Page.
func (a *Adapter) Typing() bool { return a.Screen.Typing() }

// Title implements ui.Page.
func (a *Adapter) Title() string { return a.Screen.Title() }

// Calm implements ui.Calm.
func (a *Adapter) Calm() bool {
	s, ok := a.Screen.(SlowRefresh)
	return ok && s.SlowRefresh()
}
