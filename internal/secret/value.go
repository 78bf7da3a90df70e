package secret

import (
	"reflect"
	"time"

	"locbench/internal/bench"
)

// Event is a copy of e without secrets. e itself, which others may still need, is left as it is.
func (m Masker) Event(e bench.Event) bench.Event {
	if e == nil {
		return nil
	}
	return m.copy(reflect.ValueOf(e)).Interface().(bench.Event)
}

// Run is a copy of a run's record without secrets.
func (m Masker) Run(r bench.Run) bench.Run { return m.copy(reflect.ValueOf(r)).Interface().(bench.Run) }

// kept are fields whose text is no prose and must stay what it is: a password that happens to be
// part of it does not give itself away.
var kept = map[string]bool{"HDR": true, "ID": true, "File": true, "Dir": true, "Image": true, "ImageID": true, "Hash": true}

// keptTypes are names by which things find each other.
var keptTypes = map[reflect.Type]bool{
	reflect.TypeFor[time.Time](): true, reflect.TypeFor[bench.Leg](): true, reflect.TypeFor[bench.LegEntry](): true, reflect.TypeFor[bench.Selection](): true,
}

var argv = reflect.TypeFor[[]string]()

// copy copies what holds text, masks the text, and shares all else with the original.
func (m Masker) copy(v reflect.Value) reflect.Value {
	t := v.Type()
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if v.IsNil() || !holdsText(t.Elem()) {
			return v
		}
	}
	switch v.Kind() {
	case reflect.String:
		if t == reflect.TypeFor[string]() { // named types are closed sets: phases, states, kinds
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
		if t == argv {
			return reflect.ValueOf(m.Args(v.Interface().([]string)))
		}
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(m.copy(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(t, v.Len())
		for k, value := range v.Seq2() {
			if value.Kind() == reflect.String && value.Len() > 0 && k.Kind() == reflect.String && !fromEnv(value.String()) && holdsSecret(k.String(), value.String()) {
				out.SetMapIndex(k, reflect.ValueOf(Mask).Convert(value.Type()))
			} else {
				out.SetMapIndex(k, m.copy(value))
			}
		}
		return out
	case reflect.Struct:
		return m.fields(v)
	}
	return v
}

// holdsSecret tells whether a value of a map is secret as a whole, by its name or as one of a header.
func holdsSecret(name, value string) bool {
	_, ok := credentials(value, 0)
	return ok || Name(name)
}

func (m Masker) fields(v reflect.Value) reflect.Value {
	if keptTypes[v.Type()] {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && f.Tag.Get("json") != "-" && !kept[f.Name] && holdsText(f.Type) {
			out.Field(i).Set(m.copy(v.Field(i)))
		}
	}
	return out
}

// holdsText says no of what certainly has none, such as numbers.
func holdsText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Interface, reflect.Map, reflect.Slice, reflect.Struct, reflect.Pointer:
		return t != reflect.TypeFor[time.Time]()
	}
	return false
}
