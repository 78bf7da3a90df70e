package board

import (
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// The mouse wheel scrolls by wheel lines, a key scrolls the log by shiftBy columns.
const wheel, shiftBy = 3, 10

// Update handles keys and mouse actions that change only the view; handled is false for all others.
func (b *Board) Update(msg tea.Msg, s *fold.State) (cmd tea.Cmd, handled bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if !b.filter.Typing {
			handled = b.key(msg.String(), s)
		} else if handled = b.filter.Key(msg); handled {
			b.pages[logs] = pager{}
		}
	case tea.PasteMsg:
		if handled = b.filter.Typing; handled {
			b.filter.Add(msg.Content)
			b.pages[logs] = pager{}
		}
	case tea.MouseClickMsg:
		handled = msg.Button == tea.MouseLeft && (b.click(msg.X, msg.Y) || b.grab(msg.X, msg.Y))
	case tea.MouseMotionMsg:
		handled = b.drag(msg.X)
	case tea.MouseReleaseMsg:
		handled = b.drop(msg.X)
	case tea.MouseWheelMsg:
		d := ui.Wheel(msg)
		if handled = d != 0; handled {
			b.wheelMoved(s, d)
		}
	}
	if handled {
		b.revision++
	}
	return nil, handled
}

func (b *Board) key(name string, s *fold.State) bool {
	switch name {
	case "1", "2", "3", "4", "5", "6":
		b.turn(tab(name[0] - '1'))
	case "tab":
		b.turn(b.tab + 1)
	case "shift+tab":
		b.turn(b.tab - 1)
	case "[":
		b.choose(s, -1)
	case "]":
		b.choose(s, 1)
	case "0", ".":
		if s.Current != nil {
			b.show(s, s.Current)
		}
	default:
		switch {
		case b.tab == overview:
			return b.keyOverview(name, s)
		case b.tab == steps && b.keySteps(name, s), b.tab == logs && b.keyLog(name):
		case b.tab == contenders && name == "o":
			b.order = (b.order + 1) % order(len(measure.View(measure.ScreenOrders))+1)
		case b.tab == checks && name == "f":
			b.failed, b.pages[checks] = !b.failed, pager{}
		default:
			return b.keyScroll(name)
		}
	}
	return true
}

func (b *Board) keyOverview(name string, s *fold.State) bool {
	switch name {
	case "o":
		b.overlay = !b.overlay
	case "x":
		b.nextSpan()
	case "enter", "z":
		if trial := b.trialOf(s); trial == nil || len(trial.Steps) == 0 {
			return false
		}
		b.zoomed, b.pinned, b.mark = !b.zoomed, false, mark{}
	case "esc":
		if !b.zoomed {
			return false
		}
		b.zoomed, b.mark = false, mark{}
	case "left", "h":
		b.sideways(s, -1)
	case "right", "l":
		b.sideways(s, 1)
	default:
		if b.zoomed {
			return b.keyZoom(name, s)
		}
		return b.keyScroll(name)
	}
	return true
}

func (b *Board) sideways(s *fold.State, d int) {
	if b.zoomed {
		b.moveCursor(s, d)
	} else {
		b.focus = (b.focus + metric(d) + metrics) % metrics
	}
}

func (b *Board) keyLog(name string) bool {
	switch name {
	case "/":
		b.filter.Typing = true
	case "esc":
		if b.filter.Text == "" {
			return false
		}
		b.filter.Text, b.pages[logs] = "", pager{}
	case "left", "h":
		b.shift = max(0, b.shift-shiftBy)
	case "right", "l":
		b.shift = min(textBytes, b.shift+shiftBy)
	default:
		return false
	}
	return true
}

// keyScroll scrolls the list of the page, or moves the selection of the step.
func (b *Board) keyScroll(name string) bool {
	p := &b.pages[b.tab]
	if b.tab == steps && (name == "pgup" || name == "pgdown") {
		b.below = max(0, b.below+map[string]int{"pgup": -4, "pgdown": 4}[name])
		return true
	}
	d, handled := ui.Moves(name, p.count)
	if handled && (name == "end" || name == "G") && b.tab == overview {
		*p = pager{}
	} else if handled {
		b.scroll(d)
	}
	return handled
}

func (b *Board) scroll(d int) {
	if b.tab == steps {
		b.step, b.chosen, b.below = max(0, b.step+d), true, 0
		return
	}
	b.pages[b.tab].move(d)
}

func (b *Board) wheelMoved(s *fold.State, d int) {
	switch {
	case b.tab == overview && b.zoomed:
		b.moveCursor(s, d)
	case b.tab == steps:
		b.scroll(d)
	default:
		b.scroll(d * wheel)
	}
}

func (b *Board) click(x, y int) bool {
	return clicked(b.heads, x, y) || clicked(b.body.hits, x, y-b.body.top)
}

func clicked(hits []hit, x, y int) bool {
	for _, h := range hits {
		if x >= h.x && x < h.x+h.w && y >= h.y && y < h.y+h.h {
			h.do()
			return true
		}
	}
	return false
}

// point focuses a chart, or zooms it if it had the focus.
func (b *Board) point(m metric) {
	if b.focus == m {
		b.zoomed, b.pinned = true, false
	}
	b.focus = m
}

// Keys returns the board's keys that work now, the most useful first.
func (b *Board) Keys() []ui.Key {
	if b.filter.Typing {
		return []ui.Key{{Name: "enter", Help: "keep"}, {Name: "esc", Help: "clear"}}
	}
	rounds := ui.Key{Name: "o", Help: "rounds", Long: "show earlier rounds as faint lines"}
	tabKeys := ui.Key{Name: "1-6", Help: "pages", Long: "go to page; tab, shift+tab cycle"}
	trial := ui.Key{Name: "[ ]", Help: "trial", Long: "previous or next trial; 0 or . returns to the current one",
		Wide: true}
	move := ui.Key{Name: "↑↓", Help: "scroll", Long: "scroll (also pgup, pgdown, home, end)"}
	switch b.tab {
	case overview:
		if b.zoomed {
			return []ui.Key{{Name: "esc", Help: "all charts"},
				{Name: "←→", Help: "cursor", Long: "move the cursor; home, end: first, last; pgup, pgdown: ten points"},
				{Name: "↑↓", Help: "chart", Long: "previous or next chart"},
				{Name: "x", Help: "span", Long: "whole trial, last 60 s, step at cursor"},
				{Name: "v", Help: "range", Wide: true,
					Long: "mark the cursor, press again to zoom to the range; or drag the mouse"},
				rounds, tabKeys, trial}
		}
		rounds.Wide = true
		return []ui.Key{tabKeys, {Name: "←→", Help: "chart", Long: "focus another chart"},
			{Name: "enter", Help: "zoom", Long: "zoom the focused chart (also z); esc returns"},
			{Name: "x", Help: "span", Long: "whole trial, last 60 s, last step"}, rounds, trial,
			{Name: "↑↓", Help: "steps", Long: "scroll steps; end follows the current one", Wide: true}}
	case steps:
		step := ui.Key{Name: "↑↓", Help: "step",
			Long: "select a step; end follows the newest; pgup, pgdown scroll details"}
		if b.details {
			return []ui.Key{{Name: "esc", Help: "all steps"}, step, tabKeys, trial}
		}
		return []ui.Key{tabKeys, step, {Name: "enter", Help: "details",
			Long: "all values and the latency distribution (also z); esc returns"}, trial}
	case contenders:
		return []ui.Key{tabKeys, {Name: "o", Help: "sort",
			Long: "sort by peak, p99, errors, CPU time, memory, cost or plan"}, move, trial}
	case checks:
		return []ui.Key{tabKeys, {Name: "f", Help: "failed only"}, move, trial}
	case logs:
		return []ui.Key{tabKeys, {Name: "/", Help: "filter"}, move, {Name: "←→", Help: "shift",
			Long: "scroll long lines"}, trial}
	}
	return []ui.Key{tabKeys, move, trial}
}
