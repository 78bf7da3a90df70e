package record

import (
	"time"

	"locbench/internal/bench"
)

// Interleaved are several turns, or bursts, of one step put together as if nothing had been in between.
type Interleaved struct {
	Result
	window     *Tally
	windowFrom time.Duration // of the intervals put together
}

// NewInterleaved makes room for turns such as the first one.
func NewInterleaved(first *Recorder) *Interleaved {
	t := &Interleaved{Result: newResult(first.step, first.names, first.sessions), window: newTally(first.Open)}
	t.Interleaved, t.Connections = true, 0
	return t
}

// AddSlice takes over what a turn has recorded, after its end.
func (t *Interleaved) AddSlice(slice *Recorder) {
	if t.Started.IsZero() {
		t.Started = slice.Started
	}
	t.Totals.Add(&slice.Totals)
	t.window.Add(slice.Ended)
}

// Unclosed returns the length of the turns that are in no window yet.
func (t *Interleaved) Unclosed() time.Duration { return t.Elapsed - t.windowFrom }

// CloseWindow ends the window in use, which is of whole turns.
func (t *Interleaved) CloseWindow() bench.Window {
	w := t.window.snapshot(t.windowFrom, t.Elapsed, t.Rate)
	t.Windows = append(t.Windows, w)
	t.window.reset()
	t.windowFrom = t.Elapsed
	return w
}
