package board

import (
	"strings"

	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// label is the text of a tab: name and count. level 0 is the longest, 3 the digit alone.
func (v *view) label(t tab, level int) string {
	name := [tabs]string{"Overview", "Steps", "Contenders", "Checks", "Log", "Events"}[t]
	switch level {
	case 2:
		name = [tabs]string{"View", "Steps", "Cont", "Check", "Log", "Ev"}[t]
	case 3:
		name = ""
	}
	count := ""
	switch t {
	case steps:
		if v.leg != nil && len(v.leg.Steps) > 0 {
			count = itoa(len(v.leg.Steps))
			if n := len(v.s.Run.Profile.Steps); n > 0 && v.s.Run.Search == "" {
				count += "/" + itoa(n)
			}
		}
	case contenders:
		if n := len(v.s.Run.Profile.Contenders); n > 0 {
			count = itoa(n)
		}
	case checks:
		if v.leg != nil && len(v.leg.Result.Checks) > 0 {
			count = units.Count(int64(len(v.leg.Result.Checks)))
		}
	case events:
		if n := len(v.s.Diary); n > 0 && level == 0 {
			count = units.Count(int64(n))
		}
	}
	text := strings.TrimSpace(itoa(int(t)+1) + " " + name)
	if count != "" && level <= 1 {
		text += " " + count
	}
	if t == checks && v.leg != nil && level <= 2 {
		if _, failed, _ := v.leg.Checks(); failed > 0 {
			text += " " + v.l.Glyph.Cross + itoa(failed)
		}
	}
	return text
}

func (v *view) tabLine(w, y int) string {
	var texts [tabs]string
	for level := range 4 {
		total := 0
		for t := range tabs {
			l := level
			if level == 3 && t == v.tab {
				l = 0
			}
			texts[t] = v.label(t, l)
			total += look.Width(texts[t]) + 2
		}
		if total <= w {
			break
		}
	}
	v.heads = v.heads[:0]
	var b strings.Builder
	x := 0
	for t := range tabs {
		text, paint := " "+texts[t]+" ", v.l.Text
		if t == v.tab {
			text, paint = v.l.Glyph.Cursor+texts[t]+" ", v.l.Select
		}
		n := look.Width(text)
		v.heads = append(v.heads, hit{x, y, n, 1, func() { v.Board.turn(t) }})
		b.WriteString(paint.S(text))
		x += n
	}
	return b.String()
}

func (b *Board) turn(t tab) {
	b.tab = (t%tabs + tabs) % tabs
	b.typing = false
}
