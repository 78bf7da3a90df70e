package replay

import (
	"fmt"
	"strings"
	"time"

	"locbench/internal/tui/look"
	"locbench/internal/units"
)

const nameBytes = 200

// bar is the time line at the bottom of the screen: what has been played, where legs and steps
// begin, and where nothing happened. Under it stand the names of the legs, or what is worth saying
// about this moment.
type bar struct {
	l    *look.Look
	w    int
	left int // cells before the line
}

// barAt is where the line begins in w cells; the figures of the position stand before it.
func barAt(w int) int {
	switch {
	case w < 40:
		return 0
	case w < 70:
		return 14
	}
	return 22
}

// column is the cell of pos, and moment its inverse: the time that a click in cell x means.
func (b bar) column(pos, total time.Duration) int {
	n := b.w - b.left
	if total <= 0 {
		return b.left + n - 1
	}
	return b.left + max(0, min(n-1, int(float64(pos)/float64(total)*float64(n-1)+0.5)))
}

func (b bar) moment(x int, total time.Duration) time.Duration {
	n := b.w - b.left
	if n <= 1 {
		return total
	}
	return time.Duration(float64(max(0, min(x-b.left, n-1))) / float64(n-1) * float64(total))
}

func (b bar) line(p *player, head string) string {
	g := glyphs(b.l)
	cells := make([]string, b.w-b.left)
	at := func(pos time.Duration) int { return b.column(pos, p.total) - b.left }
	for i := range cells {
		cells[i] = g.ahead
	}
	for _, gap := range p.gaps {
		for i := at(gap.from) + 1; i < at(gap.to); i++ {
			cells[i] = g.gap
		}
	}
	for _, s := range p.steps {
		cells[at(s.at)] = g.step
	}
	for _, s := range p.legs {
		cells[at(s.at)] = g.leg
	}
	now := at(p.pos)
	var done, ahead strings.Builder
	for i, c := range cells {
		switch {
		case i < now && c == g.ahead:
			done.WriteString(g.done)
		case i < now:
			done.WriteString(c)
		case i > now:
			ahead.WriteString(c)
		}
	}
	return b.l.Fit(head, b.left) + b.l.Accent.S(done.String()) + b.l.Strong.S(g.now) + b.l.Faint.S(ahead.String())
}

// names are the names of the legs where they begin, or in a gap how long it is.
func (b bar) names(p *player) string {
	l := b.l
	if g, ok := p.gapAt(p.pos); ok && !p.ended() {
		return l.Warn.S(l.Cut(fmt.Sprintf("nothing happens for %s here: g goes on behind it", l.ASCIIOnly(units.Duration((g.to-g.from).Round(100*time.Millisecond)))), b.w))
	}
	if len(p.legs) == 0 {
		return ""
	}
	var line strings.Builder
	line.WriteString(strings.Repeat(" ", b.left))
	used := b.left
	for i, leg := range p.legs {
		from, to := b.column(leg.at, p.total), b.w
		if i+1 < len(p.legs) {
			to = b.column(p.legs[i+1].at, p.total)
		}
		if room := to - from - 1; room >= 3 && from >= used {
			name := l.Cut(l.Outside(leg.name, nameBytes), room)
			line.WriteString(strings.Repeat(" ", from-used) + name)
			used = from + look.Width(name)
		}
	}
	return l.Faint.S(l.Fit(line.String(), b.w))
}

type barGlyphs struct{ done, ahead, gap, step, leg, now string }

func glyphs(l *look.Look) barGlyphs {
	if l.ASCII {
		return barGlyphs{done: "=", ahead: "-", gap: ".", step: "+", leg: "|", now: "O"}
	}
	return barGlyphs{done: "━", ahead: "─", gap: "┄", step: "┴", leg: "┃", now: "●"}
}
