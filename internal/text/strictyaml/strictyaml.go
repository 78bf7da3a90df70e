// Package strictyaml reads YAML that people write by hand into Go structs. It reports all mistakes
// at once, each with file and line, what is wrong, and what to write.
//
// It does not know the meaning of the files. YAML's indirections are mistakes: anchors, aliases,
// merge keys, custom tags and several documents in a file. So a file means what its reader sees,
// and no small file can grow large. It is the only package that imports a YAML library. [Document]
// reads what is written for other programs.
//
// # Structs
//
// A field is read if it has a `yaml:"key"` tag. A missing key leaves its field unchanged, so
// defaults are filled in before decoding. A key without a value is a mistake. The tag `strict:"…"`
// holds a list of rules separated by commas:
//
//	required        the key must be present
//	min=1,max=10    bounds of a number, duration (min=1ms), size (max=1TiB), or a length
//	oneof=a|b|c     the only texts allowed
//	path            a file, relative to the folder of the document (see [Value.ResolvePath])
//	bytes           a number that is a size; percent: one that is a share, such as 1%; none: that may be 0
//
// The tag `example:"…"` holds a value to show if the key is missing.
//
// Kinds of fields: string (any scalar, in the text of the file), bool, integers, floats (finite),
// time.Duration ("500ms", with a unit), [Bytes] ("512MiB", with a unit), slices,
// map[string]T, structs, pointers to these, and any (nil, bool, int64, float64, string, []any,
// map[string]any). A type that reads itself implements [Unmarshaler]; for one of another package there
// is a [Reader]. The same tags are how a text sets a field ([SetText]), and the bounds of values from
// elsewhere ([CheckBounds]).
package strictyaml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/locbench/locbench/internal/text/safe"
)

// Limits for a file.
const (
	MaxSize  = 1 << 20 // bytes
	MaxDepth = 64      // of nesting
	maxText  = 64 << 10
)

// Options are what the reading of a file takes from its caller.
type Options struct {
	Allowed []string // folders with files that the document may name, in addition to its own: see [Value.ResolvePath]
	Closed  bool     // no folder can be allowed
	Readers []Reader
}

// Decode reads the only document in data into dst, a pointer to a struct or another type that a
// field may have. file is its name in mistakes. The error is nil or a [Mistakes]; dst then holds
// what could be read. The document names files of its folder only.
func Decode(file string, data []byte, dst any) error {
	return DecodeFrom(file, data, dst, Options{Closed: true}, func(Value) {})
}

// DecodeThen is Decode with a check of what the values mean together, which is called if the document
// is a map without unknown keys. check reports mistakes through its argument.
func DecodeThen(file string, data []byte, dst any, check func(Value)) error {
	return DecodeFrom(file, data, dst, Options{}, check)
}

// DecodeFrom is DecodeThen with options.
func DecodeFrom(file string, data []byte, dst any, o Options, check func(Value)) error {
	d := newDecoder(file, o)
	root, ok := d.parse(data)
	if ok && d.plain(root, 0) {
		v := Value{node: root, d: d}
		if v.Decode(dst); v.Kind() == Map && len(d.strange) == 0 {
			check(v)
		}
	}
	return d.err()
}

// ReadFile reads at most one byte more than Decode accepts, so Decode reports a larger file.
func ReadFile(path string) ([]byte, error) {
	f, err := safe.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}

func (d *decoder) parse(data []byte) (root *yaml.Node, ok bool) {
	if len(data) > MaxSize {
		d.add(1, "the file is larger than the "+FormatBytes(MaxSize)+" allowed", "shorten or split it")
		return nil, false
	}
	return d.parseAny(data)
}

// parseAny is parse without a bound on the size.
func (d *decoder) parseAny(data []byte) (root *yaml.Node, ok bool) {
	// The bytes come from outside: if the library's parser panics on them, that is a mistake in the
	// file, not the end of locbench.
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
		d.add(next.Line, "a second document begins here", "write one document per file")
	case !errors.Is(err, io.EOF):
		d.syntax(err, data)
	case empty:
		d.add(1, "the file is empty", "")
	default:
		return doc.Content[0], true
	}
	return nil, false
}

var plainTags = map[string]bool{
	"": true, "!": true, "!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true,
	"!!seq": true, "!!map": true, "!!timestamp": true,
}

// plain reports what is not allowed in any document, before the document is decoded.
func (d *decoder) plain(n *yaml.Node, depth int) bool {
	if depth > MaxDepth {
		d.add(n.Line, fmt.Sprintf("nested deeper than the %d levels allowed", MaxDepth), "")
		return false
	}
	what, hint := "", ""
	switch {
	case n.Kind == yaml.AliasNode:
		what, hint = "alias (`*…`)", "write the value out: aliases are not supported; or put a text in quotes"
	case n.Anchor != "":
		what, hint = "anchor (`&…`)", "remove it: anchors are not supported; or put a text in quotes"
	case n.Tag == "!!merge":
		what, hint = "merge key `<<`", "write the keys out: merging is not supported"
	case !plainTags[n.Tag]:
		what, hint = "tag (`!…`)", "remove it: the key decides the type; or put a text in quotes"
	}
	if what != "" {
		d.add(n.Line, what, hint)
	}
	ok := what == ""
	for i := 0; ok && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if what, hint := silent(n, n.Content[i], n.Content[i+1]); what != "" {
			d.add(n.Content[i].Line, what, hint)
			ok = false
		}
	}
	for _, c := range n.Content {
		ok = d.plain(c, depth+1) && ok
	}
	return ok
}

// Schema is a JSON Schema (draft 2020-12) of a kind of files, for editors.
type Schema string

// Named returns a YAML file's line that names its schema for editors, by a path from its folder.
func Named(path string) string { return "# yaml-language-server: $schema=" + path + "\n" }

// Leave writes the schema to a file in dir, for the files there that name it, unless it exists.
func (s Schema) Leave(dir, name string) error {
	err := safe.CreateFile(filepath.Join(dir, name), []byte(s))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s for editors: %w", name, err)
	}
	return nil
}

// Document returns a YAML document that is written for other programs too as JSON, with the same text
// of each number that JSON has. It may be of any size. The error is the first mistake: what Decode
// does not read of YAML either, such as aliases, or a number that JSON does not have.
func Document(file string, data []byte) (text string, err error) {
	d := newDecoder(file, Options{})
	if root, ok := d.parseAny(data); ok && d.plain(root, 0) {
		asInJSON(root)
		text = Value{node: root, d: d}.JSON()
	}
	if all := d.mistakes; len(all) > 0 {
		return "", all[:1]
	}
	return text, nil
}

// asInJSON writes numbers as JSON does, where it has them.
func asInJSON(n *yaml.Node) {
	var whole int64
	var f float64
	switch {
	case json.Valid([]byte(n.Value)) || len(n.Value) > 1000:
	case n.Tag == "!!int" && n.Decode(&whole) == nil:
		n.Value = strconv.FormatInt(whole, 10)
	case n.Tag == "!!float" && n.Decode(&f) == nil:
		n.Value = strconv.FormatFloat(f, 'g', -1, 64)
	}
	for _, child := range n.Content {
		asInJSON(child)
	}
}
