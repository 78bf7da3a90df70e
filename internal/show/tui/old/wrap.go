package old

import "strings"

// Wrap breaks plain text at spaces into at most n lines (0: no limit) of at most w cells. Words
// that are longer than a line are broken too.
func (l *Look) Wrap(s string, w, n int) (lines []string) {
	if w <= 0 {
		return nil
	}
	for part := range strings.SplitSeq(s, "\n") {
		lines = wrap(lines, part, w, n)
	}
	if n > 0 && len(lines) > n {
		lines = lines[:n]
		lines[n-1] = l.Cut(lines[n-1]+l.Glyph.Ellipsis+" ", w)
	}
	return lines
}

// wrap adds the lines of s, which has no line end, to lines; it may stop after n lines.
func wrap(lines []string, s string, w, n int) []string {
	before, line, cells, space := len(lines), "", 0, 0 // space is the index of the last space in line; 0: none
	end := func(at int) {
		lines = append(lines, strings.TrimRight(line[:at], " "))
		line = line[min(at+1, len(line)):]
		cells, space = Width(line), 0
	}
	for _, r := range s {
		if n > 0 && len(lines) > n {
			return lines
		}
		one := string(r)
		width := Width(one)
		switch {
		case r == ' ' && cells == 0 && len(lines) > before, width > w: // a wide character in a single cell
			continue
		case cells+width <= w:
		case r == ' ':
			end(len(line))
			continue
		case space > 0:
			end(space)
		default:
			end(len(line))
		}
		if r == ' ' {
			space = len(line)
		}
		line += one
		cells += width
	}
	return append(lines, strings.TrimRight(line, " "))
}
