package record

import (
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// Tally is what ended in a window, or in all of them.
type Tally struct {
	bench.Window                // what ended within the interval; its latencies are set by snapshot
	Latency      *hdr.Histogram // of successes within the interval; open loop: from the scheduled time
	Timeouts     *hdr.Histogram // of all timeouts
	Failures     *hdr.Histogram // of all other failures
	Sending      *hdr.Histogram // open loop: as Latency, from sending
	Lag          *hdr.Histogram // open loop: from the scheduled time to sending, of all sent requests
}

func newTally(open bool) *Tally {
	t := &Tally{Latency: hdr.New(), Timeouts: hdr.New(), Failures: hdr.New()}
	t.Failed = bench.Kinds{}
	if open {
		t.Sending, t.Lag = hdr.New(), hdr.New()
	}
	return t
}

// histograms returns those of the tally; nil: it has none of an open loop.
func (t *Tally) histograms() [5]*hdr.Histogram {
	return [...]*hdr.Histogram{t.Latency, t.Timeouts, t.Failures, t.Sending, t.Lag}
}

// reset empties the tally and keeps its memory.
func (t *Tally) reset() {
	for _, h := range t.histograms() {
		if h != nil && h.Count() > 0 {
			h.Reset()
		}
	}
	clear(t.Failed)
	t.Window = bench.Window{Failed: t.Failed}
}

// Add adds the tally of another window.
func (t *Tally) Add(w *Tally) {
	t.Window.Add(w.Window)
	more := w.histograms()
	for i, h := range t.histograms() {
		if h != nil {
			h.Merge(more[i])
		}
	}
}
