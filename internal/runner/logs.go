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
	publish func(bench.LogLines)
	quit    chan struct{}
	running sync.WaitGroup

	mu   sync.Mutex
	next bench.LogLines
}

func newLogRelay(publish func(bench.LogLines)) *logRelay {
	r := &logRelay{publish: publish, quit: make(chan struct{})}
	r.running.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.flush()
			case <-r.quit:
				return
			}
		}
	})
	return r
}

// add never waits for an event: what does not fit into the next one is counted as dropped.
func (r *logRelay) add(line bench.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.next.Lines) == relayLines {
		r.next.Dropped++
		return
	}
	line.Text = clip(line.Text, relayBytes)
	r.next.Lines = append(r.next.Lines, line)
}

func (r *logRelay) flush() {
	r.mu.Lock()
	e := r.next
	r.next = bench.LogLines{}
	r.mu.Unlock()
	if len(e.Lines) > 0 || e.Dropped > 0 {
		r.publish(e)
	}
}

// close tells what is left and ends the relay. Lines that are added later are lost.
func (r *logRelay) close() {
	close(r.quit)
	r.running.Wait()
	r.flush()
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
