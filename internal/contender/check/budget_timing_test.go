//go:build acceptance && timing

package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// TestHostileSchemas: a hostile response with an unlucky schema ends within its budget: it takes no
// minutes.
func TestHostileSchemas(t *testing.T) {
	for _, tt := range hostileSchemas() {
		t.Run(tt.name, func(t *testing.T) {
			e := expectation(t, "{schema: "+tt.schema+"}")
			held := time.AfterFunc(time.Minute, func() { panic("held by " + tt.name) })
			defer held.Stop()
			testenv.Fails(t, e.Judge(Sent{Status: 200, Body: []byte(tt.body)}), tt.ends)
		})
	}
}

// hostileSchema has part of the error that ends the comparison; "": the response matches.
type hostileSchema struct{ name, schema, body, ends string }

func hostileSchemas() []hostileSchema {
	branches := func(kind, more string) string {
		return fmt.Sprintf(`{%s: [{properties: {a: {$ref: "#"}}}, {properties: {a: {$ref: "#"}}}]%s}`, kind, more)
	}
	number := strings.Repeat("7", 1000)
	wide := func(n int) string { return listOf(n, func(i int) string { return fmt.Sprint(i) }) }
	var required, enum []string
	for i := range 20000 {
		required = append(required, fmt.Sprintf("k%d", i))
		enum = append(enum, fmt.Sprintf("%d.5", i))
	}
	padded := `{"a":` + nested(150, "[]") + `,"pad":` + wide(200000) + "}"
	var chain strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&chain, `d%d: {$ref: "#/$defs/d%d"}, `, i, i+1)
	}
	const long, where = "takes too long: at most", "in a place that takes too long"
	return []hostileSchema{
		{"allOf", branches("allOf", ""), nested(199, "1"), long},
		{"anyOf that fails", branches("anyOf", ", type: object"), nested(199, "1"), long},
		{"anyOf that fails, padded", branches("anyOf", ", type: object"), padded, long},
		{"oneOf", branches("oneOf", ""), nested(199, "1"), long},
		{"draft 7 that fails", `{$schema: "http://json-schema.org/draft-07/schema#", definitions: {n: {type: object, anyOf: [{properties: {a: {$ref: "#/definitions/n"}}}, {properties: {a: {$ref: "#/definitions/n"}}}]}}, $ref: "#/definitions/n"}`, nested(199, "1"), long},
		{"if and then", `{if: {properties: {a: {$ref: "#"}}}, then: {properties: {a: {$ref: "#"}}}, else: {properties: {a: {$ref: "#"}}}}`, nested(199, "1"), long},
		{"dependentSchemas", `{dependentSchemas: {a: {properties: {a: {$ref: "#"}}}}, properties: {a: {$ref: "#"}}}`, nested(199, "1"), long},
		{"two patterns", `{patternProperties: {"^a": {$ref: "#"}, "a$": {$ref: "#"}}}`, nested(199, "1"), long},
		{"two contains", `{items: {$ref: "#"}, contains: {$ref: "#"}}`, strings.Repeat("[", 199) + strings.Repeat("]", 199), long},
		{"exponents in all matchers of numbers", `{items: {minimum: 1e-300, maximum: 1e300, exclusiveMinimum: 0, multipleOf: 1e-9}}`, listOf(250, func(int) string { return "1e-400" }), "does not match its schema: at '/0'"},
		{"$dynamicRef", `{$dynamicAnchor: n, allOf: [{properties: {a: {$dynamicRef: "#n"}}}, {properties: {a: {$dynamicRef: "#n"}}}]}`, nested(199, "1"), long},
		{"$recursiveRef", `{$schema: "https://json-schema.org/draft/2019-09/schema", $recursiveAnchor: true, allOf: [{properties: {a: {$recursiveRef: "#"}}}, {properties: {a: {$recursiveRef: "#"}}}]}`, nested(199, "1"), long},
		{"not", `{not: {properties: {a: {$ref: "#"}}}, properties: {a: {$ref: "#"}}}`, nested(199, "1"), where},
		{"type integer of long numbers", `{items: {type: integer}}`, listOf(1000, func(int) string { return number }), ""},
		{"type integer of exponents", `{items: {type: integer}}`, listOf(250, func(int) string { return "1e400" }), ""},
		{"multipleOf of long numbers", `{items: {multipleOf: 0.0000007}}`, listOf(1000, func(int) string { return number }), ""},
		{"the same long number again and again", `{allOf: [` + strings.Repeat(`{multipleOf: 0.7}, `, 4000) + `true]}`, number, ""},
		{"the same exponent again and again", `{items: {allOf: [` + strings.Repeat(`{minimum: 3}, `, 4000) + `true]}}`, listOf(100, func(int) string { return "1e400" }), long},
		{"a long enum", `{items: {enum: [` + strings.Join(enum, ",") + `]}}`, wide(200000), long},
		{"a long enum and long numbers", `{items: {enum: [` + strings.Join(enum, ",") + `]}}`, listOf(1000, func(int) string { return number }), long},
		{"an enum of large values", `{items: {enum: [` + strings.Repeat("["+strings.Join(enum[:500], ",")+"x], ", 30) + `1]}}`, listOf(400, func(int) string { return "[" + strings.Join(enum[:500], ",") + "]" }), long},
		{"a long const", `{items: {const: [` + strings.Join(enum[:1000], ",") + `,1]}}`, listOf(240, func(int) string { return "[" + strings.Join(enum[:1000], ",") + ",2]" }), where},
		{"uniqueItems", `{uniqueItems: true}`, wide(249000), ""},
		{"uniqueItems of long numbers", `{uniqueItems: true}`, listOf(1000, func(i int) string { return number[:990] + fmt.Sprint(100000+i) }), ""},
		{"uniqueItems of lists", `{allOf: [` + strings.Repeat(`{uniqueItems: true}, `, 100) + `true]}`, wide(100000), long},
		{"contains", `{contains: {contains: {contains: {const: 1}}}}`, listOf(60, func(int) string { return listOf(60, func(int) string { return wide(60) }) }), ""},
		{"contains that never matches", `{allOf: [` + strings.Repeat(`{contains: {type: object}}, `, 50) + `true]}`, wide(200000), where},
		{"unevaluatedProperties", `{allOf: [` + strings.Repeat(`{maxProperties: 1000000}, `, 500) + `true], unevaluatedProperties: true}`, wideObject(20000), long},
		{"unevaluatedItems", `{anyOf: [` + strings.Repeat(`{contains: {const: 1}}, `, 500) + `true], unevaluatedItems: {type: number}}`, wide(20000), long},
		{"required", `{items: {required: [` + strings.Join(required, ",") + `]}}`, listOf(100000, func(int) string { return "{}" }), long},
		{"dependentRequired", `{items: {dependentRequired: {a: [` + strings.Join(required, ",") + `]}}}`, listOf(100000, func(int) string { return `{"a":1}` }), long},
		{"propertyNames", `{allOf: [` + strings.Repeat(`{propertyNames: {minLength: 1}}, `, 500) + `true]}`, wideObject(20000), long},
		{"patternProperties", `{patternProperties: {"(a|b|c){1,300}$": true, "[a-f]{1,900}g": true}}`, `{"` + strings.Repeat("abc", 300000) + `":1}`, long},
		{"pattern", `{pattern: "([a-c]{1,30}x?){1,30}$"}`, `"` + strings.Repeat("abc", 300000) + `"`, long},
		{"pattern again and again", `{allOf: [` + strings.Repeat(`{pattern: "(a|b)*c$"}, `, 1000) + `true]}`, `"` + strings.Repeat("ab", 400000) + `"`, where},
		{"format regex", `{$schema: "http://json-schema.org/draft-07/schema#", format: regex}`, `"` + strings.Repeat("(a{1,1000})", 30000) + `"`, "does not match its schema: at ''"},
		{"format email again and again", `{$schema: "http://json-schema.org/draft-07/schema#", allOf: [` + strings.Repeat(`{format: email}, `, 1000) + `true]}`, `"` + strings.Repeat("ab", 400000) + `@x"`, where},
		{"format uri again and again", `{$schema: "http://json-schema.org/draft-07/schema#", allOf: [` + strings.Repeat(`{format: uri}, `, 1000) + `true]}`, `"http://` + strings.Repeat("ab", 400000) + `"`, long},
		{"minLength again and again", `{allOf: [` + strings.Repeat(`{minLength: 1}, `, 3000) + `true]}`, `"` + strings.Repeat("ab", 400000) + `"`, long},
		{"a chain of references", `{$defs: {` + chain.String() + `d4000: {type: integer}}, items: {$ref: "#/$defs/d0"}}`, wide(10000), long},
	}
}

func wideObject(n int) string {
	list := listOf(n, func(i int) string { return fmt.Sprintf(`"k%d":1`, i) })
	return "{" + list[1:len(list)-1] + "}"
}

func nested(depth int, inner string) string {
	return strings.Repeat(`{"a":`, depth) + inner + strings.Repeat("}", depth)
}
