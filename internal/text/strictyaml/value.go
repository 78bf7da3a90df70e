package strictyaml

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Unmarshaler is a type that reads itself. It reports its mistakes through v.
type Unmarshaler interface {
	UnmarshalStrict(v Value)
}

type decoder struct {
	collector
	Options
	failed  map[place]bool
	strange map[*yaml.Node]bool // maps with an unknown key
	known   map[string]known    // results of Once
}

type known struct {
	value any
	err   error
}

func newDecoder(file string, o Options) *decoder {
	return &decoder{
		collector: collector{file: file}, Options: o,
		failed: map[place]bool{}, strange: map[*yaml.Node]bool{}, known: map[string]known{},
	}
}

// place is a value or, with a key, the missing value of that key in a map.
type place struct {
	node *yaml.Node
	key  string
}

// Value is one value of the document with its place in the file.
type Value struct {
	node *yaml.Node
	d    *decoder
	path string // "steps[2].duration"; "" for the root

	mute   bool // a mistake was already reported about this value
	absent bool // the value is missing; node is the map around it
}

// Kind is the form of a value.
type Kind int

// The kinds of values.
const (
	Scalar Kind = iota
	List
	Map
	Null // `key:` with nothing after it
)

// Kind returns the form of the value.
func (v Value) Kind() Kind {
	switch {
	case v.node.Kind == yaml.SequenceNode:
		return List
	case v.node.Kind == yaml.MappingNode:
		return Map
	case v.node.Tag == "!!null":
		return Null
	}
	return Scalar
}

// Mistake reports what is wrong with the value and a hint that says what to write, which may be "".
func (v Value) Mistake(what, hint string) {
	if v.Failed() || v.d.strange[v.node] { // the unknown key may be what is missing
		return
	}
	if !v.absent && (v.Kind() == Scalar || v.Kind() == Null) {
		v.d.failed[place{node: v.node}] = true // one is enough; a list or map can have several
	}
	v.d.add(v.node.Line, what, hint)
}

// MistakeIn reports a mistake in another file, which the value names.
func (v Value) MistakeIn(file string, line int, what, hint string) {
	v.d.failed[place{node: v.node}] = true
	v.d.report(Mistake{File: file, Line: line, What: what, Hint: hint})
}

// Wrong reports a mistake of the usual form: "`path` is 0; want".
func (v Value) Wrong(want string) { v.Mistake(v.name()+" is "+v.shown(), want) }

// Path returns where the value is in the document: "steps[2].duration".
func (v Value) Path() string { return v.path }

// Failed reports whether a mistake was reported about the value itself.
func (v Value) Failed() bool {
	return v.mute || !v.absent && v.d.failed[place{node: v.node}]
}

// At returns the value under keys, or a Value for its place if it is missing; see Has.
func (v Value) At(keys ...string) Value {
	for _, key := range keys {
		v.path = join(v.path, key)
		child, failed := find(v.node, key), v.d.failed[place{v.node, key}]
		if child == nil || failed {
			v.absent, v.mute = true, v.mute || failed
			return v
		}
		v.node = child
	}
	return v
}

// Has reports whether there is a value under keys.
func (v Value) Has(keys ...string) bool {
	n := v.node
	for _, key := range keys {
		if n = find(n, key); n == nil {
			return false
		}
	}
	return true
}

// Find returns the value at a path such as "steps[2].duration", or the innermost one around it.
func (v Value) Find(path string) Value {
	for _, part := range strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune(".[]", c) }) {
		if items := v.Items(); items != nil {
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(items) {
				return v
			}
			v = items[i]
		} else if next := v.At(part); next.absent && !next.mute {
			return v
		} else {
			v = next
		}
	}
	return v
}

// Items returns the values of a list, and nothing for another kind of value.
func (v Value) Items() []Value {
	if v.absent || v.node.Kind != yaml.SequenceNode {
		return nil
	}
	items := make([]Value, len(v.node.Content))
	for i, n := range v.node.Content {
		items[i] = Value{node: n, d: v.d, path: v.path + "[" + strconv.Itoa(i) + "]", mute: v.mute}
	}
	return items
}

// Field is one entry of a map.
type Field struct {
	Key   string
	Value Value
	line  int // line of the key
}

// Fields returns the entries of a map in the order of the file, each key once, or nothing for
// another kind of value. It reports a repeated key, and one that is not a text, as a mistake.
func (v Value) Fields() []Field {
	if v.absent || v.node.Kind != yaml.MappingNode {
		return nil
	}
	var fields []Field
	lines := map[string]int{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		k, n := v.node.Content[i], v.node.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Tag == "!!null" {
			v.d.add(k.Line, "a key is not a text", "")
			continue
		}
		if first, twice := lines[k.Value]; twice {
			v.d.add(k.Line, fmt.Sprintf("duplicate key `%s`", clip(k.Value, 60)),
				fmt.Sprintf("also in line %d: remove one of them", first))
			continue
		}
		lines[k.Value] = k.Line
		value := Value{node: n, d: v.d, path: join(v.path, clip(k.Value, 60)), mute: v.mute}
		fields = append(fields, Field{k.Value, value, k.Line})
	}
	return fields
}

// Text returns the scalar in the text of the file. It reports a mistake for another kind of value.
func (v Value) Text() (s string, ok bool) {
	if v.Kind() != Scalar {
		v.wrongKind("a text")
		return "", false
	}
	return v.node.Value, true
}

// Plain returns the text of a scalar without its quotes.
func (v Value) Plain() (s string, ok bool) { return v.node.Value, v.Kind() == Scalar }

// Typed returns the text that a program has of the value which reads the types of YAML: 1.1 of 1.10.
func (v Value) Typed() string {
	var x any
	_ = v.node.Decode(&x) // nil for what is not of the type that it looks like
	return fmt.Sprint(x)
}

// ResolvePath returns the path of a file, which is relative to the folder of the document, for
// opening. Another person may have written the document: it names no file of other folders, whether
// by a whole path, by `..` or by a link, unless they are allowed. That is a mistake in v.
func (v Value) ResolvePath(path string) string {
	whole := v.ResolveFolder(path)
	if what, hint := Outside(path, whole, filepath.Dir(v.d.file), v.d.Options.Allowed); what != "" {
		if v.d.Closed {
			hint = "move it there"
		}
		v.Mistake(what, hint)
	}
	return whole
}

// Allowed returns the folders with files that the document may name, in addition to its own.
func (v Value) Allowed() []string { return v.d.Options.Allowed }

// Outside returns the mistake of a document in a folder that names a file of another folder, and
// its remedy; "" if its own folder or an allowed one has the file. name is the path as written.
func Outside(name, path, folder string, allowed []string) (what, hint string) {
	if safe.Within(path, append([]string{folder}, allowed...)...) {
		return "", ""
	}
	what, hint = fmt.Sprintf("`%s` is outside of the folder of this file", clip(name, 200)), "move it there"
	if option := AllowOption(path); option != "" {
		hint += ", or allow its folder if you trust this file: " + option
	}
	return what, hint
}

// AllowOption returns the option that allows the file at path; "" if there is none.
func AllowOption(path string) string {
	dir := safe.ToAllow(path)
	if dir == "" {
		return ""
	}
	if here, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(here, dir); err == nil && len(short) < len(dir) {
			dir = short
		}
	}
	return "--allow-files " + safe.Line(safe.Shell([]string{dir}), 300)
}

// ResolveFolder returns path, which is relative to the folder of the file, as a path for opening.
func (v Value) ResolveFolder(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(v.d.file), path)
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// Once returns what read returns, which is called once in the whole document for each key.
func (v Value) Once(key string, read func() (any, error)) (any, error) {
	k, ok := v.d.known[key]
	if !ok {
		k.value, k.err = read()
		v.d.known[key] = k
	}
	return k.value, k.err
}

// JSON returns the value as a JSON document, its keys in the order of the file and its numbers as
// written. It reports those that JSONNumber does.
func (v Value) JSON() string {
	switch v.Kind() {
	case List:
		var items []string
		for _, item := range v.Items() {
			items = append(items, item.JSON())
		}
		return "[" + strings.Join(items, ",") + "]"
	case Map:
		var entries []string
		for _, f := range v.Fields() {
			entries = append(entries, encoded(f.Key)+":"+f.Value.JSON())
		}
		return "{" + strings.Join(entries, ",") + "}"
	}
	if text, ok := v.JSONNumber(); ok {
		return text
	}
	return encoded(v.Any())
}

// encoded returns a text, true, false or null as JSON.
func encoded(x any) string {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(x) // no error for these
	return strings.TrimSpace(text.String())
}

// Enum returns the text of the value if it is one of allowed. Otherwise it reports a mistake.
func (v Value) Enum(allowed ...string) (s string, ok bool) {
	if s, ok = v.Text(); ok && !slices.Contains(allowed, s) {
		v.Wrong(Suggest(s, "one of", allowed))
		return "", false
	}
	return s, ok
}

// wrongKind reports a value of the wrong kind; want describes the right one.
func (v Value) wrongKind(want string) {
	if v.Kind() == Null {
		v.Mistake(v.name()+" has no value", "write "+want+", or remove the key")
		return
	}
	v.Wrong("write " + want)
}

func (v Value) name() string {
	if v.path == "" {
		return "the document"
	}
	return "`" + v.path + "`"
}

func (v Value) shown() string {
	if v.absent {
		return "missing"
	}
	switch v.Kind() {
	case List:
		return "a list"
	case Map:
		return "a map"
	case Null:
		return "empty"
	}
	switch {
	case v.path == "":
		return "a text"
	case secret.Name(v.path[strings.LastIndexByte(v.path, '.')+1:]):
		return secret.Mask
	case v.node.Tag == "!!str":
		return strconv.Quote(clip(secret.Masker{}.Keyed(v.node.Value), 60))
	}
	return clip(v.node.Value, 60)
}

// find returns the value under key, or nil.
func find(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Folder is the path of a folder, relative to the folder of the document.
type Folder string

// UnmarshalStrict reads a path.
func (f *Folder) UnmarshalStrict(v Value) {
	switch text, ok := v.Text(); {
	case !ok:
	case text == "" || len(text) > 4096:
		v.Wrong("write the path of a folder, relative to this file")
	default:
		*f = Folder(v.ResolveFolder(text))
	}
}
