package board

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"locbench/internal/tui/chart"
	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// zoom is the chart with the focus in full size, with the exact values at the cursor.
func (v *view) zoom(w, h int) []string {
	a := v.axis(w)
	at, ok := v.cursorAt()
	axis := v.axisLines(a, w)
	if ok && at >= a.From && at <= a.To {
		a.Flags = append(slices.Clone(a.Flags), chart.Flag{X: at})
		a.Bounds = append(slices.Clone(a.Bounds), chart.Bound{X: at})
	}
	if v.mark.on {
		a.Bounds = append(slices.Clone(a.Bounds), chart.Bound{X: v.mark.at})
	}
	values := v.valuesAt(at, ok, w)
	head := append(v.failure(w), v.beside(w, v.l.Accent.S(v.own(v.spanName()+v.marked()+v.overlayWord())), v.l.Faint.S("esc: all charts"), ""))
	if h < 12 {
		head = nil
		values = values[:min(len(values), max(1, h-7))]
	}
	room := h - len(axis) - len(values) - len(head)
	v.Board.plot = plot{a, w, len(head), max(3, room) + len(axis)}
	lines := append(head, v.chartOf(v.focus, a, w).Draw(v.l, a, w, max(3, room))...)
	return append(append(lines, axis...), values...)
}

// times are the moments that the cursor can stand at: the points of the chart with the focus.
func (b *Board) times(leg *fold.Leg) []float64 {
	var out []float64
	if b.focus == cpu || b.focus == memory {
		for i := range leg.Usage {
			out = append(out, leg.Usage[i].T)
		}
	} else {
		for i := range leg.Load {
			out = append(out, leg.Load[i].T)
		}
	}
	return out
}

// cursorAt is the moment of the cursor; ok is false where there is no point.
func (v *view) cursorAt() (float64, bool) {
	times := v.Board.times(v.leg)
	if len(times) == 0 {
		return 0, false
	}
	if !v.pinned {
		return times[len(times)-1], true
	}
	return times[nearest(times, v.cursor)], true
}

// nearest is the index of the value next to t; the values ascend.
func nearest(values []float64, t float64) int {
	i := sort.SearchFloat64s(values, t)
	if i == len(values) || i > 0 && t-values[i-1] < values[i]-t {
		i--
	}
	return i
}

// moveCursor moves it by d points.
func (b *Board) moveCursor(s *fold.State, d int) {
	leg := b.legOf(s)
	if leg == nil {
		return
	}
	times := b.times(leg)
	if len(times) == 0 {
		return
	}
	i := len(times) - 1
	if b.pinned {
		i = nearest(times, b.cursor)
	}
	i = max(0, min(i+d, len(times)-1))
	b.cursor, b.pinned = times[i], i < len(times)-1
}

func (b *Board) keyZoom(name string, s *fold.State) bool {
	switch name {
	case "up", "k":
		b.focus = (b.focus + metrics - 1) % metrics
	case "down", "j":
		b.focus = (b.focus + 1) % metrics
	case "pgup":
		b.moveCursor(s, -10)
	case "pgdown":
		b.moveCursor(s, 10)
	case "home", "g":
		b.moveCursor(s, -1<<30)
	case "end", "G":
		b.moveCursor(s, 1<<30)
	case "v":
		b.markRange(s)
	default:
		return false
	}
	return true
}

// valuesAt are the exact values at the cursor: of the window of load and of the reading of the
// counters next to it.
func (v *view) valuesAt(at float64, ok bool, w int) []string {
	if !ok {
		return []string{v.l.Faint.S("no point yet")}
	}
	head := v.l.Accent.S("at " + clock(at))
	if st := v.stepAt(at); st != nil {
		head += fmt.Sprintf(", step %d: %s", st.Index+1, v.stepName(st.Step))
	}
	if !v.pinned {
		head += v.l.Faint.S("  newest")
	}
	lines := []string{v.l.Fit(head, w)}
	if load := v.leg.Load; len(load) > 0 {
		p := &load[nearestBy(len(load), at, func(i int) float64 { return load[i].T })]
		lines = append(lines, v.flow(v.loadValues(p), w)...)
	}
	if usage := v.leg.Usage; len(usage) > 0 {
		p := &usage[nearestBy(len(usage), at, func(i int) float64 { return usage[i].T })]
		lines = append(lines, v.flow(v.usageValues(p), w)...)
	}
	return lines
}

func nearestBy(n int, t float64, x func(i int) float64) int {
	i := sort.Search(n, func(i int) bool { return x(i) >= t })
	if i == n || i > 0 && t-x(i-1) < x(i)-t {
		i--
	}
	return i
}

func (v *view) stepAt(at float64) *fold.Step {
	var out *fold.Step
	for _, s := range v.leg.Steps {
		if s.From <= at {
			out = s
		}
	}
	return out
}

// flow puts fields in lines of w cells, two blanks between them.
func (v *view) flow(fields []string, w int) []string {
	var out []string
	used := 0
	for i, f := range fields {
		n := look.Width(f)
		if i > 0 && used+2+n <= w {
			out[len(out)-1] += "  " + f
			used += 2 + n
		} else {
			out = append(out, f)
			used = n
		}
	}
	return out
}

func (v *view) loadValues(p *fold.LoadPoint) []string {
	out := []string{"load at " + clock(p.T) + ":"}
	if p.Drain {
		out = append(out, "nothing was sent any more")
	} else {
		out = append(out, rate(p.Throughput)+" req/s", "p50 "+v.seconds(p.P50), "p90 "+v.seconds(p.P90), "p99 "+v.seconds(p.P99), "max "+v.seconds(p.Max))
		if p.Bytes > 0 {
			out = append(out, size(p.Bytes)+"/s of bodies")
		}
	}
	if p.Due > 0 {
		out = append(out, "due "+rate(p.Due)+"/s")
	}
	none := true
	for _, kind := range slices.Sorted(maps.Keys(p.Kinds)) {
		if n := p.Kinds[kind]; n > 0 {
			out = append(out, v.l.Bad.S(units.Count(n)+" "+v.out(string(kind), nameBytes)))
			none = false
		}
	}
	if none {
		out = append(out, "0 errors")
	}
	return out
}

func (v *view) usageValues(p *fold.UsagePoint) []string {
	cpus, throttled, used, peak := v.missing(), v.missing(), v.missing(), v.missing()
	if p.Known {
		cpus = fmt.Sprintf("%.3f", p.CPUs)
	}
	if p.Throttled >= 0 {
		throttled = units.Tenths(p.Throttled) + " of periods"
	}
	if p.Used > 0 {
		used = size(p.Used)
	}
	if p.Peak > 0 {
		peak = size(p.Peak)
	}
	return []string{"counters at " + clock(p.T) + ":", cpus + " CPUs", "throttled " + throttled, "memory " + used, "high-water mark " + peak}
}
