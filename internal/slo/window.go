package slo

import (
	"slices"
	"strings"
	"time"

	"locbench/internal/bench"
)

// minWindow is the length from which on a window counts: the last one of a step may be a fragment.
const minWindow = time.Second / 2

// latencies are those that the one-second windows of a step know.
var latencies = map[Metric]func(bench.Window) time.Duration{
	"p50": func(w bench.Window) time.Duration { return w.P50 },
	"p90": func(w bench.Window) time.Duration { return w.P90 },
	"p99": func(w bench.Window) time.Duration { return w.P99 },
	Max:   func(w bench.Window) time.Duration { return w.Max },
}

// Windowed tells whether the one-second windows of a step know the metric.
func (m Metric) Windowed() bool { return latencies[m] != nil || m == Errors || m == Throughput }

// Watch judges a condition on the last windows of a running step. Counts are taken together, so
// that errors and throughput are those of the whole span. Quantiles of several windows cannot be:
// the condition is broken once every window of the span has broken it, and the figure is that of
// the best of them, which the whole span reached at least. A window without any success keeps no
// limit of a latency.
type Watch struct {
	c     Condition
	span  []bench.Window // the last ones
	n     int            // windows of a span
	worst *float64
	known bool // a span was judged
	blind bool // in some span nothing succeeded, so that no latency is known
	at    time.Duration
	lost  bool
}

// NewWatch makes one for spans of that length, in whole seconds. The metric must be Windowed.
func NewWatch(c Condition, span time.Duration) *Watch {
	return &Watch{c: c, n: int(max(time.Second, span) / time.Second)}
}

// Add takes the next window and tells whether the condition is broken now, or was before. Windows
// in which nothing was sent any more, and fragments, are passed over.
func (w *Watch) Add(win bench.Window) (broken bool) {
	if win.Drain || win.Length < minWindow {
		return w.lost
	}
	if w.span = append(w.span, win); len(w.span) < w.n {
		return w.lost
	}
	w.span = slices.Delete(w.span, 0, len(w.span)-w.n)
	w.known = true
	v, ok := w.value()
	if !ok {
		w.blind = true
	} else if w.worst == nil || w.worse(v, *w.worst) {
		w.worst = &v
	}
	if !w.lost && !(ok && w.c.keeps(v)) {
		w.lost, w.at = true, win.Start+win.Length
	}
	return w.lost
}

func (w *Watch) worse(v, than float64) bool {
	if w.c.Op == Greater || w.c.Op == GreaterOrEqual {
		return v < than
	}
	return v > than
}

// value is the figure of the span; ok is false when it has none.
func (w *Watch) value() (v float64, ok bool) {
	var good, bad int64
	var length time.Duration
	best, found := time.Duration(0), false
	for _, win := range w.span {
		good, length = good+win.Succeeded, length+win.Length
		bad += win.Dropped
		for _, n := range win.Failed {
			bad += n
		}
		if latency := latencies[w.c.Metric]; latency != nil && win.Succeeded > 0 && (!found || latency(win) < best) {
			best, found = latency(win), true
		}
	}
	switch w.c.Metric {
	case Errors:
		return float64(bad) / float64(max(good+bad, 1)), good+bad > 0
	case Throughput:
		return float64(good) / length.Seconds(), true
	case Max: // exact over several windows
		for _, win := range w.span {
			best = max(best, win.Max)
		}
	}
	return float64(best), found
}

// Judgement is what has become of the condition; ok is false when there was no whole span yet.
func (w *Watch) Judgement() (j bench.Judgement, ok bool) {
	if !w.known {
		return j, false
	}
	j = bench.Judgement{Condition: w.c.String(), Window: time.Duration(w.n) * time.Second, Value: w.worst, Passed: !w.lost, At: w.at}
	if w.blind && w.lost && (w.worst == nil || w.c.keeps(*w.worst)) {
		j.Value = nil
	}
	j.Text = w.c.tell(j.Value, j.Passed)
	return j, true
}

// Judge tells what has become of each condition of a threshold in a finished step. A whole step
// that was cut short is not judged, nor is a window that was longer than the step.
func (o Objective) Judge(window time.Duration, step bench.StepResult) (all []bench.Judgement) {
	for _, c := range o {
		if window > 0 {
			w := NewWatch(c, window)
			for _, win := range step.Load.Windows {
				w.Add(win)
			}
			if j, ok := w.Judgement(); ok {
				all = append(all, j)
			}
			continue
		}
		if step.Aborted != "" {
			continue
		}
		j := bench.Judgement{Condition: c.String()}
		if v, ok := c.Value(step.Load); ok {
			j.Value, j.Passed = &v, c.keeps(v)
		}
		j.Text = c.tell(j.Value, j.Passed)
		all = append(all, j)
	}
	return all
}

// tell says a figure and whether it keeps the condition: "p99 is 71.2ms, not <50ms".
func (c Condition) tell(v *float64, kept bool) string {
	if v == nil {
		return string(c.Metric) + " is not known, since nothing succeeded"
	}
	text := string(c.Metric) + " is " + c.Show(*v) + ", "
	if !kept {
		text += "not "
	}
	return text + strings.TrimPrefix(c.String(), string(c.Metric))
}
