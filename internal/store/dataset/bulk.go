package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/locbench/locbench/internal/bench/units"
)

// checkSource returns an error unless a source is a JSON object.
func checkSource(source []byte) error {
	if json.Valid(source) && bytes.TrimLeft(source, " \t")[0] == '{' {
		return nil
	}
	var any map[string]json.RawMessage
	err := json.Unmarshal(source, &any)
	if err == nil {
		err = errors.New("null")
	}
	return fmt.Errorf("the document is not a JSON object: %w", err)
}

// readBulk reads documents as _bulk takes them, or the hits of a search as elasticdump writes them,
// one per line or in one array. It ends at the first mistake and reports it with file and line.
func readBulk(r io.Reader, file string) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		b := bulkReader{values: newValues(r)}
		for {
			doc, err := b.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				err = checkSource(doc.Source)
			}
			if err != nil {
				yield(Doc{}, fmt.Errorf("%s:%d: %w", file, b.line, err))
				return
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}

type bulkReader struct {
	*values
	index *string // named by the actions or hits; nil before the first
}

// next reads an action and its document, or a hit. It skips blank lines before one and at the end.
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
			return Doc{}, fmt.Errorf("index %q in this action, %q in an earlier one; use one file per index",
				*a.Index, *b.index)
		}
		b.index = a.Index
	}
	doc := Doc{ID: b.place(), Routing: string(a.Routing), Source: a.source}
	if a.ID != nil {
		doc.ID = string(*a.ID)
	}
	if a.source == nil {
		doc.Source, err = b.scan()
	}
	if errors.Is(err, io.EOF) {
		return Doc{}, errors.New("the file ends after an action: its document is missing")
	}
	if err == nil && len(bytes.TrimSpace(doc.Source)) == 0 {
		err = errors.New("empty line: expected a document")
	}
	if err == nil && bytes.IndexByte(doc.Source, '\n') >= 0 { // _bulk takes one line
		var line bytes.Buffer
		if err = json.Compact(&line, doc.Source); err == nil {
			doc.Source = line.Bytes()
		}
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
	if isHit(ops) {
		return parseHit(ops)
	}
	if len(ops) != 1 {
		return a, fmt.Errorf(
			`action line with %s: expected one action such as {"index":{"_id":"1"}}, or a hit with its "_source"`,
			units.Plural(len(ops), "key"))
	}
	for op, meta := range ops {
		if op != "index" && op != "create" {
			return a, fmt.Errorf("action %.40q: expected index or create", op)
		}
		d := json.NewDecoder(bytes.NewReader(meta))
		d.DisallowUnknownFields() // version and pipeline, for example, change what is stored
		if err := d.Decode(&a); err != nil {
			return a, fmt.Errorf("action line: %w", err)
		}
	}
	return a, a.checkID("action line")
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

// maxID is Elasticsearch's bound, in bytes.
const maxID = 512
