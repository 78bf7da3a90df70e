package setup

import (
	"fmt"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// panels are the second column: what will run, on what, and what ran last.
type panels struct {
	*form
	theme *ui.Theme
	w     int // of their lines
}

func (p panels) blocks(h int) []ui.Block {
	chosen := fmt.Sprintf("%d selected of %d; enter: list", len(p.selected()), len(p.facts.contenders))
	all := "m: all " + units.Plural(len(p.facts.machine.Warnings), "check")
	return []ui.Block{
		ui.Text(1, ""),
		ui.Text(1, p.panel("steps of a trial", units.Length(p.plan.LoadDuration()), p.steps(), 9)...),
		ui.Text(4, p.panel("contenders", chosen, p.contenders(), 6)...),
		ui.Text(2, p.panel("this machine", all, p.machine(), max(6, h-28))...),
		p.recentRuns(3),
	}
}

// panel is at most some lines under a title, and an empty one. Those beyond them are counted.
func (p panels) panel(title, right string, lines []string, most int) (out []string) {
	if len(lines) == 0 {
		return nil
	}
	if n := len(lines); n > most {
		lines = append(lines[:most-1:most-1], p.theme.Faint.S(fmt.Sprintf("… %d more lines", n-most+1)))
	}
	out = append(out, rule(p.theme, title, right, p.w+4))
	for _, line := range lines {
		out = append(out, "   "+line)
	}
	return append(out, "")
}

// load is the load of a step, to compare it with others of its kind.
func load(step bench.Step) float64 {
	switch {
	case step.Connections > 0:
		return float64(step.Connections)
	case step.Arrivals != nil:
		return float64(step.Arrivals.Users)
	}
	return max(step.Rate, step.RampTo, 1)
}

// steps draws a bar for each step, by its load on a logarithmic scale. A repeated step is one line.
func (p panels) steps() (lines []string) {
	steps := p.plan.Steps
	top, wide, times := 2.0, 0, 0
	for _, step := range steps {
		top = max(top, load(step))
		wide = min(max(wide, fit.Width(ui.Outside(step.Title(), 70))), p.w/2)
	}
	for i, step := range steps {
		if times++; i+1 < len(steps) && steps[i+1] == step {
			continue
		}
		took := units.Length(step.Duration)
		if times > 1 {
			took = fmt.Sprintf("%d × %s", times, took)
		}
		times = 0
		share := 0.08 + 0.92*math.Log2(load(step))/math.Log2(top)
		name := fit.Left(fit.Cut(ui.Outside(step.Title(), 70), wide), wide)
		bar := p.theme.Bar(share, max(1, p.w-wide-12), p.theme.Series[0])
		lines = append(lines, name+" "+bar+" "+p.theme.Faint.S(took))
	}
	return lines
}

// contenders are the selected ones, with what they still need.
func (p panels) contenders() (lines []string) {
	names := 0
	for _, sel := range p.selected() {
		names = min(max(names, fit.Width(ui.Outside(sel.String(), 40))), p.w/2)
	}
	for _, sel := range p.selected() {
		svc, err := p.resolve(sel)
		state, _ := p.needs(contenderRow{sel, svc, err})
		line := fit.Left(fit.Cut(ui.Outside(sel.String(), 40), names), names) + "  " +
			p.theme.Tone(state.Tone, fit.Left(fit.Cut(state.Text, 17), 15)) + "  "
		lines = append(lines, line+p.theme.Faint.S(ui.Words(about(svc), p.w-fit.Width(line))))
	}
	return lines
}

// machine are the checks of the machine in a line each.
func (p panels) machine() (lines []string) {
	for _, c := range p.checks() {
		sign := signOf(c)
		line := p.theme.Tone(sign.Tone, sign.Text) + " " + fit.Left(ui.Outside(c.Name, 30), 15) + " "
		lines = append(lines, line+ui.Words(ui.Outside(c.Value, 300), p.w-fit.Width(line)))
	}
	return lines
}

// checks are the checks of this machine, those that are against a run first.
func (f *form) checks() []machine.Warning {
	return slices.SortedStableFunc(slices.Values(f.facts.machine.Warnings), func(a, b machine.Warning) int {
		fine := map[bool]int{true: 1}
		return fine[a.Status == machine.OK] - fine[b.Status == machine.OK]
	})
}

// askChecks shows the checks, each with what to do about it.
func (f *form) askChecks() tea.Cmd {
	if !f.facts.machineRead {
		return bad("still checking this machine")
	}
	ask := ui.Ask{Title: "this machine"}
	for _, c := range f.checks() {
		words := ui.Outside(c.Value, 300)
		if c.Fix != "" {
			words += " → " + ui.Outside(c.Fix, 500)
		}
		name := signOf(c).Text + " " + ui.Outside(c.Name, 30)
		ask.Choices = append(ask.Choices, ui.Choice{Name: name, Words: words})
	}
	return ui.Cmd(ui.AskMsg{Ask: ask})
}

func signOf(c machine.Warning) table.Cell {
	return map[machine.Status]table.Cell{
		machine.OK: {Text: "✓", Tone: table.Good}, machine.Warn: {Text: "!", Tone: table.Notice},
		machine.Missing: {Text: "✗", Tone: table.Bad},
	}[c.Status]
}

// recentRuns are the newest runs, at least one, as many as fit whole.
func (p panels) recentRuns(priority int) ui.Block {
	runs := p.runs()
	if len(runs) == 0 {
		return ui.Block{}
	}
	most := 1 + len(slices.Concat(runs...))
	return ui.Block{Priority: priority, Least: 1 + len(runs[0]), Most: most, Draw: func(_, h int) string {
		lines := []string{rule(p.theme, "recent runs", "b: all", p.w+4)}
		for _, run := range runs {
			if len(lines)+len(run) > h {
				break
			}
			for _, line := range run {
				lines = append(lines, "   "+line)
			}
		}
		return strings.Join(lines, "\n")
	}}
}

// runs are the lines of each past run: its verdict, below its name where it is narrow.
func (p panels) runs() (all [][]string) {
	t := p.theme
	for _, r := range p.facts.recent {
		sign := t.Good.S(t.Glyph.Check)
		switch {
		case r.Err != nil:
			sign = t.Bad.S(t.Glyph.Cross)
		case r.Live:
			sign = t.Title.S(t.Glyph.Run)
		case r.State != bench.RunComplete:
			sign = t.Warn.S(t.Glyph.Skip)
		case len(r.Failed) > 0:
			sign = t.Warn.S("!")
		}
		head := sign + " " + r.Time().Format("2 Jan 15:04") + "  " + ui.Outside(r.Profile, 30)
		head = fit.Left(head, 32) + " "
		var lines []string
		if p.w < 70 {
			lines, head = append(lines, strings.TrimRight(head, " ")), "    "
		}
		all = append(all, append(lines, ui.Hang(head, r.verdict, p.w, ui.Paint{})...))
	}
	return all
}
