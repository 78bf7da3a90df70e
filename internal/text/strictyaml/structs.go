package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
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
	if texts, ok := r["oneof"]; ok {
		return strings.Split(texts, "|")
	}
	return nil
}

// hint replaces a parser's error: by the bounds, or by otherwise if there are none.
func (r rules) hint(err error, otherwise string) error {
	if err != nil {
		return errors.New(cmp.Or(r.bounds(""), otherwise))
	}
	return nil
}

func (r rules) length(v Value, n int, unit string) bool {
	lo, noLo := strconv.Atoi(r["min"])
	hi, noHi := strconv.Atoi(r["max"])
	if (noLo != nil || n >= lo) && (noHi != nil || n <= hi) {
		return true
	}
	what := fmt.Sprintf("%s has %d %s", v.name(), n, unit)
	if n == 0 {
		what = v.name() + " is empty"
	}
	v.Mistake(what, r.bounds(" "+unit))
	return false
}

// bounds returns the hint for the bounds, or "" if there are none.
func (r rules) bounds(unit string) string {
	if span := r.span(unit); span != "" {
		return "write " + span
	}
	return ""
}

func (r rules) span(unit string) string {
	switch {
	case r.has("min") && r.has("max"):
		return "from " + r["min"] + " to " + r["max"] + unit
	case r.has("min"):
		return "at least " + r["min"]
	case r.has("max"):
		return "at most " + r["max"] + unit
	}
	return ""
}

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
	known := structFields(dst.Type())
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
		if f.Value.Kind() == Null && dst.Field(known[i].index).Kind() != reflect.Interface {
			f.Value.Mistake(f.Value.name()+" has no value", "write one or remove the key")
			continue
		}
		if !known[i].rules.has("later") { // else its reader knows more of the map
			f.Value.into(dst.Field(known[i].index), known[i].rules)
		}
	}
	for _, k := range known {
		// A key that is probably a misspelling of this one was already reported.
		missing := k.rules.has("required") && !found[k.key] && !v.d.strange[v.node]
		if at := (place{v.node, k.key}); missing && !v.d.failed[at] {
			v.d.failed[at] = true
			v.d.Add(v.node.Line, fmt.Sprintf("`%s` is missing", join(v.path, k.key)), k.hint())
		}
	}
	if validator, ok := dst.Addr().Interface().(Validator); ok {
		validator.ValidateStrict(v)
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,59}$`)

func (f structField) hint() string {
	if allowed := f.rules.oneOf(); allowed != nil {
		return "one of: " + strings.Join(allowed, ", ")
	}
	if f.example != "" {
		return "write it, such as `" + f.key + ": " + f.example + "`"
	}
	return ""
}

// MistakeAt reports an entry of the map v that cannot be read at all, at the line of its key.
func (v Value) MistakeAt(f Field, what, hint string) {
	v.d.strange[v.node] = true
	v.d.Add(f.line, what, hint)
}

// Unknown reports an unknown key of the map v.
func (v Value) Unknown(f Field, keys []string) {
	m := Mistake{Line: f.line, What: "unknown key"}
	near := Nearest(f.Key, keys)
	v.d.strange[v.node] = true
	switch {
	case len(keys) > 0 && (near == "" || v.Has(near)): // suggesting a key that exists would lead to a duplicate
		m.Hint, m.listsKeys = knownKeys+": "+strings.Join(keys, ", "), true
	case near != "":
		m.Hint = Suggest(f.Key, knownKeys, keys)
		v.d.failed[place{v.node, near}] = true // do not report it as missing, too
	}
	if plainKey.MatchString(f.Key) { // otherwise it may be a file of another kind: do not show its lines
		m.What = fmt.Sprintf("unknown key `%s`", join(v.path, f.Key))
	}
	v.d.report(m)
}
