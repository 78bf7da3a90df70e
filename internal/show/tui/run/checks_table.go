package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

const (
	checksValue  = 20 // cells of a value in the table
	checksMost   = 24 // contenders up to which each has a column
	checksName   = 32 // cells of the names of checks, before columns of contenders get room
	checksDetail = 10 // lines of the selected check below the table
)

// table returns the rows for this width: values of each contender, else only signs, else the counts
// of all contenders.
func (c *Checks) table() table.Table {
	for _, values := range []bool{true, false} {
		if len(c.found.contenders) > checksMost || c.size.Class == ui.Column {
			break
		}
		t := c.names()
		longest := fit.Width(slices.MaxFunc(t.Lines(0, nil), func(a, b string) int { return fit.Width(a) - fit.Width(b) }))
		for n, label := range c.found.contenders {
			t.Columns = append(t.Columns, table.Column{Title: c.theme.Mark(ui.MarkOf(c.State.Run, label, n)) + " " + c.theme.Faint.S(said(label)), Left: true})
			for i, row := range c.rows {
				t.Rows[i].Cells = append(t.Rows[i].Cells, table.Cell{Text: c.cell(row, n, values)})
			}
		}
		wide := 0
		for _, line := range t.Lines(0, nil) {
			wide = max(wide, fit.Width(line))
		}
		if wide-longest+min(longest, checksName) <= c.size.Width-2 {
			return t
		}
	}
	t := c.names()
	t.Columns = append(t.Columns, table.Column{Title: "contenders", Left: true})
	for i, row := range c.rows {
		count := row.group.count
		if row.item != nil {
			count = row.item.count
		}
		t.Rows[i].Cells = append(t.Rows[i].Cells, table.Cell{Text: count.text(c.theme)})
	}
	return t
}

// names is a table of the names alone.
func (c *Checks) names() table.Table {
	t := table.Table{Columns: []table.Column{{Title: "check", Left: true}}}
	for _, row := range c.rows {
		sign := "▾ "
		switch {
		case row.item != nil:
			sign = "    "
		case row.folded:
			sign = "▸ "
		}
		t.Add(sign + row.name())
	}
	return t
}

// sign returns the painted sign of a status, and its color.
func (c *Checks) sign(status bench.CheckStatus) (string, ui.Paint) {
	g := c.theme.Glyph
	switch status {
	case bench.CheckFailed:
		return c.theme.Bad.S(g.Cross), c.theme.Bad
	case bench.CheckSkipped:
		return c.theme.Faint.S(g.Skip), c.theme.Faint
	case bench.CheckInfo:
		return c.theme.Faint.S(g.Dot), ui.Paint{}
	}
	return c.theme.Good.S(g.Check), ui.Paint{}
}

// cell is the outcome of contender n in a row.
func (c *Checks) cell(row checksRow, n int, values bool) string {
	count := row.group.by[n]
	switch {
	case count == nil:
		return ""
	case row.item == nil:
		return count.text(c.theme)
	case row.item.by[n] == nil:
		return c.theme.Faint.S(units.Missing)
	}
	o := row.item.by[n]
	sign, paint := c.sign(o.Status)
	value := said(o.Value)
	switch {
	case len(o.rounds) > 0 && o.of > 1:
		value = fmt.Sprintf("%d of %d rounds", len(o.rounds), o.of)
	case value != "" && fit.Width(value) <= checksValue:
	case o.Status == bench.CheckFailed, o.Status == bench.CheckSkipped:
		value = string(o.Status)
	default:
		value = ""
	}
	if values && value != "" {
		return sign + " " + paint.S(value)
	}
	return sign
}

// detail returns what is known about the selected check, or about the first that failed of a group:
// what contenders did, what a failure means and what to do. Below the table it is bounded, and
// about failures alone if there are any.
func (c *Checks) detail(short bool) []string {
	row, ok := c.row()
	if ok && row.item == nil && row.group.count.failed > 0 {
		row.item = row.group.items[0]
	}
	if row.item == nil {
		return nil
	}
	var rows []ui.ProblemRow
	add := func(name, text string) { rows = append(rows, ui.ProblemRow{Name: name, Text: text}) }
	worst, request, failed := bench.CheckPassed, "", ""
	for n, label := range c.found.contenders {
		o := row.item.by[n]
		if o == nil || short && row.item.count.failed > 0 && len(o.rounds) == 0 {
			continue
		}
		if len(rows) == 0 || len(o.rounds) > 0 {
			worst = o.Status
		}
		if len(rows) == 0 {
			request = o.Request
		} else if request != o.Request { // one for each contender: the outcome names it
			request = ""
		}
		add(said(label), o.text())
		if len(o.rounds) > 0 && failed == "" {
			failed = label
		}
	}
	if request != "" {
		rows = slices.Insert(rows, 0, ui.ProblemRow{Name: "request", Text: said(request)})
	}
	if worst == bench.CheckFailed {
		effect := "excluded from the comparison; --accept-failed-checks compares anyway"
		if c.State.Run.AcceptFailedChecks {
			effect = "compared anyway: --accept-failed-checks"
		}
		add("effect", effect)
		if remedy := c.remedy(failed); remedy != "" {
			add(ui.Remedy, remedy)
		}
	}
	t, w := c.theme, c.size.Width
	sign, _ := c.sign(worst)
	name := ui.Hang(" "+sign+" ", row.name(), max(4, w-2), t.Strong)
	name[0] = t.Rule(name[0], t.Faint.S(said(row.group.name)), w)
	lines := append(name, ui.Problem{Head: "-", Rows: rows}.Lines(t, w)[1:]...)
	if most := min(checksDetail, max(3, c.size.Height/2)); short && len(lines) > most {
		more := fmt.Sprintf("   enter: %s", units.Plural(len(lines)-most+1, "more line"))
		lines = append(lines[:most-1], t.Faint.S(more))
	}
	return lines
}

// text is the outcome in words, with how long it took.
func (o *checksOutcome) text() string {
	text := string(o.Status)
	for _, part := range []string{said(o.Value), said(o.Detail)} {
		if part != "" {
			text += ": " + part
		}
	}
	if o.Took > 0 {
		text += ", after " + units.Duration(o.Took)
	}
	if len(o.rounds) > 0 && o.of > 1 {
		text += fmt.Sprintf(" (in %d of %d rounds: %s)", len(o.rounds), o.of, strings.Join(o.rounds, ", "))
	}
	return text
}

// remedy is what to do about a contender that failed; "" if failed checks are accepted.
func (c *Checks) remedy(label string) string {
	for _, p := range problems(c.State) {
		for _, row := range p.Rows {
			if row.Name == ui.Remedy && p.contender == said(label) {
				return row.Text
			}
		}
	}
	return ""
}
