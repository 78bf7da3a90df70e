package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// schemaKind is a kind of file: its types, its reader, and valid files.
type schemaKind struct {
	name  string
	read  func(file string, data []byte) error
	files string   // pattern of all bundled files
	least int      // number of bundled files
	pages []string // of the documentation
}

var schemaKinds = []schemaKind{
	{
		name: "profile", files: "../../profiles/*.yaml", least: 8, pages: []string{"profiles.md", "suites.md"},
		read: func(file string, data []byte) error { _, err := profile.Parse(file, data); return err },
	},
	{
		name: "manifest", files: "../../services/*/service.yaml", least: 20, pages: []string{"contenders.md"},
		read: func(file string, data []byte) error { _, err := contender.Parse(file, data); return err },
	},
	{
		name: "suite", files: "../store/dataset/suites/*.yaml", least: 1, pages: []string{"suites.md"},
		read: func(file string, data []byte) error { _, err := check.ParseSuite(file, data); return err },
	},
}

// printedSchema returns the schema that the command prints.
func printedSchema(t *testing.T, kind string) []byte {
	t.Helper()
	return []byte(says(t, 0, "", "schema", kind))
}

func compiledSchema(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(printedSchema(t, kind)))
	testenv.OK(t, err)
	c := jsonschema.NewCompiler()
	testenv.OK(t, c.AddResource("urn:"+kind, doc))
	s, err := c.Compile("urn:" + kind) // validates it with the meta-schema too
	testenv.OK(t, err)
	return s
}

// asJSON returns a YAML file as a JSON document.
func asJSON(t *testing.T, file string, data []byte) (doc any) {
	t.Helper()
	var v any
	err := strictyaml.Decode(file, data, &v)
	if err == nil {
		data, err = json.Marshal(v)
	}
	if err == nil {
		doc, err = jsonschema.UnmarshalJSON(bytes.NewReader(data))
	}
	testenv.OK(t, err)
	return doc
}

// example returns the file in testdata that uses every form of the schema, next to the files it
// names.
func (k schemaKind) example(t *testing.T) (file string, data []byte) {
	t.Helper()
	data = testenv.Must(os.ReadFile("testdata/schema-" + k.name + ".yaml"))(t)
	dir := testenv.Folder(t, map[string]string{"users.csv": "name,mail,Größe x\na,b@c,1\n", "order.bin": "x", "schema.sql": "x",
		"targets.txt": "GET http://h/a\n"})
	return filepath.Join(dir, "mine.yaml"), data
}

// TestKeys holds together the keys that a file may have, its schema and the documentation: the schema accepts all bundled
// files, and the example, which has every form; in each of its maps the reader lists the keys that the schema has there;
// each key has a description, and is on the page. TestDocsOfKeys makes the page of profiles.
func TestKeys(t *testing.T) {
	visited, documented := map[string]bool{}, map[string]bool{} // definitions, which two schemas may have
	for _, kind := range schemaKinds {
		t.Run(kind.name, func(t *testing.T) {
			schema := compiledSchema(t, kind.name)
			files, err := filepath.Glob(kind.files)
			testenv.Need(t, err == nil && len(files) >= kind.least, "%s: %d files, %v", kind.files, len(files), err)
			for _, file := range files {
				data, err := os.ReadFile(file)
				testenv.OK(t, err)
				err = schema.Validate(asJSON(t, file, data))
				testenv.Check(t, err == nil, "%s: %v", file, err)
			}
			var pages []byte
			for _, name := range kind.pages {
				pages = append(pages, testenv.Must(os.ReadFile("../../docs/"+name))(t)...)
			}
			root, defs := readSchema(t, kind.name)
			defs[""] = root
			file, data := kind.example(t)
			visit := func(doc any) {
				eachMap(defs, root, "", doc, func(name string, m map[string]any) {
					visited[name] = true
					m["unheard-of"] = "x"
					text := testenv.Must(json.Marshal(doc))(t)
					delete(m, "unheard-of")
					_, list, _ := strings.Cut(fmt.Sprint(kind.read(file, text)), "unheard-of`; known keys: ")
					list, _, _ = strings.Cut(list, "\n")
					keys := strings.Split(list, ", ")
					slices.Sort(keys)
					testenv.Equal(t, keys, slices.Sorted(maps.Keys(defs[name].Properties)), kind.name, name)
				})
			}
			visit(asJSON(t, file, data))
			if kind.name == "profile" {
				visit(map[string]any{"requests": map[string]any{"targets": "targets.txt"}, "steps": []any{1}})
			}
			for name, of := range defs {
				if name != "" && documented[name] {
					continue
				}
				documented[name] = true
				if !visited[name] && name != "tookBounds" { // in the example of suites
					t.Errorf("testdata/schema-%s.yaml has no %s", kind.name, name)
				}
				for key, p := range of.Properties {
					testenv.Check(t, p.Description != "", "%s.%s has no description", name, key)
					testenv.Check(t, regexp.MustCompile(`(?m)(^|[^a-z_])`+key+`($|[^a-z_])`).Match(pages),
						"docs/%s does not have %s", kind.pages, key)
				}
			}
		})
	}
}

// eachMap calls visit for each map in v whose keys are those of a definition of its schema.
func eachMap(defs map[string]keySchema, of keySchema, name string, v any, visit func(name string, m map[string]any)) {
	if of.Ref != "" {
		name = strings.TrimPrefix(of.Ref, "#/$defs/")
		of = defs[name]
	}
	for _, way := range of.AnyOf {
		eachMap(defs, way, "none", v, visit)
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if of.Items != nil {
				eachMap(defs, *of.Items, "none", item, visit)
			}
		}
	case map[string]any:
		var others keySchema // none, or of any other key
		_ = json.Unmarshal(of.AdditionalProperties, &others)
		for key := range v {
			if _, known := of.Properties[key]; !known && string(of.AdditionalProperties) == "false" {
				return // of another form
			}
		}
		for key, item := range v {
			p, known := of.Properties[key]
			if !known {
				p = others
			}
			eachMap(defs, p, "none", item, visit)
		}
		if _, known := defs[name]; known {
			visit(name, v)
		}
	}
}

func TestSchema(t *testing.T) {
	for _, args := range [][]string{{"schema"}, {"schema", "service"}, {"schema", "profile", "suite"}} {
		says(t, console.ExitUsage, "profile…manifest…suite", args...)
	}
}
