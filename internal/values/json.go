package values

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"locbench/internal/text/jsonpath"
	"locbench/internal/text/safe"
)

// json reads the elements of a list, or values one after the other. Each is a row.
func (in *reader) json(text io.Reader, list bool) error {
	paths, err := in.paths()
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
		for i, p := range paths {
			value, err := in.scan(p, in.rows.columns[i], row, hint)
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

// paths returns the paths of the used columns. A name with blanks is a key.
func (in *reader) paths() (paths []jsonpath.Path, err error) {
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
		paths = append(paths, p)
	}
	return paths, nil
}

// scan returns the value of a column in a row. hint continues the error of a missing one.
func (in *reader) scan(p jsonpath.Path, name string, row []byte, hint string) ([]byte, error) {
	value, ok := p.Scan(row)
	what, column := "the value", safe.Line(name, 60)
	if name != "" {
		what = `"` + column + `"`
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("%s not found%s", what, hint)
	case p.Repeats(row):
		return nil, fmt.Errorf("%s is there twice; remove one", what)
	case !in.asText(name):
		return value, nil
	case string(value) == "null":
		return nil, fmt.Errorf("%s is null; remove the row, or write a value", what)
	case value[0] == '{' && name == "":
		return nil, fmt.Errorf("%s is an object, which only `:json` can send; write a `column`", what)
	case value[0] == '{':
		return nil, fmt.Errorf("%s is an object, which only `:json` can send; write a path to a value in it, such as `%s.name`", what, column)
	case value[0] == '[':
		return nil, fmt.Errorf("%s is a list, which only `:json` can send; write a path to a value in it, such as `%s[0]`", what, column)
	}
	return value, nil
}

// asText reports whether a column is sent as a text or a number somewhere.
func (in *reader) asText(name string) bool {
	for _, c := range in.used {
		if c.name == name && (c.use.Text || c.use.Number) {
			return true
		}
	}
	return false
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
	nested := first == '{' || first == '[' || first == '"'
	depth, quoted, escaped := 0, false, false
	for {
		c, err := v.from.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !nested && len(v.buf) > 0 && strings.IndexByte(",:]}[{\" \t\r\n", c) >= 0 {
			return v.from.UnreadByte()
		}
		if v.buf = append(v.buf, c); len(v.buf) > maxRowLine {
			return errLong
		}
		switch {
		case c == '\n':
			v.line++
			escaped = false
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if nested && depth <= 0 && !quoted {
			return nil
		}
	}
}
