package check

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds of the work for one response, in comparisons of a small value with a part of a schema: a
// recursive schema with two branches needs 2^depth of them.
const (
	maxEvaluations = 500_000 // to know whether it matches
	maxExplained   = 20_000  // to say where it does not: each mismatch on the way is kept
)

var errBudget = errors.New("comparing the response with its schema takes too long: " +
	"at most 500,000 comparisons of a value with a part of the schema")

// budget counts the work. The library offers no way to stop it, so it panics with errBudget.
type budget struct{ left int }

func (b *budget) spend(n int) {
	if b.left -= n; b.left < 0 {
		panic(errBudget)
	}
}

// costs is what one application of a schema to a value costs, without that of its parts.
type costs struct {
	schema *jsonschema.Schema
	inline int            // schemas that are applied to the same value
	each   int            // schemas that are applied to each value within it
	known  map[string]int // schemas of single properties
	texts  int            // lengths of patterns, and checks of a text
	copies bool           // each inline schema copies what is not evaluated yet
}

// meter makes each schema that is reachable from s spend from the budget before it is applied. The
// library calls a format before anything that takes time or leads to further schemas, except type,
// const and enum, which are paid for by what leads to the schema.
func (b *budget) meter(s *jsonschema.Schema) {
	all, copies := reachable(s), false
	for _, s := range all {
		copies = copies || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil
	}
	for _, s := range all {
		c := newCosts(s)
		c.copies = copies
		inner, name := s.Format, ""
		if inner != nil {
			name = inner.Name
		}
		if name == "regex" { // the library has its own way for this name
			inner, name = &jsonschema.Format{Validate: isRegex}, "regular expression"
		}
		s.Format = &jsonschema.Format{Name: name, Validate: func(v any) error {
			if b.spend(c.of(v)); inner != nil {
				return inner.Validate(v)
			}
			return nil
		}}
	}
}

func isRegex(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	if len(text) > 1000 {
		return errors.New("a regular expression longer than 1,000 bytes")
	}
	_, err := syntax.Parse(text, syntax.Perl)
	return err
}

// reachable returns s and all schemas that it leads to.
func reachable(s *jsonschema.Schema) (all []*jsonschema.Schema) {
	seen := map[*jsonschema.Schema]bool{s: true}
	all = append(all, s)
	for i := 0; i < len(all); i++ {
		eachPart(all[i], func(_, _ string, part *jsonschema.Schema) {
			if !seen[part] {
				seen[part] = true
				all = append(all, part)
			}
		})
	}
	return all
}

// eachPart calls do with each schema right within s: the field of the library's type, and the key
// if that is a map of texts.
func eachPart(s *jsonschema.Schema, do func(field, key string, part *jsonschema.Schema)) {
	var visit func(v reflect.Value, field, key string)
	visit = func(v reflect.Value, field, key string) {
		switch v.Kind() {
		case reflect.Pointer:
			if s, ok := v.Interface().(*jsonschema.Schema); ok && s != nil {
				do(field, key, s)
			} else if r, ok := v.Interface().(*jsonschema.DynamicRef); ok && r != nil {
				do(field, key, r.Ref)
			}
		case reflect.Interface:
			visit(v.Elem(), field, key)
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i), field, key)
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				key := ""
				if k.Kind() == reflect.String {
					key = k.String()
				}
				visit(v.MapIndex(k), field, key)
			}
		}
	}
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		if f := fields.Type().Field(i); f.IsExported() && f.Name != "Extensions" {
			visit(fields.Field(i), f.Name, "")
		}
	}
}

func newCosts(s *jsonschema.Schema) *costs {
	c := &costs{schema: s, inline: 1 + len(s.Required)/8, known: map[string]int{}}
	for _, names := range s.DependentRequired {
		c.inline += 1 + len(names)/8
	}
	for _, names := range s.Dependencies {
		list, _ := names.([]string)
		c.inline += 1 + len(list)/8
	}
	c.inline += len(s.DependentSchemas)
	eachPart(s, func(field, key string, part *jsonschema.Schema) {
		cost := 1 // its type, const and enum are compared before it can spend
		if part.Const != nil {
			cost += sizeOf(*part.Const)
		}
		if part.Enum != nil {
			for _, v := range part.Enum.Values {
				cost += sizeOf(v)
			}
		}
		switch field {
		case "Properties":
			c.known[key] = cost
		case "Items", "Items2020", "AdditionalItems", "AdditionalProperties", "PatternProperties", "Contains",
			"PropertyNames", "UnevaluatedItems", "UnevaluatedProperties", "PrefixItems":
			c.each += cost
		case "DynamicRef", "RecursiveRef":
			c.inline += 10 * cost // looks at all schemas that led here
		default:
			c.inline += cost
		}
	})
	if s.Pattern != nil {
		c.texts += states(s.Pattern.String())
	}
	for pattern := range s.PatternProperties {
		c.texts += states(pattern.String())
	}
	if s.Format != nil || s.MinLength != nil || s.MaxLength != nil {
		c.texts += 2
	}
	return c
}

// of returns the cost of applying the schema to v. Long texts and numbers cost more.
func (c *costs) of(v any) int {
	cost, n := c.inline, 0
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for key, value := range v {
			cost += (c.each+c.known[key])*weight(value) + c.each*len(key)/1000 + c.texts*len(key)/200
		}
	case []any:
		n = len(v)
		for _, value := range v {
			cost += c.each * weight(value)
		}
		if c.schema.UniqueItems {
			cost += sizeOf(v)
		}
	case string:
		cost += c.texts * len(v) / 200
	case json.Number:
		cost = c.inline * weight(v)
	}
	if c.copies {
		cost += c.inline * n
	}
	return cost
}

// weight returns how many small values cost as much as this one, without those within it.
func weight(v any) int {
	switch v := v.(type) {
	case string:
		return 1 + len(v)/1000
	case json.Number:
		n := 1 + len(v)/50
		if i := strings.IndexAny(string(v), "eE"); i >= 0 {
			power, _ := strconv.Atoi(string(v[i+1:]))
			n += max(power, -power) / 50
		}
		return n
	}
	return 1
}

// sizeOf returns the weight of v with all values within it.
func sizeOf(v any) int {
	n := weight(v)
	for child := range within(v) {
		n += sizeOf(child)
	}
	return n
}

// states returns the number of states of a regular expression: each byte of a text may visit all.
func states(pattern string) int {
	if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			return len(program.Inst)
		}
	}
	return len(pattern)
}
