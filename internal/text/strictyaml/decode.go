package strictyaml

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

var (
	timeType  = reflect.TypeFor[time.Duration]()
	bytesType = reflect.TypeFor[Bytes]()
)

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
	before := v.d.count()
	v.read(dst, r)
	if v.d.count() == before {
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
	switch t := dst.Type(); {
	case t == timeType:
		readNumber(v, dst, r, "a duration such as `10s`", ParseDuration)
		return
	case t == bytesType:
		readNumber(v, dst, r, "a size such as `512MiB`", ParseBytes)
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		p := reflect.New(dst.Type().Elem())
		v.into(p.Elem(), r)
		dst.Set(p) // even with mistakes inside: a Validator checks the rest
	case reflect.String:
		v.readString(dst, r)
	case reflect.Bool:
		if v.Kind() != Scalar || v.node.Tag != "!!bool" {
			v.wrongKind("`true` or `false`")
			return
		}
		dst.SetBool(strings.EqualFold(v.node.Value, "true"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		readNumber(v, dst, r, "a whole number", func(s string) (int64, error) {
			n, err := strconv.ParseInt(s, 0, dst.Type().Bits())
			return n, r.hint(err, "write a whole number")
		}, "!!int")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		readNumber(v, dst, r, "a whole number", func(s string) (uint64, error) {
			n, err := strconv.ParseUint(s, 0, dst.Type().Bits())
			most := uint64(math.MaxUint64) >> (64 - dst.Type().Bits())
			return n, r.hint(err, fmt.Sprintf("write a whole number from 0 to %d", most))
		}, "!!int")
	case reflect.Float32, reflect.Float64:
		readNumber(v, dst, r, "a number", func(s string) (float64, error) {
			n, err := strconv.ParseFloat(s, 64)
			if math.IsInf(n, 0) || math.IsNaN(n) {
				err = strconv.ErrRange
			}
			return n, r.hint(err, "write a number such as 1.5")
		}, "!!int", "!!float")
	case reflect.Slice:
		v.readSlice(dst, r)
	case reflect.Map:
		v.readMap(dst, r)
	case reflect.Struct:
		v.readStruct(dst)
	case reflect.Interface:
		if x := v.Any(); x != nil {
			dst.Set(reflect.ValueOf(x))
		}
	default:
		v.unfit(dst.Type().String())
	}
}

func (v Value) unfit(kind string) {
	v.d.Add(v.node.Line, "internal error: no way to read a "+kind, "report it to the authors of locbench")
}

func (v Value) readString(dst reflect.Value, r rules) {
	s, ok := v.Text()
	allowed := r.oneOf()
	if ok && allowed != nil {
		_, ok = v.Enum(allowed...)
	}
	switch {
	case !ok:
	case len(s) > maxText:
		v.Wrong(fmt.Sprintf("write at most %s", FormatBytes(maxText)))
	case r.length(v, len(s), "characters"):
		dst.SetString(s)
	}
}

// readNumber reads a scalar with one of the tags, if any. The text of parse's error is a hint.
func readNumber[T cmp.Ordered](
	v Value, dst reflect.Value, r rules, want string, parse func(string) (T, error), tags ...string,
) {
	if v.Kind() != Scalar || tags != nil && !slices.Contains(tags, v.node.Tag) {
		v.wrongKind(want + unquote(v, tags))
		return
	}
	if slices.Contains(tags, "!!int") && octal.MatchString(v.node.Value) && v.node.Tag == "!!int" {
		v.Wrong(octalHint)
		return
	}
	n, err := parse(v.node.Value)
	lo, noLo := parse(r["min"])
	hi, noHi := parse(r["max"])
	switch {
	case err != nil:
		v.Wrong(err.Error())
	case noLo == nil && n < lo || noHi == nil && n > hi:
		v.Wrong(r.bounds("") + ofBytes(dst.Type(), v.node.Tag))
	default:
		dst.Set(reflect.ValueOf(n).Convert(dst.Type()))
	}
}

// ofBytes returns the rest of a hint about a size that has no unit.
func ofBytes(t reflect.Type, tag string) string {
	if t != bytesType || tag != "!!int" {
		return ""
	}
	return "; " + BytesAlone
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
		v.wrongKind("a list")
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
