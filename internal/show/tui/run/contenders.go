package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// Contenders is how the contenders compare so far, and what the selected one is like. The cursor is
// on the contender that runs until it is moved away.
type Contenders struct {
	tab
	grid  *ui.Grid
	sums  kept[[]standing]
	order order
	chart int // the first of the charts over the steps
	moved bool
	top   int // line of the grid in the last View
}

// newContenders makes the tab.
func newContenders() page { return &Contenders{tab: newTab("Contenders"), grid: ui.NewGrid(false)} }

// Update implements ui.Page.
func (c *Contenders) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case StateMsg:
		c.StateMsg = msg
		return nil
	case tea.KeyPressMsg:
		c.fill()
		switch one, _ := c.selected(); ui.KeyOf(msg) {
		case ui.Enter:
			c.full = !c.full && one.label != ""
			return nil
		case ui.View:
			c.chart++
			return nil
		case ui.Order:
			label := one.label
			c.order = (c.order + 1) % order(len(measure.View(measure.ScreenOrders))+1)
			c.choose(label)
			return nil
		case ui.Copy:
			if one.of != nil {
				return ui.Cmd(ui.CopyMsg{Text: one.command(), What: "the command"})
			}
			return nil
		}
	}
	before := c.grid.Row()
	if c.grid.Update(msg, c.top) {
		c.moved = true
		c.full = c.full || isClick(msg) && before == c.grid.Row()
	}
	return nil
}

// count implements page.
func (c *Contenders) count(*ui.Theme) string {
	if n := len(c.State.Run.Profile.Contenders); n > 0 {
		return strconv.Itoa(n)
	}
	return ""
}

// Show opens the page of one contender.
func (c *Contenders) Show(label string) {
	c.choose(label)
	c.moved, c.full = true, true
}

// choose moves the cursor to a contender.
func (c *Contenders) choose(label string) {
	c.fill()
	i := slices.IndexFunc(c.list(), func(one standing) bool { return one.label == label })
	c.grid.Select(max(0, i))
}

// selected returns the contender under the cursor; ok is false if there is none.
func (c *Contenders) selected() (one standing, ok bool) {
	if list, i := c.list(), c.grid.Row(); i >= 0 && i < len(list) {
		return list[i], true
	}
	return standing{}, false
}

// list returns the contenders in the order of the table.
func (c *Contenders) list() []standing {
	return c.order.sorted(c.sums.of(c.State, standings))
}

// order is the order of the contenders: 0 is that of the profile, n the n-th of
// measure.ScreenOrders.
type order int

// measure returns the measure that o sorts by; ok is false for the order of the profile.
func (o order) measure() (m measure.Shown, ok bool) {
	if all := measure.View(measure.ScreenOrders); o > 0 && int(o) <= len(all) {
		return all[o-1], true
	}
	return measure.Shown{}, false
}

// sorted returns the contenders sorted: those without a value after the others, equal ones as in
// the profile, excluded ones last.
func (o order) sorted(all []standing) []standing {
	m, ok := o.measure()
	if !ok {
		return all
	}
	value := func(s standing) float64 {
		switch f := m.Contender(s.Contender.Contender); {
		case s.of == nil || !f.Known || math.IsNaN(f.Value):
			return math.Inf(1)
		case m.Higher:
			return -f.Value
		default:
			return f.Value
		}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b standing) int {
		return cmp.Or(stats.ExcludedLast(a.Contender.Contender, b.Contender.Contender), cmp.Compare(value(a), value(b)))
	})
	return all
}

// fill makes the table.
func (c *Contenders) fill() {
	if c.theme == nil {
		return
	}
	by, _ := c.order.measure()
	shown := measure.View(measure.ScreenContenders)
	t := table.Table{Columns: []table.Column{{Title: "  contender", Left: true}, {Title: "rounds", Drop: 4}}}
	for _, m := range shown {
		column := table.Column{Title: m.Head, Drop: m.Drop}
		if m.ID == by.ID {
			column.Drop = 0
			column.Title += map[bool]string{true: " ↓", false: " ↑"}[m.Higher]
		}
		t.Columns = append(t.Columns, column)
		if m.ID == measure.Throughput {
			t.Columns = append(t.Columns, table.Column{Title: "at", Drop: 5})
		}
	}
	t.Columns = append(t.Columns, table.Column{Title: "checks", Drop: 2})
	for _, one := range c.list() {
		t.Rows = append(t.Rows, table.Row{Cells: one.cells(c.theme, shown)})
	}
	c.grid.Set(t)
	if current := c.State.Current; !c.moved && current != nil {
		label := current.Result.Trial.Label()
		c.grid.Select(slices.IndexFunc(c.list(), func(one standing) bool { return one.label == label }))
	}
}

// View implements ui.Page.
func (c *Contenders) View() string {
	w, h := c.size.Width, c.size.Height
	if len(c.list()) == 0 {
		return strings.Join(ui.Exact([]string{" No contender is known yet."}, w, h), "\n")
	}
	c.fill()
	one, _ := c.selected()
	blocks := []ui.Block{c.grid.Block(c.theme, 2, 6), {}}
	if c.full {
		blocks[0] = ui.Block{}
	} else if text := c.sentence(); c.size.Class == ui.Full {
		blocks[1] = ui.Text(7, ui.Hang("  ", text, w-1, c.theme.Faint)...)
	}
	view, tops := ui.Stack(w, h, append(blocks, c.about(one, w)...)...)
	c.top = tops[0]
	return view
}

// sentence says of what the values are, and how many rounds are missing for more.
func (c *Contenders) sentence() string {
	least := math.MaxInt
	for _, one := range c.list() {
		if len(one.trials) > 0 {
			least = min(least, len(one.trials))
		}
	}
	text := "Latency and CPU at peak."
	if least < stats.MinInterval {
		text += fmt.Sprintf(" %s per contender: no 95%% CI, no ranking; %d needed.", units.Plural(least, "round"), stats.MinInterval)
	}
	return text
}

// Keys implements ui.Page.
func (c *Contenders) Keys() ui.Keys {
	open := "full page"
	if c.full {
		open = "all contenders"
	}
	all := []key.Binding{ui.Hint("contender", ui.Up, ui.Down), ui.Hint(open, ui.Enter), ui.Hint("order", ui.Order),
		ui.Hint("other chart", ui.View), ui.Hint("copy command", ui.Copy), ui.Hint("a page", ui.PageUp, ui.PageDown),
		ui.Hint("first, last", ui.First, ui.Last)}
	return ui.Keys{Short: all[:5], Groups: []ui.Group{{Title: "contenders", Keys: all}}, Legend: []string{
		"rounds: complete of planned; ▶ runs now, ✗ failed",
	}}
}
