package runs

import (
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// textBytes is the most bytes of a sentence from outside that are shown.
const textBytes = 1000

// preview is what is known of the run under the cursor, in a box w cells wide.
func (r *Runs) preview(w int) ui.Block {
	const least, frame = 6, 4 // lines; cells of the box
	e, lines := r.current(), r.lines(w-frame)
	title := nameOf(e) + "  " + strings.TrimSpace(when(e))
	if dir := outside(e.Dir); fit.Width(title)+fit.Width(dir)+10 < w {
		title += "  " + dir
	}
	return ui.Block{Priority: 3, Least: min(least, len(lines)) + 2, Most: len(lines) + 2, Draw: func(_, h int) string {
		shown := lines
		if h -= 2; h > 0 && len(lines) > h {
			shown = append(lines[:h-1:h-1], r.theme.Faint.S(units.Plural(len(lines)-h+1, "more line")+": enter"))
		}
		return strings.Join(r.theme.Box(title, ui.Exact(shown, w-frame, h), w), "\n")
	}}
}

// lines are the preview in w cells: what differs from other runs of the profile, how the run ended,
// and what was run.
func (r *Runs) lines(w int) (lines []string) {
	t, e := r.theme, r.current()
	k := r.known[e.Dir]
	switch {
	case e.Err != nil:
		return t.Problem("not readable: "+ui.Outside(e.Err.Error(), textBytes), "correct or delete the folder, then f5", w)
	case k == nil:
		return []string{t.Faint.S("reading …")}
	case k.err != nil:
		lines = ui.Hang(t.Bad.S(t.Glyph.Cross)+" ", "not all could be read: "+ui.Outside(k.err.Error(), textBytes), w, t.Bad)
	}
	if k.differs != "" {
		lines = append(lines, ui.Wrap("differs from the profile: "+ui.Outside(k.differs, textBytes), w)...)
	}
	text, verdict := plain.Page(k.said, w)
	lines = append(lines, t.Said(text, verdict, k.said.Tone, w)...)
	return append(lines, conditions(e, k, w)...)
}

// conditions are what was run, and where.
func conditions(e *results.Entry, k *known, w int) []string {
	run, text := k.run.Run, k.said.About
	add := func(known bool, part string) {
		if known {
			text += " · " + part
		}
	}
	add(run.Profile.Runtime != "", string(run.Profile.Runtime))
	for _, n := range run.Needs {
		add(true, n.Label()+" "+string(n.From))
	}
	add(run.Machine.CPUs > 0, "on "+units.CPUs(float64(run.Machine.CPUs)))
	add(run.Machine.Load1 != "", "load "+run.Machine.Load1+" before")
	add(e.Ended.After(e.Started), "took "+units.Approx(e.Ended.Sub(e.Started)))
	add(e.Resumed > 0, "resumed "+units.Plural(e.Resumed, "time"))
	return ui.Wrap(ui.Outside(text, textBytes), w)
}
