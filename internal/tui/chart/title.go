package chart

import (
	"strings"

	"locbench/internal/tui/look"
)

// title is the first line: name, value, and the legend at the right, as much of it as finds room.
func (c Chart) title(l *look.Look, w int, band bool) string {
	name, value := clean(l, c.Title), clean(l, c.Value)
	if value != "" && name != "" {
		value = "  " + value
	}
	if look.Width(name) >= w {
		return l.Title.S(l.Fit(name, w))
	}
	value = l.Cut(value, w-look.Width(name))
	used := look.Width(name) + look.Width(value)
	legend, n := c.legend(l, w-used-2, band)
	return l.Title.S(name) + l.Strong.S(value) + strings.Repeat(" ", max(0, w-used-n)) + legend
}

// legend names the lines in at most room cells, and tells how many it took. A single line needs no
// name but the title. What all names begin with is reported once if there is not the room to repeat
// it: "● round 1 ■ 2".
func (c Chart) legend(l *look.Look, room int, band bool) (string, int) {
	s, n, all := c.names(l, room, band, 0)
	if !all {
		if skip := c.common(); skip > 0 {
			s, n, all = c.names(l, room, band, skip)
		}
	}
	if first := c.first(l); !all && n <= first {
		return "", 0 // one name of several tells nothing
	}
	return s, n
}

// first is how many cells the legend takes that has but the first name and an ellipsis.
func (c Chart) first(l *look.Look) int {
	if len(c.Series) < 2 {
		return 0
	}
	return 2 + look.Width(clean(l, c.Series[0].Name)) + 2
}

// common is how many bytes of whole words the names of all lines begin with.
func (c Chart) common() int {
	if len(c.Series) == 0 {
		return 0
	}
	n := min(len(c.Series[0].Name), maxText)
	for _, s := range c.Series[1:] {
		n = min(n, len(s.Name))
		for n > 0 && s.Name[:n] != c.Series[0].Name[:n] {
			n--
		}
	}
	return strings.LastIndexByte(c.Series[0].Name[:n], ' ') + 1
}

// names is the legend, without the first skip bytes of all names but the first one; all tells
// whether all names found room.
func (c Chart) names(l *look.Look, room int, band bool, skip int) (s string, cells int, all bool) {
	var b strings.Builder
	n := 0
	add := func(mark, name string, paint look.Paint, more bool) bool {
		name = clean(l, name)
		if name == "" {
			return true
		}
		cells, gap := look.Width(mark)+1+look.Width(name), 0
		if n > 0 {
			gap = 2
		}
		rest := 0
		if more {
			rest = 2 // for the ellipsis
		}
		if n+gap+cells+rest > room {
			if n > 0 && n+2 <= room {
				b.WriteString(" " + l.Glyph.Ellipsis)
				n += 2
			}
			return false
		}
		b.WriteString("  "[:gap] + paint.S(mark) + " " + name)
		n += gap + cells
		return true
	}
	if len(c.Series) > 1 {
		for i, s := range c.Series {
			if i > 0 {
				s.Name = s.Name[skip:]
			}
			m := len(l.Glyph.Marks)
			if !add(l.Glyph.Marks[((s.Mark%m)+m)%m], s.Name, s.Paint, band || i < len(c.Series)-1) {
				return b.String(), n, false
			}
		}
	}
	if band {
		mark := l.Glyph.Spark[len(l.Glyph.Spark)/2]
		if l.ASCII {
			mark = "#"
		}
		if !add(mark, c.BandName, l.Warn, false) {
			return b.String(), n, false
		}
	}
	return b.String(), n, true
}
