package setup

import (
	"fmt"
	"math"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// panels are the second column: what will run, on what, and what ran last.
func (s *Setup) panels(w int) []ui.Block {
	f := &s.form
	chosen := fmt.Sprintf("%d selected of %d; enter: list", len(f.selected()), len(f.facts.contenders))
	return []ui.Block{
		s.panel(1, "steps of a trial", units.Length(f.plan.LoadDuration()), w, s.steps(w-4)),
		s.panel(4, "contenders", chosen, w, s.contenders(w-4)),
		s.panel(2, "this machine", "m: all "+units.Plural(len(f.facts.machine.Warnings), "check"), w, s.machine(w-4)),
		s.panel(3, "recent runs", "b: all", w, s.runs(w-4)),
	}
}

// panel is a block of items under a title. Items that do not fit are counted.
func (s *Setup) panel(priority int, title, right string, w int, items [][]string) ui.Block {
	all := 0
	for _, item := range items {
		all += len(item)
	}
	if all == 0 {
		return ui.Block{}
	}
	least := min(all, max(3, len(items[0])+1)) + 2
	return ui.Block{Priority: priority, Least: least, Most: all + 2, Draw: func(_, h int) string {
		out := []string{s.rule(title, right, w)}
		room := h - 2 // without the title, and the empty line at the end
		for i, item := range items {
			if len(item) > room || i < len(items)-1 && len(item) == room {
				out = append(out, s.theme.Faint.S(fmt.Sprintf("   … and %d more", len(items)-i)))
				break
			}
			for _, line := range item {
				out = append(out, "   "+line)
			}
			room -= len(item)
		}
		return strings.Join(append(out, ""), "\n")
	}}
}

// steps draws a bar for each step, by its load on a logarithmic scale. A repeated step is one line.
func (s *Setup) steps(w int) (items [][]string) {
	load := func(step bench.Step) float64 {
		switch {
		case step.Connections > 0:
			return float64(step.Connections)
		case step.Arrivals != nil:
			return float64(step.Arrivals.Users)
		}
		return max(step.Rate, step.RampTo, 1)
	}
	steps := s.form.plan.Steps
	top, wide := 2.0, 0
	for _, step := range steps {
		top = max(top, load(step))
		wide = max(wide, fit.Width(ui.Outside(step.Title(), 70)))
	}
	wide = min(wide, w/2)
	times := 0
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
		bar := s.theme.Bar(share, max(1, w-wide-12), s.theme.Series[0])
		name := fit.Left(fit.Cut(ui.Outside(step.Title(), 70), wide), wide)
		items = append(items, []string{name + " " + bar + " " + s.theme.Faint.S(took)})
	}
	return items
}

// contenders are the selected ones, with what they still need.
func (s *Setup) contenders(w int) (items [][]string) {
	f, names := &s.form, 0
	for _, sel := range f.selected() {
		names = min(max(names, fit.Width(ui.Outside(sel.String(), 40))), w/2)
	}
	for _, sel := range f.selected() {
		svc, err := f.resolve(sel)
		state := f.stateOf(sel, svc)
		if err != nil && f.facts.listed {
			state = table.Cell{Text: "unknown contender", Tone: table.Bad}
		}
		line := fit.Left(fit.Cut(ui.Outside(sel.String(), 40), names), names) + "  " +
			s.theme.Tone(state.Tone, fit.Left(fit.Cut(state.Text, 15), 15)) + "  "
		items = append(items, []string{line + s.theme.Faint.S(cutWords(about(svc), w-fit.Width(line)))})
	}
	return items
}

// machine are the checks of the machine in a line each, those that are against a run first.
func (s *Setup) machine(w int) (items [][]string) {
	var good [][]string
	for _, c := range s.form.facts.machine.Warnings {
		line := s.sign(c.Status) + " " + fit.Left(ui.Outside(c.Name, 30), 15) + " "
		item := []string{line + cutWords(ui.Outside(c.Value, 300), w-fit.Width(line))}
		if c.Status == machine.OK {
			good = append(good, item)
		} else {
			items = append(items, item)
		}
	}
	return append(items, good...)
}

func (s *Setup) sign(status machine.Status) string {
	switch t := s.theme; status {
	case machine.Warn:
		return t.Warn.S("!")
	case machine.Missing:
		return t.Bad.S(t.Glyph.Cross)
	default:
		return t.Good.S(t.Glyph.Check)
	}
}

// runs are the past runs with their verdicts: below their names, or next to them where it is wide.
func (s *Setup) runs(w int) (items [][]string) {
	for _, r := range s.recent {
		head := s.runName(r)
		if w < 90 {
			items = append(items, append([]string{head}, ui.Hang("    ", r.verdict, w, ui.Paint{})...))
			continue
		}
		items = append(items, ui.Hang(fit.Left(head, 32)+" ", r.verdict, w, ui.Paint{}))
	}
	return items
}

func (s *Setup) runName(r recentRun) string {
	t := s.theme
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
	return sign + " " + r.Time().Format("2 Jan 15:04") + "  " + ui.Outside(r.Profile, 30)
}

// last is the newest run, where there is no second column.
func (s *Setup) last(w int) ui.Block {
	if len(s.recent) == 0 || s.size.Class == ui.Column {
		return ui.Block{}
	}
	head := " " + s.runName(s.recent[0]) + "  "
	return ui.Text(6, s.rule("last run", "b: all", w), head+cutWords(s.recent[0].verdict, w-fit.Width(head)-1))
}

// checks is the page of this machine, with what to do about each warning.
type checks struct {
	setup          *Setup
	from, page, to int // first line in sight, how many, and the last possible first
}

func (c *checks) title() string { return "this machine" }
func (c *checks) typing() bool  { return false }

func (c *checks) keys() ui.Keys {
	return ui.Keys{
		Short: []key.Binding{ui.Hint("scroll", ui.Up, ui.Down), ui.Hint("", ui.Refresh), ui.Hint("", ui.Esc)},
		Groups: []ui.Group{{Title: "this machine", Keys: []key.Binding{
			ui.Hint("scroll", ui.Up, ui.Down, ui.PageUp, ui.PageDown, ui.First, ui.Last), ui.Hint("", ui.Refresh),
			ui.Hint("back", ui.Esc, ui.Machine, ui.Enter, ui.Leave),
		}}},
	}
}

func (c *checks) update(msg tea.Msg) tea.Cmd {
	by := 0
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		by = ui.Wheel(msg)
	case tea.KeyPressMsg:
		switch k := ui.KeyOf(msg); k {
		case ui.Esc, ui.Leave, ui.Machine, ui.Enter:
			c.setup.over = nil
		case ui.Refresh:
			return c.setup.askAgain()
		default:
			by, _ = ui.Moves(k, c.page)
		}
	}
	c.from = max(0, min(c.from+by, c.to))
	return nil
}

func (c *checks) view(t *ui.Theme, w, h int) string {
	f := &c.setup.form.facts
	var all []string
	for _, check := range f.machine.Warnings {
		head := " " + c.setup.sign(check.Status) + " " + fit.Left(ui.Outside(check.Name, 30), 15) + " "
		if w < 60 {
			head = " " + c.setup.sign(check.Status) + " " + ui.Outside(check.Name, 30) + ": "
		}
		all = append(all, ui.Hang(head, ui.Outside(check.Value, 500), w-1, ui.Paint{})...)
		if check.Fix != "" {
			all = append(all, ui.Hang("     → ", ui.Outside(check.Fix, 500), w-1, t.Faint)...)
		}
	}
	if !f.machineRead {
		all = []string{t.Faint.S(" checking this machine")}
	}
	c.page = h - 1
	c.to = max(0, len(all)-c.page)
	c.from = min(c.from, c.to)
	shown := all[c.from:min(len(all), c.from+c.page)]
	lines := fmt.Sprintf("lines %d to %d of %d ", c.from+1, c.from+len(shown), len(all))
	return strings.Join(append([]string{ui.Ends(t.Title.S(" this machine"), t.Faint.S(lines), w)}, shown...), "\n")
}
