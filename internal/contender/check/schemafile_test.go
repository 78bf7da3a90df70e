package check

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const openAPI = `{"openapi": "3.0.3", "info": {"title": "t", "version": "1"},
"paths": {"/user": {"get": {"responses": {"200": {"$ref": "#/components/responses/One"}}}}},
"components": {
  "responses": {"One": {"description": "d", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/User"}}}}},
  "schemas": {
    "User": {"type": "object", "required": ["id", "nick", "password"], "description": "{user.name}", "example": {"nullable": true},
      "properties": {"id": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "example": 7}, "nick": {"$ref": "#/components/schemas/Nick"},
        "kind": {"$ref": "#/components/schemas/Kind"}, "nullable": {"type": "boolean"}, "password": {"type": "string", "writeOnly": true},
        "boss": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/User"}]}, "mail": {"type": "string", "format": "email", "nullable": true}}},
    "Nick": {"type": "string", "nullable": true, "maxLength": 10},
    "Kind": {"type": "string", "enum": ["a", "b"], "nullable": true},
    "Pet": {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}], "discriminator": {"propertyName": "type", "mapping": {"cat": "Cat"}}},
    "Cat": {"type": "object", "required": ["type"], "properties": {"type": {"enum": ["cat"]}}},
    "Dog": {"type": "object", "required": ["type"], "properties": {"type": {"enum": ["dog"]}}},
    "Far": {"$ref": "other.yaml#/A"}, "Web": {"properties": {"a": {"$ref": "http://example.com/a"}}}, "Any": {"description": "anything"}, "Same": {"$ref": "#/components/schemas/Any"}, "Loop": {"$ref": "#/components/schemas/Loop"}, "Gone": {"$ref": "#/components/schemas/None"}
  }}}`

const openAPIYAML = "\ufeff" + `openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /user:
    get:
      responses:
        200: {content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}}
components:
  schemas:
    User:
      type: object
      required: [id, nick]
      properties:
        id: {type: integer, exclusiveMinimum: 0, maximum: 18446744073709551615}
        nick: {type: [string, "null"]}
        born: {type: string, enum: [2020-01-01]}
        rate: {type: number, multipleOf: .5}
        friends: {type: array, items: {$ref: '#/components/schemas/User'}}
`

func schemaFiles(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"openapi.json": openAPI, "openapi.yaml": openAPIYAML,
		"plain.json": `{"$schema": "http://json-schema.org/draft-04/schema#", "definitions": {"n": {"type": "integer", "minimum": 1, "exclusiveMinimum": true}}, "properties": {"a": {"$ref": "#/definitions/n"}}}`,
		"defs.json":  `{"$defs": {"A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}}, "additionalProperties": false}}}`,
		"seven.json": `{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "integer"}, "a": {"$ref": "#/definitions/n", "maximum": 0}}}`,
		"text.json":  `"x"`, "twice.json": `{"type": "object", "type": "array"}`, "deep.json": strings.Repeat("[", 300) + strings.Repeat("]", 300),
		"alias.yaml": "a: &a {type: object}\nb: *a\n", "broken.yaml": "a: [\n", "tag.yaml": "a: !x 1\n", "deep.yml": strings.Repeat("[", 300) + strings.Repeat("]", 300),
		"keys.yaml": "type: object\ntype: array\n", "two.yaml": "type: object\n---\ntype: array\n",
	} {
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// A schema of a file, also one within an OpenAPI document, accepts what its authors mean by it.
func TestReadSchema(t *testing.T) {
	schemaFiles(t)
	const user = "openapi.json#/components/schemas/User"
	for name, c := range map[string]struct{ schema, body, wrong string }{
		"right":                         {user, `{"id": 1, "nick": "a", "nullable": false}`, ""},
		"null where nullable":           {user, `{"id": 1, "nick": null, "kind": null, "mail": null}`, ""},
		"null next to allOf":            {user, `{"id": 1, "nick": "a", "boss": null}`, ""},
		"allOf next to null":            {user, `{"id": 1, "nick": "a", "boss": {"id": 2, "nick": null}}`, ""},
		"not null elsewhere":            {user, `{"id": null, "nick": "a"}`, "'/id'"},
		"too long, though nullable":     {user, `{"id": 1, "nick": "12345678901"}`, "'/nick'"},
		"another text, though nullable": {user, `{"id": 1, "nick": "a", "kind": "c"}`, "'/kind'"},
		"wrong within what is nullable": {user, `{"id": 1, "nick": "a", "boss": {"id": 0, "nick": null}}`, "'/boss"},
		"a property named nullable":     {user, `{"id": 1, "nick": "a", "nullable": null}`, "'/nullable'"},
		"an exclusive minimum":          {user, `{"id": 0, "nick": "a"}`, "'/id'"},
		"a property is missing":         {user, `{"id": 1}`, "nick"},
		"a format":                      {user, `{"id": 1, "nick": "a", "mail": "not-an-email"}`, "'/mail': 'not-an-email' is not valid email"},
		"one of them":                   {"openapi.json#/components/schemas/Pet", `{"type": "dog"}`, ""},
		"none of them":                  {"openapi.json#/components/schemas/Pet", `{"type": "cow"}`, "'/type'"},
		"of a response":                 {"openapi.json#/paths/~1user/get/responses/200/content/application~1json/schema", `{"id": 1}`, "nick"},
		"of a response, as a URL":       {"openapi.json#/paths/~1user/get/responses/200/content/application~1json/schema", `{"id": 1, "nick": "a"}`, ""},
		"percent-encoded":               {"openapi.json#/components%2Fschemas/User", `{"id": 1}`, "nick"},
		"YAML":                          {"openapi.yaml#/components/schemas/User", `{"id": 18446744073709551615, "nick": null, "born": "2020-01-01", "rate": 1.5}`, ""},
		"YAML, a number too large":      {"openapi.yaml#/components/schemas/User", `{"id": 18446744073709551616, "nick": null}`, "'/id'"},
		"YAML, within itself":           {"openapi.yaml#/components/schemas/User", `{"id": 1, "nick": "a", "friends": [{"id": 2}]}`, "'/friends/0'"},
		"YAML, 200 as a key":            {"openapi.yaml#/paths/~1user/get/responses/200/content/application~1json/schema", `{"id": 1}`, "nick"},
		"draft 4":                       {"plain.json", `{"a": 1}`, "'/a'"},
		"draft 4, a part":               {"plain.json#/definitions/n", `1`, "''"},
		"draft 4, right":                {"plain.json#/definitions/n", `2`, ""},
		"draft 7, nothing next to $ref": {"seven.json#/definitions/a", `5`, ""},
		"of a part":                     {"defs.json#/$defs/A", `{"next": {"next": {"x": 1}}}`, "'/next/next'"},
		"the whole document":            {"defs.json#/$defs/A", `{"next": {}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file, fragment, _ := strings.Cut(c.schema, "#")
			doc := testenv.Must(readSchema(file, fragment))(t)
			saved := testenv.Must(ParseExpect(map[string]any{"schema": doc}))(t)
			for _, e := range []Expect{expectation(t, "{schema: '"+c.schema+"'}"), saved} {
				testenv.Fails(t, e.Judge(Sent{Status: 200, Body: []byte(c.body)}), c.wrong)
			}
		})
	}
}

// What no response could fail, or what is not one document, is refused with what to write.
func TestReadSchema_Refused(t *testing.T) {
	schemaFiles(t)
	for name, c := range map[string]struct{ schema, wrong string }{
		"a whole document":           {"openapi.json", "openapi.json is an OpenAPI document, not a schema; write the schema in it, such as `openapi.json#/components/schemas/Any`; there are #/components/schemas/Any, #/components/schemas/Cat, "},
		"definitions only":           {"defs.json", "defs.json has no keyword of a schema, so any response would match it; write the schema in it, such as `defs.json#/$defs/A`"},
		"no keyword":                 {"openapi.json#/components/schemas/Any", "openapi.json#/components/schemas/Any has no keyword of a schema, so any response would match it"},
		"a name of no keyword":       {"openapi.json#/components/schemas/Same", "openapi.json#/components/schemas/Same has no keyword of a schema, so any response would match it"},
		"a name of itself":           {"openapi.json#/components/schemas/Loop", "openapi.json#/components/schemas/Loop has no keyword of a schema"},
		"all schemas":                {"openapi.json#/components/schemas", "has no keyword of a schema"},
		"another name":               {"openapi.json#/components/schemas/Usr", "openapi.json has no #/components/schemas/Usr; did you mean `#/components/schemas/User`?"},
		"a name alone":               {"openapi.json#User", "openapi.json has no #User; did you mean `#/components/schemas/User`?"},
		"another path":               {"openapi.json#/a", "openapi.json has no #/a; there are #/components/schemas/Any, "},
		"another file":               {"openapi.json#/components/schemas/Far", "other.yaml#/A is another document: use references within the schema only"},
		"the web":                    {"openapi.json#/components/schemas/Web", "http://example.com/a is another document"},
		"a reference to nothing":     {"openapi.json#/components/schemas/Gone", "openapi.json has no #/components/schemas/None"},
		"a text":                     {"text.json", "text.json is not a schema"},
		"a key twice":                {"twice.json", `an object that repeats the key "type"`},
		"too deep":                   {"deep.json", "nested too deeply"},
		"broken YAML":                {"broken.yaml", "broken.yaml:"},
		"a tag":                      {"tag.yaml", "tag.yaml:1: tag (`!…`)"},
		"YAML, too deep":             {"deep.yml", "deep.yml:1: nested deeper than the 64 levels allowed"},
		"an alias":                   {"alias.yaml#/b", "alias.yaml:1: anchor (`&…`); remove it"},
		"YAML, a key twice":          {"keys.yaml", "keys.yaml:2: duplicate key"},
		"YAML, two documents":        {"two.yaml", "two.yaml:2: a second document"},
		"an empty schema, inline":    {"{}", "the schema has no keyword, so any response would match it"},
		"only definitions, inline":   {"{$defs: {a: {type: object}}}", "the schema has no keyword, so any response would match it"},
		"an OpenAPI document inline": {`{openapi: 3.0.3, components: {schemas: {A: {type: object}}}}`, "the schema has no keyword, so any response would match it"},
	} {
		t.Run(name, func(t *testing.T) {
			schema := c.schema
			if schema[0] != '{' {
				schema = "'" + schema + "'"
			}
			err := strictyaml.DecodeThen("expect", []byte("{schema: "+schema+"}"), new(any), func(v strictyaml.Value) { ReadExpect(v) })
			if err == nil || !strings.Contains(err.Error(), c.wrong) || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, c.wrong)
			}
		})
	}
}

func TestExpect_Schema(t *testing.T) {
	for name, c := range map[string]struct{ schema, body, wrong string }{
		"nullable":              {`{type: object, properties: {a: {type: string, nullable: true}}}`, `{"a": null}`, ""},
		"not nullable":          {`{type: object, properties: {a: {type: string, nullable: false}}}`, `{"a": null}`, "'/a'"},
		"nullable at the root":  {`{type: object, nullable: true}`, `null`, ""},
		"nullable everywhere":   {`{anyOf: [{type: string, nullable: true}], items: {type: integer, nullable: true}}`, `null`, ""},
		"x-nullable":            {`{items: {type: integer, x-nullable: true}}`, `[null]`, ""},
		"null twice":            {`{type: [string, "null"], nullable: true}`, `null`, ""},
		"or a list of types":    {`{type: [string, integer], nullable: true}`, `null`, ""},
		"no type":               {`{nullable: true, minimum: 3}`, `2`, "''"},
		"enum, or null":         {`{enum: [a], nullable: true}`, `null`, ""},
		"neither":               {`{type: string, enum: [a], nullable: true}`, `"b"`, "''"},
		"const, or null":        {`{const: 1, nullable: true}`, `null`, ""},
		"not, or null":          {`{not: {type: "null"}, nullable: true}`, `null`, ""},
		"if, or null":           {`{if: {type: "null"}, then: false, nullable: true}`, `null`, ""},
		"if, else, or null":     {`{if: {type: integer}, else: false, nullable: true}`, `null`, ""},
		"if, and not null":      {`{if: {type: integer}, else: false, nullable: true}`, `"x"`, "''"},
		"next to a reference":   {`{$defs: {n: {type: integer}}, items: {$ref: "#/$defs/n", nullable: true}}`, `[null, 1]`, ""},
		"wrong next to it":      {`{$defs: {n: {type: integer}}, items: {$ref: "#/$defs/n", nullable: true}}`, `["x"]`, "'/0'"},
		"an exclusive maximum":  {`{maximum: 5, exclusiveMaximum: true}`, `5`, "''"},
		"no exclusive maximum":  {`{maximum: 5, exclusiveMaximum: false}`, `5`, ""},
		"exclusive without one": {`{type: integer, exclusiveMaximum: true}`, `5`, ""},
		"in a property's value": {`{enum: [{nullable: true, type: object}]}`, `{"nullable": true, "type": "object"}`, ""},
		"writeOnly":             {`{required: [a, b], properties: {a: {writeOnly: true}, b: {readOnly: true}}}`, `{"b": 1}`, ""},
		"writeOnly only":        {`{$schema: "http://json-schema.org/draft-04/schema#", required: [a], properties: {a: {writeOnly: true}}}`, `{}`, ""},
		"int32":                 {`{type: integer, format: int32}`, `2147483647`, ""},
		"int32, too large":      {`{type: integer, format: int32}`, `2147483648`, "int32"},
		"int32, the least":      {`{type: integer, format: int32}`, `-2147483648`, ""},
		"wrong, though or null": {`{items: {type: integer, nullable: true}}`, `["x"]`, "at '/0': got string, want null or integer"},
		"int32, too small":      {`{type: integer, format: int32}`, `-2147483649`, "int32"},
		"int32, as a fraction":  {`{type: integer, format: int32}`, `2147483648.0`, "int32"},
		"int32 of a text":       {`{format: int32}`, `"x"`, ""},
		"int64":                 {`{type: integer, format: int64}`, `9223372036854775807`, ""},
		"int64, too large":      {`{type: integer, format: int64}`, `9223372036854775808`, "int64"},
		"int64, far too large":  {`{type: integer, format: int64}`, `1e400`, "int64"},
		"a long regex":          {`{format: regex}`, `"` + strings.Repeat("a", 1000) + `"`, ""},
		"too long a regex":      {`{format: regex}`, `"` + strings.Repeat("a", 1001) + `"`, "'aaa"},
		"a broken regex":        {`{format: regex}`, `"("`, "regular expression"},
		"a regex of no text":    {`{format: regex}`, `1`, ""},
		"a date and time":       {`{format: date-time}`, `"2024-02-30T10:00:00Z"`, "date-time"},
		"an unknown format":     {`{format: iban}`, `"x"`, ""},
		"a uuid":                {`{format: uuid}`, `"x"`, "uuid"},
	} {
		t.Run(name, func(t *testing.T) {
			err := expectation(t, "{schema: "+c.schema+"}").Judge(Sent{Status: 200, Body: []byte(c.body)})
			testenv.Fails(t, err, c.wrong)
		})
	}
}

func readSchema(file, fragment string) (any, error) {
	doc, err := schemaDocument(file)
	if err != nil {
		return nil, err
	}
	return schemaIn(doc, file, fragment)
}

// Of a large document only what the schema uses is kept, unchanged; a file is bounded.
func TestReadSchema_Bounds(t *testing.T) {
	t.Chdir(t.TempDir())
	var all []string
	for i := range 3000 {
		all = append(all, fmt.Sprintf(`"S%d": {"type": "object", "description": %q, "properties": {"a": {"$ref": "#/components/schemas/S%d"}, "b": {"const": %d}}}`,
			i, strings.Repeat("d", 500), i/2, i))
	}
	text := `{"openapi": "3.0.0", "components": {"schemas": {` + strings.Join(all, ",\n") + `}}}`
	write := func(name, text string) string {
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	doc, err := readSchema(write("large.json", text), "/components/schemas/S2999")
	testenv.Need(t, err == nil && len(text) >= 1<<20, "%d bytes: %v", len(text), err)
	kept, _ := json.Marshal(doc)
	if s := string(kept); len(s) > 2000 || strings.Count(s, `"const"`) != 13 || !strings.Contains(s, `"const":2999`) || strings.Contains(s, "ddd") {
		t.Errorf("%d bytes: %s", len(s), s)
	}
	wide := write("wide.json", `{"$defs": {"A": {"enum": ["`+strings.Repeat("x", maxSchema)+`"]}}}`)
	testenv.Fails(t, testenv.Err(readSchema(wide, "/$defs/A")), "larger than 1 MiB")
	for size, fits := range map[int]bool{maxSchemaFile: true, maxSchemaFile + 1: false} {
		text := `{"type": "object"}`
		_, err := readSchema(write("size.json", text+strings.Repeat(" ", size-len(text))), "")
		testenv.Check(t, fits == (err == nil) && (fits || strings.Contains(err.Error(), "larger than 8 MiB")),
			"%d bytes: %v", size, err)
	}
	for depth, fits := range map[int]bool{maxSchemaDepth: true, maxSchemaDepth + 1: false} {
		text := strings.Repeat(`{"not":`, depth-1) + `{"type":"object"}` + strings.Repeat("}", depth-1)
		doc, err := readSchema(write("deep.json", text), "")
		if fits != (err == nil) || !fits && !strings.Contains(err.Error(), "nested deeper than 60 levels") {
			t.Errorf("%d levels: %v", depth, err)
		}
		_, err = ParseExpect(map[string]any{"schema": doc})
		testenv.Check(t, !fits || err == nil, "%d levels: %v", depth, err)
	}
	// each reference leads to a larger part: what they copy is bounded
	nested := strings.Repeat(`{"properties": {"a": `, 25) + `{"enum": ["` + strings.Repeat("x", 60_000) + `"]}` + strings.Repeat("}}", 25)
	var refs []string
	for i := range 25 {
		refs = append(refs, `{"$ref": "#/x`+strings.Repeat("/properties/a", i)+`"}`)
	}
	write("copies.json", `{"x": `+nested+`, "y": {"allOf": [`+strings.Join(refs, ",")+`]}}`)
	testenv.Fails(t, testenv.Err(readSchema(filepath.Join(".", "copies.json"), "/y")), "larger than 1 MiB")
	// copies that are left out of the result are bounded, too
	nested = strings.Repeat(`{"properties": {"a": `, 25) + `{"type": "null", "description": "` + strings.Repeat("d", 400_000) + `"}` + strings.Repeat("}}", 25)
	write("left.json", `{"x": `+nested+`, "y": {"allOf": [`+strings.Join(refs, ",")+`]}}`)
	testenv.Fails(t, testenv.Err(readSchema("left.json", "/y")), "larger than 1 MiB")
}

func TestReadSchema_Text(t *testing.T) {
	schemaFiles(t)
	for name, want := range map[string]string{
		"openapi.json#/components/schemas/Cat": `map[properties:map[type:map[enum:[cat]]] required:[type] type:object]`,
		"openapi.json#/components/schemas/Usr": "openapi.json has no #/components/schemas/Usr; did you mean `#/components/schemas/User`?",
		"defs.json":                            "defs.json has no keyword of a schema, so any response would match it; write the schema in it, such as `defs.json#/$defs/A`",
		"text.json#/a":                         "text.json has no #/a",
	} {
		file, fragment, _ := strings.Cut(name, "#")
		doc, err := readSchema(file, fragment)
		got := fmt.Sprint(doc)
		testenv.Check(t, got == want || err != nil && err.Error() == want, "%s: %s, %v", name, got, err)
	}
}

func TestSchemaSource(t *testing.T) {
	chain := map[string]any{"l": []any{"first", map[string]any{"a": true}}, "r0": map[string]any{"type": "object", "x": "end"}}
	for i := range 22 {
		chain[fmt.Sprint("r", i+1)] = map[string]any{"$ref": fmt.Sprint("#/r", i)}
	}
	d := &schemaSource{name: "a.json", doc: chain}
	for place, want := range map[string]any{
		"/l/0": "first", "/l/1/a": true, "/l/2": nil, "/l/-1": nil, "/l/x": nil, "/r20/x": "end", "/r21/x": nil,
	} {
		got, ok := d.find(place, maxHops)
		testenv.Check(t, got == want && ok == (want != nil), "%s: %v, %t", place, got, ok)
	}
	testenv.Check(t, d.constrains(chain["r20"], 20) && !d.constrains(chain["r21"], 20), "20 names lead to a schema")
	testenv.Equal(t, levels([]any{1, map[string]any{"a": []any{}}, []any{}}), 3)
	ten := strings.Fields("a b c d e f g h i j")
	if a, b := listed(ten), listed(append(ten, "k", "l")); a != "a, b, c, d, e, f, g, h, i, j" || b != a+" and 2 more" {
		t.Errorf("%s; %s", a, b)
	}
	at := map[string]any{"enum": []any{"ab", json.Number("1")}}
	for left, fits := range map[int]bool{17: true, 16: false} {
		d := &schemaSource{doc: map[string]any{"a": at}, root: "/b", defs: map[string]any{}, left: left}
		schema := map[string]any{"$ref": "#/a"}
		err := d.refer(schema)
		testenv.Check(t, (err == nil) == fits && (d.left == 0 || !fits), "%d left: %v", left, err)
	}
	for _, place := range []string{"/x/B", "/%25\"~1!", ""} { // a name in `$defs` leads to what it is of
		d := &schemaSource{doc: map[string]any{"x": map[string]any{"B": true}, "%\"/!": true}, root: "/b", defs: map[string]any{}, left: 1000}
		schema := map[string]any{"$ref": "#" + place}
		testenv.OK(t, d.refer(schema))
		testenv.OK(t, testenv.Err(newJudge(map[string]any{"$ref": schema["$ref"], "$defs": d.defs})))
	}
}

// A document serves several schemas: reading one does not change it.
func TestReadSchema_Unchanged(t *testing.T) {
	schemaFiles(t)
	for _, name := range []string{"openapi.yaml#/components/schemas/User", "plain.json#", "plain.json#/definitions/n"} {
		file, fragment, _ := strings.Cut(name, "#")
		doc, err := schemaDocument(file)
		testenv.OK(t, err)
		before, _, err := copied(doc)
		testenv.OK(t, err)
		_, err = schemaIn(doc, file, fragment)
		testenv.Check(t, err == nil && reflect.DeepEqual(doc, before), "%s: %v, %v", name, doc, err)
	}
}
