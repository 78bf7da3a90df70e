package record

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// Tally counts what ended in a window, or in all of them.
type Tally struct {
	Succeeded int64                     // within the interval
	Lead      int64                     // successes in the lead-in
	Drain     int64                     // successes in the drain
	DrainMax  time.Duration             // their longest latency
	Bytes     int64                     // of successes within the interval
	Rejected  int64                     // within the interval
	Failed    map[bench.ErrorKind]int64 // within the measured interval
	Outside   map[bench.ErrorKind]int64 // in lead-in and drain
	Latency   *hdr.Histogram            // of successes within the interval
	Timeouts  *hdr.Histogram            // of all timeouts
	Failures  *hdr.Histogram            // of all other failures

	// Open loop only; there Latency counts from the scheduled time.

	Sent, Scheduled, Late, Dropped int64          // within the interval
	Sending                        *hdr.Histogram // of successes within the interval, from sending
	Lag                            *hdr.Histogram // from the scheduled time to sending, of all sent requests
}

func newTally(open bool) *Tally {
	t := &Tally{
		Failed: map[bench.ErrorKind]int64{}, Outside: map[bench.ErrorKind]int64{},
		Latency: hdr.New(), Timeouts: hdr.New(), Failures: hdr.New(),
	}
	if open {
		t.Sending, t.Lag = hdr.New(), hdr.New()
	}
	return t
}

// reset empties the tally and keeps its memory.
func (t *Tally) reset() {
	clear(t.Failed)
	clear(t.Outside)
	for _, h := range []*hdr.Histogram{t.Latency, t.Timeouts, t.Failures, t.Sending, t.Lag} {
		if h != nil && h.Count() > 0 {
			h.Reset()
		}
	}
	*t = Tally{
		Failed: t.Failed, Outside: t.Outside,
		Latency: t.Latency, Timeouts: t.Timeouts, Failures: t.Failures,
		Sending: t.Sending, Lag: t.Lag,
	}
}

// Add adds the tally of another window.
func (t *Tally) Add(w *Tally) {
	t.Succeeded += w.Succeeded
	t.Lead += w.Lead
	t.Drain += w.Drain
	t.DrainMax = max(t.DrainMax, w.DrainMax)
	t.Bytes += w.Bytes
	t.Rejected += w.Rejected
	addFailures(t.Failed, w.Failed)
	addFailures(t.Outside, w.Outside)
	t.Latency.Merge(w.Latency)
	t.Timeouts.Merge(w.Timeouts)
	t.Failures.Merge(w.Failures)
	t.Sent, t.Scheduled, t.Late, t.Dropped = t.Sent+w.Sent, t.Scheduled+w.Scheduled, t.Late+w.Late, t.Dropped+w.Dropped
	if t.Lag != nil {
		t.Sending.Merge(w.Sending)
		t.Lag.Merge(w.Lag)
	}
}

func addFailures(to, from map[bench.ErrorKind]int64) {
	for kind, n := range from {
		to[kind] += n
	}
}
