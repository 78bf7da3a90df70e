package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// leastWidth and leastHeight are the size of the smallest terminal that a screen is drawn in.
const leastWidth, leastHeight = 20, 6

// clockStep is the resolution of the screens' clock. All counters of seconds then change together:
// one frame per second instead of one per counter.
const clockStep = time.Second

func (m *Model) draw() string {
	if m.width < leastWidth || m.height < leastHeight {
		return m.look.Cut(fmt.Sprintf("%dx%d: too small, at least %dx%d", m.width, m.height, leastWidth, leastHeight),
			m.width)
	}
	h := m.height - 1
	lines := m.look.Screen(m.top().View(ui.Frame{Width: m.width, Height: h, Look: m.look,
		Now: m.now.Truncate(clockStep), Tick: m.ticks}), m.width, h)
	if m.help {
		lines = m.overlay(lines, h)
	}
	last := ui.HelpLine(m.look, ui.Keys(m.top()), m.width)
	if m.message.text != "" {
		paint := m.look.Good
		if m.message.bad {
			paint = m.look.Bad
		}
		last = m.look.Fit(paint.S(m.look.Cut(m.look.ASCIIOnly(m.message.text), m.width)), m.width)
	}
	return strings.Join(append(lines, last), "\n")
}

// overlay puts the help over h lines; help that does not fit is scrolled.
func (m *Model) overlay(lines []string, h int) []string {
	title, text := m.helpText()
	word := "any key closes"
	if body := max(1, h-3); len(text)+1 > body {
		m.scroll = max(0, min(m.scroll, len(text)-body))
		word = fmt.Sprintf("%s%s %d to %d of %d, other keys close", m.look.Glyph.Up, m.look.Glyph.Down, m.scroll+1,
			m.scroll+body, len(text))
		text = text[m.scroll : m.scroll+body]
	} else {
		text = append(text, "")
	}
	return ui.Overlay(m.look, lines, m.width, h, title, append(text, m.look.Faint.S(m.look.Cut(word, m.width-3))))
}

// helpText returns every key of the screen and the keys that work everywhere.
func (m *Model) helpText() (title string, lines []string) {
	l := m.look
	keys := slices.Concat(m.top().Keys(), []ui.Key{{Name: "?", Help: "this help"},
		{Name: "ctrl+z", Help: "suspend the screen (fg returns); the run continues"},
		{Name: "ctrl+l", Help: "redraw"}, {Name: "ctrl+c", Help: "end"}})
	w := 0
	for _, k := range keys {
		w = max(w, ui.Width(l.ASCIIOnly(k.Name)))
	}
	for _, k := range keys {
		name := l.Key.S(l.Right(l.ASCIIOnly(k.Name), w))
		for _, part := range l.Wrap(l.ASCIIOnly(cmp.Or(k.Long, k.Help)), max(8, m.width-w-6), 0) {
			lines = append(lines, name+"  "+part)
			name = l.Right("", w)
		}
	}
	return m.top().Title() + ": keys", lines
}
