package check

import (
	"encoding/json"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/jsonpath"
)

// template is a text of an expectation with places for what was requested.
type template struct {
	text  string
	parts []bench.Part // nil: the text is fixed
}

// newTemplate reads a text with places. Suites have none: their variables are filled in when read.
func (e expander) template(text string) template {
	if !e.places {
		return template{text: text}
	}
	parts := bench.Parts(text)
	for _, p := range parts {
		if p.Name != "" {
			return template{text, parts}
		}
	}
	if len(parts) == 1 {
		text = parts[0].Text // {{word}} is the text {word}
	}
	return template{text: text}
}

// fill returns the text with the values that the request was sent with.
func (t template) fill(r *response) string {
	if t.parts == nil {
		return t.text
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.Name == "" {
			b.WriteString(p.Text)
		} else {
			b.WriteString(r.valueOf(p.Name))
		}
	}
	return b.String()
}

// value returns what a JSON value is compared with.
func (t template) value(r *response) any {
	if len(t.parts) != 1 {
		return t.fill(r)
	}
	text := r.valueOf(t.parts[0].Name)
	switch t.parts[0].Type {
	case bench.TypeNumber:
		if jsonpath.IsNumber(text) {
			return json.Number(text)
		}
	case bench.TypeJSON:
		if doc, err := jsonpath.Decode([]byte(text)); err == nil {
			return doc
		}
	}
	return requested(text)
}

// resolved fills in a value that may be a template.
func resolved(want any, r *response) any {
	if t, ok := want.(template); ok {
		return t.value(r)
	}
	return want
}

// MarshalJSON shows the template in messages.
func (t template) MarshalJSON() ([]byte, error) { return json.Marshal(t.text) }

// requested is a value of the request without a type. It equals a JSON text, and a JSON number.
type requested string

// MarshalJSON shows the value in messages.
func (s requested) MarshalJSON() ([]byte, error) {
	if jsonpath.IsNumber(string(s)) {
		return []byte(s), nil
	}
	return json.Marshal(string(s))
}

func (s requested) equals(got any) bool {
	switch got := got.(type) {
	case string:
		return got == string(s)
	case json.Number:
		return jsonpath.IsNumber(string(s)) && jsonpath.SameNumber(string(s), string(got))
	}
	return false
}

// valueOf returns a value that the request was sent with, "" if there is none.
func (r *response) valueOf(name string) string {
	if r.value == nil {
		return ""
	}
	return r.value(name)
}
