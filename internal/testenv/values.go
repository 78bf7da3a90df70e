package testenv

import "reflect"

// Each calls leaf with all that v, a pointer, leads to and that can be set: texts, numbers, truth
// values, slices of bytes, and structs without public fields, such as times. name is that of the
// field, or "key" for keys of maps. What is nil is left out.
func Each(v any, leaf func(name string, v reflect.Value)) { each("", reflect.ValueOf(v), leaf, false) }

// Fill is Each after it has made what is nil: pointers, slices of two, maps of one. It leaves out what
// JSON does.
func Fill(v any, leaf func(name string, v reflect.Value)) { each("", reflect.ValueOf(v), leaf, true) }

func each(name string, v reflect.Value, leaf func(name string, v reflect.Value), fill bool) {
	t := v.Type()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && fill {
			v.Set(reflect.New(t.Elem()))
		}
		if !v.IsNil() {
			each(name, v.Elem(), leaf, fill)
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			leaf(name, v)
			return
		}
		if v.IsNil() && fill {
			v.Set(reflect.MakeSlice(t, 2, 2))
		}
		for i := range v.Len() {
			each(name, v.Index(i), leaf, fill)
		}
	case reflect.Map:
		if v.IsNil() && fill {
			v.Set(reflect.MakeMap(t))
			v.SetMapIndex(reflect.Zero(t.Key()), reflect.Zero(t.Elem()))
		}
		if v.IsNil() {
			return
		}
		all := reflect.MakeMap(t)
		for _, k := range v.MapKeys() {
			key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			key.Set(k)
			value.Set(v.MapIndex(k))
			each("key", key, leaf, fill)
			each(name, value, leaf, fill)
			all.SetMapIndex(key, value)
		}
		v.Set(all)
	case reflect.Struct:
		public := 0
		for i := range v.NumField() {
			if f := t.Field(i); f.IsExported() {
				if public++; !fill || f.Tag.Get("json") != "-" {
					each(f.Name, v.Field(i), leaf, fill)
				}
			}
		}
		if public == 0 {
			leaf(name, v)
		}
	case reflect.Array:
		for i := range v.Len() {
			each(name, v.Index(i), leaf, fill)
		}
	case reflect.Interface, reflect.Func, reflect.Chan:
	default:
		leaf(name, v)
	}
}
