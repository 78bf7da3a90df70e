package values

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
)

// json reads the elements of a list, or values one after the other. Each is a row.
func (in *reader) json(text io.Reader, list bool) error {
	columns, err := in.jsonColumns()
	if err != nil {
		return err
	}
	v := &jsonValues{from: bufio.NewReaderSize(text, 64<<10), line: 1}
	if c, err := v.next(); list && err == nil && c == '[' {
		v.within = true
		v.skip()
	}
	hint := ""
	if list && !v.within {
		hint = "; write a list of rows, such as [{…}, {…}], or one object per line"
	}
	for n := 1; in.rows.Len() < in.limit; n++ {
		row, err := v.value()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLong):
			return in.unread(&longRowError{n})
		case errors.Is(err, errJSON):
			return in.wrong(v.at, "%v", err)
		case err != nil:
			return in.unread(err)
		}
		for i, c := range columns {
			value, err := c.scan(row, hint)
			if err != nil {
				return in.wrong(v.at, "%v", err)
			}
			in.text = jsonpath.Text(in.text[:0], value)
			if err := in.add(v.at, i, in.text); err != nil {
				return err
			}
		}
		in.endRow()
	}
	return nil
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

// The errors of a file of JSON.
var (
	errLong = errors.New("too long")
	errJSON = errors.New("not JSON")
)

// jsonValues reads JSON values one by one. Each has at most maxRowLine bytes.
type jsonValues struct {
	from   *bufio.Reader
	line   int  // of the next byte
	at     int  // line of the last value
	within bool // the values are elements of a list
	read   int  // values
	buf    []byte
}

// next returns the next byte that is not blank, without reading it.
func (v *jsonValues) next() (byte, error) {
	for {
		c, err := v.from.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '\n':
			v.line++
		case c != ' ' && c != '\t' && c != '\r':
			return c, v.from.UnreadByte()
		}
	}
}

// skip reads a byte that next has returned.
func (v *jsonValues) skip() { _, _ = v.from.ReadByte() }

// value returns the next value, which is valid until the next call, or io.EOF.
func (v *jsonValues) value() ([]byte, error) {
	c, err := v.next()
	v.at = v.line
	if err == nil && v.within {
		switch {
		case c == ']':
			v.skip()
			if _, err = v.next(); err == nil {
				v.at = v.line
				return nil, fmt.Errorf("%w: more text after the list", errJSON)
			}
			v.within = false
		case v.read > 0 && c != ',':
			return nil, fmt.Errorf("%w: no comma between the elements", errJSON)
		case v.read > 0:
			v.skip()
			c, err = v.next()
			v.at = v.line
		}
	}
	if errors.Is(err, io.EOF) && v.within {
		return nil, fmt.Errorf("%w: the list does not end", errJSON)
	}
	if err != nil {
		return nil, err
	}
	v.read++
	if err := v.fill(c); err != nil {
		return nil, err
	}
	switch {
	case json.Valid(v.buf):
		return v.buf, nil
	case v.within:
		return nil, errJSON
	}
	return nil, fmt.Errorf("%w: write one object per line", errJSON)
}

// fill reads a value that begins with first, as far as its quotes, braces and brackets say.
func (v *jsonValues) fill(first byte) error {
	v.buf = v.buf[:0]
	e := valueEnd{nested: first == '{' || first == '[' || first == '"'}
	for {
		if _, err := v.from.Peek(1); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		chunk, _ := v.from.Peek(v.from.Buffered())
		n, ended := e.find(chunk)
		v.buf = append(v.buf, chunk[:n]...)
		v.line += bytes.Count(chunk[:n], []byte("\n"))
		_, _ = v.from.Discard(n) // they have been read
		if len(v.buf) > maxRowLine {
			return errLong
		}
		if ended {
			return nil
		}
	}
}

// valueEnd finds the end of a JSON value.
type valueEnd struct {
	nested          bool // it begins with a quote, a brace or a bracket
	depth           int
	quoted, escaped bool
	begun           bool
}

// find returns the length of the part of the value in text, and whether the value ends there.
func (e *valueEnd) find(text []byte) (n int, ended bool) {
	for i, c := range text {
		switch {
		case e.escaped:
			e.escaped = false
		case e.quoted:
			e.escaped, e.quoted = c == '\\', c != '"'
		case !e.nested && e.begun && strings.IndexByte(",:]}[{\" \t\r\n", c) >= 0:
			return i, true
		case c == '"':
			e.quoted = true
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			e.depth--
		}
		if e.begun = true; e.nested && e.depth <= 0 && !e.quoted {
			return i + 1, true
		}
	}
	return len(text), false
}
