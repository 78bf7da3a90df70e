package strictyaml

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Reader reads a type that has no method for it, such as one of package bench.
type Reader struct {
	of   reflect.Type
	read func(v Value, dst any)
}

// ReaderOf returns the Reader of T.
func ReaderOf[T any](read func(v Value, dst *T)) Reader {
	return Reader{reflect.TypeFor[T](), func(v Value, dst any) { read(v, dst.(*T)) }}
}

// Decode reads the value into dst, a pointer. It returns false if it reported a mistake in it.
func (v Value) Decode(dst any) bool {
	p := reflect.ValueOf(dst)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		v.unfit(fmt.Sprintf("%T", dst))
		return false
	}
	return v.into(p.Elem(), rules{})
}

// into reads the value into dst, which is addressable.
func (v Value) into(dst reflect.Value, r rules) bool {
	return v.whole(func() { v.read(dst, r) })
}

// whole returns false if read reported a mistake; the value has failed then.
func (v Value) whole(read func()) bool {
	before := v.d.count()
	if read(); v.d.count() == before {
		return true
	}
	v.d.failed[place{node: v.node}] = true
	return false
}

func (v Value) read(dst reflect.Value, r rules) {
	if u, ok := dst.Addr().Interface().(Unmarshaler); ok {
		u.UnmarshalStrict(v)
		return
	}
	if i := slices.IndexFunc(v.d.Readers, func(r Reader) bool { return r.of == dst.Type() }); i >= 0 {
		v.d.Readers[i].read(v, dst.Addr().Interface())
		return
	}
	if n, ok := numberOf(dst.Type(), r); ok {
		v.readNumber(dst, r, n)
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		p := reflect.New(dst.Type().Elem())
		v.into(p.Elem(), r)
		dst.Set(p) // even with mistakes inside: a check of the whole looks at the rest
	case reflect.String:
		v.readString(dst, r)
	case reflect.Bool:
		if v.Kind() != Scalar || v.node.Tag != "!!bool" {
			v.wrongKind("`true` or `false`")
			return
		}
		dst.SetBool(strings.EqualFold(v.node.Value, "true"))
	case reflect.Slice:
		v.readSlice(dst, r)
	case reflect.Map:
		v.readMap(dst, r)
	case reflect.Struct:
		v.readStructs(dst)
	case reflect.Interface:
		if x := v.Any(); x != nil {
			dst.Set(reflect.ValueOf(x))
		}
	default:
		v.unfit(dst.Type().String())
	}
}

func (v Value) unfit(kind string) {
	v.d.add(v.node.Line, "internal error: no way to read a "+kind, "report it to the authors of locbench")
}

func (v Value) readString(dst reflect.Value, r rules) {
	s, ok := v.Text()
	if allowed := r.oneOf(); ok && allowed != nil {
		_, ok = v.Enum(allowed...)
	}
	switch {
	case !ok:
	case len(s) > maxText:
		v.Wrong(fmt.Sprintf("write at most %s", FormatBytes(maxText)))
	case !r.length(v, len(s), "characters"):
	case r.has("path"):
		dst.SetString(v.ResolvePath(s))
	default:
		dst.SetString(s)
	}
}

func (v Value) readNumber(dst reflect.Value, r rules, n number) {
	switch {
	case v.Kind() != Scalar || n.tags != nil && !slices.Contains(n.tags, v.node.Tag):
		v.wrongKind(n.want + unquote(v, n.tags))
	case slices.Contains(n.tags, v.node.Tag) && v.node.Tag == "!!int" && octal.MatchString(v.node.Value):
		v.Wrong(octalHint)
	default:
		if hint := r.set(dst, n, v.node.Value); hint != "" {
			v.Wrong(hint)
		}
	}
}

// unquote returns the hint for a quoted value that is right without its quotes, otherwise "".
func unquote(v Value, tags []string) string {
	quoted := v.node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	if v.node.Kind == yaml.ScalarNode && v.node.Tag == "!!str" && quoted {
		bare := yaml.Node{Kind: yaml.ScalarNode, Value: v.node.Value}
		if slices.Contains(tags, bare.ShortTag()) {
			return ", without quotes"
		}
	}
	return ""
}

func (v Value) readSlice(dst reflect.Value, r rules) {
	if v.Kind() != List {
		want := "a list"
		if r.has("example") {
			want += ", such as `" + r["example"] + "`"
		}
		v.wrongKind(want)
		return
	}
	items := v.Items()
	if !r.length(v, len(items), "items") {
		return
	}
	out := reflect.MakeSlice(dst.Type(), len(items), len(items))
	for i, item := range items {
		item.into(out.Index(i), rules{})
	}
	dst.Set(out)
}

func (v Value) readMap(dst reflect.Value, r rules) {
	if v.Kind() != Map || dst.Type().Key().Kind() != reflect.String {
		v.wrongKind("a map of keys and values")
		return
	}
	fields := v.Fields()
	if !r.length(v, len(fields), "entries") {
		return
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(fields))
	for _, f := range fields {
		item := reflect.New(dst.Type().Elem()).Elem()
		f.Value.into(item, rules{})
		out.SetMapIndex(reflect.ValueOf(f.Key).Convert(dst.Type().Key()), item)
	}
	dst.Set(out)
}

// Struct reads a map into structs that share its keys, each a pointer.
func (v Value) Struct(all ...any) bool {
	structs := make([]reflect.Value, len(all))
	for i, dst := range all {
		structs[i] = reflect.ValueOf(dst).Elem()
	}
	return v.whole(func() { v.readStructs(structs...) })
}

func (v Value) readStructs(structs ...reflect.Value) {
	var known []structField
	for _, s := range structs {
		known = append(known, structFields(s)...)
	}
	keys := make([]string, len(known))
	for i, f := range known {
		keys[i] = f.key
	}
	if v.Kind() != Map {
		v.wrongKind("a map with the keys " + strings.Join(keys, ", "))
		return
	}
	found := map[string]bool{}
	for _, f := range v.Fields() {
		i := slices.Index(keys, f.Key)
		if i < 0 {
			v.Unknown(f, keys)
			continue
		}
		found[f.Key] = true
		if f.Value.Kind() == Null && known[i].dst.Kind() != reflect.Interface {
			f.Value.Mistake(f.Value.name()+" has no value", "write one or remove the key")
			continue
		}
		if !known[i].rules.has("later") { // else the reader of the map reads it
			f.Value.into(known[i].dst, known[i].rules)
		}
	}
	for _, k := range known {
		// A key that is probably a misspelling of this one was already reported.
		missing := k.rules.has("required") && !found[k.key] && !v.d.strange[v.node]
		if at := (place{v.node, k.key}); missing && !v.d.failed[at] {
			v.d.failed[at] = true
			v.d.add(v.node.Line, fmt.Sprintf("`%s` is missing", join(v.path, k.key)), k.hint())
		}
	}
}

// Any reads the value: nil, bool, int64, float64, string, []any or map[string]any.
func (v Value) Any() any {
	switch v.Kind() {
	case Null:
		return nil
	case List:
		list := make([]any, 0, len(v.node.Content))
		for _, item := range v.Items() {
			list = append(list, item.Any())
		}
		return list
	case Map:
		m := map[string]any{}
		for _, f := range v.Fields() {
			m[f.Key] = f.Value.Any()
		}
		return m
	}
	switch v.node.Tag {
	case "!!bool":
		return strings.EqualFold(v.node.Value, "true")
	case "!!int":
		if n, err := strconv.ParseInt(v.node.Value, 0, 64); err == nil {
			return n
		}
	case "!!float":
		if f, err := strconv.ParseFloat(v.node.Value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
	}
	return v.node.Value
}

// SetText sets the field under a key such as "limits.cpus" of the struct at dst to what a text
// means, as Decode does for that key. It returns what to write instead; "" if the text is right.
func SetText(dst any, key, text string) (hint string) {
	f := fieldUnder(reflect.ValueOf(dst).Elem(), key)
	if n, ok := numberOf(f.dst.Type(), f.rules); ok {
		return f.rules.set(f.dst, n, text)
	}
	if allowed := f.rules.oneOf(); allowed != nil && !slices.Contains(allowed, text) {
		return Suggest(text, "one of", allowed)
	}
	f.dst.SetString(text)
	return ""
}

// TextOf returns the text by which SetText sets the field to the value that it has; "" for zero.
func TextOf(src any, key string) string {
	f := fieldUnder(reflect.ValueOf(src).Elem(), key)
	if f.dst.IsZero() {
		return ""
	}
	return f.text()
}

// CheckBounds reports the numbers and texts in the struct at src and those inside of it that are out
// of the bounds of their tags, with what to write. Zero means that the key is absent.
func CheckBounds(src any, report func(key, value, hint string)) {
	checkBounds(reflect.ValueOf(src).Elem(), "", report)
}

func checkBounds(src reflect.Value, path string, report func(key, value, hint string)) {
	for _, f := range structFields(src) {
		key, v := join(path, f.key), reflect.Indirect(f.dst)
		switch {
		case f.dst.IsZero() && !f.rules.has("required"):
		case v.Kind() == reflect.Struct:
			checkBounds(v, key, report)
		default:
			n, isNumber := numberOf(v.Type(), f.rules)
			allowed, hint := f.rules.oneOf(), ""
			if isNumber {
				hint = f.rules.set(reflect.New(v.Type()).Elem(), n, f.text())
			} else if allowed != nil && !slices.Contains(allowed, v.String()) {
				hint = Suggest(v.String(), "one of", allowed)
			}
			if hint != "" {
				report(key, f.text(), hint)
			}
		}
	}
}
