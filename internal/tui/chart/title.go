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

// legend names the lines, if there are several, in at most room cells, and tells how many it took.
// What all names begin with is written once if there is no room to repeat it: "● round 1 ■ 2".
func (c Chart) legend(l *look.Look, room int, band bool) (string, int) {
	s, n, all := c.names(l, room, band, 0)
	if skip := c.common(); !all && skip > 0 {
		s, n, all = c.names(l, room, band, skip)
	}
	first := 0 // what the first name and an ellipsis take
	if len(c.Series) > 1 {
		first = 2 + look.Width(clean(l, c.Series[0].Name)) + 2
	}
	if !all && n <= first {
		return "", 0 // one name of several tells nothing
	}
	return s, n
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

// names is the legend, without the first skip bytes of all names but one; all: all found room.
func (c Chart) names(l *look.Look, room int, band bool, skip int) (s string, cells int, all bool) {
	type entry struct {
		mark, name string
		paint      look.Paint
	}
	entries := make([]entry, 0, len(c.Series)+1)
	if len(c.Series) > 1 {
		for i, s := range c.Series {
			if i > 0 {
				s.Name = s.Name[skip:]
			}
			entries = append(entries, entry{mark(l, s), clean(l, s.Name), s.Paint})
		}
	}
	if band {
		block := l.Glyph.Spark[len(l.Glyph.Spark)/2]
		if l.ASCII {
			block = "#"
		}
		entries = append(entries, entry{block, clean(l, c.BandName), l.Warn})
	}
	for i, e := range entries {
		if e.name == "" {
			continue
		}
		gap, rest := 2, 2 // rest is for the ellipsis
		if cells == 0 {
			gap = 0
		}
		if i == len(entries)-1 {
			rest = 0
		}
		wide := gap + look.Width(e.mark) + 1 + look.Width(e.name)
		if cells+wide+rest > room {
			if cells > 0 && cells+2 <= room {
				return s + " " + l.Glyph.Ellipsis, cells + 2, false
			}
			return s, cells, false
		}
		s += "  "[:gap] + e.paint.S(e.mark) + " " + e.name
		cells += wide
	}
	return s, cells, true
}
