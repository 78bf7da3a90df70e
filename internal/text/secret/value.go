package secret

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Event returns a copy of e without secrets. e itself does not change.
func (m Masker) Event(e bench.Event) bench.Event {
	if e == nil {
		return nil
	}
	return m.copy(reflect.ValueOf(e)).Interface().(bench.Event)
}

// Run returns a copy of a run's record without secrets.
func (m Masker) Run(r bench.Run) bench.Run { return m.copy(reflect.ValueOf(r)).Interface().(bench.Run) }

// kept are fields whose text is not prose and must not change. A password that happens to be part
// of such a text is not recognizable.
var kept = []string{"HDR", "ID", "File", "Dir", "Image", "ImageID", "Contents", "Hash"}

// keptTypes are types that only hold names, by which things find each other.
var keptTypes = []reflect.Type{
	reflect.TypeFor[time.Time](), reflect.TypeFor[bench.Trial](), reflect.TypeFor[bench.TrialEntry](),
	reflect.TypeFor[bench.Selection](),
}

// copy copies values with text, masks the text, and shares all other values with the original.
func (m Masker) copy(v reflect.Value) reflect.Value {
	t := v.Type()
	if of, ok := v.Interface().(bench.NeedForm); ok {
		return reflect.ValueOf(m.form(of))
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if v.IsNil() || !holdsText(t.Elem()) {
			return v
		}
	}
	switch v.Kind() {
	case reflect.String:
		if t == reflect.TypeFor[string]() { // named types have fixed values: phases, states, kinds
			return reflect.ValueOf(m.Text(v.String()))
		}
	case reflect.Pointer:
		out := reflect.New(t.Elem())
		out.Elem().Set(m.copy(v.Elem()))
		return out
	case reflect.Interface:
		if !v.IsNil() {
			return m.copy(v.Elem()).Convert(t)
		}
	case reflect.Slice:
		if argv, ok := v.Interface().([]string); ok {
			return reflect.ValueOf(m.Args(argv))
		}
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(m.copy(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(t, v.Len())
		for k, value := range v.Seq2() {
			masked := m.copy(value)
			if k.Kind() == reflect.String && value.Kind() == reflect.String && isSecret(k.String(), value.String()) {
				masked = reflect.ValueOf(around(value.String())).Convert(value.Type())
			}
			out.SetMapIndex(k, masked)
		}
		return out
	case reflect.Struct:
		if slices.Contains(keptTypes, t) {
			return v
		}
		out := reflect.New(t).Elem()
		out.Set(v)
		for i := range v.NumField() {
			f := t.Field(i)
			if f.IsExported() && f.Tag.Get("json") != "-" && !slices.Contains(kept, f.Name) && holdsText(f.Type) {
				out.Field(i).Set(m.copy(v.Field(i)))
			}
		}
		if r, ok := v.Interface().(bench.Request); ok {
			return reflect.ValueOf(withPlaces(r, out.Interface().(bench.Request)))
		}
		return out
	}
	return v
}

// onlyPlaces matches a text of placeholders: "Bearer {token}", "sid={sid}", "${PASSWORD}".
var onlyPlaces = regexp.MustCompile(
	`^(?:[A-Za-z]+ |[A-Za-z0-9_-]+=)?` + place + `(?:; ?[A-Za-z0-9_-]+=` + place + `)*$`)

const place = `\$?\{[A-Za-z0-9_.:-]+\}`

// withPlaces restores the placeholders of a masked request, and where its values are saved from: a
// resumed run fills them in again.
func withPlaces(r, masked bench.Request) bench.Request {
	masked.Path, masked.Body = keepPlaces(r.Path, masked.Path), keepPlaces(r.Body, masked.Body)
	for name, value := range masked.Header {
		masked.Header[name] = keepPlaces(r.Header[name], value)
	}
	masked.Save = slices.Clone(r.Save)
	return masked
}

// keepPlaces restores the masked parts of a text that consist of placeholders.
func keepPlaces(text, masked string) string {
	pieces := strings.Split(masked, Mask)
	rest, found := strings.CutPrefix(text, pieces[0])
	if !found || len(pieces) == 1 {
		return masked
	}
	var out strings.Builder
	out.WriteString(pieces[0])
	for i, piece := range pieces[1:] {
		end := strings.Index(rest, piece)
		if piece == "" && i == len(pieces)-2 {
			end = len(rest)
		}
		if end < 0 {
			return masked
		}
		if hidden := rest[:end]; onlyPlaces.MatchString(hidden) {
			out.WriteString(hidden)
		} else {
			out.WriteString(Mask)
		}
		out.WriteString(piece)
		rest = rest[end+len(piece):]
	}
	return out.String()
}

// isSecret reports whether all of a map's value is secret, by its name or as the value of a header.
func isSecret(name, value string) bool {
	_, ok := credentials(value, 0)
	return value != "" && !fromEnv(value) && (ok || Name(name))
}

// holdsText reports whether a type may contain text. It is false for numbers, for example.
func holdsText(t reflect.Type) bool {
	kinds := []reflect.Kind{
		reflect.String, reflect.Interface, reflect.Map, reflect.Slice, reflect.Struct, reflect.Pointer,
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return true
	}
	return t != reflect.TypeFor[time.Time]() && slices.Contains(kinds, t.Kind())
}
