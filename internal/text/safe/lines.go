package safe

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"locbench/internal/bench"
)

// MaxLine is the longest text kept of one line, in bytes. What follows up to the line's end is counted
// and left out.
const MaxLine = 8 << 10

const keptLines = 500

// LineWriter cuts what is written to it into lines and hands them on one by one. It holds at most MaxLine
// bytes, however long the line. It is not safe for concurrent use.
type LineWriter struct {
	stream string
	now    func() time.Time
	emit   func(bench.LogLine)
	buf    []byte
	cut    int64
}

// NewLineWriter returns a LineWriter whose lines carry the name of stream and the time of the Write that
// completed them.
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

// Flush hands on what came after the last line end, if anything did.
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
		s += "… (" + strconv.FormatInt(w.cut, 10) + " bytes more)"
	}
	w.buf, w.cut = w.buf[:0], 0
	w.emit(bench.LogLine{At: at, Stream: w.stream, Text: s})
}

// EachLine calls f for each line that is written, but for empty ones; done does so for the last one,
// where its end was never written.
func EachLine(f func(string)) (w io.Writer, done func()) {
	lines := NewLineWriter("", time.Now, func(l bench.LogLine) {
		if l.Text != "" {
			f(l.Text)
		}
	})
	return lines, lines.Flush
}

// Ring keeps the last lines, keptLines where Size is 0. It is safe for concurrent use.
type Ring struct {
	Size int // to be set before the first Add

	mu    sync.Mutex
	lines []bench.LogLine // less than twice as many
}

func (r *Ring) size() int { return cmp.Or(r.Size, keptLines) }

// Add keeps line, in the place of the oldest one where the ring is full.
func (r *Ring) Add(line bench.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines = append(r.lines, line); len(r.lines) == 2*r.size() {
		r.lines = slices.Delete(r.lines, 0, r.size())
	}
}

// Lines returns a copy of what is kept, oldest first.
func (r *Ring) Lines() []bench.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines[max(0, len(r.lines)-r.size()):])
}
