package bench

import (
	"context"
	"encoding/json"
	"iter"
)

// Document is one document of a data set, as a bulk request takes it.
type Document struct {
	ID      string
	Routing string // "" but for dumps that say otherwise
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
			quoted, _ := json.Marshal(s) // a string cannot fail
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// Index is one index of a data set.
type Index struct {
	Name    string   // what contenders ask for: the alias
	Mapping []byte   // JSON body of PUT /<index>: mappings, and settings nested below "index"
	Count   int64    // documents
	Notes   Warnings // what was left out of a dump's mapping, with its file
}

// DataSet is what the store is filled with. Several goroutines may call its methods.
type DataSet interface {
	// Info names the set. Its hash changes whenever a document or a mapping does.
	Info() DataInfo
	// Indices lists the indices in the order in which they are to be filled.
	Indices() []Index
	// Documents streams those of one index, always in the same order. Each is a valid JSON object. An error ends it.
	Documents(index string) iter.Seq2[Document, error]
	// IDs lists the ids of all cities that are integers, in the order of Documents.
	IDs(ctx context.Context) ([]int64, error)
}
