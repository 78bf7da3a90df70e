package runner

import (
	"sync/atomic"
	"time"
	"unicode/utf8"

	"locbench/internal/bench"
)

const (
	relayLines = 50   // in one event
	relayBytes = 2000 // of one line
)

// logRelay turns a contender's log, which may be a line for every request, into at most one bounded
// event a second.
type logRelay struct {
	publish func(bench.LogLines)
	lines   chan bench.LogLine
	dropped atomic.Int64
	quit    chan struct{}
	done    chan struct{}
}

// newLogRelay hands lines on in batches of at most one a second and fifty lines: a contender logs
// every request.
func newLogRelay(publish func(bench.LogLines)) *logRelay {
	r := &logRelay{publish: publish, lines: make(chan bench.LogLine, 256), done: make(chan struct{}), quit: make(chan struct{})}
	go r.run(time.Second)
	return r
}

// add never blocks: what does not fit is counted as dropped.
func (r *logRelay) add(line bench.LogLine) {
	select {
	case r.lines <- line:
	default:
		r.dropped.Add(1)
	}
}

// close tells what is left and ends the relay. Lines that are added later are lost.
func (r *logRelay) close() {
	close(r.quit)
	<-r.done
}

func (r *logRelay) run(interval time.Duration) {
	defer close(r.done)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var batch []bench.LogLine
	keep := func(line bench.LogLine) {
		if len(batch) == relayLines {
			r.dropped.Add(1)
			return
		}
		line.Text = clip(line.Text, relayBytes)
		batch = append(batch, line)
	}
	flush := func() {
		if dropped := r.dropped.Swap(0); len(batch) > 0 || dropped > 0 {
			r.publish(bench.LogLines{Lines: batch, Dropped: dropped})
			batch = nil
		}
	}
	for {
		select {
		case line := <-r.lines:
			keep(line)
		case <-tick.C:
			flush()
		case <-r.quit:
			for {
				select {
				case line := <-r.lines:
					keep(line)
					continue
				default:
				}
				flush()
				return
			}
		}
	}
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
