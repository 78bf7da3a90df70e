package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
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

// ReadSchema reads a JSON Schema, or the one that a text names: FILE, or FILE#/path/in/it. Its
// numbers are json.Number.
func ReadSchema(v strictyaml.Value) (any, error) {
	if v.Kind() != strictyaml.Scalar {
		return jsonpath.Decode([]byte(v.JSON()))
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
// those that it refers to there.
func schemaIn(doc any, file, fragment string) (any, error) {
	d := &schemaSource{name: filepath.Base(file), doc: doc, defs: map[string]any{}, left: maxSchemaFile}
	schema, err := d.part(fragment)
	if err != nil {
		return nil, err
	}
	schema, size, err := copied(schema)
	if err == nil && size > maxSchema {
		err = errTooLarge
	}
	if err == nil && levels(schema) > maxSchemaDepth {
		err = fmt.Errorf("nested deeper than %d levels", maxSchemaDepth)
	}
	if err != nil {
		return nil, fmt.Errorf("read JSON Schema %s: %w", file, err)
	}
	return schema, nil
}

// schemaDocument reads the document of a JSON or YAML file.
func schemaDocument(file string) (doc any, err error) {
	f, err := safe.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSchemaFile+1))
	text := strings.TrimPrefix(string(data), "\ufeff")
	if err == nil && len(data) > maxSchemaFile {
		err = errors.New("larger than 8 MiB")
	}
	if ext := strings.ToLower(filepath.Ext(file)); err == nil && (ext == ".yaml" || ext == ".yml") {
		text, err = strictyaml.Document(filepath.Base(file), data)
	}
	if err == nil {
		doc, err = jsonpath.Decode([]byte(text))
	}
	if err != nil {
		return nil, fmt.Errorf("read JSON Schema %s: %w", file, err)
	}
	return doc, nil
}

// schemaSource is a document with schemas in it.
type schemaSource struct {
	name string
	doc  any

	root  string           // place of the result in the document
	defs  map[string]any   // schemas of the result, by place in the document
	queue []map[string]any // copies whose references are those of the document
	left  int              // bytes that copies may have
}

// part returns the schema at a place in the document. What it refers to is in its `$defs`.
func (d *schemaSource) part(fragment string) (any, error) {
	d.root = canonical(fragment)
	at, ok := d.find(d.root, maxHops)
	if !ok {
		return nil, d.missing(d.root)
	}
	if err := d.check(at, strings.TrimSuffix(d.name+"#"+fragment, "#")); err != nil || fragment == "" {
		return at, err
	}
	schema, err := d.copied(at)
	root, ok := schema.(map[string]any)
	if err != nil || !ok {
		return schema, err // true or false
	}
	for ; len(d.queue) > 0; d.queue = d.queue[1:] {
		if err := d.refer(d.queue[0]); err != nil {
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

// copied returns a copy whose references will be made those of the result.
func (d *schemaSource) copied(at any) (any, error) {
	schema, size, err := copied(at)
	if d.left -= size; d.left < 0 {
		err = errTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("read JSON Schema %s: %w", d.name, err)
	}
	if object, ok := schema.(map[string]any); ok {
		d.queue = append(d.queue, object)
	}
	return schema, nil
}

// refer makes the references of a copied schema lead to copies.
func (d *schemaSource) refer(schema map[string]any) (err error) {
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
		if schema["$ref"] = "#"; place != d.root {
			schema["$ref"] = (&url.URL{Fragment: "/$defs/" + pointerEscape.Replace(place)}).String()
			if _, ok := d.defs[place]; !ok {
				at, ok := d.find(place, maxHops)
				if !ok {
					return d.missing(place)
				}
				if d.defs[place], err = d.copied(at); err != nil {
					return err
				}
			}
		}
	}
	eachSubschema(schema, func(sub map[string]any) {
		if err == nil {
			err = d.refer(sub)
		}
	})
	return err
}

var (
	errTooLarge     = errors.New("larger than 1 MiB, with what it refers to")
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

// copied returns a copy of a document, and how long it is as JSON.
func copied(value any) (any, int, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, 0, err
	}
	value, err = jsonpath.Decode(text)
	return value, len(text), err
}

// levels returns how many objects and lists are within each other.
func levels(value any) (n int) {
	for item := range within(value) {
		n = max(n, levels(item))
	}
	switch value.(type) {
	case map[string]any, []any:
		n++
	}
	return n
}

// within returns the values right within an object or a list.
func within(value any) iter.Seq[any] {
	if object, ok := value.(map[string]any); ok {
		return maps.Values(object)
	}
	list, _ := value.([]any)
	return slices.Values(list)
}
