package safe

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Table writes CSV for spreadsheets: all tables of locbench go through it. A spreadsheet takes a cell
// that begins like a formula for one, and what it says may be of somebody else's making.
type Table struct{ out *csv.Writer }

// NewTable writes to w. Flush it after the last row.
func NewTable(w io.Writer) Table { return Table{csv.NewWriter(w)} }

// Write writes a row: of nil an empty cell, of a number its shortest exact form, and of text the text,
// with an apostrophe before what a spreadsheet would take for a formula.
func (t Table) Write(cells ...any) error {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = cell(c)
	}
	return t.out.Write(row)
}

// Flush writes what is kept back, and returns the first error that there was.
func (t Table) Flush() error {
	t.out.Flush()
	return t.out.Error()
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case int, int64, uint64, uint16, bool:
		return fmt.Sprint(v)
	}
	return Cell(fmt.Sprint(v))
}

// Cell returns text as Table writes it, for what is written to a table of somebody else.
func Cell(text string) string {
	// The wide forms are what some keyboards of East Asia write, and spreadsheets read.
	if first := strings.TrimLeft(text, " \n"); first != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(first)[0]) {
		return "'" + text
	}
	return text
}
