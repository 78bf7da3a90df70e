package run

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// inSight is how many rows of the table are in sight at least; one column has half of them.
const inSight = 6

// blocks returns the parts of the page, and which of them is the grid.
func (r *Result) blocks() (all []ui.Block, grid int) {
	e, t := r.end, r.theme
	column := r.size.Class == ui.Column
	confidence, table, trouble, next, rows := 1, 3, 2, 4, inSight
	if column {
		confidence, table, next, rows = 5, 4, 5, inSight/2
	}
	if e.Tone == conclusion.Good { // the verdict holds in spite of what failed
		table, trouble = 2, 3
	}
	verdict, failed, remedy := r.text(1, true, t.Strong, "", e.Verdict), r.failed(trouble, !column && table > trouble), ui.Block{}
	if column && e.Failed && len(e.problems) > 0 { // whole, before all but a row of the table
		remedy = ui.Text(trouble+1, e.problems[0].Remedy(r.size.Width)...)
		rows = max(1, min(rows, r.size.Height-verdict.Least-failed.Least-remedy.Least-1))
	}
	all = append(all, verdict)
	for _, line := range e.Why {
		all = append(all, r.text(1, false, ui.Paint{}, "", line))
	}
	all = append(all, r.text(confidence, false, ui.Paint{}, "", e.Confidence+"."),
		r.text(5, false, ui.Paint{}, "", e.since), r.text(6, false, ui.Paint{}, "cost: ", e.Cost))
	if table > trouble {
		all = append(all, failed, remedy)
	}
	all = append(all, r.blank())
	grid = len(all)
	all = append(all, r.grid.Block(t, table, rows), r.text(6, false, ui.Paint{}, "", r.sentence()))
	for _, note := range e.Table.Footnotes {
		all = append(all, r.text(9, false, t.Faint, "", note))
	}
	if len(e.Requests.Rows) > 0 && !column {
		var lines []string
		for _, line := range e.Requests.Lines(r.size.Width-1, t.Tone) {
			lines = append(lines, r.margin()+line)
		}
		all = append(all, r.blank(), ui.Text(6, lines...))
	}
	if charts := r.drawing(7); charts.Least > 0 {
		all = append(all, r.blank(), charts)
	}
	all = append(all, r.blank())
	if table < trouble {
		all = append(all, failed, remedy)
	}
	all = append(all, r.caveats())
	if step := e.NextStep(); step != "" {
		all = append(all, r.text(next, false, t.Title, "next: ", step))
	}
	return all, grid
}

// text is a block of a wrapped sentence after a head; "" is absent. With gap, a blank line is above
// it in a large terminal.
func (r *Result) text(priority int, gap bool, paint ui.Paint, head, s string) ui.Block {
	if strings.Trim(s, ".") == "" {
		return ui.Block{}
	}
	lines := ui.Hang(r.margin()+head, said(s), r.size.Width, paint)
	if gap && r.size.Class == ui.Full {
		lines = slices.Insert(lines, 0, "")
	}
	return ui.Text(priority, lines...)
}

// margin is left of all text, where there is room.
func (r *Result) margin() string {
	if r.size.Class == ui.Column {
		return ""
	}
	return " "
}

// blank is a blank line in a large terminal.
func (r *Result) blank() ui.Block {
	if r.size.Class != ui.Full {
		return ui.Block{}
	}
	return ui.Text(9, "")
}

// failed is what failed. In a box it is the first problem whole; of the others, and without a box,
// it is what happened and what to do. One column has only who failed.
func (r *Result) failed(priority int, box bool) ui.Block {
	t, w, margin := r.theme, r.size.Width, r.margin()
	if box {
		w, margin = w-4, ""
	}
	w -= len(margin)
	var lines []string
	most := max(4, r.size.Height/3) // more would take the room of the table
	for i, p := range r.end.problems {
		text := p.Short(t, w)
		if whole := p.Lines(t, w); i == 0 && box && len(whole) <= 2*most-4 {
			text = whole
		}
		if i > 0 && len(lines)+len(text) > most {
			more := units.Plural(len(r.end.problems)-i, "more failure")
			lines = append(lines, "  "+t.Faint.S(more+": page 3"))
			break
		}
		lines = append(lines, text...)
	}
	if r.end.Failed && (len(lines) == 0 || r.size.Class == ui.Column) {
		lines = ui.Hang(t.Bad.S(t.Glyph.Cross)+" ", said(r.end.Failures), w, ui.Paint{})
	}
	for i, line := range lines {
		lines[i] = margin + line
	}
	if box && len(lines) > 0 {
		lines[0] = fit.Left(lines[0], w)
		title := "caution"
		if r.end.Failed {
			title = "failures"
		}
		lines = t.Box(title, lines, w+4)
	}
	return ui.Text(priority, lines...)
}

// caveats are the worst caveats, and how many others there are.
func (r *Result) caveats() ui.Block {
	var texts []string
	if r.end.of.Run.AcceptFailedChecks {
		texts = append(texts, "Failed checks were accepted (--accept-failed-checks): responses may be wrong.")
	}
	for _, c := range r.end.Caveats {
		texts = append(texts, c.Text)
	}
	shown := 1
	if r.size.Class == ui.Full {
		shown = 3
	}
	margin := r.margin()
	var lines []string
	for _, text := range texts[:min(len(texts), shown)] {
		lines = append(lines, ui.Hang(margin+r.theme.Warn.S("!")+" ", said(text), r.size.Width, ui.Paint{})...)
	}
	if more := len(texts) - shown; more > 0 {
		lines = append(lines, margin+r.theme.Faint.S("  "+units.Plural(more, "more warning")+" in the report"))
	}
	return ui.Text(5, lines...)
}

// sentence returns what the row under the cursor has no room for; "" if there is nothing.
func (r *Result) sentence() string {
	t, at := r.end.Table, r.grid.Row()
	i := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Wrap })
	if i < 0 || at < 0 || i >= len(t.Rows[at].Cells) {
		return ""
	}
	cells := t.Rows[at].Cells
	if text := cells[i].Text; text != ui.Brief(text) {
		return cells[t.Heading].Text + ", " + t.Columns[i].Title + " " + text
	}
	return ""
}
