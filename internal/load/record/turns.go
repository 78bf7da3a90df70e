package record

import (
	"time"

	"locbench/internal/bench"
)

// Turns are several turns, or bursts, of one step put together as if nothing had been in between.
type Turns struct {
	Result
	window     *Tally
	windowFrom time.Duration // of the intervals put together
}

// NewTurns makes room for turns such as the first one.
func NewTurns(first *Recorder) *Turns {
	t := &Turns{Result: newResult(first.step, first.names, first.sessions), window: newTally(first.Open)}
	t.Turns, t.Connections = true, 0
	return t
}

// AddTurn takes over what a turn has recorded, after its end.
func (t *Turns) AddTurn(turn *Recorder) {
	if t.Started.IsZero() {
		t.Started = turn.Started
	}
	t.Totals.Add(&turn.Totals)
	t.window.Add(turn.Ended)
}

// Unclosed is the length of the turns that are in no window yet.
func (t *Turns) Unclosed() time.Duration { return t.Elapsed - t.windowFrom }

// CloseWindow ends the window in use, which is of whole turns.
func (t *Turns) CloseWindow() bench.Window {
	w := t.window.snapshot(t.windowFrom, t.Elapsed, t.Rate)
	t.Windows = append(t.Windows, w)
	t.window.reset()
	t.windowFrom = t.Elapsed
	return w
}
