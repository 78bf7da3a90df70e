// Package lines turns the hostile byte stream that a process writes into bounded lines, and keeps a
// bounded number of them.
//
// It is a handle of the lowest block: docker and launch follow logs with it. Neutralising control
// characters for a terminal or for HTML is left to whoever shows a line.
package lines

import (
	"bytes"
	"strconv"
	"sync"
	"time"

	"locbench/internal/bench"
)

// Max is the longest text kept of one line, in bytes. What follows up to the line's end is counted
// and left out.
const Max = 8 << 10

// Keep is the number of lines that a Ring of zero size keeps.
const Keep = 500

// Writer cuts what is written to it into lines and hands them on one by one. It holds at most Max
// bytes, however long the line. It is not safe for concurrent use.
type Writer struct {
	stream string
	now    func() time.Time
	emit   func(bench.LogLine)
	buf    []byte
	cut    int64
}

// NewWriter returns a Writer whose lines carry the name of stream and the time of the Write that
// completed them.
func NewWriter(stream string, now func() time.Time, emit func(bench.LogLine)) *Writer {
	return &Writer{stream: stream, now: now, emit: emit}
}

// Write never fails.
func (w *Writer) Write(p []byte) (int, error) {
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
func (w *Writer) Flush() {
	if len(w.buf) > 0 || w.cut > 0 {
		w.line(w.now())
	}
}

func (w *Writer) add(p []byte) {
	room := min(Max-len(w.buf), len(p))
	w.buf = append(w.buf, p[:room]...)
	w.cut += int64(len(p) - room)
}

func (w *Writer) line(at time.Time) {
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

// Ring keeps the last lines. Its zero value keeps Keep of them. It is safe for concurrent use.
type Ring struct {
	Size int // 0: Keep; to be set before the first Add

	mu    sync.Mutex
	lines []bench.LogLine
	next  int
	total int64
}

// Add keeps line, in the place of the oldest one where the ring is full.
func (r *Ring) Add(line bench.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := r.Size
	if size <= 0 {
		size = Keep
	}
	r.total++
	if len(r.lines) < size {
		r.lines = append(r.lines, line)
		return
	}
	r.lines[r.next] = line
	r.next = (r.next + 1) % size
}

// Lines returns a copy of what is kept, oldest first.
func (r *Ring) Lines() []bench.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]bench.LogLine, 0, len(r.lines))
	out = append(out, r.lines[r.next:]...)
	return append(out, r.lines[:r.next]...)
}

// Total is the number of lines ever added.
func (r *Ring) Total() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}
