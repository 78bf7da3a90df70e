package safe

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// MaxLine is the number of bytes kept of one line. The rest of a line is counted and left out.
const MaxLine = 8 << 10

const keptLines = 500

// LineWriter splits the text written to it into lines and passes them on one by one. It holds at
// most MaxLine bytes. It is not safe for concurrent use.
type LineWriter struct {
	stream string
	now    func() time.Time
	emit   func(bench.LogLine)
	buf    []byte
	cut    int64
}

// NewLineWriter returns a LineWriter. Its lines have the name of the stream and the time of the
// Write that completed them.
func NewLineWriter(stream string, now func() time.Time, emit func(bench.LogLine)) *LineWriter {
	return &LineWriter{stream: stream, now: now, emit: emit}
}

// Write never fails.
func (w *LineWriter) Write(p []byte) (int, error) {
	n := len(p)
	at := w.now()
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			w.add(p)
			break
		}
		w.add(p[:end])
		w.line(at)
		p = p[end+1:]
	}
	return n, nil
}

// Flush passes on the text after the last line end, if there is any.
func (w *LineWriter) Flush() {
	if len(w.buf) > 0 || w.cut > 0 {
		w.line(w.now())
	}
}

func (w *LineWriter) add(p []byte) {
	room := min(MaxLine-len(w.buf), len(p))
	w.buf = append(w.buf, p[:room]...)
	w.cut += int64(len(p) - room)
}

func (w *LineWriter) line(at time.Time) {
	text := w.buf
	if w.cut == 0 {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	s := string(text)
	if w.cut > 0 {
		s += "… (" + strconv.FormatInt(w.cut, 10) + " more bytes)"
	}
	w.buf, w.cut = w.buf[:0], 0
	w.emit(bench.LogLine{At: at, Stream: w.stream, Text: s})
}

// EachLine returns a writer that calls f for each line except empty ones. done calls f for the last
// line if its line end is missing.
func EachLine(f func(string)) (w io.Writer, done func()) {
	lines := NewLineWriter("", time.Now, func(l bench.LogLine) {
		if l.Text != "" {
			f(l.Text)
		}
	})
	return lines, lines.Flush
}

// Ring keeps the last Size lines, or keptLines if Size is 0. It is safe for concurrent use.
type Ring struct {
	Size int // set it before the first Add

	mu    sync.Mutex
	lines []bench.LogLine // fewer than twice the size
}

func (r *Ring) size() int { return cmp.Or(r.Size, keptLines) }

// Add keeps line and drops the oldest line if the ring is full.
func (r *Ring) Add(line bench.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines = append(r.lines, line); len(r.lines) == 2*r.size() {
		r.lines = slices.Delete(r.lines, 0, r.size())
	}
}

// Lines returns a copy of the lines, oldest first.
func (r *Ring) Lines() []bench.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines[max(0, len(r.lines)-r.size()):])
}

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

// LogSize counts what is written to a log. It is safe for concurrent use.
type LogSize struct{ bytes, lines atomic.Int64 }

// Of returns w as a writer that counts what is written.
func (s *LogSize) Of(w io.Writer) io.Writer { return counted{w, s} }

// Log returns what has been written so far.
func (s *LogSize) Log() *bench.Log { return &bench.Log{Bytes: s.bytes.Load(), Lines: s.lines.Load()} }

type counted struct {
	io.Writer
	size *LogSize
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.size.bytes.Add(int64(n))
	c.size.lines.Add(int64(bytes.Count(p[:n], []byte{'\n'})))
	return n, err
}
