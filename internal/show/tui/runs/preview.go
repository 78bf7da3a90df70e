package runs

import (
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// textBytes is the most bytes of a sentence from outside that are shown.
const textBytes = 1000

// preview is what is known of the run under the cursor, in a box w cells wide.
func (r *Runs) preview(w int) ui.Block {
	e, t, inner := r.current(), r.theme, w-4
	blocks := r.blocks(e, inner)
	least, most := 2, 2
	for _, b := range blocks {
		if b.Priority <= 2 {
			least += b.Least
		}
		most += max(b.Least, b.Most)
	}
	title := nameOf(e) + "  " + strings.TrimSpace(when(e))
	if dir := outside(e.Dir); fit.Width(title)+fit.Width(dir)+10 < w {
		title += "  " + dir
	}
	return ui.Block{Priority: 3, Least: least, Most: most, Draw: func(_, h int) string {
		view, _ := ui.Stack(inner, h-2, blocks...)
		return strings.Join(t.Box(title, strings.Split(view, "\n"), w), "\n")
	}}
}

// blocks are the parts of the preview, in w cells.
func (r *Runs) blocks(e *results.Entry, w int) []ui.Block {
	t, k := r.theme, r.known[e.Dir]
	switch {
	case e.Err != nil:
		problem := ui.Problem{Head: "not readable: " + ui.Outside(e.Err.Error(), textBytes),
			Rows: []ui.ProblemRow{{Name: ui.Remedy, Text: "correct or delete the folder, then f5"}}}
		return []ui.Block{problem.Block(t, 1, w, false)}
	case k == nil:
		return []ui.Block{ui.Text(1, t.Faint.S("reading …"))}
	}
	blocks := []ui.Block{
		ui.Text(1, ui.Hang("", ui.Outside(k.said.Verdict, textBytes), w, t.Strong)...),
		ui.Text(5, ui.Wrap(ui.Outside(k.said.Confidence, textBytes), w)...),
		ui.Text(2, r.problems(k, w)...),
	}
	if tab := t.Evidence(k.said.Table, r.size.Class, k.marks); len(tab.Rows) > 0 {
		blocks = append(blocks, ui.Text(8, ""), ui.Block{Priority: 3, Least: min(6, len(tab.Rows)+1), Most: len(tab.Rows) + 1,
			Draw: func(w, h int) string { return strings.Join(few(tab.Lines(w, t.Tone), h), "\n") }})
	}
	blocks = append(blocks, ui.Text(8, ""), ui.Text(4, own(k, w)...), ui.Text(6, r.conditions(e, k, w)...))
	if len(k.course) > 0 && r.size.Class != ui.Column {
		blocks = append(blocks, ui.Text(8, ""), ui.Block{Priority: 7, Least: 6, Most: 12, Draw: func(w, h int) string {
			for i := range k.course {
				k.course[i].Paint = t.Hue(k.course[i].Mark)
			}
			c := chart.Chart{Title: k.title, Unit: chart.LabelOf(measure.PerSecond), Series: k.course}
			return strings.Join(chart.Steps{Chart: c, Labels: k.steps, Gutter: chart.Gutter}.Draw(t, w, h), "\n")
		}})
	}
	return blocks
}

// few cuts lines to h; the last one then says how many are missing.
func few(lines []string, h int) []string {
	if len(lines) <= h || h < 1 {
		return lines
	}
	return append(lines[:h-1:h-1], fmt.Sprintf("%d more: enter", len(lines)-h+1))
}

// problems are the first failure with its remedy, and the heads of the others.
func (r *Runs) problems(k *known, w int) (lines []string) {
	t := r.theme
	if k.err != nil {
		lines = ui.Hang(t.Bad.S(t.Glyph.Cross)+" ", "not all could be read: "+ui.Outside(k.err.Error(), textBytes), w, t.Bad)
	}
	for i, p := range k.said.Problems {
		problem := ui.Problem{Head: ui.Outside(p.Contender+" "+p.What, textBytes), Warning: p.Warning}
		if i == 0 {
			problem.Rows = []ui.ProblemRow{{Name: ui.Remedy, Text: ui.Outside(p.Remedy, textBytes)}}
		}
		lines = append(lines, problem.Short(t, w)...)
	}
	if next := k.said.NextStep(); next != "" && len(k.said.Problems) == 0 {
		lines = append(lines, ui.Hang("→ ", ui.Outside(next, textBytes), w, ui.Paint{})...)
	}
	return lines
}

// own is the difference to other runs of the profile: options and notes.
func own(k *known, w int) (lines []string) {
	if k.differs != "" {
		lines = ui.Wrap("differs from the profile: "+ui.Outside(k.differs, textBytes), w)
	}
	for _, note := range k.byHand {
		lines = append(lines, ui.Wrap("note: "+ui.Outside(note, textBytes), w)...)
	}
	return lines
}

// conditions are what was run, and what has to be known about it.
func (r *Runs) conditions(e *results.Entry, k *known, w int) []string {
	run, text := k.run, k.said.About
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
	lines := ui.Wrap(ui.Outside(text, textBytes), w)
	if n := len(k.said.Caveats); n > 0 {
		text := ui.Outside(k.said.Caveats[0].Text, textBytes)
		if n > 1 {
			text += fmt.Sprintf(" (%d more: enter)", n-1)
		}
		lines = append(lines, ui.Hang(r.theme.Warn.S("!")+" ", text, w, ui.Paint{})...)
	}
	return lines
}
