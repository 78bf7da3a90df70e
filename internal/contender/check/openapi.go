package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The keywords under which a schema has others.
var (
	schemaKeys  = strings.Fields("additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties")
	schemaLists = strings.Fields("allOf anyOf items oneOf prefixItems")
	schemaMaps  = strings.Fields("$defs definitions dependencies dependentSchemas patternProperties properties")
)

// constraints are the other keywords that a response may fail.
var constraints = strings.Fields("$dynamicRef $recursiveRef $ref const dependentRequired enum exclusiveMaximum exclusiveMinimum format maxItems " +
	"maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf pattern required type uniqueItems")

// hasKeyword reports whether a schema has a keyword that a response may fail.
func hasKeyword(schema map[string]any) bool {
	for key := range schema {
		nested := slices.Contains(schemaKeys, key) || slices.Contains(schemaLists, key) || slices.Contains(schemaMaps, key)
		if slices.Contains(constraints, key) || nested && key != "$defs" && key != "definitions" {
			return true
		}
	}
	return false
}

// eachSubschema calls do with each schema right within a schema.
func eachSubschema(schema map[string]any, do func(map[string]any)) {
	one := func(value any) {
		if sub, ok := value.(map[string]any); ok {
			do(sub)
		}
	}
	for _, key := range schemaKeys {
		one(schema[key])
	}
	for _, key := range schemaLists {
		list, _ := schema[key].([]any)
		for _, item := range list {
			one(item)
		}
	}
	for _, key := range schemaMaps {
		object, _ := schema[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			one(object[name])
		}
	}
}

// fromOpenAPI rewrites what OpenAPI 3.0 writes otherwise than JSON Schema, in a schema and in all
// that are within it. Draft 4 has its own boolean exclusiveMinimum, which stays.
func fromOpenAPI(schema map[string]any, draft4 bool) {
	eachSubschema(schema, func(sub map[string]any) { fromOpenAPI(sub, draft4) })
	if !draft4 {
		exclusive(schema, "minimum", "exclusiveMinimum")
		exclusive(schema, "maximum", "exclusiveMaximum")
	}
	properties, _ := schema["properties"].(map[string]any)
	ofRequests := func(name any) bool {
		text, _ := name.(string)
		property, _ := properties[text].(map[string]any)
		return property["writeOnly"] == true
	}
	if required, ok := schema["required"].([]any); ok {
		if required = slices.DeleteFunc(required, ofRequests); len(required) == 0 {
			delete(schema, "required") // draft 4 has no empty list
		} else {
			schema["required"] = required
		}
	}
	nullable := schema["nullable"] == true || schema["x-nullable"] == true
	delete(schema, "nullable")
	delete(schema, "x-nullable")
	if nullable {
		orNull(schema)
	}
}

// exclusive replaces `minimum: 0, exclusiveMinimum: true` by `exclusiveMinimum: 0`.
func exclusive(schema map[string]any, bound, keyword string) {
	is, ok := schema[keyword].(bool)
	if !ok {
		return
	}
	delete(schema, keyword)
	if limit, has := schema[bound]; is && has {
		schema[keyword] = limit
		delete(schema, bound)
	}
}

// orNull makes a schema accept null too.
func orNull(schema map[string]any) {
	inner := map[string]any{} // the keywords that keep null out
	for _, key := range strings.Fields("$dynamicRef $recursiveRef $ref allOf anyOf const else enum if not oneOf then type") {
		if value, ok := schema[key]; ok {
			inner[key] = value
			delete(schema, key)
		}
	}
	kinds, ok := inner["type"].([]any)
	if kind, one := inner["type"].(string); one {
		kinds, ok = []any{kind}, true
	}
	switch null := any("null"); {
	case ok && len(inner) == 1 && slices.Contains(kinds, null):
		schema["type"] = kinds
	case ok && len(inner) == 1:
		schema["type"] = append(slices.Clip(kinds), null)
	case len(inner) > 0:
		schema["anyOf"] = []any{map[string]any{"type": null}, inner}
	}
}

// wholeFormats are the formats of OpenAPI for whole numbers. Other numbers and texts have any value.
func wholeFormats() []*jsonschema.Format {
	format := func(name string, low, high int64) *jsonschema.Format {
		least, most := new(big.Rat).SetInt64(low), new(big.Rat).SetInt64(high)
		return &jsonschema.Format{Name: name, Validate: func(v any) error {
			text, ok := v.(json.Number)
			if !ok {
				return nil
			}
			if n, ok := new(big.Rat).SetString(string(text)); !ok || n.Cmp(least) < 0 || n.Cmp(most) > 0 {
				return fmt.Errorf("outside of %d to %d", low, high)
			}
			return nil
		}}
	}
	return []*jsonschema.Format{format("int32", math.MinInt32, math.MaxInt32), format("int64", math.MinInt64, math.MaxInt64)}
}
