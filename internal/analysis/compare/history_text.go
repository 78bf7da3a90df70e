package compare

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// HistoryText writes series as text, at most 80 columns wide except for names of folders.
func HistoryText(w io.Writer, all []Series) error {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "%s   %s\n", safe.Line(c.Contender, 60), units.Plural(len(c.Points), "result"))
		for _, line := range c.table(true).Lines(historyWidth-2, nil) {
			b.WriteString("  " + line + "\n")
		}
		for i, p := range c.Points {
			fmt.Fprintf(&b, "  %*d  %s", len(strconv.Itoa(len(c.Points))), i+1, safe.Line(p.Folder, 400))
			if p.Left > 0 {
				fmt.Fprintf(&b, " (%s incomplete, skipped)", rounds(Trials{Seen: p.Left}))
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	b.WriteString(fit.Paragraph(historyNote(all), historyWidth, "") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

const historyWidth = 80

// table returns the medians of each result, and the widths of their CIs: in rows below them, or in
// the same cells.
func (c Series) table(below bool) table.Table {
	t := table.Table{Columns: []table.Column{{Title: "#"}, {Title: "started", Left: true}, {Title: "n"}}}
	for _, f := range c.Points[0].Values {
		m := measure.Get(f.Measure)
		column := table.Column{Title: m.Comparison.Head}
		if m.Comparison.Apart {
			column.Drop = 1
		}
		t.Columns = append(t.Columns, column)
	}
	for i, p := range c.Points {
		cells := []string{strconv.Itoa(i + 1), p.Started.UTC().Format("2006-01-02 15:04"), strconv.Itoa(p.Rounds)}
		widths, any := make([]string, len(cells)), false
		for _, f := range p.Values {
			cell, width := units.Missing, ""
			if f.Median != nil {
				cell = measure.Get(f.Measure).Unit.Cell(*f.Median)
				if f.Low != nil && *f.Median > 0 {
					width = "±" + units.Tenths(max(*f.High-*f.Median, *f.Median-*f.Low) / *f.Median)
				}
			}
			if any = any || width != ""; !below && width != "" {
				cell += " " + width
			}
			cells, widths = append(cells, cell), append(widths, width)
		}
		last := t.Add(cells...)
		if below && any {
			last = t.Add(widths...)
		}
		c.marks(i, func(text string) { last.Below = append(last.Below, text) })
	}
	return t
}

// marks calls say with each remark to print before a point.
func (c Series) marks(i int, say func(string)) {
	if text := c.Points[i].Break; text != "" {
		say("── not comparable with earlier results: " + safe.Line(text, 600))
	}
	excluded := c.Points[i].Excluded
	if excluded != "" {
		say("── excluded: it " + excluded)
	}
	for _, f := range c.Points[i].Values {
		if f.Out != "" && excluded == "" {
			say("── " + measure.Get(f.Measure).Comparison.Title + ": " + safe.Line(f.Out, 200))
		}
	}
}

// historyNote explains the tables.
func historyNote(all []Series) string {
	note := "Medians of the rounds. ±: the end of the 95% CI that is farther from the median, from six rounds on. "
	if slices.ContainsFunc(all, func(c Series) bool { return len(c.Points) > 1 }) {
		return note + "Whether two results differ: locbench compare OLD NEW"
	}
	return note + "Only one result: repeat the same run from time to time to see a history."
}

// HistoryMarkdown writes series as Markdown tables, for a pull request.
func HistoryMarkdown(w io.Writer, all []Series) error {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "## %s\n\n", table.Escape(safe.Line(c.Contender, 60)))
		t := c.table(false)
		t.Columns = append(t.Columns, table.Column{Title: "marks", Left: true}, table.Column{Title: "folder", Left: true})
		for i := range t.Rows {
			t.Rows[i].Cells = append(t.Rows[i].Cells, table.Cell{Text: strings.Join(t.Rows[i].Below, "; ")},
				table.Cell{Text: safe.Line(c.Points[i].Folder, 400)})
		}
		b.WriteString(t.Markdown() + "\n")
	}
	b.WriteString(historyNote(all) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// HistoryCSV writes a row per contender, result and measure.
func HistoryCSV(w io.Writer, all []Series) error {
	out := safe.NewTable(w)
	err := out.Write("contender", "started", "folder", "run", "rounds", "measure", "unit", "at", "median", "low", "high",
		"not_comparable_with_previous")
	if err != nil {
		return err
	}
	number := func(v *float64) any {
		if v == nil {
			return nil
		}
		return *v
	}
	for _, c := range all {
		for _, p := range c.Points {
			for _, f := range p.Values {
				err := out.Write(c.Contender, p.Started.UTC().Format(time.RFC3339), p.Folder, p.Run, p.Rounds, f.Measure, f.Unit,
					f.At, number(f.Median), number(f.Low), number(f.High), p.Break)
				if err != nil {
					return err
				}
			}
		}
	}
	return out.Flush()
}
