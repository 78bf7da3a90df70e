package run

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// checksViews are which checks are shown, and what is said if there are none.
var checksViews = [...]struct {
	name, none string
	holds      func(*checksItem) bool
}{
	{"all", "no checks run yet", func(*checksItem) bool { return true }},
	{"failed", "✓ no check failed", func(i *checksItem) bool { return i.count.failed > 0 }},
	{"different", "✓ all contenders give the same", (*checksItem).differs},
}

// Checks is the outcome of each check, the failures first. Of several rounds, the worst counts.
type Checks struct {
	tab
	view   int // index into checksViews
	filter ui.FilterBy
	sum    checksCount
	text   ui.Scroll
	made   madeOf // what the text was made of
	failed []problem
}

// newChecks makes the tab.
func newChecks() page {
	return &Checks{tab: newTab("Checks"), filter: ui.NewFilter(), text: ui.NewScroll()}
}

// Update implements ui.Page.
func (c *Checks) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(StateMsg); ok {
		c.StateMsg = msg
		return nil
	}
	if cmd, used := c.filter.Update(msg); used {
		return cmd
	}
	press, _ := msg.(tea.KeyPressMsg)
	if ui.KeyOf(press) == ui.View {
		c.view = (c.view + 1) % len(checksViews)
		c.text.GotoTop()
	}
	c.text.Update(msg)
	return nil
}

// Escape clears the filter.
func (c *Checks) Escape() bool { return c.filter.Clear() }

// count implements page.
func (c *Checks) count(t *ui.Theme) string {
	passed, failed := 0, 0
	for _, trial := range c.State.Trials {
		p, f, _ := trial.Checks()
		passed, failed = passed+p, failed+f
	}
	switch {
	case failed > 0:
		return t.Glyph.Cross + units.Count(int64(failed))
	case passed > 0:
		return t.Glyph.Check + units.Count(int64(passed))
	}
	return ""
}

// fill makes the text again if what it is made of has changed.
func (c *Checks) fill() {
	of := madeOf{c.State, c.State.Version, c.view, c.filter.Text(), c.theme, c.size}
	if of == c.made {
		return
	}
	c.made, c.failed = of, problems(c.State)
	found, w := checksIn(c.State), c.size.Width
	c.sum = found.count
	var all []string
	for _, g := range found.groups {
		var items []string
		for _, i := range g.items {
			if checksViews[c.view].holds(i) && c.filter.Holds(g.name, i.name) {
				items = append(items, c.item(found.contenders, i, w)...)
			}
		}
		if len(items) == 0 {
			continue
		}
		var counts []string
		for n, label := range found.contenders {
			if g.by[n] != nil {
				counts = append(counts, c.theme.Mark(ui.MarkOf(c.State.Run, label, n))+" "+said(label)+" "+g.by[n].text(c.theme))
			}
		}
		all = append(append(append(all, " "+c.theme.Title.S(said(g.name))), flow(counts, "   ", w)...), items...)
	}
	if len(all) == 0 {
		none := checksViews[c.view].none
		if c.filter.Text() != "" {
			none = "no check matches"
		}
		all = []string{" " + none}
	}
	c.text.SetContentLines(all)
}

// item is a check in a line; of one that failed, or whose outcomes differ, what each contender gave,
// and what a failure means and what to do.
func (c *Checks) item(contenders []string, i *checksItem, w int) []string {
	t := c.theme
	var worst *checksOutcome
	var rows []ui.ProblemRow
	add := func(name, text string) { rows = append(rows, ui.ProblemRow{Name: name, Text: text}) }
	request, failed := "", ""
	for n, label := range contenders {
		o := i.by[n]
		if o == nil {
			continue
		}
		if worst == nil {
			worst, request = o, o.Request
		} else if request != o.Request { // one for each contender: the outcome names it
			request = ""
		}
		if len(o.rounds) > 0 && failed == "" {
			worst, failed = o, label
		}
		add(said(label), o.text())
	}
	sign := map[bench.CheckStatus]string{bench.CheckFailed: t.Bad.S(t.Glyph.Cross), bench.CheckSkipped: t.Faint.S(t.Glyph.Skip),
		bench.CheckInfo: t.Faint.S(t.Glyph.Dot), bench.CheckPassed: t.Good.S(t.Glyph.Check)}[worst.Status]
	name := said(i.name)
	if failed == "" && !i.differs() {
		if value := said(worst.Value); value != "" {
			name += ": " + value
		}
		return ui.Hang("   "+sign+" ", name, w, ui.Paint{})
	}
	if request != "" {
		rows = slices.Insert(rows, 0, ui.ProblemRow{Name: "request", Text: said(request)})
	}
	if failed != "" {
		effect := "excluded from the comparison; --accept-failed-checks compares anyway"
		if c.State.Run.AcceptFailedChecks {
			effect = "compared anyway: --accept-failed-checks"
		}
		add("effect", effect)
		if remedy := c.remedy(failed); remedy != "" {
			add(ui.Remedy, remedy)
		}
	}
	lines := ui.Hang("   "+sign+" ", name, w, t.Strong)
	for _, line := range (ui.Problem{Head: "-", Rows: rows}).Lines(t, max(4, w-3))[1:] {
		lines = append(lines, "   "+line)
	}
	return lines
}

// View implements ui.Page.
func (c *Checks) View() string {
	c.fill()
	draw := func(w, h int) string { return c.text.Draw(c.theme, w, h) }
	return c.stack(ui.Text(1, c.head()), ui.Block{Priority: 2, Least: 3, Most: ui.Rest, Draw: draw}, c.filtered(&c.filter))
}

// head is the line above the text: how many checks passed, and what is shown.
func (c *Checks) head() string {
	n := c.sum
	left := " " + c.theme.Title.S("checks") + "  " + n.text(c.theme)
	if c.size.Class != ui.Column {
		left = " " + c.theme.Title.S("checks") + ": " + units.Count(int64(n.passed)) + " passed, " + units.Count(int64(n.failed)) + " failed, " +
			units.Count(int64(n.skipped)) + " skipped"
	}
	right := ""
	if c.view > 0 {
		right = checksViews[c.view].name + " only"
	}
	return c.theme.Rule(left, right, c.size.Width)
}

// Keys implements ui.Page.
func (c *Checks) Keys() ui.Keys {
	if c.filter.Typing() {
		return c.filter.Keys()
	}
	short := []key.Binding{ui.Hint("scroll", ui.Up, ui.Down), ui.Hint(checksViews[(c.view+1)%len(checksViews)].name, ui.View), ui.Hint("", ui.Filter)}
	all := append(slices.Clone(short), ui.Hint("a page", ui.PageUp, ui.PageDown), ui.Hint("first, last line", ui.First, ui.Last))
	return ui.Keys{Short: short, Groups: []ui.Group{{Title: "checks", Keys: all}}, Legend: []string{
		"✓ passed   ✗ failed   ○ skipped   · information",
	}}
}

// Typing implements ui.Page.
func (c *Checks) Typing() bool { return c.filter.Typing() }

// remedy is what to do about a contender that failed; "" if failed checks are accepted.
func (c *Checks) remedy(label string) string {
	for _, p := range c.failed {
		for _, row := range p.Rows {
			if row.Name == ui.Remedy && p.contender == said(label) {
				return row.Text
			}
		}
	}
	return ""
}
