package check

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/locbench/locbench/internal/testenv"
)

// TestJudge_Spends has what it costs to apply each kind of keyword to a value. What responses
// before have spent does not count.
func TestJudge_Spends(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, tt := range []struct {
		name, schema, body string
		spent              int
	}{
		{"a type", `{"type":"integer"}`, `1`, 1},
		{"seven required names", `{"required":["a","b","c","d","e","f","g"]}`, `{}`, 1},
		{"eight required names", `{"required":["a","b","c","d","e","f","g","h"]}`, `{}`, 2},
		{"sixteen required names", `{"required":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p"]}`, `{}`, 3},
		{"dependentRequired", `{"dependentRequired":{"a":["b"],"c":["a","b","c","d","e","f","g","h"]}}`, `{}`, 4},
		{"dependencies", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"b":["1","2","3","4","5","6","7","8"],"c":{}}}`, `{}`, 6},
		{"dependentSchemas", `{"dependentSchemas":{"a":{},"b":{}}}`, `{}`, 5},
		{"a property", `{"properties":{"a":{}}}`, `{"a":1}`, 2},
		{"a property that is missing", `{"properties":{"a":{}}}`, `{"b":1}`, 1},
		{"a property, const", `{"properties":{"a":{"const":[1,{"b":2}]}}}`, `{"a":1}`, 6},
		{"a property, enum", `{"properties":{"a":{"enum":[1,2,3]}}}`, `{"a":1}`, 6},
		{"a property with a long text", `{"properties":{"a":{}}}`, `{"a":"` + a(2000) + `"}`, 4},
		{"any property with a long name", `{"additionalProperties":{}}`, `{"` + a(2000) + `":1}`, 4},
		{"items", `{"items":{}}`, `[1,2]`, 3},
		{"items of nothing", `{"items":{}}`, `[]`, 1},
		{"items, all longer", `{"items":{}}`, `[1,` + strings.Repeat("7", 100) + `]`, 5},
		{"items, exponents", `{"items":{}}`, `[1e100,1e-200]`, 9},
		{"a list without items", `{"minItems":1}`, `["` + a(2000) + `",1]`, 1},
		{"prefixItems", `{"prefixItems":[{},{}]}`, `[1,2]`, 5},
		{"contains", `{"contains":{}}`, `[1,2]`, 3},
		{"uniqueItems", `{"uniqueItems":true}`, `[1,[2,{"a":3}]]`, 7},
		{"allOf", `{"allOf":[{},{"const":1}]}`, `1`, 5},
		{"allOf of a long number", `{"allOf":[{},{}]}`, strings.Repeat("7", 100), 9},
		{"$dynamicRef", `{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}}}`, `{"a":1}`, 14},
		{"$dynamicRef to a const", `{"$dynamicAnchor":"n","enum":[1,{"a":1}],"properties":{"a":{"$dynamicRef":"#n"}}}`, `{"a":1}`, 44},
		{"unevaluatedProperties", `{"allOf":[{}],"unevaluatedProperties":{}}`, `{"a":1,"b":2}`, 8},
		{"unevaluatedItems", `{"allOf":[{}],"unevaluatedItems":{}}`, `[1,2]`, 8},
		{"a pattern", `{"pattern":"^a+$"}`, `"` + a(200) + `"`, 7},
		{"a pattern for names", `{"patternProperties":{"^a+$":true}}`, `{"` + a(200) + `":1}`, 8},
		{"names", `{"propertyNames":{"minLength":1}}`, `{"` + a(200) + `":1}`, 5},
		{"a minimum length", `{"minLength":1}`, `"` + a(200) + `"`, 3},
		{"a maximum length", `{"maxLength":1000}`, `"` + a(200) + `"`, 3},
		{"a format", `{"format":"uuid"}`, `"` + a(200) + `"`, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.schema))
			testenv.OK(t, err)
			j := testenv.Must(newJudge(doc))(t)
			body := testenv.Must(jsonschema.UnmarshalJSON(strings.NewReader(tt.body)))(t)
			err = j.validate(j.schema, body, tt.spent)
			testenv.Check(t, err != errBudget && j.budget.left == 0, "%d of %d left, %v", j.budget.left, tt.spent, err)
			testenv.Equal(t, j.validate(j.schema, body, tt.spent-1), errBudget, "with less")
		})
	}
}
