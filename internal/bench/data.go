package bench

import (
	"context"
	"encoding/json"
	"iter"
)

// Document is one document of a data set, in the form of a bulk request.
type Document struct {
	ID      string
	Routing string // "" unless a dump sets it
	Source  []byte // JSON on one line; valid only until the next document
}

// AppendAction appends the line before the document in a bulk request: {"create":{"_id":"1"}}.
func (d *Document) AppendAction(b []byte, op string) []byte {
	b = append(b, `{"`...)
	b = append(b, op...)
	b = append(b, `":{"_id":`...)
	b = appendJSONString(b, d.ID)
	if d.Routing != "" {
		b = append(b, `,"routing":`...)
		b = appendJSONString(b, d.Routing)
	}
	return append(b, "}}\n"...)
}

func appendJSONString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // does not fail for a string
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// Index is one index of a data set.
type Index struct {
	Name    string // the alias that contenders use
	Mapping []byte // JSON body of PUT /<index>: mappings, and settings nested below "index"
	Count   int64  // documents
}

// DataSet is the content of a need. Its methods are safe for concurrent use.
type DataSet interface {
	// Info describes the set. Its hash changes when a document or a mapping changes.
	Info() DataInfo
	// Indices returns the indices in the order in which to fill them.
	Indices() []Index
	// Documents streams the documents of one index, always in the same order, up to the first error.
	// Each is a valid JSON object.
	Documents(index string) iter.Seq2[Document, error]
	// IDs returns the values of {id}, in the order of Documents.
	IDs(ctx context.Context) ([]int64, error)
}
