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

// NewTurns makes room for the turns of a step whose mix has requests of these names.
func NewTurns(s bench.Step, names []string) *Turns {
	t := &Turns{Result: newResult(s, names), window: newTally(s.Open())}
	t.Turns, t.Connections = true, 0
	return t
}

// AddTurn takes over what a turn has recorded, after its end.
func (t *Turns) AddTurn(turn *Recorder) {
	t.add(turn)
	t.window.Add(turn.Ended)
}

func (t *Turns) add(turn *Recorder) {
	if t.Started.IsZero() {
		t.Started = turn.Started
	}
	t.Totals.Add(&turn.Totals)
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

// shortWindow is the part of a window below which what is left at the end of a burst is none of its
// own.
const shortWindow = 10

// AddBurst takes over what a burst has recorded that began so long after the first one. The few
// milliseconds that it takes to end a burst go with its last window.
func (t *Turns) AddBurst(burst *Recorder, at, window time.Duration) {
	t.add(burst)
	for i, w := range burst.Windows {
		if i > 0 && i == len(burst.Windows)-1 && w.Length < window/shortWindow {
			join(&t.Windows[len(t.Windows)-1], w)
			continue
		}
		w.Start += at
		t.Windows = append(t.Windows, w)
	}
}

// join lengthens a window by the next one.
func join(last *bench.Window, w bench.Window) {
	last.Length += w.Length
	last.Succeeded += w.Succeeded
	last.Bytes += w.Bytes
	last.Max = max(last.Max, w.Max)
	if last.Failed == nil && len(w.Failed) > 0 {
		last.Failed = map[bench.ErrorKind]int64{}
	}
	addFailures(last.Failed, w.Failed)
}
