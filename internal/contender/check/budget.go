package check

import (
	"errors"
	"reflect"
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxEvaluations bounds how many schemas one response is compared with: a recursive schema with two
// branches needs 2^depth of them.
const maxEvaluations = 500_000

var errBudget = errors.New("comparing the response with its schema takes too long: " +
	"at most 500,000 comparisons of a value with a part of the schema")

// budget counts evaluations. The library offers no way to stop it, so it panics with errBudget.
type budget struct{ left int }

func (b *budget) spend(n int) {
	if b.left -= n; b.left < 0 {
		panic(errBudget)
	}
}

// meter makes each schema that is reachable from s spend from the budget before it is applied. The
// library calls a format before anything that leads to further schemas.
func (b *budget) meter(s *jsonschema.Schema) {
	seen := map[*jsonschema.Schema]bool{}
	var visit func(v reflect.Value, do func(*jsonschema.Schema))
	visit = func(v reflect.Value, do func(*jsonschema.Schema)) {
		switch v.Kind() {
		case reflect.Pointer:
			if s, ok := v.Interface().(*jsonschema.Schema); ok && s != nil {
				do(s)
			} else if r, ok := v.Interface().(*jsonschema.DynamicRef); ok && r != nil {
				do(r.Ref)
			}
		case reflect.Interface:
			visit(v.Elem(), do)
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i), do)
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				visit(v.MapIndex(key), do)
			}
		}
	}
	var add func(*jsonschema.Schema)
	add = func(s *jsonschema.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		once, each := 1, 0
		fields := reflect.ValueOf(s).Elem()
		for i := range fields.NumField() {
			name := fields.Type().Field(i).Name
			if !fields.Type().Field(i).IsExported() || name == "Extensions" {
				continue
			}
			visit(fields.Field(i), func(child *jsonschema.Schema) {
				if child == nil {
					return
				}
				cost := 1
				if child.Enum != nil {
					cost += len(child.Enum.Values)
				}
				switch name {
				case "Items", "Items2020", "AdditionalItems", "AdditionalProperties", "PatternProperties", "Contains", "PropertyNames",
					"UnevaluatedItems", "UnevaluatedProperties":
					each += cost
				default:
					once += cost
				}
				add(child)
			})
		}
		inner, name := s.Format, ""
		if inner != nil {
			name = inner.Name
		}
		if name == "regex" { // the library has its own way for this name
			inner = &jsonschema.Format{Validate: func(v any) (err error) {
				if text, ok := v.(string); ok {
					_, err = regexp.Compile(text)
				}
				return err
			}}
			name = "regular expression"
		}
		s.Format = &jsonschema.Format{Name: name, Validate: func(v any) error {
			n := once + each*width(v)
			if s.UniqueItems {
				n += valuesIn(v)
			}
			if b.spend(n); inner != nil {
				return inner.Validate(v)
			}
			return nil
		}}
	}
	add(s)
}

// width returns the number of values right within v, and for a text its length in pieces.
func width(v any) int {
	switch v := v.(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	case string:
		return len(v) / 100
	}
	return 0
}

// valuesIn returns the number of values in v.
func valuesIn(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			n += valuesIn(child)
		}
	case []any:
		for _, child := range v {
			n += valuesIn(child)
		}
	}
	return n
}
