package record

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Interleaved joins the slices of one interleaved step, as if nothing had been in between.
type Interleaved struct {
	Result
	window     *Tally
	windowFrom time.Duration // on the joined time axis
}

// NewInterleaved returns an empty result for slices like the first one.
func NewInterleaved(first *Recorder) *Interleaved {
	t := &Interleaved{Result: newResult(first.step, first.names, first.sessions), window: newTally(first.Open)}
	t.Interleaved, t.Connections, t.Whole, t.ByIteration = true, 0, first.Whole, first.ByIteration
	return t
}

// AddSlice adds the records of a finished slice.
func (t *Interleaved) AddSlice(slice *Recorder) {
	if t.Started.IsZero() {
		t.Started = slice.Started
	}
	t.Totals.Add(&slice.Totals)
	t.window.Add(slice.Ended)
	t.sample.Merge(slice.sample, later(slice.Started.Sub(t.Started)))
}

// Unclosed returns the length of the slices that are in no window yet.
func (t *Interleaved) Unclosed() time.Duration { return t.Elapsed - t.windowFrom }

// CloseWindow ends the current window, which consists of whole slices.
func (t *Interleaved) CloseWindow() bench.Window {
	w := t.window.snapshot(t.windowFrom, t.Elapsed, t.Rate)
	t.Windows = append(t.Windows, w)
	t.window.reset()
	t.windowFrom = t.Elapsed
	return w
}
