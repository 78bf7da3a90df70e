package table

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
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
