package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// mostKeys is the most keys of a page in the last line, next to that of the help.
const mostKeys = 6

// View implements tea.Model. It draws only after a change: Bubble Tea calls it after every message.
func (a *App) View() tea.View {
	if a.frame.dirty {
		a.frame.text, a.frame.dirty = a.theme.ASCIIOnly(a.draw()), false
	}
	v := tea.NewView(a.frame.text)
	v.AltScreen = true
	return v
}

func (a *App) draw() string {
	w, h := a.width, a.height-1
	if !a.fits() {
		return fit.Cut(fmt.Sprintf("%dx%d: too small, at least %dx%d", w, a.height, leastWidth, leastHeight), w)
	}
	lines := ui.Exact(strings.Split(a.top().View(), "\n"), w, h)
	switch {
	case a.help != nil:
		lines = over(lines, a.help.view(a.theme, a.size()), w, h)
	case a.ask != nil:
		lines = over(lines, a.ask.View(a.theme, w, h), w, h)
	}
	return strings.Join(append(lines, a.footer()), "\n")
}

// over puts a box in the middle of a page.
func over(lines, box []string, w, h int) []string {
	x, y := (w-fit.Width(box[0]))/2, max(0, (h-len(box))/2)
	page := lipgloss.NewLayer(strings.Join(lines, "\n"))
	front := lipgloss.NewLayer(strings.Join(box, "\n")).X(x).Y(y).Z(1)
	canvas := lipgloss.NewCanvas(w, h).Compose(lipgloss.NewCompositor(page, front))
	return ui.Exact(strings.Split(canvas.Render(), "\n"), w, h)
}

// Keys returns the keys that work now.
func (a *App) Keys() ui.Keys {
	if a.ask != nil {
		return a.ask.Keys()
	}
	return a.top().Keys()
}

// footer is the last line: the keys of what is on top as far as there is room, and that of the
// help.
func (a *App) footer() string {
	t, w := a.theme, a.width
	if a.word.text != "" {
		paint := t.Good
		if a.word.bad {
			paint = t.Bad
		}
		return fit.Left(paint.S(fit.Cut(" "+a.word.text, w)), w)
	}
	short, typing := a.Keys().Short, a.top().Typing()
	if a.help != nil {
		short = []key.Binding{ui.Hint("scroll", ui.Up, ui.Down), ui.Hint("close", ui.Esc)}
	}
	var all []string
	room := w - 1
	if a.help == nil && a.ask == nil && !typing {
		last := ui.Hint("", ui.Help)
		all = []string{hint(t, last)}
		room -= fit.Width(all[0]) + 2
	}
	var parts []string
	for _, b := range short[:min(mostKeys, len(short))] {
		part := hint(t, b)
		if n := fit.Width(part) + 2; n <= room+2 {
			parts, room = append(parts, part), room-n
		}
	}
	return fit.Left(" "+strings.Join(append(parts, all...), "  "), w)
}

func hint(t *ui.Theme, b key.Binding) string {
	return t.Key.S(b.Help().Key) + " " + t.Faint.S(b.Help().Desc)
}
