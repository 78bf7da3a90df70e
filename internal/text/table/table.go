// Package table is the one model of a table, and its writers: text for terminals and pipes, Markdown
// and HTML. What a table shows is decided where it is made; how it is aligned, fitted to a width and
// escaped is decided here. Cells must not have control characters: see package safe.
package table

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
)

// Column describes a column.
type Column struct {
	Title string
	Left  bool // aligned to the left, for text; numbers are aligned to the right
	Drop  int  // narrow outputs leave columns out, the highest Drop first; 0: never
	Wrap  bool // text wraps within the room that the other columns leave, at most one column
}

// Tone says what a cell means.
type Tone int

// The tones.
const (
	Plain  Tone = iota
	Faint       // of less weight
	Good        // better, passed
	Bad         // worse, failed
	Notice      // a warning, a limit
	Strong      // the best of its column
)

// Cell is a value with what belongs to it.
type Cell struct {
	Text  string
	Small []string // details: HTML writes them below, Markdown in parentheses, text not at all
	Tone  Tone
	Sort  *float64 // the value to sort by, in base units; nil: unknown
	Share *float64 // length of a bar next to the value, 0 to 1; nil: no bar
}

// Row is the cells of a row.
type Row struct {
	Cells []Cell
	Mark  int      // number of the color and the marker of its heading, from 1; 0: none
	Below []string // lines of text below the row
}

// cell returns the cell in a column; an empty one beyond the last.
func (r Row) cell(i int) (c Cell) {
	if i < len(r.Cells) {
		c = r.Cells[i]
	}
	return c
}

// Table is a table.
type Table struct {
	Columns   []Column
	Rows      []Row
	Footnotes []string // sentences about the columns
	Sort      bool     // readers of HTML may sort the rows
	Heading   int      // index of the column with the names of the rows
}

// Add adds a row of texts.
func (t *Table) Add(texts ...string) *Row {
	row := Row{Cells: make([]Cell, len(texts))}
	for i, text := range texts {
		row.Cells[i].Text = text
	}
	t.Rows = append(t.Rows, row)
	return &t.Rows[len(t.Rows)-1]
}

// Without returns the table without the columns of a title.
func (t Table) Without(title string) Table {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Title == title })
	if i < 0 {
		return t
	}
	t.Columns = slices.Delete(slices.Clone(t.Columns), i, i+1)
	if i < t.Heading {
		t.Heading--
	}
	t.Rows = slices.Clone(t.Rows)
	for k := range t.Rows {
		if cells := t.Rows[k].Cells; i < len(cells) {
			t.Rows[k].Cells = slices.Delete(slices.Clone(cells), i, i+1)
		}
	}
	return t
}

// gap is the number of spaces between columns.
const gap = 2

// leastHeading is the least width of a column of names when it is shortened.
const leastHeading = 8

// leastWrapped is the least width of a column that wraps, unless its text is shorter.
const leastWrapped = 24

// fitted is the table in a width: its columns and their widths. Text wraps first, then columns are
// left out, then the longest names are shortened.
func (t Table) fitted(width int) (Table, []int) {
	widths := t.widths()
	if width <= 0 {
		return t, widths
	}
	for {
		if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Wrap }); i >= 0 {
			least := max(fit.Width(t.Columns[i].Title), leastWrapped)
			widths[i] = max(min(widths[i], least), widths[i]-max(0, total(widths)-width))
		}
		worst := slices.MaxFunc(t.Columns, func(a, b Column) int { return a.Drop - b.Drop })
		if total(widths) <= width || worst.Drop == 0 {
			break
		}
		t = t.Without(worst.Title)
		widths = t.widths()
	}
	if i := t.longest(widths); i >= 0 {
		over := max(0, total(widths)-width)
		widths[i] = min(widths[i], max(leastHeading, fit.Width(t.Columns[i].Title), widths[i]-over))
	}
	return t, widths
}

// longest returns the widest column of text that may be shortened; -1 if there is none.
func (t Table) longest(widths []int) int {
	found := -1
	for i, c := range t.Columns {
		if (c.Left || i == 0) && !c.Wrap && (found < 0 || widths[i] > widths[found]) {
			found = i
		}
	}
	return found
}

func total(widths []int) int {
	n := -gap
	for _, w := range widths {
		n += w + gap
	}
	return n
}

func (t Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = fit.Width(c.Title)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], fit.Width(row.cell(i).Text))
		}
	}
	return widths
}

// Text returns the table as lines of at most width cells where possible; 0 is unlimited.
func (t Table) Text(width int) string { return strings.Join(t.Lines(width, nil), "\n") + "\n" }

// Lines returns the lines of Text; paint gives a cell the look of its tone, nil: none.
func (t Table) Lines(width int, paint func(Tone, string) string) []string {
	if paint == nil {
		paint = func(_ Tone, s string) string { return s }
	}
	t, widths := t.fitted(width)
	head := Row{Cells: make([]Cell, len(t.Columns))}
	for i, c := range t.Columns {
		head.Cells[i] = Cell{Text: c.Title, Tone: Faint}
	}
	lines := t.lines(head, widths, paint)
	for _, row := range t.Rows {
		lines = append(lines, t.lines(row, widths, paint)...)
		for _, text := range row.Below {
			for _, line := range fit.Wrap(text, width-2*gap) {
				lines = append(lines, strings.Repeat(" ", 2*gap)+line)
			}
		}
	}
	return lines
}

// lines returns the lines of a row: one, or more if a cell wraps.
func (t Table) lines(row Row, widths []int, paint func(Tone, string) string) []string {
	texts, height := make([][]string, len(t.Columns)), 1
	for i, c := range t.Columns {
		text := row.cell(i).Text
		texts[i] = []string{fit.Cut(text, widths[i])}
		if c.Wrap {
			texts[i] = fit.Wrap(text, widths[i])
		}
		height = max(height, len(texts[i]))
	}
	lines := make([]string, height)
	for n := range lines {
		var b strings.Builder
		space := 0 // before the next text; none at the end of a line
		for i, c := range t.Columns {
			text := ""
			if n < len(texts[i]) {
				text = texts[i][n]
			}
			before, after := 0, widths[i]-fit.Width(text)
			if !c.Left && i > 0 {
				before, after = after, 0
			}
			if text != "" {
				b.WriteString(strings.Repeat(" ", max(0, space+before)) + paint(row.cell(i).Tone, text))
				space = 0
			} else {
				after += before
			}
			space += after + gap
		}
		lines[n] = b.String()
	}
	return lines
}

// Markdown returns the table in GitHub's Markdown. A table without rows is empty.
func (t Table) Markdown() string {
	if len(t.Rows) == 0 {
		return ""
	}
	var b strings.Builder
	rule := "\n|"
	for i, c := range t.Columns {
		b.WriteString("| " + Escape(c.Title) + " ")
		if rule += "---"; !c.Left && i > 0 {
			rule += ":"
		}
		rule += "|"
	}
	b.WriteString("|" + rule + "\n")
	for _, row := range t.Rows {
		for i := range t.Columns {
			c := row.cell(i)
			text := Escape(c.Text)
			if len(c.Small) > 0 {
				text += " (" + Escape(strings.Join(c.Small, ", ")) + ")"
			}
			if c.Tone == Strong && text != "" {
				text = "**" + text + "**"
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// Escape makes text plain in a table cell, a list item or a paragraph of Markdown: it forms no
// emphasis, link, code, formula or HTML, it begins no block, its addresses do not become links, its
// at signs mention no users, and its numbers no issues.
func Escape(s string) string {
	s = special.Replace(issue.ReplaceAllString(strings.TrimSpace(s), "${1}"+string(safe.ZeroWidth)+"${2}"))
	s = webAddress.ReplaceAllString(s, "${1}&#46;")
	return numberStart.ReplaceAllString(blockStart.ReplaceAllString(s, `\$0`), `$1\$2`)
}

var (
	special = strings.NewReplacer(
		`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `|`, `\|`, `~`, `\~`, `$`, `\$`,
		`<`, `&lt;`, `>`, `&gt;`, `&`, `&amp;`, "\u00a0", ` `,
		`://`, `&#58;//`, "@", "@"+string(safe.ZeroWidth), "\n", " ", "\r", " ",
	)
	issue       = regexp.MustCompile(`(?i)(#|\bGH-)([0-9])`)
	webAddress  = regexp.MustCompile(`(?i)\b(www)\.`)
	blockStart  = regexp.MustCompile(`^[-+#=]`) // starts a list, a heading or a rule
	numberStart = regexp.MustCompile(`^([0-9]+)([.)](?:\s|$))`)
)

// Colors and Shapes are the numbers of colors and shapes that the page has for marks.
const (
	Colors = 10
	Shapes = 6
)

// mostOfCard is the highest Drop of a column that a narrow page shows of each contender.
const mostOfCard = 2

// HTML returns the table as an HTML element with a class. Cells have the class of their tone, their
// value as data-value, and the title of their column as data-label, for narrow pages. A cell with a
// Share has a bar; a Mark gives the heading of a row a marker of class "m0" … and the row one of
// "k0" … for the color of marker and bars.
func (t Table) HTML(class string) string {
	var b strings.Builder
	b.WriteString(`<table class="` + html.EscapeString(class) + `"`)
	if t.Sort {
		b.WriteString(" data-sort")
	}
	b.WriteString("><thead><tr>")
	for i, c := range t.Columns {
		fmt.Fprintf(&b, `<th scope="col"%s>%s</th>`, attribute("class", c.class(t.bars(i))), html.EscapeString(c.Title))
	}
	b.WriteString("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		b.WriteString("<tr" + attribute("class", row.class()) + ">")
		for i, c := range t.Columns {
			writeCell(&b, row, c, row.cell(i), i == t.Heading)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	return b.String()
}

// bars reports whether cells of a column have bars.
func (t Table) bars(i int) bool {
	return slices.ContainsFunc(t.Rows, func(r Row) bool { return r.cell(i).Share != nil })
}

func (c Column) class(bars bool) string {
	var all []string
	if c.Left || bars {
		all = append(all, "left")
	}
	if c.Drop > 0 {
		all = append(all, "less") // narrow pages leave it out where rows are measures
	}
	if c.Drop > mostOfCard {
		all = append(all, "least") // and this one where they are contenders
	}
	return strings.Join(all, " ")
}

func (r Row) class() string {
	var all []string
	if r.Mark > 0 {
		all = append(all, "k"+strconv.Itoa((r.Mark-1)%Colors))
	}
	if len(r.Cells) > 1 && !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Tone != Faint && c.Tone != Bad }) {
		all = append(all, "pale")
	}
	return strings.Join(all, " ")
}

var tones = [...]string{Plain: "", Faint: "faint", Good: "good", Bad: "bad", Notice: "notice", Strong: "strong"}

func writeCell(b *strings.Builder, row Row, column Column, c Cell, heading bool) {
	element := "td"
	if heading {
		element = "th"
		b.WriteString(`<th scope="row"`)
	} else {
		b.WriteString("<td" + attribute("data-label", column.Title))
		if c.Sort != nil {
			b.WriteString(attribute("data-value", strconv.FormatFloat(*c.Sort, 'g', -1, 64)))
		}
	}
	class := column.class(c.Share != nil)
	if tone := tones[c.Tone]; tone != "" {
		class = strings.TrimSpace(class + " " + tone)
	}
	b.WriteString(attribute("class", class) + ">")
	if heading && row.Mark > 0 {
		fmt.Fprintf(b, `<i class="mark m%d"></i>`, (row.Mark-1)%Shapes)
	}
	text := html.EscapeString(c.Text)
	if c.Share != nil {
		share := min(1, max(0, *c.Share))
		fmt.Fprintf(b, `<span class="bar"><span>%s</span><u><i style="width:%.1f%%"></i></u></span>`, text, 100*share)
	} else {
		b.WriteString(text)
	}
	for _, small := range c.Small {
		b.WriteString("<small>" + html.EscapeString(small) + "</small>")
	}
	b.WriteString("</" + element + ">")
}

// attribute returns an attribute of an element; "" without a value.
func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + html.EscapeString(value) + `"`
}
