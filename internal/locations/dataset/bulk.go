package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
)

// bulkDoc is a document with the place that it was read from.
type bulkDoc struct {
	Doc
	file string
	line int // of the source
}

// check tells whether the source is a JSON object.
func (d *bulkDoc) check() error {
	if json.Valid(d.Source) && bytes.TrimLeft(d.Source, " \t")[0] == '{' {
		return nil
	}
	var any map[string]json.RawMessage
	err := json.Unmarshal(d.Source, &any)
	if err == nil {
		err = errors.New("null")
	}
	return fmt.Errorf("%s:%d: the document is no JSON object: %w", d.file, d.line, err)
}

// readBulk reads documents as _bulk takes them. It ends at the first mistake, which it tells with
// file and line. Sources are not looked into.
func readBulk(r io.Reader, file string) iter.Seq2[bulkDoc, error] {
	return func(yield func(bulkDoc, error) bool) {
		b := bulkReader{lines: bufio.NewScanner(r)}
		b.lines.Buffer(make([]byte, 0, 1<<20), maxLine)
		for {
			doc, err := b.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(bulkDoc{}, fmt.Errorf("%s:%d: %w", file, b.line, err))
				return
			}
			if !yield(bulkDoc{doc, file, b.line}, nil) {
				return
			}
		}
	}
}

type bulkReader struct {
	lines *bufio.Scanner
	line  int     // the one read last, from 1
	index *string // that the actions name; nil so far
}

// scan reads a line; io.EOF when there is none.
func (b *bulkReader) scan() ([]byte, error) {
	b.line++
	if b.lines.Scan() {
		return b.lines.Bytes(), nil
	}
	err := b.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("line longer than %d MiB", maxLine>>20)
	}
	return nil, cmp.Or(err, io.EOF)
}

// next reads an action and its document. Blank lines before an action or at the end do no harm.
func (b *bulkReader) next() (Doc, error) {
	line, err := b.scan()
	for err == nil && len(bytes.TrimSpace(line)) == 0 {
		line, err = b.scan()
	}
	if err != nil {
		return Doc{}, err
	}
	a, err := parseAction(line)
	if err != nil {
		return Doc{}, err
	}
	if a.Index != nil {
		if b.index != nil && *b.index != *a.Index {
			return Doc{}, fmt.Errorf("the action is for index %q, an earlier one for %q; a file holds one index", *a.Index, *b.index)
		}
		b.index = a.Index
	}
	doc := Doc{ID: "line-" + strconv.Itoa(b.line), Routing: string(a.Routing)}
	if a.ID != nil {
		doc.ID = string(*a.ID)
	}
	doc.Source, err = b.scan()
	if errors.Is(err, io.EOF) {
		return Doc{}, errors.New("the file ends after an action, without its document")
	}
	if err == nil && len(bytes.TrimSpace(doc.Source)) == 0 {
		err = errors.New("empty line instead of a document")
	}
	return doc, err
}

// action is what an action line says of its document.
type action struct {
	Index   *string `json:"_index"`
	Type    *string `json:"_type"` // of older dumps; there are no types any more
	ID      *scalar `json:"_id"`
	Routing scalar  `json:"routing"`
}

// scalar is a string, or a number taken as one, as Elasticsearch takes ids.
type scalar string

func (s *scalar) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(s))
	}
	var n json.Number
	if err := json.Unmarshal(data, &n); err != nil {
		return errors.New("an id or routing must be a string or a number")
	}
	*s = scalar(n)
	return nil
}

func parseAction(line []byte) (a action, err error) {
	var ops map[string]json.RawMessage
	if err := json.Unmarshal(line, &ops); err != nil {
		return a, fmt.Errorf("action line: %w", err)
	}
	if len(ops) != 1 {
		return a, fmt.Errorf(`action line: want one action such as {"index":{"_id":"1"}}, got %d`, len(ops))
	}
	for op, meta := range ops {
		if op != "index" && op != "create" {
			return a, fmt.Errorf("action %.40q: only index and create are loaded", op)
		}
		d := json.NewDecoder(bytes.NewReader(meta))
		d.DisallowUnknownFields() // version, pipeline and the like change what is stored; dropping them silently would be wrong
		if err := d.Decode(&a); err != nil {
			return a, fmt.Errorf("action line: %w", err)
		}
		if a.ID != nil && (*a.ID == "" || len(*a.ID) > maxID) {
			return a, fmt.Errorf("action line: _id of %d bytes; want 1 to %d", len(*a.ID), maxID)
		}
	}
	return a, nil
}

// maxID is Elasticsearch's own bound.
const maxID = 512
