package run

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// Checks is the outcome of each check: those that failed with what was found, then all by group.
type Checks struct {
	tab
	text ui.Scroll
	made madeOf // what the text was made of
}

// newChecks makes the tab.
func newChecks() page { return &Checks{tab: newTab("Checks"), text: ui.NewScroll()} }

// Update implements ui.Page.
func (c *Checks) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(StateMsg); ok {
		c.StateMsg = msg
	}
	c.text.Update(msg)
	return nil
}

// counts returns the outcomes of all checks of a run.
func counts(s *fold.State) (passed, failed, skipped int64) {
	for _, trial := range s.Trials {
		p, f, k := trial.Checks()
		passed, failed, skipped = passed+int64(p), failed+int64(f), skipped+int64(k)
	}
	return passed, failed, skipped
}

// count implements page.
func (c *Checks) count(t *ui.Theme) string {
	switch passed, failed, _ := counts(c.State); {
	case failed > 0:
		return t.Glyph.Cross + units.Count(failed)
	case passed > 0:
		return t.Glyph.Check + units.Count(passed)
	}
	return ""
}

// contendersOf returns the contenders of a run with their results, in the order of the profile.
func contendersOf(s *fold.State) (all []analysis.Contender) {
	for _, r := range s.Results() {
		i := slices.IndexFunc(all, func(c analysis.Contender) bool { return c.Label == r.Trial.Label() })
		if i < 0 {
			i, all = len(all), append(all, analysis.Contender{Contender: stats.Contender{Label: r.Trial.Label()}})
		}
		all[i].Results = append(all[i].Results, r)
	}
	planned := s.Run.Profile.Contenders
	place := func(c analysis.Contender) int {
		if i := slices.IndexFunc(planned, func(sel bench.Selection) bool { return sel.String() == c.Label }); i >= 0 {
			return i
		}
		return len(planned)
	}
	slices.SortStableFunc(all, func(a, b analysis.Contender) int { return place(a) - place(b) })
	return all
}

// fill makes the text again if what it is made of has changed.
func (c *Checks) fill() {
	of := madeOf{c.State, c.State.Version, 0, c.theme, c.size}
	if of == c.made {
		return
	}
	c.made = of
	t, all, lines := c.theme, conclusion.ChecksOf(contendersOf(c.State)), []string(nil)
	rows := func(rows []ui.Row) {
		for _, line := range t.Rows(rows, max(4, c.size.Width-3)) {
			lines = append(lines, "   "+line)
		}
	}
	if len(all.Failed) > 0 {
		effect := []ui.Row{{Name: "effect", Text: "excluded from the comparison; --accept-failed-checks compares anyway"}}
		if c.State.Run.AcceptFailedChecks {
			effect[0].Text = "compared anyway: --accept-failed-checks"
		}
		for _, p := range problems(c.State) {
			effect = append(effect, ui.Row{Name: p.contender, Text: p.remedy})
		}
		rows(effect)
	}
	for _, f := range all.Failed {
		lines = append(lines, ui.Hang(" "+t.Bad.S(t.Glyph.Cross)+" ", said(f.Group+": "+f.Name), c.size.Width, t.Strong)...)
		rows(slices.DeleteFunc([]ui.Row{{Name: "request", Text: said(f.Request)}, {Name: "found", Text: said(f.Detail)},
			{Name: "in", Text: said(strings.Join(f.Trials, ", "))}}, func(r ui.Row) bool { return r.Text == "" }))
	}
	for _, g := range all.Groups {
		lines = append(lines, ui.Hang(" ", t.Title.S(said(g.Name))+" "+t.Faint.S(g.About), c.size.Width, ui.Paint{})...)
		for _, row := range g.Table.Rows {
			name, cells := said(row.Cells[0].Text), row.Cells[1:]
			if !slices.ContainsFunc(cells, func(cell table.Cell) bool { return cell.Text != cells[0].Text }) {
				lines = append(lines, ui.Hang("   ", name+": "+said(cells[0].Text), c.size.Width, ui.Paint{})...)
				continue
			}
			lines = append(lines, ui.Hang("   ", name, c.size.Width, ui.Paint{})...)
			var of []ui.Row
			for i, cell := range cells {
				of = append(of, ui.Row{Name: said(g.Table.Columns[i+1].Title), Text: said(cell.Text)})
			}
			rows(of)
		}
	}
	if len(lines) == 0 {
		lines = []string{" no checks run yet"}
	}
	c.text.SetContentLines(lines)
}

// View implements ui.Page.
func (c *Checks) View() string {
	c.fill()
	passed, failed, skipped := counts(c.State)
	head := fmt.Sprintf(" %s  %d passed, %d failed, %d skipped", c.theme.Title.S("checks"), passed, failed, skipped)
	draw := func(w, h int) string { return c.text.Draw(c.theme, w, h) }
	return c.stack(ui.Text(1, c.theme.Rule(head, "", c.size.Width)), ui.Block{Priority: 2, Least: 3, Most: ui.Rest, Draw: draw})
}

// Keys implements ui.Page.
func (c *Checks) Keys() ui.Keys {
	all := ui.ScrollKeys()
	return ui.Keys{Short: all[:1:1], Groups: []ui.Group{{Title: "checks", Keys: all}}, Legend: []string{"✓ passed   ✗ failed"}}
}
