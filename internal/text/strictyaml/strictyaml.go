// Package strictyaml reads YAML that people write by hand into Go structs, and reports every
// mistake at once: each with file and line, what is wrong, and what would be right.
//
// It knows nothing of what the files mean. It leaves out YAML's indirections on purpose: anchors,
// aliases, merge keys, own tags and several documents in a file are mistakes, so what a reader
// sees is what is meant and no small file can grow large. It is the only package that imports a
// YAML library.
//
// # Structs
//
// A field takes part when it has a `yaml:"key"` tag. A key that is absent leaves its field as it
// was, so defaults are filled in before decoding. A key without a value is a mistake. The tag
// `strict:"…"` holds a list of rules divided by commas:
//
//	required        the key must be there
//	min=1,max=10    bounds of a number, a duration (min=1ms), a size (max=1TiB), or the length of a text, list or map
//	oneof=a|b|c     the only texts allowed
//
// The tag `example:"…"` holds a value to show where the key is missing.
//
// Kinds of fields: string (any scalar, as it stands in the file), bool, integers, floats (finite),
// time.Duration and [Duration] ("500ms"; a number without a unit is a mistake), [Bytes] ("512MiB";
// likewise), slices, map[string]T, structs, pointers to these, and any (nil, bool, int64, float64,
// string, []any, map[string]any). A type that reads itself implements [Unmarshaler]; one that wants
// a look at the whole after its fields were read implements [Validator].
//
// [SchemaOf] makes a JSON Schema of the same types and tags. What these do not say a [Describer] adds.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"locbench/internal/text/safe"
)

// The bounds of a file.
const (
	MaxSize  = 1 << 20 // bytes
	MaxDepth = 64      // of nesting
	maxText  = 64 << 10
)

// Decode reads the one document in data into dst, a pointer to a struct (or anything else that a
// field may be). file is the name that the mistakes carry. The error, if there is one, is a
// [Mistakes]; dst then holds what could be read.
func Decode(file string, data []byte, dst any) error {
	return DecodeThen(file, data, dst, func(Value) {})
}

// DecodeThen returns Decode for who wants a look at the whole after it was read: check gets the document, where that is a
// map, and reports what is wrong through it.
func DecodeThen(file string, data []byte, dst any, check func(Value)) error {
	d := &decoder{file: file, failed: map[place]bool{}}
	root, ok := d.parse(data)
	if ok && d.plain(root, 0) {
		v := Value{node: root, d: d}
		if v.Decode(dst); v.Kind() == Map {
			check(v)
		}
	}
	return d.result()
}

// ReadFile reads one byte more than Decode takes, so Decode reports a larger file.
func ReadFile(path string) ([]byte, error) {
	f, err := safe.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}

// Encode writes v, indented by two spaces, in the order of its fields (tags as yaml.v3 has them).
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := enc.Encode(v)
	if err == nil {
		err = enc.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encode yaml: %w", err)
	}
	return b.Bytes(), nil
}

// Inline is written on one line, in braces or brackets, by [Encode].
type Inline struct{ V any }

// MarshalYAML makes the node of V a one-line one.
func (i Inline) MarshalYAML() (any, error) {
	var n yaml.Node
	if err := n.Encode(i.V); err != nil {
		return nil, err
	}
	n.Style |= yaml.FlowStyle
	return &n, nil
}

// Entry is a key with its value.
type Entry struct {
	Key   string
	Value any
}

// Entries are written as a map in their order by [Encode].
type Entries []Entry

// MarshalYAML makes the map.
func (all Entries) MarshalYAML() (any, error) {
	m := yaml.Node{Kind: yaml.MappingNode}
	for _, e := range all {
		var key, value yaml.Node
		if err := errors.Join(key.Encode(e.Key), value.Encode(e.Value)); err != nil {
			return nil, err
		}
		m.Content = append(m.Content, &key, &value)
	}
	return &m, nil
}

// JSON is a document that is written as it is by [Encode]: JSON is YAML.
type JSON string

// MarshalYAML makes a node of it.
func (j JSON) MarshalYAML() (any, error) {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(j), &n); err != nil || len(n.Content) != 1 {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return n.Content[0], nil
}

func (d *decoder) parse(data []byte) (root *yaml.Node, ok bool) {
	if len(data) > MaxSize {
		d.add(1, "the file is larger than "+FormatBytes(MaxSize), "split it, or leave out what is not needed")
		return nil, false
	}
	// The parser is not ours and the bytes are anybody's: should it fail on them, that is a mistake
	// in the file, not our end.
	defer func() {
		if r := recover(); r != nil {
			d.add(1, fmt.Sprintf("not YAML: %.200s", fmt.Sprint(r)), "")
			root, ok = nil, false
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	empty := errors.Is(err, io.EOF)
	if err == nil {
		empty = doc.Kind != yaml.DocumentNode || len(doc.Content) != 1
		err = dec.Decode(&next)
	}
	switch {
	case err == nil:
		d.add(next.Line, "a second document begins here", "put one document into each file")
	case !errors.Is(err, io.EOF):
		d.syntax(err)
	case empty:
		d.add(1, "the file is empty", "")
	default:
		return doc.Content[0], true
	}
	return nil, false
}

// anchorName is the one place where the parser's errors quote the file.
var anchorName = regexp.MustCompile(`unknown anchor '.*' referenced`)

var syntaxLine = regexp.MustCompile(`^line (\d+): `)

// syntax turns the parser's "yaml: line 3: …" into a mistake with that line.
func (d *decoder) syntax(err error) {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			line = n
		}
		text = text[len(m[0]):]
	}
	text = anchorName.ReplaceAllString(text, "unknown anchor")
	d.add(line, "not YAML: "+clip(text, 200), "")
}

var plainTags = map[string]bool{
	"": true, "!": true, "!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true,
	"!!seq": true, "!!map": true, "!!timestamp": true,
}

// plain looks for what is not allowed anywhere, before any meaning is given to the document.
func (d *decoder) plain(n *yaml.Node, depth int) bool {
	if depth > MaxDepth {
		d.add(n.Line, fmt.Sprintf("nested deeper than %d levels", MaxDepth), "")
		return false
	}
	what, hint := "", ""
	switch {
	case n.Kind == yaml.AliasNode:
		what, hint = "alias (`*…`)", "write the value out: aliases are not read here"
	case n.Anchor != "":
		what, hint = "anchor (`&…`)", "remove it: anchors are not read here"
	case n.Tag == "!!merge":
		what, hint = "merge key `<<`", "write the keys out: merging is not done here"
	case !plainTags[n.Tag]:
		what, hint = "tag (`!…`)", "remove it: the type follows from the key"
	}
	if what != "" {
		d.add(n.Line, what, hint)
	}
	ok := what == ""
	for _, c := range n.Content {
		ok = d.plain(c, depth+1) && ok
	}
	return ok
}
