package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
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
	for _, c := range all {
		if len(c.Points) == 1 {
			b.WriteByte('\n')
			fold(&b, "", c.note())
			break
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

const (
	historyWidth = 80
	sparkWidth   = 30 // number of points; the table has them all
)

func (c Series) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s   %s\n", safe.Line(c.Contender, 60), units.Plural(len(c.Points), "result"))
	rows := c.rows()
	widths := c.narrow(rows)
	for i, row := range rows {
		if i > 0 {
			c.marks(i-1, func(text string) { fold(b, "      ", text) })
		}
		for k, cell := range row {
			fmt.Fprintf(b, "  %*s", widths[k], cell)
		}
		b.WriteByte('\n')
	}
	for k := range c.Points[0].Values {
		if len(c.Points) > 1 {
			title, spark, span := c.line(k)
			fmt.Fprintf(b, "  %-23s %s  %s\n", title, spark, span)
		}
	}
	for i, p := range c.Points {
		fmt.Fprintf(b, "  %*d  %s", len(strconv.Itoa(len(c.Points))), i+1, safe.Line(p.Folder, 400))
		if p.Left > 0 {
			fmt.Fprintf(b, " (%s incomplete, skipped)", rounds(Trials{Seen: p.Left}))
		}
		b.WriteByte('\n')
	}
	if len(c.Points) > 1 {
		fold(b, "  ", c.note())
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

// line returns the title of the k-th measure, its spark line, and its range.
func (c Series) line(k int) (title, spark, span string) {
	m := measure.Get(c.Points[0].Values[k].Measure)
	lo, hi := extent(c.Points, k)
	span = "not measured"
	if lo <= hi {
		span = m.Unit.Text(lo) + " to " + m.Unit.Text(hi)
	}
	return cmp.Or(m.Comparison.Long, m.Comparison.Title), c.spark(k), span
}

// extent returns the range of the k-th measure; lo is above hi without any value.
func extent(points []Point, k int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, p := range points {
		if m := p.Values[k].Median; m != nil {
			lo, hi = min(lo, *m), max(hi, *m)
		}
	}
	return lo, hi
}

// rows returns the table with its heading.
func (c Series) rows() [][]string {
	head := []string{"#", "started", "n"}
	for _, f := range c.Points[0].Values {
		head = append(head, measure.Get(f.Measure).Comparison.Head)
	}
	rows := [][]string{head}
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
	return rows
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
			say("── " + measure.Get(f.Measure).Comparison.Title + ": " + safe.Line(f.Out, 200) +
				", skipped")
		}
	}
	for _, x := range c.Changes {
		if x.At == i {
			say(x.words())
		}
	}
}

// words returns "▼ throughput: 13,765/s → 12,000/s (−13%), p 0.03; also changed: Go (1 → 2)".
func (x Change) words() string {
	mark := "▼"
	if x.After > x.Before {
		mark = "▲"
	}
	m := measure.Get(x.Measure)
	text := fmt.Sprintf("%s %s: %s → %s", mark, m.Comparison.Title, m.Unit.Text(x.Before), m.Unit.Text(x.After))
	if x.Before > 0 {
		text += strings.Replace(fmt.Sprintf(" (%+.1f%%)", 100*(x.After/x.Before-1)), "-", "−", 1)
	}
	text += fmt.Sprintf(", p %.2g", x.P)
	var other []string
	for _, d := range x.Since {
		if d.Weight != Incomparable {
			other = append(other, safe.Line(d.String(), 120))
		}
	}
	if len(other) > 0 {
		text += "; also changed: " + strings.Join(other, ", ")
	}
	return text
}

// note explains the marks, or says what is missing for them.
func (c Series) note() string {
	longest := 0
	for from, to := range c.segments() {
		longest = max(longest, to-from)
	}
	switch {
	case len(c.Points) == 1:
		return "Only one result. Repeat the same run from time to time to see a history."
	case longest < LeastForChange:
		text := fmt.Sprintf("A change of level takes %d comparable results in a row; the longest series has %d.",
			LeastForChange, longest)
		if longest >= 2 {
			text += " Compare two of them: locbench compare OLD NEW."
		}
		return text
	case len(c.Changes) == 0:
		return "No significant change of level."
	}
	return fmt.Sprintf("▲ ▼ change of level, p at most %.0f%% (permutation test). Some appear by chance, and a slower "+
		"machine looks the same. Confirm with: locbench compare OLD NEW", 100*historyAlpha)
}

// spark returns the spark line of one measure. A bar separates points that are not comparable, a
// dot is a missing value. Each segment of comparable points has its own scale.
func (c Series) spark(k int) string {
	var b strings.Builder
	for from, to := range c.segments() {
		if from > 0 {
			b.WriteString("|")
		}
		lo, hi := extent(c.Points[from:to], k)
		for _, p := range c.Points[from:to] {
			m := p.Values[k].Median
			switch {
			case m == nil:
				b.WriteString("·")
			case hi <= lo:
				b.WriteString("▄")
			default:
				b.WriteRune([]rune("▁▂▃▄▅▆▇█")[int(math.Round(7*(*m-lo)/(hi-lo)))])
			}
		}
	}
	if text := []rune(b.String()); len(text) > sparkWidth {
		return "…" + string(text[len(text)-sparkWidth+1:])
	}
	return b.String()
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
		for i, row := range c.rows() {
			row = append(row, "marks", "folder")
			if i > 0 {
				var marks []string
				c.marks(i-1, func(text string) { marks = append(marks, text) })
				row[len(row)-2], row[len(row)-1] = strings.Join(marks, "; "), safe.Line(c.Points[i-1].Folder, 400)
			}
			for k := range row {
				row[k] = cell.Replace(row[k])
			}
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
			if i == 0 {
				b.WriteString("|---:|---|" + strings.Repeat("---:|", len(row)-4) + "---|---|\n")
			}
		}
		b.WriteByte('\n')
		for k := range c.Points[0].Values {
			title, spark, span := c.line(k)
			fmt.Fprintf(&b, "- %s: %s %s\n", title, spark, span)
		}
		b.WriteString("\n" + c.note() + "\n\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// HistoryCSV writes a row per contender, result and measure.
func HistoryCSV(w io.Writer, all []Series) error {
	out := safe.NewTable(w)
	err := out.Write("contender", "started", "folder", "run", "rounds", "measure", "unit", "at", "median", "low", "high",
		"not_comparable_with_previous", "change_before", "change_after", "change_p")
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
		for i, p := range c.Points {
			for _, f := range p.Values {
				var before, after, chance any
				for _, x := range c.Changes {
					if x.At == i && x.Measure == f.Measure {
						before, after, chance = x.Before, x.After, x.P
					}
				}
				err := out.Write(c.Contender, p.Started.UTC().Format(time.RFC3339), p.Folder, p.Run, p.Rounds, f.Measure, f.Unit,
					f.At,
					number(f.Median), number(f.Low), number(f.High), p.Break, before, after, chance)
				if err != nil {
					return err
				}
			}
		}
	}
	return out.Flush()
}
