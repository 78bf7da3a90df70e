package strictyaml

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/locbench/locbench/internal/bench/units"
)

// rules are the parts of a `strict:"…"` tag, and that of `example:"…"`: {"required": "", "min": "1"}.
type rules map[string]string

func parseRules(tag reflect.StructTag) rules {
	r := rules{}
	for part := range strings.SplitSeq(tag.Get("strict"), ",") {
		if name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name != "" {
			r[name] = value
		}
	}
	if example := tag.Get("example"); example != "" {
		r["example"] = example
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
	switch {
	case r.has("min") && r.has("max"):
		return "write from " + r["min"] + " to " + r["max"] + unit
	case r.has("min"):
		return "write at least " + r["min"]
	case r.has("max"):
		return "write at most " + r["max"] + unit
	}
	return ""
}

// number is how a text becomes a number.
type number struct {
	want string   // what to write, for another kind of value
	tags []string // of YAML, one of which the value has; nil: any
	read func(text string) (x any, size float64, err error)
}

var (
	timeType  = reflect.TypeFor[time.Duration]()
	bytesType = reflect.TypeFor[Bytes]()
)

func numberOf(t reflect.Type, r rules) (n number, ok bool) {
	switch kind := t.Kind(); {
	case t == timeType:
		return number{"a duration such as `10s`", nil, sized(ParseDuration)}, true
	case t == bytesType || r.has("bytes"):
		return number{"a size such as `512MiB`", nil, sized(ParseBytes)}, true
	case r.has("percent"):
		return number{"a share such as `1%`", nil, sized(r.share)}, true
	case kind >= reflect.Int && kind <= reflect.Int64:
		return number{"a whole number", []string{"!!int"}, sized(func(s string) (int64, error) {
			n, err := strconv.ParseInt(s, 0, t.Bits())
			return n, hinted(err, "write a whole number")
		})}, true
	case kind >= reflect.Uint && kind <= reflect.Uint64:
		return number{"a whole number", []string{"!!int"}, sized(func(s string) (uint64, error) {
			n, err := strconv.ParseUint(s, 0, t.Bits())
			return n, hinted(err, fmt.Sprintf("write a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-t.Bits())))
		})}, true
	case kind == reflect.Float32 || kind == reflect.Float64:
		return number{"a number", []string{"!!int", "!!float"}, sized(func(s string) (float64, error) {
			x, err := strconv.ParseFloat(s, 64)
			if math.IsInf(x, 0) || math.IsNaN(x) {
				err = strconv.ErrRange
			}
			return x, hinted(err, "write a number such as 1.5")
		})}, true
	}
	return n, false
}

// sized also returns the number that is compared with bounds.
func sized[T ~int64 | ~uint64 | ~float64](read func(string) (T, error)) func(string) (any, float64, error) {
	return func(text string) (any, float64, error) {
		x, err := read(text)
		return x, float64(x), err
	}
}

// hinted replaces a parser's error by what to write.
func hinted(err error, hint string) error {
	if err != nil {
		return errors.New(hint)
	}
	return nil
}

// share reads a part of a whole in percent, such as "1%"; with the rule "none" also "none" or "0".
func (r rules) share(text string) (float64, error) {
	hint := "write a share from 0.001% to 100%"
	if r.has("none") {
		if text == "none" || text == "0" {
			return 0, nil
		}
		hint += ", or `none`"
	}
	digits, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !isPercent || err != nil || !(x >= .001 && x <= 100) {
		return 0, errors.New(hint)
	}
	return math.Round(x*1e4) / 1e6, nil
}

// FormatShare writes a part of a whole in percent.
func FormatShare(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e6)/1e4, 'f', -1, 64) + "%"
}

// set sets dst to the number in a text; hint is what to write instead, or "".
func (r rules) set(dst reflect.Value, n number, text string) (hint string) {
	x, size, err := n.read(text)
	_, low, noLow := n.read(r["min"])
	_, high, noHigh := n.read(r["max"])
	switch {
	case err != nil && n.tags != nil:
		return cmp.Or(r.bounds(""), err.Error())
	case err != nil:
		return err.Error()
	case noLow == nil && size < low || noHigh == nil && size > high:
		hint = r.bounds("")
		if _, isBytes := x.(int64); isBytes && n.tags == nil && strings.Trim(text, "0123456789") == "" {
			hint += "; a number without a unit is in bytes"
		}
		return hint
	}
	dst.Set(reflect.ValueOf(x).Convert(dst.Type()))
	return ""
}

// structField is a field with a key.
type structField struct {
	key   string
	dst   reflect.Value
	rules rules
}

func structFields(s reflect.Value) []structField {
	var fields []structField
	for i, t := 0, s.Type(); i < t.NumField(); i++ {
		tag := t.Field(i).Tag
		key, _, _ := strings.Cut(tag.Get("yaml"), ",")
		if key != "" && key != "-" && t.Field(i).IsExported() {
			fields = append(fields, structField{key, s.Field(i), parseRules(tag)})
		}
	}
	return fields
}

// fieldUnder returns the field of a struct under a key such as "limits.cpus". There is one: keys are in the program.
func fieldUnder(s reflect.Value, key string) structField {
	first, rest, inside := strings.Cut(key, ".")
	fields := structFields(s)
	f := fields[slices.IndexFunc(fields, func(f structField) bool { return f.key == first })]
	if inside {
		return fieldUnder(f.dst, rest)
	}
	return f
}

// text returns the value of a number or a text as SetText takes it.
func (f structField) text() string {
	v := reflect.Indirect(f.dst)
	switch {
	case v.Type() == timeType:
		return units.Exact(time.Duration(v.Int()))
	case f.rules.has("bytes"):
		return FormatBytes(v.Int())
	case f.rules.has("percent"):
		return FormatShare(v.Float())
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,59}$`)

func (f structField) hint() string {
	if allowed := f.rules.oneOf(); allowed != nil {
		return "one of: " + strings.Join(allowed, ", ")
	}
	if f.rules.has("example") {
		return "write it, such as `" + f.key + ": " + f.rules["example"] + "`"
	}
	return ""
}

// MistakeAt reports an entry of the map v that cannot be read at all, at the line of its key.
func (v Value) MistakeAt(f Field, what, hint string) {
	v.d.strange[v.node] = true
	v.d.add(f.line, what, hint)
}

// Unknown reports an unknown key of the map v.
func (v Value) Unknown(f Field, keys []string) {
	m := Mistake{Line: f.line, What: "unknown key"}
	near := Nearest(f.Key, keys)
	v.d.strange[v.node] = true
	switch {
	case len(keys) > 0 && (near == "" || v.Has(near)): // suggesting a key that exists would lead to a duplicate
		m.Hint = knownKeys + ": " + strings.Join(keys, ", ")
	case near != "":
		m.Hint = Suggest(f.Key, knownKeys, keys)
		v.d.failed[place{v.node, near}] = true // do not report it as missing, too
	}
	if plainKey.MatchString(f.Key) { // otherwise it may be a file of another kind: do not show its lines
		m.What = fmt.Sprintf("unknown key `%s`", join(v.path, f.Key))
	}
	v.d.report(m)
}

// octal matches a number with a leading zero, which YAML may read as octal.
var octal = regexp.MustCompile(`^[-+]?0[0-9]`)

const octalHint = "put it in quotes if it is a text, or leave out the leading zero"

// JSONNumber returns a number in the text of the file, exact at any size. ok is false for any other
// value. It reports a number that JSON writes in another form, or does not have, such as 02142,
// 0x1F or .inf; the text is then 0.
func (v Value) JSONNumber() (text string, ok bool) {
	n := v.node
	if v.Kind() != Scalar {
		return "", false
	}
	quoted := n.Style&^yaml.FlowStyle != 0 // or a block, or with a tag
	valid := isJSONNumber(n.Value)
	switch number := n.Tag == "!!int" || n.Tag == "!!float"; {
	case valid && (number || !quoted && n.Tag == "!!str"): // the library reads 1e400 as a text
		return n.Value, true
	case !number:
		return "", false
	case octal.MatchString(n.Value):
		v.Wrong(octalHint)
	default:
		v.Wrong("write it as JSON does, such as 31 or 0.5; or put it in quotes if it is a text")
	}
	return "0", true
}

func isJSONNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}
