package run

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Which checks are shown.
const (
	checksAll = iota
	checksFailed
	checksDifferent
)

var checksViews = [...]struct{ name, none string }{
	checksAll:       {"all", "no checks run yet"},
	checksFailed:    {"failed", "✓ no check failed"},
	checksDifferent: {"different", "✓ all contenders give the same"},
}

// Checks shows the outcome of each check for each contender. Of several rounds, the worst counts.
type Checks struct {
	tab
	view   int
	filter ui.FilterBy
	open   map[string]bool // groups that were unfolded or folded by hand
	at     string          // key of the selected row; "": the first failure
	grid   *ui.Grid
	found  checksFound
	rows   []checksRow
	made   madeOf // what rows were made of
	from   int    // first line in sight of the page of one check
	lines  int    // of that page in the last View
	top    int    // line of the grid in the last View
}

// checksRow is a group, or one of its checks.
type checksRow struct {
	group  *checksGroup
	item   *checksItem // nil: the group
	folded bool
}

// name returns what it is called, safe to show.
func (r checksRow) name() string {
	if r.item == nil {
		return said(r.group.name)
	}
	return said(r.item.name)
}

func (r checksRow) key() string {
	if r.item == nil {
		return r.group.name
	}
	return r.group.name + "\x00" + r.item.name
}

// newChecks makes the tab.
func newChecks() page {
	return &Checks{tab: newTab("Checks"), filter: ui.NewFilter(), open: map[string]bool{}, grid: ui.NewGrid(false)}
}

// Update implements ui.Page.
func (c *Checks) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(StateMsg); ok {
		c.StateMsg = msg
		return nil
	}
	if cmd, used := c.filter.Update(msg); used {
		c.full = false
		return cmd
	}
	c.fill()
	press, _ := msg.(tea.KeyPressMsg)
	switch k := ui.KeyOf(press); {
	case k == ui.View:
		c.view, c.full = (c.view+1)%len(checksViews), false
	case k == ui.Enter:
		c.enter()
	case c.full:
		by, _ := ui.Moves(k, c.size.Height)
		if wheel, ok := msg.(tea.MouseWheelMsg); ok {
			by = ui.Wheel(wheel)
		}
		c.from = max(0, min(c.from+by, c.lines-c.size.Height))
	case c.grid.Update(msg, c.top):
		if row, ok := c.row(); ok {
			c.at = row.key()
		}
	}
	return nil
}

// enter folds or unfolds a group, or shows the whole of a check.
func (c *Checks) enter() {
	row, ok := c.row()
	switch {
	case !ok:
	case row.item != nil:
		c.full, c.from, c.at = !c.full, 0, row.key()
	case c.folds():
		c.open[row.group.name] = row.folded
		c.at, c.made = row.key(), madeOf{}
	}
}

// folds reports whether groups may be folded: what a view or a filter selects is unfolded.
func (c *Checks) folds() bool { return c.view == checksAll && c.filter.Text() == "" }

// Escape leaves the page of a check, or clears the filter.
func (c *Checks) Escape() bool {
	return c.tab.Escape() || c.filter.Clear()
}

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

// row returns the selected row.
func (c *Checks) row() (checksRow, bool) {
	if i := c.grid.Row(); i >= 0 {
		return c.rows[i], true
	}
	return checksRow{}, false
}

// fill makes the rows again if what they are made of has changed. The cursor stays on its check.
func (c *Checks) fill() {
	of := madeOf{c.State, c.State.Version, c.view, c.filter.Text(), c.theme, c.size}
	if of == c.made {
		return
	}
	c.made, c.rows, c.found = of, nil, checksIn(c.State)
	for _, g := range c.found.groups {
		open, chosen := c.open[g.name]
		folded := c.folds() && !open && (chosen || g.count.failed == 0)
		begun := false
		for _, i := range g.items {
			if c.view == checksFailed && i.count.failed == 0 || c.view == checksDifferent && !i.differs() ||
				!c.filter.Holds(g.name, i.name) {
				continue
			}
			if !begun {
				c.rows = append(c.rows, checksRow{group: g, folded: folded})
				begun = true
			}
			if !folded {
				c.rows = append(c.rows, checksRow{group: g, item: i})
			}
		}
	}
	c.grid.Set(c.table())
	at := slices.IndexFunc(c.rows, func(r checksRow) bool {
		return r.key() == c.at || c.at == "" && r.item != nil && r.item.count.failed > 0
	})
	c.grid.Select(max(at, 0))
	c.full = c.full && at >= 0
}

// View implements ui.Page.
func (c *Checks) View() string {
	c.fill()
	w, h := c.size.Width, c.size.Height
	if c.full {
		lines := c.detail(false)
		c.lines = len(lines)
		return strings.Join(ui.Exact(lines[max(0, min(c.from, c.lines-h)):], w, h), "\n")
	}
	grid := c.grid.Block(c.theme, 2, 3)
	grid.Most = ui.Rest
	if len(c.rows) == 0 {
		none := checksViews[c.view].none
		if c.filter.Text() != "" {
			none = "no check matches"
		}
		grid = ui.Text(2, " "+none)
	}
	view, tops := ui.Stack(w, h, ui.Text(1, c.head()), grid, c.filtered(&c.filter), ui.Text(4, c.detail(true)...))
	c.top = tops[1]
	return view
}

// head is the line above the table: how many checks passed, and what is shown.
func (c *Checks) head() string {
	n := c.found.count
	left := " " + c.theme.Title.S("checks") + "  " + n.text(c.theme)
	if c.size.Class != ui.Column {
		left = " " + c.theme.Title.S("checks of "+units.Plural(len(c.found.contenders), "contender")) + ": " +
			units.Count(int64(n.passed)) + " passed, " + units.Count(int64(n.failed)) + " failed, " +
			units.Count(int64(n.skipped)) + " skipped"
	}
	right, folded := "", 0
	for _, row := range c.rows {
		if row.folded {
			folded++
		}
	}
	switch {
	case c.view != checksAll:
		right = checksViews[c.view].name + " only"
	case folded > 0:
		right = units.Plural(folded, "group") + " folded"
	}
	return c.theme.Rule(left, right, c.size.Width)
}

// Keys implements ui.Page.
func (c *Checks) Keys() ui.Keys {
	if c.filter.Typing() {
		return c.filter.Keys()
	}
	open := "fold"
	switch row, ok := c.row(); {
	case c.full:
		open = "back"
	case ok && row.item != nil:
		open = "details"
	case ok && row.folded:
		open = "unfold"
	}
	short := []key.Binding{ui.Hint("move", ui.Up, ui.Down), ui.Hint(open, ui.Enter),
		ui.Hint(checksViews[(c.view+1)%len(checksViews)].name, ui.View), ui.Hint("", ui.Filter)}
	all := append(slices.Clone(short), ui.Hint("a page", ui.PageUp, ui.PageDown), ui.Hint("first, last", ui.First, ui.Last))
	return ui.Keys{Short: short, Groups: []ui.Group{{Title: "checks", Keys: all}}, Legend: []string{
		"✓ passed   ✗ failed   ○ skipped   · information   – not run",
	}}
}

// Typing implements ui.Page.
func (c *Checks) Typing() bool { return c.filter.Typing() }
