package compare

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/safe"
)

// HistoryText writes series as text, at most 80 columns wide except for names of folders.
func HistoryText(w io.Writer, all []Series) error {
	var b bytes.Buffer
	for i, c := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		c.text(&b)
	}
	b.WriteByte('\n')
	fold(&b, "", historyNote(all))
	_, err := w.Write(b.Bytes())
	return err
}

const historyWidth = 80

func (c Series) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s   %s\n", safe.Line(c.Contender, 60), units.Plural(len(c.Points), "result"))
	head, rows := c.rows()
	lines := [][]string{head}
	for i, row := range rows {
		lines = append(lines, row, slices.Concat(make([]string, len(row)-len(c.Points[i].Values)), c.intervals(i)))
	}
	widths := c.narrow(lines)
	for n, line := range lines {
		if n%2 == 1 {
			c.marks(n/2, func(text string) { fold(b, "      ", text) })
		}
		if strings.Join(line, "") == "" {
			continue
		}
		for k, cell := range line {
			fmt.Fprintf(b, "  %*s", widths[k], cell)
		}
		b.WriteByte('\n')
	}
	for i, p := range c.Points {
		fmt.Fprintf(b, "  %*d  %s", len(strconv.Itoa(len(c.Points))), i+1, safe.Line(p.Folder, 400))
		if p.Left > 0 {
			fmt.Fprintf(b, " (%s incomplete, skipped)", rounds(Trials{Seen: p.Left}))
		}
		b.WriteByte('\n')
	}
}

// narrow removes columns of measures without a verdict until the rows fit historyWidth. It returns
// the widths of the columns.
func (c Series) narrow(rows [][]string) []int {
	first := len(rows[0]) - len(c.Points[0].Values)
	for k := len(c.Points[0].Values); ; k-- {
		widths, total := widths(rows), 0
		for _, w := range widths {
			total += 2 + w
		}
		if total <= historyWidth || k == 0 {
			return widths
		}
		if measure.Get(c.Points[0].Values[k-1].Measure).Comparison.Apart {
			for n := range rows {
				rows[n] = slices.Delete(rows[n], first+k-1, first+k)
			}
		}
	}
}

// rows returns the table of the medians.
func (c Series) rows() (head []string, rows [][]string) {
	head = []string{"#", "started", "n"}
	for _, f := range c.Points[0].Values {
		head = append(head, measure.Get(f.Measure).Comparison.Head)
	}
	for i, p := range c.Points {
		row := []string{strconv.Itoa(i + 1), p.Started.UTC().Format("2006-01-02 15:04"), strconv.Itoa(p.Rounds)}
		for _, f := range p.Values {
			cell := units.Missing
			if f.Median != nil {
				cell = measure.Get(f.Measure).Unit.Cell(*f.Median)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return head, rows
}

// intervals returns the 95% CIs of the i-th row: "±1.5%", or "".
func (c Series) intervals(i int) (cells []string) {
	for _, f := range c.Points[i].Values {
		cell := ""
		if f.Low != nil && *f.Median > 0 {
			cell = "±" + units.Tenths(max(*f.High-*f.Median, *f.Median-*f.Low) / *f.Median)
		}
		cells = append(cells, cell)
	}
	return cells
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

// fold writes text in indented lines of at most historyWidth.
func fold(b *bytes.Buffer, indent, text string) {
	n := 0
	for _, word := range strings.Fields(text) {
		w := utf8.RuneCountInString(word)
		switch {
		case n == 0:
			b.WriteString(indent)
			n = len(indent)
		case n+1+w > historyWidth:
			b.WriteString("\n" + indent)
			n = len(indent)
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += w
	}
	b.WriteByte('\n')
}

// HistoryMarkdown writes series as Markdown tables, for a pull request.
func HistoryMarkdown(w io.Writer, all []Series) error {
	var b bytes.Buffer
	cell := strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_",
		`\_`, "[", `\[`, "]", `\]`)
	for _, c := range all {
		fmt.Fprintf(&b, "## %s\n\n", cell.Replace(safe.Line(c.Contender, 60)))
		head, rows := c.rows()
		b.WriteString("| " + strings.Join(head, " | ") + " | marks | folder |\n" +
			"|---:|---|" + strings.Repeat("---:|", len(head)-2) + "---|---|\n")
		for i, row := range rows {
			for k, interval := range c.intervals(i) {
				n := len(head) - len(c.Points[i].Values) + k
				row[n] = strings.TrimSpace(row[n] + " " + interval)
			}
			var marks []string
			c.marks(i, func(text string) { marks = append(marks, text) })
			row = append(row, strings.Join(marks, "; "), safe.Line(c.Points[i].Folder, 400))
			for k := range row {
				row[k] = cell.Replace(row[k])
			}
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
		b.WriteByte('\n')
	}
	b.WriteString(historyNote(all) + "\n")
	_, err := w.Write(b.Bytes())
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
