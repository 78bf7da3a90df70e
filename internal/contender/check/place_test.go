package check

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// An expectation may name what was requested, with the words of other tools: the id that was
// requested, a column, a saved value.
func TestExpect_Places(t *testing.T) {
	values := map[string]string{"item": "17", "b.guest": "Ada", "bid": "x-9", "tags": `["a",1]`, "f": "1.50"}
	for _, tt := range []struct {
		name, expect, body string
		wrong              string // part of the error; "": as expected
	}{
		{"a number", `{json_includes: {id: "{item}"}}`, `{"id":17}`, ""},
		{"as a text", `{json_includes: {id: "{item}"}}`, `{"id":"17"}`, ""},
		{"another form of the number", `{json_includes: {id: "{f}"}}`, `{"id":1.5}`, ""},
		{"another", `{json_includes: {id: "{item}"}}`, `{"id":1}`, "$.id: expected 17, got 1"},
		{"neither", `{json_includes: {id: "{item}"}}`, `{"id":true}`, "expected 17, got true"},
		{"within a text", `{json: {link: "/items/{item}"}}`, `{"link":"/items/17"}`, ""},
		{"within a text, another", `{json: {link: "/items/{item}"}}`, `{"link":"/items/1"}`, `expected "/items/17", got "/items/1"`},
		{"a column", `{at: {guest: "{b.guest}"}}`, `{"guest":"Ada"}`, ""},
		{"a column, another's", `{at: {guest: "{b.guest}"}}`, `{"guest":"Bob"}`, `guest: expected "Ada", got "Bob"`},
		{"a number by its type", `{at: {id: "{item:number}"}}`, `{"id":"17"}`, `expected 17, got "17"`},
		{"JSON", `{at: {tags: "{tags:json}"}}`, `{"tags":["a",1.0]}`, ""},
		{"every", `{every: {"a[*].id": "{item}"}}`, `{"a":[{"id":17},{"id":1}]}`, "expected 17 everywhere, got 1"},
		{"some", `{some: {"a[*]": ["{item}"]}}`, `{"a":[1]}`, "expected to include 17"},
		{"none", `{none: {"a[*]": "{item}"}}`, `{"a":[17]}`, "unexpected 17"},
		{"contains", `{contains: "{bid}"}`, `<x-9>`, ""},
		{"contains, not", `{contains: "{bid}"}`, `<x-8>`, `expected "x-9" in the body`},
		{"body", `{body: "{item}"}`, `17`, ""},
		{"body, another", `{body: "{item}"}`, `1`, `expected the body "17"`},
		{"header", `{header: {X-Id: "{bid}"}}`, ``, `header X-Id: expected "x-9" in it`},
		{"message", `{message: "{bid}"}`, `{"message":"no x-8"}`, "a message that names x-9"},
		{"not a number", `{at: {id: "{bid}"}}`, `{"id":9}`, `id: expected "x-9", got 9`},
		{"the text itself", `{body: "{{item}}"}`, `{item}`, ""},
		{"exact", `{at: {id: 18446744073709551615}}`, `{"id":18446744073709551616}`, "expected 18446744073709551615"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e Expect
			var kept any
			err := strictyaml.DecodeThen("expect", []byte(tt.expect), new(any), func(v strictyaml.Value) { e, kept = ReadExpect(v), Raw(v) })
			testenv.OK(t, err)
			again, err := ParseExpect(kept.(map[string]any)) // as the load does
			testenv.OK(t, err)
			for _, e := range []Expect{e, again} {
				err = e.Judge(Sent{Status: 200, Body: []byte(tt.body), Value: func(name string) string { return values[name] }})
				testenv.Fails(t, err, tt.wrong)
			}
			if strings.Contains(tt.expect, "}\"") && !strings.Contains(tt.expect, "{{") {
				testenv.Check(t, len((bench.Request{Expect: kept.(map[string]any)}).ExpectedPlaces()) != 0,
					"the load does not know the place")
			}
		})
	}
}
