package board

import (
	"locbench/internal/bench"
	"locbench/internal/tui/fold"
	"locbench/internal/units"
)

func (v *view) closerPage(s *fold.Step, w, h int) []string {
	lines := v.failure(w)
	detail := v.detail(s, w)
	body := []string{v.beside(w, detail[0], v.l.Faint.S("esc: all steps"), "")}
	body = append(append(body, v.flow(v.fields(s), w)...), detail[1:]...)
	body = append(body, v.flow(v.more(s), w)...)
	room := h - len(lines)
	high := max(leastSpread, min(room-len(body)-1, 2*spreadHeight))
	if !v.hasSpread(s) || room-high-1 < 4 { // none, or too little room for both
		return append(lines, v.scrolled(body, room)...)
	}
	lines = append(lines, v.scrolled(body, room-high-1)...)
	return append(append(lines, ""), v.distribution(s, w, high)...)
}

func (v *view) fields(s *fold.Step) []string {
	columns, cells := v.fullColumns(), v.fullRow(s, false)
	var out []string
	for i := 1; i < len(columns) && i < len(cells); i++ {
		if cells[i] != "" {
			out = append(out, v.l.Faint.S(columns[i].Title)+" "+cells[i])
		}
	}
	return out
}

func (v *view) more(s *fold.Step) []string {
	r := s.Result
	if r == nil {
		return nil
	}
	var out []string
	add := func(name, value string) { out = append(out, v.l.Faint.S(name)+" "+value) }
	if q := r.Load.Latency; q.Count > 0 {
		add("min", v.duration(q.Min))
		add("mean", v.duration(q.Mean))
		add("SD", v.duration(q.SD))
		add("p75", v.duration(q.P75))
		add("p95", v.duration(q.P95))
	}
	if user, system, ok := split(r); ok {
		add("CPU user", v.duration(user))
		add("system", v.duration(system))
	}
	if u := r.After; u != nil && u.Processes != nil {
		add("processes", units.Count(int64(*u.Processes)))
	}
	if u := r.After; u != nil && u.Threads != nil {
		add("threads", units.Count(int64(*u.Threads)))
	}
	return out
}

func split(r *bench.StepResult) (user, system bench.Duration, ok bool) {
	b, a := r.Before, r.After
	if b == nil || a == nil || b.CPUUser == nil || b.CPUSystem == nil || a.CPUUser == nil || a.CPUSystem == nil {
		return 0, 0, false
	}
	user, system = *a.CPUUser-*b.CPUUser, *a.CPUSystem-*b.CPUSystem
	return user, system, user >= 0 && system >= 0
}

func (b *Board) keySteps(name string, s *fold.State) bool {
	switch leg := b.legOf(s); name {
	case "enter", "z":
		if leg == nil || len(leg.Steps) == 0 {
			return false
		}
		b.closer = !b.closer
	default:
		if name != "esc" || !b.closer {
			return false
		}
		b.closer = false
	}
	b.below = 0
	return true
}

// pick chooses a step, and goes closer to it if it was chosen already.
func (b *Board) pick(index int) {
	b.closer = b.step == index
	b.step, b.chosen, b.below = index, true, 0
}
