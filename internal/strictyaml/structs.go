package strictyaml

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// rules are the parts of a `strict:"…"` tag: {"required": "", "min": "1"}.
type rules map[string]string

func parseRules(tag string) rules {
	r := rules{}
	for part := range strings.SplitSeq(tag, ",") {
		if name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name != "" {
			r[name] = value
		}
	}
	return r
}

func (r rules) has(name string) bool { _, ok := r[name]; return ok }

func (r rules) oneOf() []string {
	if !r.has("oneof") {
		return nil
	}
	return strings.Split(r["oneof"], "|")
}

// bound is the rule called name, read as the field's own values are.
func (r rules) bound(name string, parse func(string) (int64, error)) (int64, bool) {
	n, err := parse(r[name])
	return n, err == nil && r.has(name)
}

// numbers is the hint that belongs to the bounds, or otherwise where there are none.
func (r rules) numbers(otherwise string) string {
	if !r.has("min") && !r.has("max") {
		return otherwise
	}
	return between(r.has("min"), r.has("max"), r["min"], r["max"])
}

// number checks the bounds of a number.
func (r rules) number(v Value, n float64) bool {
	lo, errLo := strconv.ParseFloat(r["min"], 64)
	hi, errHi := strconv.ParseFloat(r["max"], 64)
	if errLo == nil && n < lo || errHi == nil && n > hi {
		v.Wrong(between(errLo == nil, errHi == nil, r["min"], r["max"]))
		return false
	}
	return true
}

// length checks the bounds of a length.
func (r rules) length(v Value, n int, unit string) bool {
	lo, errLo := strconv.Atoi(r["min"])
	hi, errHi := strconv.Atoi(r["max"])
	if errLo == nil && n < lo || errHi == nil && n > hi {
		what := fmt.Sprintf("%s has %d %s", v.name(), n, unit)
		if n == 0 {
			what = v.name() + " is empty"
		}
		v.Mistake(what, between(errLo == nil, errHi == nil, r["min"], r["max"]+" "+unit))
		return false
	}
	return true
}

func between(lower, upper bool, lo, hi string) string {
	switch {
	case lower && upper:
		return "write from " + lo + " to " + hi
	case lower:
		return "write at least " + lo
	default:
		return "write at most " + hi
	}
}

// structField is a field that takes part.
type structField struct {
	key     string
	index   int
	rules   rules
	example string
}

func structFields(t reflect.Type) []structField {
	var fields []structField
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if key == "" || key == "-" || !t.Field(i).IsExported() {
			continue
		}
		fields = append(fields, structField{key, i, parseRules(t.Field(i).Tag.Get("strict")), t.Field(i).Tag.Get("example")})
	}
	return fields
}

func (v Value) readStruct(dst reflect.Value) {
	if v.Kind() != Map {
		known := structFields(dst.Type())
		keys := make([]string, len(known))
		for i, f := range known {
			keys[i] = f.key
		}
		v.wrongKind("a map with the keys " + strings.Join(keys, ", "))
		return
	}
	known := structFields(dst.Type())
	found := map[string]bool{}
	for _, f := range v.Fields() {
		i := indexOf(known, f.Key)
		if i < 0 {
			v.unknown(f, known)
			continue
		}
		found[f.Key] = true
		if f.Value.Kind() == Null && dst.Field(known[i].index).Kind() != reflect.Interface {
			f.Value.Mistake(f.Value.name()+" has no value", "write one or remove the key")
			continue
		}
		f.Value.into(dst.Field(known[i].index), known[i].rules)
	}
	for _, k := range known {
		// A key that is probably a slip of this one was reported already.
		if k.rules.has("required") && !found[k.key] && !v.d.failed[place{v.node, k.key}] {
			v.d.fail(place{v.node, k.key})
			v.d.add(v.node.Line, fmt.Sprintf("`%s` is missing", join(v.path, k.key)), k.hint())
		}
	}
	if dst.CanAddr() && dst.Addr().Type().Implements(validatorType) {
		dst.Addr().Interface().(Validator).ValidateStrict(v)
	}
}

// hint shows what a missing field could hold.
func (f structField) hint() string {
	if allowed := f.rules.oneOf(); allowed != nil {
		return "one of: " + strings.Join(allowed, ", ")
	}
	if f.example != "" {
		return "for example `" + f.key + ": " + f.example + "`"
	}
	return ""
}

func (v Value) unknown(f Field, known []structField) {
	keys := make([]string, len(known))
	for i, k := range known {
		keys[i] = k.key
	}
	k, _, _ := find(v.node, f.Key)
	hint := Suggest(f.Key, knownKeys, keys)
	switch near := Nearest(f.Key, keys); {
	case near != "" && v.Has(near):
		// The right one is there too: pointing at it would make a duplicate.
		hint = knownKeys + ": " + strings.Join(keys, ", ")
	case near != "":
		v.d.fail(place{v.node, near}) // so that it is not reported to be missing as well
	}
	v.d.add(k.Line, fmt.Sprintf("unknown key `%s`", join(v.path, clip(f.Key, 60))), hint)
}

func indexOf(fields []structField, key string) int {
	for i, f := range fields {
		if f.key == key {
			return i
		}
	}
	return -1
}
