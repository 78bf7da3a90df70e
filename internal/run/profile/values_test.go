package profile

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/testenv"
)

// The schema of a place in an OpenAPI document is kept with what it refers to.
func TestSchemasOfOpenAPIAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	const doc = `{"openapi": "3.0.0", "components": {"schemas": {"A": {"type": "object", "description": "{b}", "properties": {"n": {"$ref": "#/components/schemas/N"},
"x": {"$ref": "#/components/schemas/A"}}}, "N": {"nullable": true, "type": "integer", "maximum": 18446744073709551615}}}}`
	for name, text := range map[string]string{"api.json": doc, "b.csv": "guest\nAda\n"} {
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	p, err := readExpect(t, `{schema: "api.json#/components/schemas/A"}`)
	testenv.OK(t, err)
	testenv.OK(t, os.Remove("api.json"))
	const want = `{"schema":{"$defs":{"/components/schemas/N":{"maximum":18446744073709551615,"nullable":true,"type":"integer"}},"properties":{"n":{"$ref":"#/$defs/~1components~1schemas~1N"},` +
		`"x":{"$ref":"#"}},"type":"object"}}`
	got, err := json.Marshal(p.Requests[0].Expect)
	testenv.OK(t, err)
	testenv.Equal(t, string(got), want)
	saved, err := check.ParseExpect(p.Requests[0].Expect)
	testenv.OK(t, err)
	for body, right := range map[string]bool{`{"n":null,"x":{"n":18446744073709551615}}`: true, `{"x":{"n":18446744073709551616}}`: false} {
		if err := saved.Judge(check.Sent{Status: 200, Body: []byte(body)}); (err == nil) != right {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// Double braces are the text in single ones, not a variable as other tools write it: refused.md.
func TestDoubleBraces(t *testing.T) {
	p, err := Parse("p.yaml", []byte("requests: [{post: /x, body: 'u={{user}}'}]\nsteps: [1]\n"))
	testenv.OK(t, err)
	testenv.Equal(t, bench.Parts(p.Requests[0].Body), []bench.Part{{Text: "u={user}"}})
}
