package board

import (
	"locbench/internal/tui/chart"
	"locbench/internal/tui/fold"
)

// stretch is a part of a leg's time axis, in seconds.
type stretch struct{ from, to float64 }

// leastRange is the shortest one that can be picked, in seconds: shorter ones hold no point.
const leastRange = 1.0

// mark is where a range begins that is being picked, with the key or the mouse.
type mark struct {
	on, dragged bool
	at          float64 // seconds
}

// plot is where the zoomed chart is under the tabs, its axis included; without a height: nowhere.
type plot struct {
	axis    chart.Axis
	w, y, h int
}

func (v *view) marked() string {
	if !v.mark.on {
		return ""
	}
	text := ", range from " + clock(v.mark.at)
	if at, ok := v.cursorAt(); ok {
		text += " to " + clock(at)
	}
	if !v.mark.dragged {
		text += " (v shows it)"
	}
	return text
}

func (b *Board) nextSpan() {
	b.mark = mark{}
	if b.span = (b.span + 1) % spans; b.span == ranged && b.picked.to <= b.picked.from {
		b.span = wholeLeg
	}
}

func (b *Board) unpick() {
	b.mark, b.picked = mark{}, stretch{}
	if b.span == ranged {
		b.span = wholeLeg
	}
}

// pickRange shows the time between two moments, unless that is too short.
func (b *Board) pickRange(from, to float64) {
	b.mark = mark{}
	if from, to = max(0, min(from, to)), max(from, to); to-from >= leastRange {
		b.picked, b.span = stretch{from, to}, ranged
	}
}

func (b *Board) markRange(s *fold.State) {
	times, i := b.times(b.legOf(s))
	if i < 0 {
		return
	}
	if b.mark.on {
		b.pickRange(b.mark.at, times[i])
	} else {
		b.mark = mark{on: true, at: times[i]}
	}
}

// grab puts the cursor of the zoomed chart under the mouse, from where a range can be dragged.
func (b *Board) grab(x, y int) bool {
	p := b.plot
	if y -= b.body.top; p.h == 0 || y < p.y || y >= p.y+p.h || x < 0 || x >= p.w {
		return false
	}
	at := p.axis.At(x, p.w)
	b.cursor, b.pinned = at, true
	b.mark = mark{on: true, dragged: true, at: at}
	return true
}

func (b *Board) drag(x int) bool {
	if !b.mark.on || !b.mark.dragged || b.plot.h == 0 {
		return false
	}
	b.cursor, b.pinned = b.plot.axis.At(x, b.plot.w), true
	return true
}

// drop ends the range under the mouse. A click without a way to go was for the cursor alone.
func (b *Board) drop(x int) bool {
	if !b.drag(x) {
		return false
	}
	b.pickRange(b.mark.at, b.cursor)
	return true
}
