package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
	files string // pattern of all bundled files
	least int    // number of bundled files
}

var schemaKinds = []schemaKind{
	{
		name: "profile", files: "../../profiles/*.yaml", least: 8,
		read: func(file string, data []byte) error { _, err := profile.Parse(file, data); return err },
	},
	{
		name: "manifest", files: "../../services/*/service.yaml", least: 20,
		read: func(file string, data []byte) error { _, err := contender.Parse(file, data); return err },
	},
	{
		name: "suite", files: "../store/dataset/suites/*.yaml", least: 1,
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
	dir := folderOf(t, map[string]string{"users.csv": "name,mail\na,b@c\n", "order.bin": "x",
		"targets.txt": "GET http://h/a\n"})
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

// TestSchema_EveryKey: each key has a description, and no map of keys has others.
func TestSchema_EveryKey(t *testing.T) {
	for _, kind := range schemaKinds {
		t.Run(kind.name, func(t *testing.T) {
			type object struct {
				Properties           map[string]struct{ Description string }
				AdditionalProperties any
			}
			var root struct {
				object
				Defs map[string]object `json:"$defs"`
			}
			testenv.OK(t, json.Unmarshal(printedSchema(t, kind.name), &root))
			root.Defs[""] = root.object
			keys := 0
			for name, of := range root.Defs {
				if len(of.Properties) == 0 || of.AdditionalProperties != false {
					t.Errorf("%q: %d keys, other keys: %v", name, len(of.Properties), of.AdditionalProperties)
				}
				for key, p := range of.Properties {
					if keys++; p.Description == "" {
						t.Errorf("%s.%s has no description", name, key)
					}
				}
			}
			if keys < 20 {
				t.Errorf("%d keys", keys)
			}
		})
	}
}

// TestSchema_Mistakes: both the schema and locbench reject a mistake in a file.
func TestSchema_Mistakes(t *testing.T) {
	const aProfile = "contenders: [a]\nrequests: [{get: /x}]\nsteps: [1]\n"
	const aManifest = "name: x\nlanguage: Go\nframework: f\nversion: 1\nprocess: {command: [x]}\n"
	suite := func(check string) string { return "suite: s\ngroups: {get: [" + check + "]}\n" }
	const step, get = "steps: [1]\nrequests: ", "requests: [{get: /x}]\nsteps: "
	check := func(checks ...string) (files []string) {
		for _, c := range checks {
			files = append(files, suite("{name: a, request: /x, "+c+"}"))
		}
		return files
	}
	after := func(valid string, more ...string) (files []string) {
		for _, m := range more {
			files = append(files, valid+m+"\n")
		}
		return files
	}
	for kind, files := range map[string]map[string][]string{
		"profile": {
			"an unknown key": slices.Concat(after(aProfile, "conections: 3", "limits: {cpu: 1}"), after(get, "[{connections: 1, warmup: true}]"),
				after(step, "[{get: /x, methd: GET}]", "[{get: /x, expect: {code: 200}}]", "{target: targets.txt}")),
			"no steps or requests":    {"requests: [{get: /x}]\n", "steps: [1]\n", "requests: {}\nsteps: [1]\n"},
			"other kinds of requests": after(step, "[{targets: targets.txt}]", "{targets: [targets.txt]}", "targets.txt"),
			"an incomplete request":   after(step, "[{name: x}]", "[{get: x}]", "[{get: /x, weight: 0}]"),
			"two of one":              after(step, "[{get: /x, post: /x}]", "[{post: /x, body: a, json: b}]"),
			"an incomplete session": {"steps: [1]\nsessions: [{requests: [{get: /x}]}]\n",
				"steps: [1]\nsessions: [{name: s, requests: [{get: /x, save: {a: {body: x}}}]}]\n",
				"steps: [1]\nsessions: [{name: s, requests: [{get: /x, weight: 1}]}]\n"},
			"a value of another kind": after(aProfile, "limits: [1]", "rounds: six", "setup: 1", "variables:"),
			"a number out of range": slices.Concat(after(aProfile, "rounds: 1001", "rounds: 0", "limits: {cpus: 0}", "needs: {elasticsearch: {cities: {count: 1000001}}}"),
				after(get, "[0]", "[{rate: 2000000}]"), after(step, "[{get: /x, expect: {status: 100}}]")),
			"no unit": after(aProfile, "limits: {memory: 512Mi}", "timeout: 10", "compare_bodies: 0.1"),
			"an unknown word": slices.Concat(after(aProfile, "runtime: podman", "needs: {elastic: {}}", "needs: {elasticsearch: {cities: bundle}}", "variables: {a: uid}",
				"thresholds: [fast]", "thresholds: [{condition: p99<1s, stop: all}]", "checks: {lifecycle: [stop]}"),
				after(step, "[{get: '/x/{id}', ids: zpif}]", "[{get: /x, think: 1s-2s}]"), after(get, "[many]", "['1..4 tripling']")),
			"needs without names": after(aProfile, "needs: [{from: embedded}]"),
			"a variable":          after(aProfile, "variables: {a: {from: 1}}", "variables: {a: {list: [1], string: 3}}", "variables: {a-b: uuid}"),
			"two sources of data": after(aProfile, "needs: {elasticsearch: {cities: {dir: x, count: 5}}}"),
			"a load of a step":    after(get, "[{rate: 5, arrivals: {users: 1, over: 1s}}]", "[{duration: 5s}]", "[{rate: {from: 1}}]"),
		},
		"manifest": {
			"an unknown key": after(aManifest, "languge: Go", "docker: {dockerfile: Dockerfile, network: host}"),
			"something is missing": {"name: x\nlanguage: \"\"\nprocess: {command: [x]}\n", "name: x\nlanguage: Go\nframework: f\nversion: 1\n",
				"name: x\nlanguage: Go\nframework: f\nversion: 1\nprocess: {build: []}\n"},
			"a command as a text": {"name: x\nlanguage: Go\nframework: f\nversion: 1\nprocess: {command: ./x}\n"},
			"a name in capitals":  {aManifest[8:] + "name: X\n"},
			"a port":              after(aManifest, "port: 70000", "port: http"),
			"when it is ready":    after(aManifest, "ready: {path: health}", "ready: {timeout: 5}", "ready: {status: 99}"),
			"its container": after(aManifest, "docker: {dockerfile: Dockerfile, image: x}", "docker: {target: x}",
				"docker: {image: x, capabilities: [CAP_NET_RAW]}", "docker: {image: x, processes: 100}"),
			"a variant": after(aManifest, "docker: {image: x}\nvariants: [{name: a, build: [[]]}]", "variants: [{title: x}]"),
			"a list":    after(aManifest, "tags: [Two Words]", "endpoints: some", "endpoints: []", "env: [A=B]", "env: {'A=B': x}"),
		},
		"suite": {
			"an unknown key": append(check("expect: {}, header: {A: b}", "expect: {code: 200}"),
				suite("{name: a, request: /x, expect: {}}")+"variables: {}\n"),
			"no suite or groups": {"groups: {get: [{name: a, request: /x, expect: {}}]}\n", "suite: s\n", "suite: s\ngroups: {}\n",
				"suite: s\ngroups: {get: []}\n"},
			"no expectation": {suite("{name: a, request: /x}"), suite("{name: a, request: /x, expect: 200}")},
			"no path":        {suite("{name: a, request: GET x, expect: {}}")},
			"a status":       check("expect: {status: 600}", "expect: {status: []}", "expect: {status: ok}"),
			"a bound": check("expect: {max_size: 100Mi}", "expect: {took: 1s}", "expect: {count: {a: -1}}", "expect: {count: {a: many}}",
				"expect: {contains: ''}", "expect: {}, timeout: 5"),
		},
	} {
		i := slices.IndexFunc(schemaKinds, func(k schemaKind) bool { return k.name == kind })
		schema := compiledSchema(t, kind)
		valid := map[string]string{"profile": aProfile, "manifest": aManifest, "suite": check("expect: {}")[0]}[kind]
		testenv.OK(t, schema.Validate(asJSON(t, "x.yaml", []byte(valid))))
		for name, texts := range files {
			t.Run(kind+"/"+name, func(t *testing.T) {
				for _, text := range texts {
					if err := schema.Validate(asJSON(t, "x/x.yaml", []byte(text))); err == nil {
						t.Errorf("the schema accepts\n%s", text)
					}
					if err := schemaKinds[i].read("x/x.yaml", []byte(text)); err == nil {
						t.Errorf("locbench reads\n%s", text)
					}
				}
			})
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
