package runner

import (
	"sync"
	"time"
	"unicode/utf8"

	"locbench/internal/bench"
)

const (
	relayLines = 50   // in one event
	relayBytes = 2000 // of one line
)

// logRelay turns a contender's log, perhaps a line for every request, into one event a second.
type logRelay struct {
	publish func(bench.LogLines) // does not wait

	mu     sync.Mutex
	next   bench.LogLines
	due    bool // next is published within a second
	closed bool
}

// add counts what does not fit into the next event as dropped.
func (r *logRelay) add(line bench.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return
	case len(r.next.Lines) == relayLines:
		r.next.Dropped++
		return
	case !r.due:
		r.due = true
		time.AfterFunc(time.Second, func() { r.flush(false) })
	}
	line.Text = clip(line.Text, relayBytes)
	r.next.Lines = append(r.next.Lines, line)
}

// flush publishes what is left. The last one ends the relay: lines that are added later are lost.
func (r *logRelay) flush(last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.next.Lines) > 0 {
		r.publish(r.next)
	}
	r.next, r.due, r.closed = bench.LogLines{}, false, r.closed || last
}

// clip shortens s to at most n bytes without cutting a character in two.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
