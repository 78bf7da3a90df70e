package plain

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/safe"
)

// fit leaves columns out, in the order of the headings in expendable, until the rest fits into
// width; a width of 0 or less is unlimited.
func fit(rows [][]string, width int, expendable ...string) [][]string {
	for _, title := range expendable {
		if width <= 0 || rowWidth(rows) <= width {
			break
		}
		if column := slices.Index(rows[0], title); column >= 0 {
			for i, row := range rows {
				rows[i] = slices.Delete(row, column, column+1)
			}
		}
	}
	return rows
}

// rowWidth returns the width of a row in characters, with two spaces between columns.
func rowWidth(rows [][]string) int {
	n := -2
	for _, w := range columnWidths(rows) {
		n += w + 2
	}
	return n
}

func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// How cells are aligned in their columns.
const leftAligned, rightAligned = -1, 1

// inColumns returns rows as lines: the first column left-aligned, the others as align says.
func inColumns(rows [][]string, indent string, align int) string {
	var b strings.Builder
	widths := columnWidths(rows)
	for _, row := range rows {
		fmt.Fprintf(&b, "%s%-*s", indent, widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(&b, "  %*s", align*widths[i+1], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// stepLine returns a line of the table that grows while a trial runs. A narrow line, for terminals
// of 80 columns, leaves out columns that the final table has.
func stepLine(narrow bool, name string, text func(measure.Shown) string) string {
	width := 26
	if narrow {
		width = 22
	}
	line := fmt.Sprintf("%-*s", width, name)
	for _, col := range measure.View(measure.TextLive) {
		if !narrow || col.Drop == 0 {
			line += fmt.Sprintf(" %*s", liveWidth(col), text(col))
		}
	}
	return line
}

// liveWidth returns the width of a column before its values are known.
func liveWidth(col measure.Shown) int {
	if col.Unit == measure.PerSecond {
		return 9
	}
	return max(8, utf8.RuneCountInString(col.Head)+1)
}

func stepHeader(narrow bool) string {
	return stepLine(narrow, "step", func(col measure.Shown) string { return col.Head })
}

func stepRow(r bench.StepResult, narrow bool) string {
	return stepLine(narrow, safe.Line(r.Step.Title(), 40), func(col measure.Shown) string {
		if t, ok := r.Throttling(); ok && col.ID == measure.Throttled {
			if t.Periods == 0 {
				return "0"
			}
			return fmt.Sprintf("%d/%d", t.Throttled, t.Periods)
		}
		v, ok := col.Of(r)
		return cell(col.Measure, measure.Result{Known: ok, Value: v})
	})
}

// leastLabel is the least length of a shortened label, in characters.
const leastLabel = 8

// shorten cuts the labels in the first column until rows fit into width; 0 or less is unlimited.
func shorten(rows [][]string, width int) [][]string {
	over := rowWidth(rows) - width
	if width <= 0 || over <= 0 {
		return rows
	}
	room := max(leastLabel, utf8.RuneCountInString(rows[0][0]), columnWidths(rows)[0]-over)
	for _, row := range rows[1:] {
		if utf8.RuneCountInString(row[0]) > room {
			row[0] = string([]rune(row[0])[:room-1]) + "…"
		}
	}
	return rows
}

// wrap breaks text at spaces into lines of at most width characters where possible, and indents the
// second and later lines by two; a width of 0 or less is unlimited.
func wrap(text string, width int) string {
	words := strings.Split(text, " ")
	lines := []string{words[0]}
	for _, word := range words[1:] {
		last := &lines[len(lines)-1]
		if longer := *last + " " + word; width <= 0 || utf8.RuneCountInString(longer) <= width {
			*last = longer
		} else {
			lines = append(lines, "  "+word)
		}
	}
	return strings.Join(lines, "\n")
}
