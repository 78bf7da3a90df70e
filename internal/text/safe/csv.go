package safe

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// CSV writes tables for spreadsheets; all tables of locbench go through it. A spreadsheet runs a
// cell that begins like a formula, and its text may come from outside.
type CSV struct{ out *csv.Writer }

// NewCSV returns a CSV that writes to w. Flush it after the last row.
func NewCSV(w io.Writer) CSV { return CSV{csv.NewWriter(w)} }

// Write writes a row: nil as an empty cell, a number in its shortest exact form, and text
// unchanged, but with an apostrophe before text that a spreadsheet would run as a formula.
func (t CSV) Write(cells ...any) error {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = cell(c)
	}
	return t.out.Write(row)
}

// Flush writes the buffered rows and returns the first error.
func (t CSV) Flush() error {
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

// Cell returns text in the form that CSV writes, for other writers of tables.
func Cell(text string) string {
	// Spreadsheets also read the wide forms, which some East Asian keyboards write.
	if first := strings.TrimLeft(text, " \n"); first != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(first)[0]) {
		return "'" + text
	}
	return text
}
