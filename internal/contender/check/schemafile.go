package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Bounds of a JSON Schema and of the file that it comes from, in bytes.
const (
	maxSchema      = 1 << 20 // as JSON, with what it refers to
	maxSchemaFile  = 8 << 20
	maxSchemaDepth = 60 // levels: run.json is read with at most 64
)

// schemaError says what is wrong with a schema, and what to write.
type schemaError struct{ what, hint string }

func (e *schemaError) Error() string {
	if e.hint == "" {
		return e.what
	}
	return e.what + "; " + e.hint
}

// ReadSchema reads a JSON Schema, or the one that a text names: FILE, or FILE#/path/in/it.
func ReadSchema(v strictyaml.Value) (any, error) {
	if v.Kind() != strictyaml.Scalar {
		return Raw(v), nil
	}
	text, _ := v.Text()
	file, fragment, _ := strings.Cut(text, "#")
	file = v.ResolvePath(file)
	doc, err := v.Once("schema "+file, func() (any, error) { return schemaDocument(file) })
	if err != nil {
		return nil, err
	}
	return schemaIn(doc, file, fragment)
}

// schemaIn returns the schema at a place in the document of a file, "" for all of it, together with
// those that it refers to there. Its numbers are int64, float64, or json.Number where those would
// change them.
func schemaIn(doc any, file, fragment string) (schema any, err error) {
	d := &schemaSource{name: filepath.Base(file), doc: doc}
	if fragment != "" {
		if schema, err = d.part(fragment); err != nil {
			return nil, err
		}
	} else if err := d.check(doc, d.name); err != nil {
		return nil, err
	} else {
		schema = clone(doc)
	}
	kept, err := json.Marshal(schema)
	if err == nil && len(kept) > maxSchema {
		err = errors.New("larger than 1 MiB, with what it refers to")
	}
	if err == nil && levels(schema) > maxSchemaDepth {
		err = fmt.Errorf("nested deeper than %d levels", maxSchemaDepth)
	}
	if err != nil {
		return nil, fmt.Errorf("read JSON Schema %s: %w", file, err)
	}
	return withNumbers(schema), nil
}

// schemaDocument reads the document of a JSON or YAML file.
func schemaDocument(file string) (doc any, err error) {
	f, err := safe.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSchemaFile+1))
	ext := strings.ToLower(filepath.Ext(file))
	switch {
	case err != nil:
	case len(data) > maxSchemaFile:
		err = errors.New("larger than 8 MiB")
	case ext == ".yaml" || ext == ".yml":
		doc, err = strictyaml.Document(filepath.Base(file), data, jsonpath.MaxDepth, jsonpath.MaxValues)
	default:
		doc, err = jsonpath.Decode(bytes.TrimPrefix(data, []byte("\ufeff")))
	}
	if err != nil {
		return nil, fmt.Errorf("read JSON Schema %s: %w", file, err)
	}
	return doc, nil
}

// withNumbers replaces each json.Number in doc by an int64 or a float64 that writes the same.
func withNumbers(doc any) any {
	switch v := doc.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = withNumbers(value)
		}
	case []any:
		for i, value := range v {
			v[i] = withNumbers(value)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if held := strconv.FormatFloat(f, 'g', -1, 64); err == nil && jsonpath.IsNumber(held) && jsonpath.SameNumber(held, string(v)) {
			return f
		}
	}
	return doc
}

// schemaSource is a document with schemas in it.
type schemaSource struct {
	name string
	doc  any

	refs  map[string]string // reference in the result, by place in the document
	defs  map[string]any    // schemas of the result
	queue []map[string]any  // copies whose references are those of the document
}

// part returns the schema at a place in the document. What it refers to is in its `$defs`.
func (d *schemaSource) part(fragment string) (any, error) {
	at, err := d.find(fragment)
	if err != nil {
		return nil, err
	}
	if err := d.check(at, d.name+"#"+fragment); err != nil {
		return nil, err
	}
	root, ok := clone(at).(map[string]any)
	if !ok {
		return at, nil // true or false
	}
	d.refs, d.defs = map[string]string{canonical(fragment): "#"}, map[string]any{}
	d.queue = []map[string]any{root}
	for left := maxSchemaFile; len(d.queue) > 0; d.queue = d.queue[1:] {
		if err := d.refer(d.queue[0], &left); err != nil {
			return nil, err
		}
	}
	if len(d.defs) > 0 {
		root["$defs"] = d.defs
	}
	if top, ok := d.doc.(map[string]any); ok && top["$schema"] != nil {
		root["$schema"] = top["$schema"]
	}
	return root, nil
}

// refer makes the references of a copied schema lead to copies. left bounds the bytes of all.
func (d *schemaSource) refer(schema map[string]any, left *int) error {
	for _, key := range []string{
		"$defs", "definitions", "$id", "$schema", "description", "default", "example", "examples", "externalDocs", "xml",
	} {
		delete(schema, key) // definitions are copied when something refers to them; the others say nothing
	}
	if to, ok := schema["$ref"].(string); ok {
		fragment, here := strings.CutPrefix(to, "#")
		if !here {
			return otherDocument(to)
		}
		place := canonical(fragment)
		if d.refs[place] == "" {
			at, err := d.find(fragment)
			if err != nil {
				return err
			}
			if *left -= sizeInBytes(at); *left < 0 {
				return fmt.Errorf("read JSON Schema %s: larger than 1 MiB, with what it refers to", d.name)
			}
			name := d.free(place)
			d.refs[place], d.defs[name] = "#/$defs/"+pointerEscape.Replace(name), clone(at)
			if copied, ok := d.defs[name].(map[string]any); ok {
				d.queue = append(d.queue, copied)
			}
		}
		schema["$ref"] = d.refs[place]
	}
	var err error
	eachSubschema(schema, func(sub map[string]any) {
		if err == nil {
			err = d.refer(sub, left)
		}
	})
	return err
}

// free returns a name for a place in `$defs`: its last part, with a number if it is in use.
func (d *schemaSource) free(place string) string {
	last := strings.Map(func(c rune) rune {
		if c == '%' || c == '"' || c < ' ' {
			return '_'
		}
		return c
	}, place[strings.LastIndexByte(place, '/')+1:])
	name := last
	for n := len(d.defs); d.defs[name] != nil; n++ {
		name = fmt.Sprintf("%s-%d", last, n)
	}
	return name
}

var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// canonical returns a fragment without percent-encoding.
func canonical(fragment string) string {
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}

func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = clone(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return value
}

// levels returns how many objects and lists are within each other.
func levels(value any) (n int) {
	switch v := value.(type) {
	case map[string]any:
		for _, item := range v {
			n = max(n, levels(item))
		}
		return n + 1
	case []any:
		for _, item := range v {
			n = max(n, levels(item))
		}
		return n + 1
	}
	return 0
}

// sizeInBytes returns about how long a value is as JSON.
func sizeInBytes(value any) int {
	n := 2
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			n += len(key) + sizeInBytes(item)
		}
	case []any:
		for _, item := range v {
			n += sizeInBytes(item)
		}
	case string:
		n += len(v)
	case json.Number:
		n += len(v)
	}
	return n
}
