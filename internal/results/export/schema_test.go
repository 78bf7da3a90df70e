package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
)

// schemaObject is a part of a JSON Schema; encoding/json sorts its keys.
type schemaObject = map[string]any

// roots returns the files of a results folder that have a schema.
func roots() map[string]reflect.Type {
	return map[string]reflect.Type{"run": reflect.TypeFor[bench.Run](), "trial": reflect.TypeFor[bench.TrialResult]()}
}

// schemas makes JSON Schemas from Go types and the comments in their source.
type schemas struct {
	docs   map[string]string   // "TrialResult" and "TrialResult.State"
	values map[string][]string // constants of a string type
	defs   schemaObject
	closed bool // unknown keys are refused; the published schemas are open: later versions may add keys
}

func newSchemas(t *testing.T, closed bool) *schemas {
	t.Helper()
	s := &schemas{docs: map[string]string{}, values: map[string][]string{}, defs: schemaObject{}, closed: closed}
	files, err := filepath.Glob("../../bench/*.go")
	testenv.Need(t, err == nil && len(files) != 0, "no source of package bench: %v", err)
	for _, name := range files {
		f := testenv.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))(t)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				s.declare(g)
			}
		}
	}
	return s
}

func (s *schemas) declare(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.docs[spec.Name.Name] = words(g.Doc)
			if st, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, n := range f.Names {
						s.docs[spec.Name.Name+"."+n.Name] = cmp.Or(words(f.Comment), words(f.Doc))
					}
				}
			}
		case *ast.ValueSpec:
			if id, ok := spec.Type.(*ast.Ident); ok && g.Tok == token.CONST {
				for _, v := range spec.Values {
					if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						text, _ := strconv.Unquote(lit.Value)
						s.values[id.Name] = append(s.values[id.Name], text)
					}
				}
			}
		}
	}
}

func words(c *ast.CommentGroup) string {
	return strings.Join(strings.Fields(c.Text()), " ")
}

// of returns the schema of a type; structs go into defs.
func (s *schemas) of(t reflect.Type) schemaObject {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return schemaObject{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[cpuset.Set]():
		return schemaObject{"type": "string"}
	case t == reflect.TypeFor[json.RawMessage](), t == reflect.TypeFor[bench.NeedForm]():
		return schemaObject{} // anything
	case t == reflect.TypeFor[time.Duration]():
		return schemaObject{"type": "integer"}
	case t == reflect.TypeFor[bench.Warning]():
		s.define(t)
		return schemaObject{"anyOf": []any{schemaObject{"$ref": "#/$defs/" + t.Name()}, schemaObject{"type": "string"}}}
	}
	switch t.Kind() {
	case reflect.Interface:
		return schemaObject{} // anything
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Slice:
		return schemaObject{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return schemaObject{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Bool:
		return schemaObject{"type": "boolean"}
	case reflect.Float64:
		return schemaObject{"type": "number"}
	case reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8, reflect.Uint:
		return schemaObject{"type": "integer", "minimum": 0}
	case reflect.Int, reflect.Int64, reflect.Int32:
		return schemaObject{"type": "integer"}
	case reflect.String:
		// States are a closed set; other named strings are not (a run may have no store kind).
		if slices.Contains([]string{"TrialState", "RunState", "CheckStatus", "ControlKind"}, t.Name()) {
			return schemaObject{"type": "string", "enum": s.values[t.Name()]}
		}
		return schemaObject{"type": "string"}
	case reflect.Struct:
		s.define(t)
		return schemaObject{"$ref": "#/$defs/" + t.Name()}
	}
	panic("no schema for " + t.String())
}

func (s *schemas) define(t reflect.Type) {
	if s.defs[t.Name()] != nil {
		return
	}
	def := schemaObject{"type": "object", "description": s.docs[t.Name()]}
	s.defs[t.Name()] = def
	properties, required := schemaObject{}, []string{}
	s.properties(t, properties, &required)
	def["properties"], def["required"] = properties, required
	if s.closed {
		def["additionalProperties"] = false
	}
}

// properties adds the fields of a struct, and those of structs embedded in it.
func (s *schemas) properties(t reflect.Type, properties schemaObject, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && name == "" {
			s.properties(f.Type, properties, required)
			continue
		}
		p := s.of(f.Type)
		if doc := s.docs[t.Name()+"."+f.Name]; doc != "" {
			p["description"] = doc
		}
		if options == "" {
			*required = append(*required, name)
			if k := f.Type.Kind(); k == reflect.Slice || k == reflect.Map { // an empty one
				p["type"] = []string{p["type"].(string), "null"}
			}
		}
		properties[name] = p
	}
}

func (s *schemas) document(name string, t reflect.Type) []byte {
	root := s.of(t)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "urn:locbench:schema:" + name + ":" + strconv.Itoa(bench.SchemaVersion)
	root["title"] = map[string]string{"run": "run.json in a results folder of locbench", "trial": "file of a trial in a results folder of locbench"}[name]
	root["description"] = "Durations are whole nanoseconds and their keys end in _ns; sizes are in bytes. A missing key was not measured. Later versions may add keys."
	root["$defs"] = s.defs
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestPublishedSchemasMatchTheTypes(t *testing.T) {
	for name, root := range roots() {
		path := "../../../docs/schema/" + name + ".schema.json"
		want := newSchemas(t, false).document(name, root)
		if *testenv.Update {
			testenv.OK(t, os.WriteFile(path, want, 0o644))
		}
		got, err := os.ReadFile(path)
		testenv.Check(t, err == nil && bytes.Equal(got, want),
			"%s does not match package bench (%v): go test ./internal/results/export -run Schemas -update", path, err)
	}
}

// TestResultsMatchTheSchemas validates a run with every field set, an empty one and
// the fixture with a JSON Schema library. Unknown keys are errors here.
func TestResultsMatchTheSchemas(t *testing.T) {
	check := map[string]*jsonschema.Schema{}
	for name, root := range roots() {
		check[name] = compiled(t, newSchemas(t, true).document(name, root))
	}
	validate := func(what, name string, v any) {
		t.Helper()
		data, err := json.Marshal(v)
		testenv.OK(t, err)
		err = check[name].Validate(instance(t, data))
		testenv.Check(t, err == nil, "%s: %v", what, err)
	}
	var run bench.Run
	var trial bench.TrialResult
	run.State, trial.State = bench.RunRunning, bench.TrialRunning
	validate("an empty run", "run", run)
	validate("an empty trial", "trial", trial)
	fill(&run)
	fill(&trial)
	validate("a run with everything", "run", run)
	validate("a trial with everything", "trial", trial)
	run, trials := fixture()
	validate("the fixture", "run", run)
	for _, trial := range trials {
		validate(trial.Trial.String(), "trial", trial)
	}
	// Wrong results are refused.
	for what, text := range map[string]string{"a text for a number": `{"schema":"1"}`, "an unknown state": `{"state":"done"}`, "nothing": `{}`} {
		t.Run(what, func(t *testing.T) {
			testenv.Check(t, check["trial"].Validate(instance(t, []byte(text))) != nil,
				"%s is accepted as a trial", what)
		})
	}
}

func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	testenv.OK(t, c.AddResource("urn:test", instance(t, text)))
	s := testenv.Must(c.Compile("urn:test"))(t)
	return s
}

func instance(t *testing.T, data []byte) any {
	t.Helper()
	v := testenv.Must(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)
	return v
}

// fill sets every field of v to a value that is not zero; states to one of their constants.
func fill(v any) {
	states := map[reflect.Type]string{
		reflect.TypeFor[bench.TrialState](): string(bench.TrialComplete), reflect.TypeFor[bench.RunState](): string(bench.RunComplete),
		reflect.TypeFor[bench.CheckStatus](): string(bench.CheckPassed), reflect.TypeFor[bench.ControlKind](): string(bench.ControlPause),
	}
	testenv.Fill(v, func(_ string, v reflect.Value) {
		switch of := v.Addr().Interface().(type) {
		case *time.Time:
			*of = time.Unix(1_700_000_000, 123).UTC()
		case *bench.NeedForm:
			*of = bench.FormFrom([]byte(`{"a":1}`))
		case *json.RawMessage:
			*of = json.RawMessage(`{"a":1}`)
		case *bool:
			*of = true
		default:
			switch {
			case v.Kind() == reflect.String:
				v.SetString(cmp.Or(states[v.Type()], "text"))
			case v.CanFloat():
				v.SetFloat(1.5)
			case v.CanUint():
				v.SetUint(7)
			case v.CanInt():
				v.SetInt(7)
			}
		}
	})
}

func TestSchemasDescribeTheirKeys(t *testing.T) {
	s := newSchemas(t, false)
	s.of(reflect.TypeFor[bench.TrialResult]())
	for _, name := range slices.Sorted(maps.Keys(s.defs)) {
		testenv.Check(t, s.defs[name].(schemaObject)["description"] != "", "type %s has no description", name)
	}
	testenv.Check(t, s.docs["Load.Elapsed"] != "" && len(s.values["TrialState"]) == 5,
		"comments or constants are not read: %q, %q", s.docs["Load.Elapsed"], s.values["TrialState"])
}
