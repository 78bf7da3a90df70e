package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
)

// openText opens a file that may be compressed by gzip, whatever its name is.
func openText(path string) (io.ReadCloser, error) {
	f, err := safe.Open(path)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(f)
	if magic, _ := r.Peek(2); string(magic) != "\x1f\x8b" {
		return text{r, f}, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return text{z, f}, nil
}

type text struct {
	io.Reader
	io.Closer
}

// values reads the values of a file one by one: its lines, or the elements of its only array. No
// value is longer than maxLine.
type values struct {
	lines *bufio.Scanner
	line  int // first line of the last value, from 1
	count int // elements so far

	where   where
	ends    int // line ends before the data that is not split yet
	partial partial
}

// where is what was read last; the zero value is the beginning of the file.
type where int

const (
	unknown  where = iota
	inLines        // in a file of lines
	opened         // after the array's beginning
	element        // after an element
	comma          // after a comma
	finished       // after the array's end
)

func newValues(r io.Reader) *values {
	v := &values{lines: bufio.NewScanner(r)}
	v.lines.Buffer(make([]byte, 0, 1<<20), maxLine)
	v.lines.Split(v.split)
	return v
}

// scan reads the next value; io.EOF means that there is none.
func (v *values) scan() ([]byte, error) {
	if v.where <= inLines {
		v.line++
	}
	if v.lines.Scan() {
		v.count++
		return v.lines.Bytes(), nil
	}
	err := v.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("line longer than the %d MiB allowed", maxLine>>20)
	}
	return nil, cmp.Or(err, io.EOF)
}

// place names the last value that was read.
func (v *values) place() string {
	if v.where > inLines {
		return "element-" + strconv.Itoa(v.count)
	}
	return "line-" + strconv.Itoa(v.line)
}

const space = " \t\r\n"

var errUnended = errors.New("the array does not end")

// split is a bufio.SplitFunc. It advances as far as it can: it is not called again at the end.
func (v *values) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	at := 0
	switch v.where {
	case unknown:
		at = blanks(data)
		v.line += bytes.Count(data[:at], []byte("\n"))
		if at == len(data) {
			return v.pass(data, at), nil, nil
		}
		if data[at] != '[' {
			v.where = inLines
			advance, token, err = bufio.ScanLines(data[at:], atEOF)
			return at + advance, token, err
		}
		v.where = opened
		at++
	case inLines:
		return bufio.ScanLines(data, atEOF)
	}
	for {
		at += blanks(data[at:])
		v.line = 1 + v.ends + bytes.Count(data[:at], []byte("\n"))
		if at == len(data) {
			if atEOF && v.where != finished {
				return 0, nil, errUnended
			}
			return v.pass(data, at), nil, nil
		}
		switch c := data[at]; {
		case v.where == finished:
			return 0, nil, errors.New("unexpected data after the end of the array")
		case c == ']' && v.where != comma:
			v.where = finished
		case c == ',' && v.where == element:
			v.where = comma
		case c == ',' || c == ']' || c == '}' || v.where == element:
			return 0, nil, fmt.Errorf("array: unexpected %q", c)
		default:
			size := v.partial.value(data[at:])
			switch {
			case size > 0:
				v.where = element
				return v.pass(data, at+size), data[at : at+size], nil
			case atEOF:
				return 0, nil, errUnended
			}
			return v.pass(data, at), nil, nil
		}
		at++
	}
}

// blanks returns the number of bytes of white space that data begins with.
func blanks(data []byte) int { return len(data) - len(bytes.TrimLeft(data, space)) }

// pass counts the line ends in the data that split advances over.
func (v *values) pass(data []byte, n int) int {
	v.ends += bytes.Count(data[:n], []byte("\n"))
	return n
}

// partial is a value whose beginning has already been scanned.
type partial struct {
	size, depth int
	quoted      bool
}

// value returns the length of the JSON value that data begins with, or 0 if the value does not end
// in data. Called again with more of the same data, it continues where it stopped. It does not
// check that the value is valid.
func (p *partial) value(data []byte) int {
	for ; p.size < len(data); p.size++ {
		c, end := data[p.size], -1
		switch {
		case p.quoted && c == '\\':
			p.size++
		case c == '"':
			p.quoted = !p.quoted
		case p.quoted:
		case c == '{' || c == '[':
			p.depth++
		case p.depth == 0 && (c == ',' || c == ']' || c == '}' || strings.IndexByte(space, c) >= 0):
			end = p.size // of a number, a word or a text
		case c == '}' || c == ']':
			if p.depth--; p.depth == 0 {
				end = p.size + 1
			}
		}
		if end >= 0 {
			*p = partial{}
			return end
		}
	}
	return 0
}
