package board

import (
	"maps"
	"slices"
	"sort"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func (v *view) zoom(w, h int) []string {
	a := v.axis(w)
	at, ok := v.cursorAt()
	axis := v.axisLines(a, w)
	if ok && at >= a.From && at <= a.To {
		a.Flags = append(a.Flags, chart.Flag{X: at})
		a.Bounds = append(a.Bounds, chart.Bound{X: at})
	}
	if v.b.mark.on {
		a.Bounds = append(a.Bounds, chart.Bound{X: v.b.mark.at})
	}
	values := v.valuesAt(at, ok, w)
	title := v.l.Accent.S(v.own(v.spanName() + v.marked() + v.overlayWord()))
	head := append(v.failure(w), v.justify(w, title, v.l.Faint.S("esc: all charts"), ""))
	if h < 12 {
		head, values = nil, values[:min(len(values), max(1, h-7))]
	}
	high := max(3, h-len(axis)-len(values)-len(head))
	v.b.plot = plot{a, w, len(head), high + len(axis)}
	lines := append(head, v.chart(v.b.focus, a, w, high)...)
	return append(append(lines, axis...), values...)
}

// times returns the moments that the cursor can move to, the points of the focused chart, and the
// index of the one it is at; -1 if there are none.
func (b *Board) times(trial *fold.Trial) (times []float64, at int) {
	switch {
	case trial == nil:
		return nil, -1
	case b.focus.counted():
		times = each(trial.Usage, usageTime)
	default:
		times = each(trial.Load, loadTime)
	}
	if b.pinned {
		return times, nearest(times, b.cursor)
	}
	return times, len(times) - 1
}

func (v *view) cursorAt() (at float64, ok bool) {
	times, i := v.b.times(v.trial)
	if i < 0 {
		return 0, false
	}
	return times[i], true
}

// nearest returns the index of the value nearest to t, -1 without values; they must ascend.
func nearest(values []float64, t float64) int {
	i := sort.SearchFloat64s(values, t)
	if i == len(values) || i > 0 && t-values[i-1] < values[i]-t {
		i--
	}
	return i
}

func (b *Board) moveCursor(s *fold.State, d int) {
	if times, i := b.times(b.trialOf(s)); i >= 0 {
		i = max(0, min(i+d, len(times)-1))
		b.cursor, b.pinned = times[i], i < len(times)-1
	}
}

func (b *Board) keyZoom(name string, s *fold.State) bool {
	const all = 1 << 30
	switch name {
	case "up", "k":
		b.focus = (b.focus + metrics - 1) % metrics
	case "down", "j":
		b.focus = (b.focus + 1) % metrics
	case "v":
		b.markRange(s)
	default:
		d, handled := map[string]int{"pgup": -10, "pgdown": 10, "home": -all, "g": -all, "end": all, "G": all}[name]
		if handled {
			b.moveCursor(s, d)
		}
		return handled
	}
	return true
}

// valuesAt returns the exact values at the cursor: of the nearest window and the nearest reading.
func (v *view) valuesAt(at float64, ok bool, w int) []string {
	if !ok {
		return []string{v.l.Faint.S("no point yet")}
	}
	head := v.l.Accent.S("at " + clock(at))
	if st := v.stepAt(at); st != nil {
		head += ", " + v.numbered(st)
	}
	if !v.b.pinned {
		head += v.l.Faint.S("  newest")
	}
	lines := []string{v.l.Fit(head, w)}
	if i := nearest(each(v.trial.Load, loadTime), at); i >= 0 {
		lines = append(lines, v.flow(v.loadValues(&v.trial.Load[i]), w)...)
	}
	if i := nearest(each(v.trial.Usage, usageTime), at); i >= 0 {
		lines = append(lines, v.flow(v.usageValues(&v.trial.Usage[i]), w)...)
	}
	return lines
}

func (v *view) stepAt(at float64) (out *fold.Step) {
	for _, s := range v.trial.Steps {
		if s.From <= at {
			out = s
		}
	}
	return out
}

// flow puts fields into lines of w cells, with two blanks between them.
func (v *view) flow(fields []string, w int) []string {
	var out []string
	for i, f := range fields {
		if last := len(out) - 1; i > 0 && ui.Width(out[last])+2+ui.Width(f) <= w {
			out[last] += "  " + f
		} else {
			out = append(out, f)
		}
	}
	return out
}

func (v *view) loadValues(p *fold.LoadPoint) []string {
	out := []string{"load at " + clock(p.T) + ":"}
	if p.Drain {
		out = append(out, "draining")
	} else {
		out = append(out, rate(p.Throughput)+" req/s", "p50 "+v.seconds(p.P50), "p90 "+v.seconds(p.P90),
			"p99 "+v.seconds(p.P99), "max "+v.seconds(p.Max))
		if p.Bytes > 0 {
			out = append(out, size(p.Bytes)+"/s bodies")
		}
	}
	if p.Rate > 0 {
		out = append(out, "target "+rate(p.Rate)+"/s")
	}
	n := len(out)
	for _, kind := range slices.Sorted(maps.Keys(p.Kinds)) {
		if n := p.Kinds[kind]; n > 0 {
			out = append(out, v.l.Bad.S(units.Count(n)+" "+v.out(kind.Words(), nameBytes)))
		}
	}
	if len(out) == n {
		out = append(out, "0 errors")
	}
	return out
}

func (v *view) usageValues(p *fold.UsagePoint) []string {
	throttled := v.missing()
	if p.Throttled >= 0 {
		throttled = units.Tenths(p.Throttled) + " of periods"
	}
	return []string{"counters at " + clock(p.T) + ":", v.cpus(p, "%.3f") + " CPUs", "throttled " + throttled,
		"memory " + v.bytes(p.Used), "peak " + v.bytes(p.Peak)}
}

// stretch is a part of a trial's time axis, in seconds.
type stretch struct{ from, to float64 }

// mark is the start of a range that is being picked with the key or the mouse.
type mark struct {
	on, dragged bool
	at          float64 // seconds
}

// plot is the place of the zoomed chart and its axis, below the tabs; height 0: it is not shown.
type plot struct {
	axis    chart.Axis
	w, y, h int
}

func (v *view) marked() string {
	if !v.b.mark.on {
		return ""
	}
	text := ", range from " + clock(v.b.mark.at)
	if at, ok := v.cursorAt(); ok {
		text += " to " + clock(at)
	}
	if !v.b.mark.dragged {
		text += " (v: zoom)"
	}
	return text
}

func (b *Board) nextSpan() {
	b.mark = mark{}
	if b.span = (b.span + 1) % spans; b.span == ranged && b.picked.to <= b.picked.from {
		b.span = wholeTrial
	}
}

func (b *Board) unpick() {
	b.mark, b.picked = mark{}, stretch{}
	if b.span == ranged {
		b.span = wholeTrial
	}
}

// pickRange shows the time between two moments, unless it is too short.
func (b *Board) pickRange(from, to float64) {
	b.mark = mark{}
	if from, to = max(0, min(from, to)), max(from, to); to-from >= 1 { // shorter ones hold no point
		b.picked, b.span = stretch{from, to}, ranged
	}
}

func (b *Board) markRange(s *fold.State) {
	times, i := b.times(b.trialOf(s))
	switch {
	case i < 0:
	case b.mark.on:
		b.pickRange(b.mark.at, times[i])
	default:
		b.mark = mark{on: true, at: times[i]}
	}
}

// grab moves the cursor of the zoomed chart to the mouse, where a range can be dragged from.
func (b *Board) grab(x, y int) bool {
	p := b.plot
	if y -= b.body.top; p.h == 0 || y < p.y || y >= p.y+p.h || x < 0 || x >= p.w {
		return false
	}
	at := p.axis.At(x, p.w)
	b.cursor, b.pinned = at, true
	b.mark = mark{on: true, dragged: true, at: at}
	return true
}

func (b *Board) drag(x int) bool {
	if !b.mark.on || !b.mark.dragged || b.plot.h == 0 {
		return false
	}
	b.cursor, b.pinned = b.plot.axis.At(x, b.plot.w), true
	return true
}

// drop ends the range at the mouse. A click without dragging only moves the cursor.
func (b *Board) drop(x int) bool {
	handled := b.drag(x)
	if handled {
		b.pickRange(b.mark.at, b.cursor)
	}
	return handled
}
