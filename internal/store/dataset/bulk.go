package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/locbench/locbench/internal/bench/units"
)

// readBulk reads documents as _bulk takes them, or the hits of a search as elasticdump writes them.
// It ends at the first mistake and reports it with file and line.
func readBulk(r io.Reader, file string) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		b := bulkReader{values: newValues(r)}
		for {
			doc, err := b.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Doc{}, fmt.Errorf("%s:%d: %w", file, b.line(), err))
				return
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// values reads the JSON values of a file one by one.
type values struct {
	from   io.Reader
	json   *json.Decoder
	broken bool  // the last value could not be read
	lines  int   // line ends read so far
	read   int64 // bytes read so far, of at most most
	most   int64
}

func newValues(r io.Reader) *values {
	v := &values{from: r, most: maxValue}
	v.json = json.NewDecoder(v)
	return v
}

// Read passes on what the file has, until a value is too long.
func (v *values) Read(b []byte) (int, error) {
	if v.read > v.most {
		return 0, fmt.Errorf("a value longer than the %d MiB allowed", maxValue>>20)
	}
	n, err := v.from.Read(b)
	v.read += int64(n)
	v.lines += bytes.Count(b[:n], []byte("\n"))
	return n, err
}

// scan reads the next value; io.EOF means that there is none.
func (v *values) scan() (value json.RawMessage, err error) {
	v.most = v.json.InputOffset() + maxValue
	err = v.json.Decode(&value)
	v.broken = err != nil
	return value, err
}

// line returns the line of the value that was read last, or could not be read.
func (v *values) line() int {
	rest, _ := io.ReadAll(v.json.Buffered())
	if v.broken {
		rest = bytes.TrimLeft(rest, " \t\r\n")
	}
	return 1 + v.lines - bytes.Count(rest, []byte("\n"))
}

type bulkReader struct {
	*values
	count int
	index *string // named by the actions or hits; nil before the first
}

// next reads an action and its document, or a hit.
func (b *bulkReader) next() (Doc, error) {
	value, err := b.scan()
	if err != nil {
		return Doc{}, err
	}
	a, err := parseAction(value)
	if err != nil {
		return Doc{}, err
	}
	if a.Index != nil {
		if b.index != nil && *b.index != *a.Index {
			return Doc{}, fmt.Errorf("index %q in this action, %q in an earlier one; use one file per index",
				*a.Index, *b.index)
		}
		b.index = a.Index
	}
	b.count++
	doc := Doc{ID: "document-" + strconv.Itoa(b.count), Routing: string(a.Routing), Source: a.source}
	if a.ID != nil {
		doc.ID = string(*a.ID)
	}
	if a.source == nil {
		if doc.Source, err = b.scan(); errors.Is(err, io.EOF) {
			return Doc{}, errors.New("the file ends after an action: its document is missing")
		}
	}
	switch {
	case err != nil:
		return Doc{}, err
	case doc.Source[0] != '{':
		return Doc{}, fmt.Errorf("the document is not a JSON object: %.40q", doc.Source)
	case bytes.IndexByte(doc.Source, '\n') >= 0: // _bulk takes one line
		var line bytes.Buffer
		err = json.Compact(&line, doc.Source)
		doc.Source = line.Bytes()
	}
	return doc, err
}

// action is what an action line, or a hit, says about its document.
type action struct {
	Index   *string `json:"_index"`
	Type    *string `json:"_type"` // of older dumps; Elasticsearch 7 has no types
	ID      *scalar `json:"_id"`
	Routing scalar  `json:"routing"`

	source json.RawMessage // of a hit
}

// maxID is Elasticsearch's bound, in bytes.
const maxID = 512

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
	if line[0] == '[' {
		return a, errors.New("an array; write one document after the other, such as jq -c '.[]' does")
	}
	if err := json.Unmarshal(line, &ops); err != nil {
		return a, fmt.Errorf("action: %w", err)
	}
	if isHit(ops) {
		return parseHit(ops)
	}
	if len(ops) != 1 {
		return a, fmt.Errorf(
			`action with %s: expected one action such as {"index":{"_id":"1"}}, or a hit with its "_source"`,
			units.Plural(len(ops), "key"))
	}
	for op, meta := range ops {
		if op != "index" && op != "create" {
			return a, fmt.Errorf("action %.40q: expected index or create", op)
		}
		d := json.NewDecoder(bytes.NewReader(meta))
		d.DisallowUnknownFields() // version and pipeline, for example, change what is stored
		if err := d.Decode(&a); err != nil {
			return a, fmt.Errorf("action: %w", err)
		}
	}
	return a, a.checkID("action")
}

// isHit reports whether a line is a hit of a search, which contains its document.
func isHit(line map[string]json.RawMessage) bool {
	return line["_source"] != nil || line["_id"] != nil || line["_index"] != nil
}

// parseHit reads a hit. Score and version are dropped; a parent is an error, since it would matter.
func parseHit(hit map[string]json.RawMessage) (a action, err error) {
	if a.source = hit["_source"]; a.source == nil {
		return a, errors.New(`hit: no "_source" (the document)`)
	}
	if hit["_parent"] != nil {
		return a, errors.New("hit: unexpected _parent, which Elasticsearch 7 does not support")
	}
	for key, to := range map[string]any{"_index": &a.Index, "_id": &a.ID, "_routing": &a.Routing} {
		if raw := hit[key]; raw != nil {
			err = errors.Join(err, json.Unmarshal(raw, to))
		}
	}
	if err != nil {
		return a, fmt.Errorf("hit: %w", err)
	}
	return a, a.checkID("hit")
}

func (a action) checkID(where string) error {
	if a.ID != nil && (*a.ID == "" || len(*a.ID) > maxID) {
		return fmt.Errorf("%s: _id of %d bytes: expected 1 to %d", where, len(*a.ID), maxID)
	}
	return nil
}
