package bench

import (
	"reflect"
	"time"
)

// Advance returns u with its clock and counters advanced by the difference between two readings.
// Values that are not counters (`advance:"no"`) are those of the later reading. It joins the
// readings of slices. What one of the readings does not have, or has from another source, is unknown.
func (u Usage) Advance(from, to Usage) Usage { return *advanced(&u, &from, &to) }

// Advance returns b advanced by the difference between two readings, as Usage.Advance does.
func (b *HostReading) Advance(from, to *HostReading) *HostReading { return advanced(b, from, to) }

func advanced[T any](a, from, to *T) *T {
	if a == nil || from == nil || to == nil {
		return nil
	}
	return new(advance(reflect.ValueOf(*a), reflect.ValueOf(*from), reflect.ValueOf(*to)).Interface().(T))
}

// advance advances a counter, or all below a value, by the difference between two readings.
func advance(a, from, to reflect.Value) reflect.Value {
	out := reflect.New(to.Type()).Elem()
	switch to.Kind() {
	case reflect.Int, reflect.Int64:
		out.SetInt(a.Int() + to.Int() - from.Int())
	case reflect.Pointer:
		if _, memory := to.Interface().(*Memory); memory {
			out.Set(to) // its use is known without counters
		}
		if a.IsNil() || from.IsNil() || to.IsNil() || !sameSource(from, to) {
			return out
		}
		out.Set(reflect.New(to.Type().Elem()))
		out.Elem().Set(advance(a.Elem(), from.Elem(), to.Elem()))
	case reflect.Map:
		for _, key := range to.MapKeys() {
			zero := reflect.Zero(to.Type().Elem())
			in := func(m reflect.Value) reflect.Value {
				if v := m.MapIndex(key); v.IsValid() {
					return v
				}
				return zero
			}
			v := advance(in(a), in(from), in(to))
			if a.IsNil() || from.IsNil() || v.Kind() == reflect.Pointer && v.IsNil() {
				continue
			}
			if out.IsNil() {
				out.Set(reflect.MakeMap(to.Type()))
			}
			out.SetMapIndex(key, v)
		}
	case reflect.Struct:
		if at, ok := to.Interface().(time.Time); ok {
			return reflect.ValueOf(a.Interface().(time.Time).Add(at.Sub(from.Interface().(time.Time))))
		}
		out.Set(to)
		for i, f := range reflect.VisibleFields(to.Type()) {
			if f.Tag.Get("advance") != "no" {
				out.Field(i).Set(advance(a.Field(i), from.Field(i), to.Field(i)))
			}
		}
	default:
		out.Set(to)
	}
	return out
}

// sameSource reports whether two readings are of one source, and what has been read from disks has
// not become less.
func sameSource(from, to reflect.Value) bool {
	if d, ok := to.Interface().(*Disk); ok {
		return d.since(from.Interface().(*Disk)) != nil
	}
	if to.Elem().Kind() != reflect.Struct {
		return true
	}
	source := to.Elem().FieldByName("Source")
	return !source.IsValid() || source.String() == from.Elem().FieldByName("Source").String()
}
