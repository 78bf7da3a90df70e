package values

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
)

// json reads the elements of a list, or values one after the other. Each is a row.
func (in *reader) json(text *bufio.Reader, list bool) error {
	columns, err := in.jsonColumns()
	if err != nil {
		return err
	}
	head, _ := text.Peek(text.Size()) // what is wrong with the file is wrong in the next Read, too
	lines := &shortValues{from: text, row: 1, line: 1}
	d, hint, remedy := json.NewDecoder(lines), "", "; write one object per line"
	if list = list && bytes.HasPrefix(bytes.TrimLeft(head, jsonBlanks), []byte("[")); list {
		_, _ = d.Token() // the bracket
		remedy = ""
	} else if jsonExt(in.file) == ".json" {
		hint = "; write a list of rows, such as [{…}, {…}], or one object per line"
	}
	var row json.RawMessage
	for in.rows.Len() < in.limit && (!list || d.More()) {
		if err := d.Decode(&row); errors.Is(err, io.EOF) && !list {
			return nil
		} else if err != nil {
			return in.notJSON(err, lines.at(d), remedy)
		}
		line := lines.next(d.InputOffset(), len(row))
		if len(row) > maxRowLine {
			return in.unread(&longRowError{in.rows.Len() + 1})
		}
		for i, c := range columns {
			value, err := c.scan(row, hint)
			if err != nil {
				return in.wrong(line, "%v", err)
			}
			in.text = jsonpath.Text(in.text[:0], value)
			if err := in.add(line, i, in.text); err != nil {
				return err
			}
		}
		in.endRow()
	}
	if !list || in.rows.Len() >= in.limit {
		return nil
	}
	if _, err := d.Token(); err != nil {
		return in.notJSON(err, lines.at(d), ": the list does not end")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in.wrong(lines.at(d), "not JSON: more text after the list")
	}
	return nil
}

// notJSON returns the error of a decoder in a line, and what to write.
func (in *reader) notJSON(err error, line int, remedy string) error {
	_, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case isSyntax:
		return in.wrong(line, "not JSON: %v%s", err, remedy)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return in.wrong(line, "not JSON%s", cmp.Or(remedy, ": the list does not end"))
	}
	return in.unread(err)
}

// jsonColumn is a used column.
type jsonColumn struct {
	name   string
	path   jsonpath.Path
	keys   [][]byte // of the path, in quotes
	asText bool     // it is sent as a text or a number somewhere
}

// jsonColumns returns the used columns. A name with blanks is a key.
func (in *reader) jsonColumns() (all []jsonColumn, err error) {
	for _, name := range in.rows.columns {
		path := name
		if name == "" {
			path = "$"
		}
		p, err := jsonpath.Parse(path)
		if err != nil && !strings.ContainsAny(name, `"[]`) {
			p, err = jsonpath.Parse(`["` + strings.ReplaceAll(name, ".", `"]["`) + `"]`)
		}
		if err != nil {
			return nil, in.wrong(1, "column %q: %v", safe.Line(name, 60), err)
		}
		c := jsonColumn{name: name, path: p}
		for _, key := range p.Keys() {
			c.keys = append(c.keys, []byte(`"`+key+`"`))
		}
		for _, u := range in.used {
			c.asText = c.asText || u.name == name && (u.use.Text || u.use.Number)
		}
		all = append(all, c)
	}
	return all, nil
}

// scan returns the value of the column in a row. hint continues the error of a missing one.
func (c *jsonColumn) scan(row []byte, hint string) ([]byte, error) {
	value, ok := c.path.Scan(row)
	if ok && !c.repeated(row) && (!c.asText || value[0] != '{' && value[0] != '[' && string(value) != "null") {
		return value, nil
	}
	what, column := "the value", safe.Line(c.name, 60)
	if c.name != "" {
		what = `"` + column + `"`
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("%s not found%s", what, hint)
	case c.repeated(row):
		return nil, fmt.Errorf("%s is there twice; remove one", what)
	case string(value) == "null":
		return nil, fmt.Errorf("%s is null; remove the row, or write a value", what)
	case value[0] == '{' && c.name == "":
		return nil, fmt.Errorf("%s is an object, which only `:json` can send; write a `column`", what)
	case value[0] == '{':
		return nil, fmt.Errorf("%s is an object, which only `:json` can send; write a path to a value in it, such as `%s.name`", what, column)
	case c.name == "":
		return nil, fmt.Errorf("%s is a list, which only `:json` can send; write a `column`, such as `column: \"[0]\"`", what)
	}
	return nil, fmt.Errorf("%s is a list, which only `:json` can send; write a path to a value in it, such as `%s[0]`", what, column)
}

// repeated reports whether the row repeats a key on the path, which few rows can.
func (c *jsonColumn) repeated(row []byte) bool {
	may := bytes.IndexByte(row, '\\') >= 0
	for _, key := range c.keys {
		may = may || bytes.Count(row, key) > 1
	}
	return may && c.path.Repeats(row, 0)
}

const jsonBlanks = " \t\r\n"

// shortValues reads JSON for a decoder, and fails in a value of more than maxRowLine bytes before the
// decoder keeps it.
type shortValues struct {
	from   io.Reader
	read   int64
	begun  int64 // where the last value ended
	row    int
	line   int     // of the last value
	breaks []int64 // where the lines after it begin
}

func (s *shortValues) Read(p []byte) (int, error) {
	if s.read-s.begun > maxRowLine {
		return 0, &longRowError{s.row}
	}
	n, err := s.from.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			s.breaks = append(s.breaks, s.read+int64(i)+1)
		}
	}
	s.read += int64(n)
	return n, err
}

// next returns the line of a value that ended at an offset.
func (s *shortValues) next(end int64, length int) int {
	s.begun, s.row = end, s.row+1
	return s.lineAt(end - int64(length))
}

// at returns the line where a decoder has stopped, without blanks before it.
func (s *shortValues) at(d *json.Decoder) int {
	rest, _ := io.ReadAll(d.Buffered())
	return s.lineAt(d.InputOffset() + int64(len(rest)-len(bytes.TrimLeft(rest, jsonBlanks))))
}

func (s *shortValues) lineAt(offset int64) int {
	for len(s.breaks) > 0 && s.breaks[0] <= offset {
		s.line, s.breaks = s.line+1, s.breaks[1:]
	}
	return s.line
}
