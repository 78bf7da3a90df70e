package runner

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	relayLines = 50   // per event
	relayBytes = 2000 // per line
)

// logRelay publishes a contender's log, which may have a line per request, as one event per second.
type logRelay struct {
	publish func(bench.LogLines)              // never waits
	masked  func(bench.LogLine) bench.LogLine // without secrets; nil: unchanged

	mu      sync.Mutex
	head    safe.Head
	next    bench.LogLines
	pending bool // next is published within a second
	closed  bool
}

// add adds a line to the next event, or counts it as dropped if the event is full.
func (r *logRelay) add(line bench.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head.Size = firstLines
	r.head.Add(line)
	switch {
	case r.closed:
		return
	case len(r.next.Lines) == relayLines:
		r.next.Dropped++
		return
	case !r.pending:
		r.pending = true
		time.AfterFunc(time.Second, func() { r.flush(false) })
	}
	if len(line.Text) > relayBytes { // masked first: a secret across the cut would not be found
		if r.masked != nil {
			line = r.masked(line)
		}
		line.Text = clip(line.Text, relayBytes)
	}
	r.next.Lines = append(r.next.Lines, line)
}

// excerpt returns the lines that are kept of a log that ends with tail.
func (r *logRelay) excerpt(tail []bench.LogLine) []bench.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head.Size = firstLines
	return r.head.Excerpt(tail, keptLines)
}

// flush publishes the lines added so far. With last, lines added later are ignored.
func (r *logRelay) flush(last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.next.Lines) > 0 {
		r.publish(r.next)
	}
	r.next, r.pending, r.closed = bench.LogLines{}, false, r.closed || last
}

// clip shortens s to at most n bytes of whole characters, and marks that with "…".
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
