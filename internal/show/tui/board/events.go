package board

import (
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// word returns the name of a level of the diary, with its sign, and its color.
func (v *view) word(level fold.Level) (string, ui.Paint) {
	switch level {
	case fold.Warning:
		return "! warn", v.l.Warn
	case fold.Error:
		return v.l.Fit(v.l.Glyph.Cross, 1) + " error", v.l.Bad
	case fold.Mark:
		return v.l.Glyph.Cursor + " mark", v.l.Accent
	}
	return "  info", v.l.Faint
}

// entry returns one entry of the diary in at most n lines; 0: no limit.
func (v *view) entry(e *fold.Line, w, n int) []string {
	name, paint := v.word(e.Level)
	said := e.Text
	if e.Earlier && (e.Level == fold.Warning || e.Level == fold.Error) {
		paint, said = v.l.Faint, "before the resume: "+said
	}
	head := e.At.In(v.zone).Format("15:04:05") + " "
	mark := v.l.Fit(name, 7) + " "
	indent := len(head) + 8
	if v.compact || w < 60 {
		mark, indent = v.l.Fit(name, 2), len(head)+2
	}
	who := ""
	if w >= 100 {
		if e.Trial != nil {
			who = v.out(e.Trial.String(), nameBytes)
		}
		who = v.l.Fit(who, 20) + " "
		indent += 21
	}
	start := v.l.Faint.S(head) + paint.S(mark) + v.l.Faint.S(who)
	out := v.l.Wrap(v.out(said, textBytes), max(10, w-indent), n)
	for i, line := range out {
		if e.Level != fold.Info {
			line = paint.S(line)
		}
		out[i] = start + line
		start = strings.Repeat(" ", indent)
	}
	return out
}

func (v *view) eventsPage(w, h int) []string {
	diary := v.s.Diary
	title := v.l.Title.S("events") + "  " + units.Plural(len(diary), "line")
	p := &v.b.pages[events]
	body := p.show(len(diary), h-1, true, func(i int) []string { return v.entry(&diary[i], w, 0) })
	return append([]string{v.justify(w, title, v.position(p, len(diary)), "")}, body...)
}

func (v *view) position(p *pager, n int) string {
	if n == 0 || p.count >= n {
		return ""
	}
	text := fmt.Sprintf("%d to %d of %d", p.first+1, p.first+p.count, n)
	if p.first+p.count >= n {
		text += " (end)"
	}
	return v.l.Faint.S(text)
}

func (v *view) lastEvents(w, h int) []string {
	var p pager
	diary := v.s.Diary
	return p.show(len(diary), max(0, h), true, func(i int) []string { return v.entry(&diary[i], w, 2) })
}

// pager is a list that can be scrolled. Its entries take one line or more.
type pager struct {
	top   int  // first entry to draw, if moved
	moved bool // the user has scrolled; else a growing list follows its end, others begin at their start
	first int  // first entry that was drawn last
	count int  // entries that were drawn last
}

// move scrolls by d entries.
func (p *pager) move(d int) { p.top, p.moved = max(0, p.first+d), true }

// show draws n entries into at most h lines. A growing list that is at its end follows it.
func (p *pager) show(n, h int, grows bool, entry func(i int) []string) []string {
	h = max(0, h)
	last, used := n, 0 // last is the first entry of the last page
	for last > 0 && used < h {
		used += len(entry(last - 1))
		if used > h && last < n {
			break
		}
		last--
	}
	if grows && (!p.moved || p.top >= last) {
		p.top, p.moved = last, false
	} else if !p.moved {
		p.top = 0
	}
	p.top = max(0, min(p.top, last))
	var out []string
	p.first, p.count = p.top, 0
	for i := p.top; i < n && len(out) < h; i++ {
		out = append(out, entry(i)...)
		if len(out) <= h || i == p.top {
			p.count++
		}
	}
	return out[:min(len(out), h)]
}
