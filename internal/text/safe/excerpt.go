package safe

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// burstPause is the silence after which a log line begins a new burst.
const burstPause = time.Second

// Head keeps the first lines of a log and counts all. It is not safe for concurrent use.
type Head struct {
	Size  int // lines kept
	lines []bench.LogLine
	total int
}

// Add keeps line if fewer than Size were added before.
func (h *Head) Add(line bench.LogLine) {
	if h.total++; len(h.lines) < h.Size {
		h.lines = append(h.lines, line)
	}
}

// Excerpt returns at most most lines of a log, without the lines that say how many were left out:
// the first ones (h), the first ones of the last burst of output, and the last ones of tail. tail
// has the last lines of the log, and may have more than h was given (a line of the kernel).
func (h *Head) Excerpt(tail []bench.LogLine, most int) []bench.LogLine {
	missing := max(0, h.total-len(tail)) // lines between h and tail, with those in h
	head, rest := h.lines, tail
	if missing == 0 {
		n := min(h.Size, len(tail))
		head, rest = tail[:n], tail[n:]
	} else {
		rest = tail[min(len(tail), max(0, len(head)-missing)):]
	}
	gap := max(0, missing-len(head))
	out := append([]bench.LogLine(nil), head...)
	room := most - len(head)
	if len(rest) <= room {
		return append(leftOut(out, gap), rest...)
	}
	burst := lastBurst(rest)
	if len(rest)-burst <= room { // the last burst is whole
		cut := len(rest) - room
		return append(leftOut(out, gap+cut), rest[cut:]...)
	}
	first := room / 2
	cut := len(rest) - (room - first)
	out = append(leftOut(out, gap+burst), rest[burst:burst+first]...)
	return append(leftOut(out, cut-burst-first), rest[cut:]...)
}

// lastBurst returns where the last burst begins: after a pause, or where stderr follows stdout.
func lastBurst(lines []bench.LogLine) int {
	for i := len(lines) - 1; i > 0; i-- {
		was, is := lines[i-1], lines[i]
		if is.At.Sub(was.At) >= burstPause || was.Stream == "stdout" && is.Stream == "stderr" {
			return i
		}
	}
	return 0
}

// leftOut adds the line that says that n lines were left out.
func leftOut(lines []bench.LogLine, n int) []bench.LogLine {
	if n <= 0 {
		return lines
	}
	line := bench.LogLine{Text: "… " + units.Plural(n, "line") + " …", LeftOut: n}
	if len(lines) > 0 {
		line.At, line.Stream = lines[len(lines)-1].At, lines[len(lines)-1].Stream
	}
	return append(lines, line)
}

// FirstAndLast returns at most most lines of an excerpt: a third from its beginning, the others
// from its end, and the line that says how many of the log were left out between them.
func FirstAndLast(lines []bench.LogLine, most int) []bench.LogLine {
	if len(lines) <= most {
		return lines
	}
	if most < 3 {
		return lines[len(lines)-max(0, most):]
	}
	first := most / 3
	last := len(lines) - (most - first - 1)
	n := 0
	for _, l := range lines[first:last] {
		n += max(1, l.LeftOut)
	}
	return append(leftOut(slices.Clone(lines[:first]), n), lines[last:]...)
}

// How lines name an error, the surest first: as their first word, and anywhere in a line that is
// not indented, which may be a line of the source that a runtime shows.
var namesError = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^[\w.]*(error|exception|panic|fatal)`),
	regexp.MustCompile(`(?i)^\S.*(error|exception|panic|fatal)`),
}

// Telling returns the line of an excerpt that most likely says why its program ended: of the last
// burst of output the first line that names an error and is not indented, as the frames of a stack
// trace are; else the last line. "" if there is no line.
func Telling(lines []bench.LogLine) string {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l bench.LogLine) bool {
		return l.LeftOut > 0 || strings.TrimSpace(l.Text) == ""
	})
	if len(lines) == 0 {
		return ""
	}
	for _, names := range namesError {
		for _, l := range lines[lastBurst(lines):] {
			if names.MatchString(l.Text) {
				return l.Text
			}
		}
	}
	return lines[len(lines)-1].Text
}
