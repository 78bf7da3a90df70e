package strictyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locbench/locbench/internal/text/safe"
)

// Schema is a JSON Schema (draft 2020-12), or a part of one. It says what Decode accepts. It allows
// what a schema cannot express.
type Schema map[string]any

// Describer is a type that says what it accepts, because its fields do not say all of it.
type Describer interface {
	DescribeStrict(s *Schemas) Schema
}

// Schemas makes the schemas of types. The schema of a struct is in `$defs` under its type's name.
type Schemas struct{ defs map[string]Schema }

// Keys adds to the tags of a struct.
type Keys struct {
	About  map[string]string // meaning of a key
	Accept map[string]Schema // rules for the value of a key, next to those of its type
	Rules  Schema            // rules for the struct
}

// SchemaOf returns the schema of a file that Decode reads into the type of v, a struct or a
// Describer that returns one.
func SchemaOf(title string, v any) Schema {
	s := &Schemas{defs: map[string]Schema{}}
	ref, _ := s.Of(v)["$ref"].(string)
	name := strings.TrimPrefix(ref, defsPath)
	root := maps.Clone(s.defs[name])
	delete(s.defs, name)
	root["$schema"], root["title"] = "https://json-schema.org/draft/2020-12/schema", title
	if len(s.defs) > 0 {
		root["$defs"] = s.defs
	}
	return root
}

const defsPath = "#/$defs/"

// Text returns the schema as a document.
func (s Schema) Text() []byte {
	text, _ := json.MarshalIndent(s, "", "  ") // texts, numbers, lists and maps: no error
	return append(safe.JSON(text), '\n')
}

// Named returns a YAML file's line that names its schema for editors, by a path from its folder.
func Named(path string) string { return "# yaml-language-server: $schema=" + path + "\n" }

// Leave writes the schema to a file in dir, for the files there that name it, unless it exists.
func (s Schema) Leave(dir, name string) error {
	err := safe.CreateFile(filepath.Join(dir, name), s.Text())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s for editors: %w", name, err)
	}
	return nil
}

// Of returns the schema of the type of v.
func (s *Schemas) Of(v any) Schema { return s.of(reflect.TypeOf(v), nil) }

// Keys returns the schema of the type of v, which is a struct.
func (s *Schemas) Keys(v any, k Keys) Schema { return s.keys(reflect.TypeOf(v), k) }

func (s *Schemas) of(t reflect.Type, r rules) Schema {
	if d, ok := reflect.Zero(t).Interface().(Describer); ok && t.Kind() != reflect.Pointer {
		return d.DescribeStrict(s)
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[Unmarshaler]()):
		return Schema{"not": Schema{"type": "null"}} // it accepts any value
	case t == durationType, t == timeType:
		none := Schema{"type": "integer", "minimum": 0, "maximum": 0} // 0 is the only number without a unit
		return Either(String("^"+DurationPattern+"$").Hint(durationHint), none)
	case t == bytesType:
		return Schema{"type": []string{"string", "number"}, "pattern": bytesPattern, "minimum": 0}.Hint(bytesHint)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), r)
	case reflect.String:
		if texts := r.oneOf(); texts != nil {
			return Enum(texts...)
		}
		out := r.limit(Text(""), "minLength", "maxLength")
		if n, err := strconv.Atoi(r["min"]); err == nil { // the bounds count bytes; a letter has up to four
			out["minLength"] = (n + 3) / 4
		}
		return out
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return r.limit(Schema{"type": "integer", "minimum": 0}, "minimum", "maximum")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.limit(Schema{"type": "integer"}, "minimum", "maximum")
	case reflect.Float32, reflect.Float64:
		return r.limit(Schema{"type": "number"}, "minimum", "maximum")
	case reflect.Slice:
		return r.limit(Schema{"type": "array", "items": s.of(t.Elem(), nil)}, "minItems", "maxItems")
	case reflect.Map:
		return r.limit(MapOf("", s.of(t.Elem(), nil)), "minProperties", "maxProperties")
	case reflect.Struct:
		return s.keys(t, Keys{})
	}
	return Schema{}
}

// limit returns out with the bounds of a tag under these keywords, if they are numbers.
func (r rules) limit(out Schema, low, high string) Schema {
	for keyword, bound := range map[string]string{low: r["min"], high: r["max"]} {
		if _, err := strconv.ParseFloat(bound, 64); err == nil {
			out[keyword] = json.Number(bound)
		}
	}
	return out
}

func (s *Schemas) keys(t reflect.Type, k Keys) Schema {
	ref := Schema{"$ref": defsPath + t.Name()}
	if _, known := s.defs[t.Name()]; known {
		return ref
	}
	properties := Schema{}
	out := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	s.defs[t.Name()] = out // before its fields, which may have the same type
	var required []string
	for _, f := range structFields(t) {
		of := t.Field(f.index).Type
		p := s.of(of, f.rules)
		maps.Copy(p, k.Accept[f.key])
		if text := k.About[f.key]; text != "" {
			p["description"] = text
		}
		if of == durationType || of == timeType || of == bytesType {
			p.note(f.rules["min"], f.rules["max"])
		}
		var example any
		if f.example != "" && yaml.Unmarshal([]byte(f.example), &example) == nil {
			p["examples"] = []any{example}
		}
		if properties[f.key] = p; f.rules.has("required") {
			required = append(required, f.key)
		}
	}
	if required != nil {
		out["required"] = required
	}
	maps.Copy(out, k.Rules)
	return ref
}

// note adds bounds for which a schema has no keyword to the description.
func (s Schema) note(low, high string) {
	bounds := rules{}
	if low != "" {
		bounds["min"] = low
	}
	if high != "" {
		bounds["max"] = high
	}
	if text := bounds.span(""); text != "" {
		about, _ := s["description"].(string)
		s["description"] = strings.TrimSpace(fmt.Sprintf("%s (%s).", strings.TrimSuffix(about, "."), text))
	}
}

// Within adds bounds to s: as keywords if they are numbers, otherwise in its description.
func (s Schema) Within(low, high string) {
	if _, err := strconv.ParseFloat(low, 64); err != nil {
		s.note(low, high)
		return
	}
	rules{"min": low, "max": high}.limit(s, "minimum", "maximum")
}

// DurationPattern matches the texts that ParseDuration reads.
const DurationPattern = `[-+]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)`

// NumberPattern matches a number in a longer text.
const NumberPattern = `[-+.0-9][-+._0-9a-fA-FxXpP]*`

const bytesPattern = `^` + NumberPattern + ` ?([kKmMgGtTpP]([iI]?[bB])?|[bB])?$`

// Text returns the schema of any scalar: `1.26` in a file is a text where a text is expected. The
// pattern, which may be "", is for texts and does not apply to numbers.
func Text(pattern string) Schema {
	s := Schema{"type": []string{"string", "number", "boolean"}}
	if pattern != "" {
		s["pattern"] = pattern
	}
	return s
}

// String returns the schema of a text that cannot look like a number or `true`.
func String(pattern string) Schema { return Schema{"type": "string", "pattern": pattern} }

// Hint adds what to write if the pattern does not match. Editors show it in place of the pattern.
func (s Schema) Hint(hint string) Schema {
	s["patternErrorMessage"] = hint
	return s
}

// Enum returns the schema of one of texts. Texts that look like numbers or booleans need no quotes.
func Enum(texts ...string) Schema {
	var all []any
	for _, text := range texts {
		if text == "" {
			continue // allowed below, so no editor offers it
		}
		all = append(all, text)
		var typed any
		if yaml.Unmarshal([]byte(text), &typed) == nil {
			if _, isText := typed.(string); !isText && typed != nil {
				all = append(all, typed)
			}
		}
	}
	if slices.Contains(texts, "") {
		return Either(Schema{"enum": all}, Schema{"type": "string", "maxLength": 0})
	}
	return Schema{"enum": all}
}

// Either returns the schema of a value with several forms.
func Either(ways ...Schema) Schema { return Schema{"anyOf": ways} }

// ListOf returns the schema of a list with the least number of items.
func ListOf(item Schema, least int) Schema {
	s := Schema{"type": "array", "items": item}
	if least > 0 {
		s["minItems"] = least
	}
	return s
}

// MapOf returns the schema of a map from names that match a pattern, which may be "", to values.
func MapOf(names string, value Schema) Schema {
	s := Schema{"type": "object", "additionalProperties": value}
	if names != "" {
		s["propertyNames"] = Schema{"pattern": names}
	}
	return s
}

// Has returns the schema of a map that has these keys.
func Has(keys ...string) Schema { return Schema{"required": keys} }

// HasEach returns a schema per key: a map that has the key.
func HasEach(keys ...string) []Schema {
	all := make([]Schema, len(keys))
	for i, key := range keys {
		all[i] = Has(key)
	}
	return all
}

// HasOneAtMost returns the schema of a map that has one of the keys, or none.
func HasOneAtMost(keys ...string) []Schema {
	return append([]Schema{{"not": Schema{"anyOf": HasEach(keys...)}}}, HasEach(keys...)...)
}
