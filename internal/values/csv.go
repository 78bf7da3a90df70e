package values

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// separators of columns, in the order in which they are tried.
var separators = []rune{',', ';', '\t'}

// csv reads rows below a first row with the names of the columns.
func (in *reader) csv(text io.Reader) error {
	b := bufio.NewReaderSize(&shortRows{from: text, row: 1}, maxRowLine+1)
	first, err := b.Peek(maxRowLine + 1) // the first row, at least: a longer one is an error
	if err != nil && !errors.Is(err, io.EOF) {
		return in.syntax(err)
	}
	separator, at, err := in.columns(first)
	if err != nil {
		return err
	}
	c := csv.NewReader(b)
	c.Comma, c.ReuseRecord = separator, true
	names, err := c.Read()
	if err != nil {
		return in.syntax(err)
	}
	width := len(names)
	c.FieldsPerRecord = -1
	for in.rows.Len() < in.limit {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return in.syntax(err)
		}
		line, _ := c.FieldPos(0)
		if !slices.ContainsFunc(record, notBlank) {
			continue // as spreadsheets leave them at the end
		}
		if len(record) < width || slices.ContainsFunc(record[width:], notBlank) {
			return in.wrong(line, "%v: %d, and %d columns", csv.ErrFieldCount, len(record), width)
		}
		for i, column := range at {
			if !notBlank(record[column]) {
				return in.wrong(line, "no value in column %q; remove the row, or write a value; an empty text is possible in JSON",
					safe.Line(in.rows.columns[i], 60))
			}
			in.text = append(in.text[:0], record[column]...)
			if err := in.add(line, i, in.text); err != nil {
				return err
			}
		}
		in.endRow()
	}
	return nil
}

func notBlank(cell string) bool { return strings.TrimSpace(cell) != "" }

// columns finds the used columns in the first row. Its separator is the first one that leads to all
// of them.
func (in *reader) columns(first []byte) (separator rune, at []int, err error) {
	var names []string // by the separator that leads to the most
	var wrong error    // of the first separator
	for _, separator = range separators {
		c := csv.NewReader(bytes.NewReader(first))
		c.Comma = separator
		head, err := c.Read()
		if err != nil {
			wrong = cmp.Or(wrong, err)
			continue
		}
		at = at[:0]
		for _, name := range in.rows.columns {
			if i := slices.Index(head, name); i >= 0 {
				at = append(at, i)
			}
		}
		if len(at) == len(in.rows.columns) {
			return separator, at, in.once(head, at)
		}
		if len(head) > len(names) {
			names = head
		}
	}
	if names == nil {
		return 0, nil, in.syntax(wrong)
	}
	for _, name := range in.rows.columns {
		if !slices.Contains(names, name) {
			return 0, nil, in.wrong(1, "no column %q%s", safe.Line(name, 60), columnsOf(name, names))
		}
	}
	return 0, nil, in.wrong(1, "columns are separated in different ways; write commas")
}

// once reports a used column whose name another column has too.
func (in *reader) once(head []string, at []int) error {
	for _, i := range at {
		n := 0
		for _, name := range head {
			if name == head[i] {
				n++
			}
		}
		if n > 1 {
			return in.wrong(1, "%d columns have the name %q; rename one", n, safe.Line(head[i], 60))
		}
	}
	return nil
}

// syntax returns an error of the library, with its line.
func (in *reader) syntax(err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return in.wrong(parse.Line, "%v", parse.Err)
	}
	if errors.Is(err, io.EOF) {
		return in.wrong(1, "empty file: the first line must have the names of the columns")
	}
	return in.unread(err)
}

// columnsOf continues the error of a missing column with what to do. A first line that has no names
// of columns is not quoted: the file may be one of secrets.
func columnsOf(name string, head []string) string {
	for _, column := range head {
		if strings.Contains(column, "\x00") {
			return "; if the file is UTF-16, save it as UTF-8"
		}
		if strings.Contains(column, "\r") {
			return "; its lines end with CR only; save it with line feeds"
		}
		if len(column) > 60 || strings.ContainsAny(column, ":={}[]()/\\$") {
			return "; its first line does not look like names of columns, separated by commas"
		}
	}
	for _, column := range head {
		if strings.TrimSpace(column) == name {
			return fmt.Sprintf(", but %q with blanks; remove the blanks around commas, which are part of values", safe.Line(column, 60))
		}
	}
	return "; " + safe.Line(strictyaml.Suggest(name, "columns", head), 300)
}

// longRowError says that a row has more than maxRowLine bytes.
type longRowError struct{ row int }

func (e *longRowError) Error() string {
	return fmt.Sprintf("row %d is longer than 1 MiB; check that each row ends with a line break and each quote is closed", e.row)
}

// shortRows reads CSV and fails in a row of more than maxRowLine bytes, before the CSV reader keeps
// it. A line break within quotes does not end a row.
type shortRows struct {
	from   io.Reader
	row    int
	length int
	quoted bool
}

func (s *shortRows) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	for _, c := range p[:n] {
		if s.length++; s.length > maxRowLine {
			return 0, &longRowError{s.row}
		}
		switch {
		case c == '"':
			s.quoted = !s.quoted
		case c == '\n' && !s.quoted:
			s.row, s.length = s.row+1, 0
		}
	}
	return n, err
}
