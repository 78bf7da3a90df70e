package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
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
	name, source, root string // root is the type of the whole file
	read               func(file string, data []byte) error
	files              string // pattern of all bundled files
	least              int    // number of bundled files
}

var schemaKinds = []schemaKind{
	{
		name: "profile", source: "../run/profile", root: "file", files: "../../profiles/*.yaml", least: 8,
		read: func(file string, data []byte) error { _, err := profile.Parse(file, data); return err },
	},
	{
		name: "manifest", source: "../contender", root: "manifest", files: "../../services/*/service.yaml", least: 20,
		read: func(file string, data []byte) error { _, err := contender.Parse(file, data); return err },
	},
	{
		name: "suite", source: "../contender/check", root: "suiteFile", files: "../store/dataset/suites/*.yaml", least: 1,
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
	data, err := os.ReadFile("testdata/schema-" + k.name + ".yaml")
	testenv.OK(t, err)
	dir := folderOf(t, map[string]string{"users.csv": "name,mail\na,b@c\n", "order.bin": "x", "targets.txt": "GET http://h/a\n"})
	return filepath.Join(dir, "mine.yaml"), data
}

func TestSchema_BundledFiles(t *testing.T) {
	for _, kind := range schemaKinds {
		schema := compiledSchema(t, kind.name)
		files, err := filepath.Glob(kind.files)
		if err != nil || len(files) < kind.least {
			t.Fatalf("%s: %d files, %v", kind.files, len(files), err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			testenv.OK(t, err)
			if err := schema.Validate(asJSON(t, file, data)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestSchema_WhatIsRead replaces each value of a file by all sorts of others, and removes it:
// the schema accepts every file that locbench reads.
func TestSchema_WhatIsRead(t *testing.T) {
	for _, kind := range schemaKinds {
		t.Run(kind.name, func(t *testing.T) {
			file, data := kind.example(t)
			if err := kind.read(file, data); err != nil {
				t.Fatalf("the example itself: %v", err)
			}
			schema, doc := compiledSchema(t, kind.name), asJSON(t, file, data)
			if err := schema.Validate(doc); err != nil {
				t.Fatalf("the example itself: %v", err)
			}
			tried, read := 0, 0
			mutate(doc, "", func(v any) { doc = v }, func(what string) {
				if tried++; tried%oneOf != 0 {
					return
				}
				text, err := json.Marshal(doc)
				testenv.OK(t, err)
				if kind.read(file, text) != nil {
					return
				}
				read++
				if err := schema.Validate(asJSON(t, file, text)); err != nil {
					t.Errorf("%s: locbench reads it, but the schema rejects it: %v", what, err)
				}
			})
			t.Logf("%d of %d are read", read, tried/oneOf)
			if read < 20 {
				t.Errorf("only %d changed files are read", read)
			}
		})
	}
}

// oneOf is N where one of N changed files is tried. All of them take minutes: write 1 here after a
// change of the schemas. N and the number of odd values have no common factor, so each value is
// tried in many places.
const oneOf = 23

// TestSchema_TargetFiles: the requests of a profile may be a target file.
func TestSchema_TargetFiles(t *testing.T) {
	kind := schemaKinds[0]
	file, _ := kind.example(t)
	text := []byte("requests: {targets: targets.txt}\nsteps: [1]\n")
	testenv.OK(t, kind.read(file, text))
	testenv.OK(t, compiledSchema(t, kind.name).Validate(asJSON(t, file, text)))
}

// odd are values of all sorts.
var odd = []string{
	`""`, `"x"`, `"X y"`, `"0"`, `"1"`, `"1s"`, `"1%"`, `"64"`, `"1KiB"`, `"none"`, `"all"`, `"auto"`, `"off"`, `"true"`, `"/x"`,
	`"uuid"`, `"zipf"`, `"1..4 doubling"`, `"p99<1s"`, `"5/s"`, `"GET"`, `"external"`, `"+1.5h"`, `" 2% "`, `"1s..2s"`,
	`0`, `1`, `-1`, `2`, `100`, `404`, `1.5`, `1000000000`, `true`, `false`, `null`, `[]`, `{}`, `["x"]`, `["a", "b"]`, `[1]`, `[64, "1..4 doubling"]`,
	`{"x": "y"}`, `{"x": 1}`, `{"from": 1, "to": 5}`, `{"list": [1, true, "x"]}`, `{"min": 1}`, `[{"get": "/x"}]`, `[["x"]]`, `{"dir": "x"}`,
	`{"targets": "targets.txt"}`, `{"kind": "external", "url": "http://a:1"}`, `{"header": "X"}`, `{"distribution": "fixed", "fixed": [1]}`,
}

// mutate replaces v and each value below it by odd values, one at a time, and removes each.
func mutate(v any, path string, set func(any), try func(what string)) {
	for _, text := range odd {
		other, _ := jsonschema.UnmarshalJSON(strings.NewReader(text))
		set(other)
		try(path + ": " + text)
	}
	set(v)
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			item := v[key]
			mutate(item, path+"."+key, func(x any) { v[key] = x }, try)
			delete(v, key)
			try(path + " without " + key)
			v[key] = item
		}
		v["unknown"] = "x"
		try(path + " with another key")
		delete(v, "unknown")
	case []any:
		for i, item := range v {
			mutate(item, fmt.Sprintf("%s[%d]", path, i), func(x any) { v[i] = x }, try)
			set(slices.Delete(slices.Clone(v), i, i+1))
			try(fmt.Sprintf("%s without [%d]", path, i))
			set(v)
		}
	}
}

// TestSchema_EveryKey: the schema has the struct types with YAML tags in the source, with the
// same keys, each with a description.
func TestSchema_EveryKey(t *testing.T) {
	for _, kind := range schemaKinds {
		t.Run(kind.name, func(t *testing.T) {
			var root map[string]any
			testenv.OK(t, json.Unmarshal(printedSchema(t, kind.name), &root))
			defs, _ := root["$defs"].(map[string]any)
			structs := taggedStructs(t, kind.source)
			if kind.name == "profile" { // expectations are read by the package of suites
				maps.Copy(structs, taggedStructs(t, "../contender/check"))
				delete(structs, "suiteFile")
				delete(structs, "checkFile")
			}
			keys := 0
			for name, want := range structs {
				of, _ := defs[name].(map[string]any)
				if name == kind.root {
					of = root
				}
				properties, _ := of["properties"].(map[string]any)
				if got := slices.Sorted(maps.Keys(properties)); !slices.Equal(got, want) {
					t.Errorf("type %s has the keys %v, its schema %v", name, want, got)
				}
				if of["additionalProperties"] != false {
					t.Errorf("type %s: other keys are allowed", name)
				}
				for key, p := range properties {
					if text, _ := p.(map[string]any)["description"].(string); text == "" {
						t.Errorf("%s.%s has no description", name, key)
					}
					keys++
				}
			}
			if len(defs) != len(structs)-1 || keys < 20 {
				t.Errorf("%d definitions, %d types, %d keys", len(defs), len(structs), keys)
			}
		})
	}
}

// taggedStructs returns the YAML keys of the named structs in a package's source. It fails for a
// struct without a name, which a schema cannot have.
func taggedStructs(t *testing.T, dir string) map[string][]string {
	t.Helper()
	set := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	all, named := map[string][]string{}, map[*ast.StructType]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		p, err := parser.ParseFile(set, file, nil, 0)
		testenv.OK(t, err)
		ast.Inspect(p, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					named[s] = n.Name.Name
				}
			case *ast.StructType:
				var keys []string
				for _, f := range n.Fields.List {
					if f.Tag == nil {
						continue
					}
					key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("yaml"), ",")
					if key != "" {
						keys = append(keys, key)
					}
				}
				if keys == nil {
					break
				}
				if named[n] == "" {
					t.Errorf("%s: a struct that is read from YAML has no name", set.Position(n.Pos()))
				}
				slices.Sort(keys)
				all[named[n]] = keys
			}
			return true
		})
	}
	return all
}

// TestSchema_Mistakes: both the schema and locbench reject a mistake in a file.
func TestSchema_Mistakes(t *testing.T) {
	const aProfile = "contenders: [a]\nrequests: [{get: /x}]\nsteps: [1]\n"
	const aManifest = "name: x\nlanguage: Go\nframework: f\nversion: 1\nprocess: {command: [x]}\n"
	suite := func(check string) string { return "suite: s\ngroups: {get: [" + check + "]}\n" }
	for kind, files := range map[string]map[string]string{
		"profile": {
			"unknown key":              aProfile + "conections: 3\n",
			"unknown key of a request": "steps: [1]\nrequests: [{get: /x, methd: GET}]\n",
			"unknown key of a step":    "steps: [{connections: 1, warmup: true}]\nrequests: [{get: /x}]\n",
			"unknown key of limits":    aProfile + "limits: {cpu: 1}\n",
			"unknown key of expect":    "steps: [1]\nrequests: [{get: /x, expect: {code: 200}}]\n",
			"unknown key of targets":   "steps: [1]\nrequests: {target: targets.txt}\n",
			"a list of target files":   "requests: {targets: [targets.txt]}\nsteps: [1]\n",
			"a target file alone":      "requests: targets.txt\nsteps: [1]\n",
			"an empty map of requests": "requests: {}\nsteps: [1]\n",
			"two kinds of requests":    "steps: [1]\nrequests: [{targets: targets.txt}]\n",
			"no steps":                 "requests: [{get: /x}]\n",
			"no requests":              "steps: [1]\n",
			"no name of a session":     "steps: [1]\nsessions: [{requests: [{get: /x}]}]\n",
			"no path":                  "steps: [1]\nrequests: [{name: x}]\n",
			"two paths":                "steps: [1]\nrequests: [{get: /x, post: /x}]\n",
			"two bodies":               "steps: [1]\nrequests: [{post: /x, body: a, json: b}]\n",
			"a path without a slash":   "steps: [1]\nrequests: [{get: x}]\n",
			"a list for a map":         aProfile + "limits: [1]\n",
			"a text for a number":      aProfile + "rounds: six\n",
			"a number for a list":      aProfile + "setup: 1\n",
			"too many rounds":          aProfile + "rounds: 1001\n",
			"no round":                 aProfile + "rounds: 0\n",
			"no CPU":                   aProfile + "limits: {cpus: 0}\n",
			"a size without a unit":    aProfile + "limits: {memory: 512}\n",
			"a time without a unit":    aProfile + "timeout: 10\n",
			"a share without percent":  aProfile + "compare_bodies: 0.1\n",
			"runtime":                  aProfile + "runtime: podman\n",
			"store":                    aProfile + "store: elastic\n",
			"store without a kind":     aProfile + "store: {url: 'http://a:1'}\n",
			"data":                     aProfile + "data: bundle\n",
			"data of two sources":      aProfile + "data: {dir: x, cities: 5}\n",
			"too many cities":          aProfile + "data: {cities: 1000001}\n",
			"weight":                   "steps: [1]\nrequests: [{get: /x, weight: 0}]\n",
			"status":                   "steps: [1]\nrequests: [{get: /x, expect: {status: 100}}]\n",
			"ids":                      "steps: [1]\nrequests: [{get: '/x/{id}', ids: zpif}]\n",
			"think":                    "steps: [1]\nrequests: [{get: /x, think: 1s-2s}]\n",
			"save":                     "steps: [1]\nsessions: [{name: s, requests: [{get: /x, save: {a: {body: x}}}]}]\n",
			"a generator":              aProfile + "variables: {a: uid}\n",
			"half a range":             aProfile + "variables: {a: {from: 1}}\n",
			"two sources":              aProfile + "variables: {a: {list: [1], string: 3}}\n",
			"a name of a variable":     aProfile + "variables: {a-b: uuid}\n",
			"a step":                   "steps: [many]\nrequests: [{get: /x}]\n",
			"an unknown range":         "steps: ['1..4 tripling']\nrequests: [{get: /x}]\n",
			"no connection":            "steps: [0]\nrequests: [{get: /x}]\n",
			"rate and arrivals":        "steps: [{rate: 5, arrivals: {users: 1, over: 1s}}]\nrequests: [{get: /x}]\n",
			"a step without load":      "steps: [{duration: 5s}]\nrequests: [{get: /x}]\n",
			"rate":                     "steps: [{rate: 2000000}]\nrequests: [{get: /x}]\n",
			"half a ramp":              "steps: [{rate: {from: 1}}]\nrequests: [{get: /x}]\n",
			"a threshold":              aProfile + "thresholds: [fast]\n",
			"stop":                     aProfile + "thresholds: [{condition: p99<1s, stop: all}]\n",
			"a lifecycle check":        aProfile + "checks: {lifecycle: [stop]}\n",
			"a weight within":          "steps: [1]\nsessions: [{name: s, requests: [{get: /x, weight: 1}]}]\n",
			"nothing under a key":      aProfile + "variables:\n",
		},
		"manifest": {
			"unknown key":            aManifest + "languge: Go\n",
			"unknown key of docker":  aManifest + "docker: {dockerfile: Dockerfile, network: host}\n",
			"an empty language":      "name: x\nlanguage: \"\"\nprocess: {command: [x]}\n",
			"nothing to run":         "name: x\nlanguage: Go\nframework: f\nversion: 1\n",
			"a name in capitals":     aManifest[8:] + "name: X\n",
			"port":                   aManifest + "port: 70000\n",
			"a port in words":        aManifest + "port: http\n",
			"ready without a slash":  aManifest + "ready: {path: health}\n",
			"ready without a unit":   aManifest + "ready: {timeout: 5}\n",
			"status":                 aManifest + "ready: {status: 99}\n",
			"image and Dockerfile":   aManifest + "docker: {dockerfile: Dockerfile, image: x}\n",
			"no image":               aManifest + "docker: {target: x}\n",
			"a capability":           aManifest + "docker: {image: x, capabilities: [CAP_NET_RAW]}\n",
			"few processes":          aManifest + "docker: {image: x, processes: 100}\n",
			"a command as a text":    "name: x\nlanguage: Go\nframework: f\nversion: 1\nprocess: {command: ./x}\n",
			"no command":             "name: x\nlanguage: Go\nframework: f\nversion: 1\nprocess: {build: []}\n",
			"an empty build":         aManifest + "docker: {image: x}\nvariants: [{name: a, build: [[]]}]\n",
			"a variant without name": aManifest + "variants: [{title: x}]\n",
			"a tag":                  aManifest + "tags: [Two Words]\n",
			"endpoints":              aManifest + "endpoints: some\n",
			"no endpoint":            aManifest + "endpoints: []\n",
			"env":                    aManifest + "env: {'A=B': x}\n",
			"a list as env":          aManifest + "env: [A=B]\n",
		},
		"suite": {
			"unknown key":           suite("{name: a, request: /x, expect: {}}") + "variables: {}\n",
			"unknown key of check":  suite("{name: a, request: /x, expect: {}, header: {A: b}}"),
			"unknown key of expect": suite("{name: a, request: /x, expect: {code: 200}}"),
			"no suite":              "groups: {get: [{name: a, request: /x, expect: {}}]}\n",
			"no groups":             "suite: s\n",
			"groups without any":    "suite: s\ngroups: {}\n",
			"a group without any":   "suite: s\ngroups: {get: []}\n",
			"no expect":             suite("{name: a, request: /x}"),
			"expect as a number":    suite("{name: a, request: /x, expect: 200}"),
			"no path":               suite("{name: a, request: GET x, expect: {}}"),
			"status":                suite("{name: a, request: /x, expect: {status: 600}}"),
			"no status":             suite("{name: a, request: /x, expect: {status: []}}"),
			"status in words":       suite("{name: a, request: /x, expect: {status: ok}}"),
			"size":                  suite("{name: a, request: /x, expect: {max_size: 100}}"),
			"took":                  suite("{name: a, request: /x, expect: {took: 1s}}"),
			"count":                 suite("{name: a, request: /x, expect: {count: {a: -1}}}"),
			"count of a word":       suite("{name: a, request: /x, expect: {count: {a: many}}}"),
			"contains nothing":      suite("{name: a, request: /x, expect: {contains: ''}}"),
			"timeout":               suite("{name: a, request: /x, expect: {}, timeout: 5}"),
		},
	} {
		i := slices.IndexFunc(schemaKinds, func(k schemaKind) bool { return k.name == kind })
		schema := compiledSchema(t, kind)
		for name, text := range files {
			t.Run(kind+"/"+name, func(t *testing.T) {
				if err := schema.Validate(asJSON(t, "x/x.yaml", []byte(text))); err == nil {
					t.Error("the schema accepts it")
				}
				if err := schemaKinds[i].read("x/x.yaml", []byte(text)); err == nil {
					t.Error("locbench reads it")
				}
			})
		}
		for name, text := range map[string]string{"profile": aProfile, "manifest": aManifest, "suite": suite("{name: a, request: /x, expect: {}}")} {
			if err := schema.Validate(asJSON(t, "x.yaml", []byte(text))); name == kind && err != nil {
				t.Errorf("the valid part of the files: %v", err)
			}
		}
	}
}

// A schema can be under version control: it is the same each time.
func TestSchema(t *testing.T) {
	for _, args := range [][]string{{"schema"}, {"schema", "service"}, {"schema", "profile", "suite"}} {
		says(t, console.ExitUsage, "profile…manifest…suite", args...)
	}
	for _, kind := range schemaKinds {
		if !bytes.Equal(printedSchema(t, kind.name), printedSchema(t, kind.name)) {
			t.Errorf("%s: two calls print different schemas", kind.name)
		}
	}
}
