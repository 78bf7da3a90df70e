package strictyaml_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

type shelf struct {
	Name   string            `yaml:"name" strict:"required,min=1,max=9" example:"top"`
	Size   int64             `yaml:"size" strict:"min=1,max=10"`
	Count  uint64            `yaml:"count"`
	Price  float64           `yaml:"price" strict:"min=0.5"`
	Wide   *bool             `yaml:"wide"`
	Kind   string            `yaml:"kind" strict:"oneof=a|true"`
	Wait   time.Duration     `yaml:"wait" strict:"min=1ms"`
	Weight strictyaml.Bytes  `yaml:"weight" strict:"min=1B,max=1MiB"`
	Tags   []string          `yaml:"tags" strict:"min=1"`
	Labels map[string]string `yaml:"labels" strict:"max=2"`
	Inner  []shelf           `yaml:"inner"`
	Any    any               `yaml:"any"`
	Not    string
}

func (shelf) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(shelf{}, strictyaml.Keys{
		About:  map[string]string{"name": "What it is called.", "wait": "How long."},
		Accept: map[string]strictyaml.Schema{"size": {"multipleOf": 2}},
		Rules:  strictyaml.Schema{"minProperties": 2},
	})
}

type closet struct {
	Shelf shelf  `yaml:"shelf" strict:"required"`
	Own   *ownly `yaml:"own"`
}

// ownly reads itself and does not describe what it accepts.
type ownly struct{}

func (*ownly) UnmarshalStrict(strictyaml.Value) {}

func TestSchemaOf(t *testing.T) {
	data := testenv.Must(json.MarshalIndent(strictyaml.SchemaOf("A closet", closet{}), "", " "))(t)
	var got, want any
	testenv.OK(t, json.Unmarshal(data, &got))
	const text = `{"type": ["string", "number", "boolean"]`
	expected := `{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A closet",
		"type": "object", "additionalProperties": false, "required": ["shelf"],
		"properties": {"shelf": {"$ref": "#/$defs/shelf"}, "own": {"not": {"type": "null"}}},
		"$defs": {"shelf": {"type": "object", "additionalProperties": false, "required": ["name"], "minProperties": 2, "properties": {
			"name": ` + text + `, "minLength": 1, "maxLength": 9, "description": "What it is called.", "examples": ["top"]},
			"size": {"type": "integer", "minimum": 1, "maximum": 10, "multipleOf": 2},
			"count": {"type": "integer", "minimum": 0},
			"price": {"type": "number", "minimum": 0.5},
			"wide": {"type": "boolean"},
			"kind": {"enum": ["a", "true", true]},
			"wait": {"anyOf": [
				{"type": "string", "pattern": "^[-+]?(0|(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$",
				 "patternErrorMessage": "write a number and its unit: ns, us, ms, s, m, h, such as ` + "`500ms` or `1m30s`" + `"},
				{"type": "integer", "minimum": 0, "maximum": 0}], "description": "How long (at least 1ms)."},
			"weight": {"type": "string", "pattern": "^\\s*[-+.0-9][-+._0-9a-fA-FxXpP]*\\s*([kKmMgGtT][iI]?)?[bB]$",
				"patternErrorMessage": "write a number and its unit: B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024), such as ` +
		"`512MiB`" + `", "description": "(from 1B to 1MiB)."},
			"tags": {"type": "array", "minItems": 1, "items": ` + text + `}},
			"labels": {"type": "object", "maxProperties": 2, "additionalProperties": ` + text + `}},
			"inner": {"type": "array", "items": {"$ref": "#/$defs/shelf"}},
			"any": {}}}}}`
	testenv.OK(t, json.Unmarshal([]byte(expected), &want))
	w, _ := json.MarshalIndent(want, "", " ")
	g, _ := json.MarshalIndent(got, "", " ")
	testenv.Check(t, string(g) == string(w), "got\n%s\nwant\n%s", g, w)
}
