package bench

import (
	"encoding/json"
	"sync"
)

// NeedForm is what only the kind of a need knows of it: a value of the kind's own type, which is
// read once and kept. A record has it as JSON. Nothing changes a value that a form has.
type NeedForm struct{ of *keptForm }

type keptForm struct {
	text  json.RawMessage // as a record has it
	once  sync.Once       // of what follows
	value any             // pointer to the kind's type
	err   error
}

// FormOf returns the form of a value, none for the zero value of its type.
func FormOf[T any](value T) NeedForm {
	text, _ := json.Marshal(value) // does not fail for numbers and texts
	if string(text) == "{}" {
		return NeedForm{}
	}
	f := &keptForm{text: text}
	f.once.Do(func() { f.value = &value })
	return NeedForm{f}
}

// ReadForm returns the value of a form, whose kind has the type T; the zero value of none.
func ReadForm[T any](f NeedForm) (value T, err error) {
	if f.of == nil {
		return value, nil
	}
	f.of.once.Do(func() {
		var read T
		f.of.err = json.Unmarshal(f.of.text, &read)
		f.of.value = &read
	})
	if kept, ok := f.of.value.(*T); ok {
		return *kept, f.of.err
	}
	err = json.Unmarshal(f.of.text, &value)
	return value, err
}

// FormFrom returns the form that a record has as a JSON text.
func FormFrom(text []byte) (f NeedForm) {
	if len(text) > 0 {
		f.of = &keptForm{text: text}
	}
	return f
}

// JSON returns the text of the form in a record; nil for none.
func (f NeedForm) JSON() json.RawMessage {
	if f.of == nil {
		return nil
	}
	return f.of.text
}

// String returns the text of the form in a record.
func (f NeedForm) String() string { return string(f.JSON()) }

// IsZero reports whether it says nothing.
func (f NeedForm) IsZero() bool { return f.of == nil }

// MarshalJSON writes the text of the form.
func (f NeedForm) MarshalJSON() ([]byte, error) { return f.JSON().MarshalJSON() }

// UnmarshalJSON keeps the text until the kind reads it.
func (f *NeedForm) UnmarshalJSON(text []byte) error {
	*f = FormFrom(append([]byte(nil), text...))
	return nil
}
