package safe

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
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
