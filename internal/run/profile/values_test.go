package profile

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/testenv"
)

// Files of values are read as people have them, or the mistake names its line and the remedy.
func TestFilesOfValues(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"users.csv": "User Name,Password,Price (EUR)\nada,x,1\n", "users.json": `[{"name":"ada","mail":null}]`, "words.json": `["lamp","chair"]`,
		"latin1.csv": "word\r\nGr\xf6\xdfe\r\n", "gaps.csv": "name,mail\nada,a@b\nbob,\n", "objects.json": `[{"a":1},{"a":"x"}]`,
	} {
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for name, c := range map[string]struct{ variables, request, wrong string }{
		"a list of words":         {"w: {file: words.json}", "get: '/x?q={w}', expect: {json: {q: '{w}'}}", ""},
		"rows":                    {"u: {file: users.json}", "get: '/x/{u.name}'", ""},
		"names with blanks":       {"u: {file: users.csv}", "post: '/x/{u.User Name}', form: {p: '{u.Password}', n: '{u.User Name}'}, header: {X: '{u.User Name}'}, expect: {json: {a: '{u.User Name}'}}", ""},
		"Latin-1 with its name":   {"w: {file: latin1.csv, column: word, encoding: latin1}", "get: '/{w}'", ""},
		"used as words":           {"u: {file: users.json}", "get: '/x/{u}'", "users.json:1: the value is an object, which only `:json` can send; write a `column`"},
		"a row of CSV as a word":  {"u: {file: users.csv}", "get: '/x/{u}'", "variable \"u\" is a whole row of users.csv"},
		"null":                    {"u: {file: users.json}", "get: '/x/{u.mail}'", "users.json:1: \"mail\" is null"},
		"an empty cell":           {"u: {file: gaps.csv}", "get: '/x/{u.mail}'", "gaps.csv:3: no value in column \"mail\""},
		"an unused empty cell":    {"u: {file: gaps.csv}", "get: '/x/{u.name}'", ""},
		"not a number":            {"u: {file: objects.json}", "post: /x, json: {a: '{u.a:number}'}", "objects.json:1: column a: \"x\" is not a number"},
		"Latin-1":                 {"w: {file: latin1.csv, column: word}", "get: '/{w}'", "latin1.csv:2: column word: not UTF-8; save the file as UTF-8, or write its encoding, such as `encoding: latin1`"},
		"an unknown encoding":     {"w: {file: latin1.csv, column: word, encoding: latin-1}", "get: '/{w}'", "did you mean `latin1`?"},
		"an encoding of a list":   {"w: {list: [a], encoding: latin1}", "get: '/{w}'", "an encoding without a file; add `file: users.csv`"},
		"two encodings":           {"w: {file: latin1.csv, column: word, encoding: latin1}, v: {file: latin1.csv, column: word, encoding: windows-1251}", "get: '/{w}{v}'", "latin1.csv has two encodings, latin1 and windows-1251; keep one"},
		"a name with brackets":    {"u: {file: users.csv}", "post: /x, form: {p: 'a {u.Price (EUR)}'}", "p.yaml:4: `{u.Price (EUR)}` is not filled in; write `price: {file: users.csv, column: \"Price (EUR)\"}` and `{price}`"},
		"such a name in a path":   {"u: {file: users.csv}", "get: '/x/{u.Price (EUR)}'", "`{u.Price (EUR)}` is not filled in"},
		"such a name in JSON":     {"u: {file: users.csv}", "post: /x, json: {a: '{u.Price (EUR)}'}", "`{u.Price (EUR)}` is not filled in"},
		"such a name in a header": {"u: {file: users.csv}", "get: /x, header: {X: '{u.Price (EUR)}'}", "`{u.Price (EUR)}` is not filled in"},
		"such a name in a field":  {"u: {file: users.csv}", "post: /x, multipart: {p: '{u.Price (EUR)}'}", "`{u.Price (EUR)}` is not filled in"},
		"such a name expected":    {"u: {file: users.csv}", "get: /x, expect: {json: {a: '{u.Price (EUR)}'}}", "`{u.Price (EUR)}` is not filled in"},
		"no variable":             {"v: {file: users.csv}", "post: /x, body: 'function {u.f (x)} {}'", ""},
		"by its own name":         {"p: {file: users.csv, column: Price (EUR)}", "get: '/x/{p}'", ""},
		"a blank in a path":       {"u: {file: users.csv}", "get: '/x y/{u.User Name}'", "percent-encode"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "contenders: [a]\nvariables: {" + c.variables + "}\nrequests:\n  - {" + c.request + "}\nsteps: [1]\n"
			_, err := Parse("p.yaml", []byte(text))
			if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
		})
	}
}

// The schema of a place in an OpenAPI document is kept with what it refers to: in what `profiles
// show` writes, and in what --resume reads.
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
	text, err := Format(p)
	testenv.OK(t, err)
	again, err := Parse("p.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	const want = `{"schema":{"$defs":{"N":{"maximum":18446744073709551615,"nullable":true,"type":"integer"}},"properties":{"n":{"$ref":"#/$defs/N"},` +
		`"x":{"$ref":"#"}},"type":"object"}}`
	for way, of := range map[string]bench.Profile{"read": p, "shown": again} {
		if got, err := json.Marshal(of.Requests[0].Expect); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", way, got, err)
		}
	}
	saved, err := check.ParseExpect(p.Requests[0].Expect)
	testenv.OK(t, err)
	for body, right := range map[string]bool{`{"n":null,"x":{"n":18446744073709551615}}`: true, `{"x":{"n":18446744073709551616}}`: false} {
		if err := saved.Judge(check.Sent{Status: 200, Body: []byte(body)}); (err == nil) != right {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// Editors accept a path that locbench reads.
func TestPathSchema(t *testing.T) {
	pattern := regexp.MustCompile(pathSchema()["pattern"].(string))
	for path, ok := range map[string]bool{
		"/": true, "/x/{u.name}?a={b}": true, "/x/{u.User Name}": true, "/{u.Größe}/{u.User Name}": true, "/a b": false, "/ž": false, "/{u.a#b c}": false, "/#": false,
	} {
		if pattern.MatchString(path) != ok {
			t.Errorf("%s: want %v", path, ok)
		}
	}
}
