package check

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// All mistakes in a file are reported at once, each with its line.
func TestSuiteMistakes(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "s.yaml:1: the file is empty"},
		{"no YAML", "suite: [", "s.yaml:1: not YAML"},
		{"a list", "- a", "s.yaml:1: the document is a list"},
		{"nothing required", "about: x", "suite\ngroups"},
		{"an unknown key", "suite: s\nvar: {}\ngroups:\n  g: [{name: a, request: GET /, expect: {status: 200}}]\n", "s.yaml:2: unknown key `var`; did you mean `vars`?"},
		{"no group", "suite: s\ngroups: {}\n", "s.yaml:2:"},
		{"groups as a list", "suite: s\ngroups: [a]\n", "s.yaml:2: `groups` is a list"},
		{"no check", "suite: s\ngroups:\n  g: []\n", "s.yaml:3: `groups.g` is a list; write a list of checks"},
	} {
		t.Run(tt.name, func(t *testing.T) { wantMistakes(t, tt.text, tt.want) })
	}
	for _, tt := range []struct{ check, want string }{
		{`{request: GET /, expect: {status: 200}}`, "name"},
		{`{name: a, expect: {status: 200}}`, "request"},
		{`{name: a, request: GET /}`, "expect"},
		{`{name: a, request: GET /, expect: }`, "expect"},
		{`{name: a, request: GET /, expect: 200}`, "write what the response must be"},
		{`{name: a, request: GET a, expect: {status: 200}}`, "write a method and a path"},
		{`{name: a, request: "GET http://other/", expect: {status: 200}}`, "write a method and a path"},
		{`{name: a, request: get /a, expect: {status: 200}}`, "write the method in capitals"},
		{`{name: a, request: "GET /a?q=a b", expect: {status: 200}}`, "escape the characters that a URL cannot have"},
		{`{name: a, request: "GET /a\r\nX: y", expect: {status: 200}}`, "escape the characters that a URL cannot have"},
		{`{name: a, request: "GET /a#b", expect: {status: 200}}`, "escape the characters that a URL cannot have"},
		{`{name: a, request: "GET /{{missing}}", expect: {status: 200}}`, "unknown variable `missing`"},
		{`{name: a, request: "GET /{{pragu}}", expect: {status: 200}}`, "did you mean `prague`?"},
		{`{name: a, request: "GET /{{prague", expect: {status: 200}}`, "`{{` without `}}`"},
		{`{name: a, request: GET /, query: [a], expect: {status: 200}}`, "write names and values"},
		{`{name: a, request: GET /, query: {a: [b]}, expect: {status: 200}}`, "`groups.g[0].query.a` is a list"},
		{`{name: a, request: GET /, headers: {"a b": c}, expect: {status: 200}}`, "write a header name"},
		{`{name: a, request: GET /, headers: {a: "c\nd: e"}, expect: {status: 200}}`, "write a header name"},
		{`{name: a, request: GET /, timeout: 5, expect: {status: 200}}`, "add a unit"},
		{`{name: a, request: GET /, expect: {statsu: 200}}`, "did you mean `status`?"},
		{`{name: a, request: GET /, expect: {status: 99}}`, "write a status from 100 to 599"},
		{`{name: a, request: GET /, expect: {status: 600}}`, "write a status from 100 to 599"},
		{`{name: a, request: GET /, expect: {count: {a: 2147483648}}}`, "write a number of elements"},
		{`{name: a, request: GET /, expect: {status: ok}}`, "write a status from 100 to 599"},
		{`{name: a, request: GET /, expect: {status: []}}`, "write at least one"},
		{`{name: a, request: GET /, expect: {message: ""}}`, "write a non-empty text"},
		{`{name: a, request: GET /, expect: {at: [a]}}`, "write paths and values"},
		{`{name: a, request: GET /, expect: {at: {"a..b": 1}}}`, "`a..b` is not a path"},
		{`{name: a, request: GET /, expect: {at: {"a[x]": 1}}}`, "`a[x]` is not a path"},
		{`{name: a, request: GET /, expect: {at: {"a[-1]": 1}}}`, "`a[-1]` is not a path"},
		{`{name: a, request: GET /, expect: {present: "a | "}}`, "write a path such as"},
		{`{name: a, request: GET /, expect: {count: {a: -1}}}`, "write a number of elements"},
		{`{name: a, request: GET /, expect: {count: {a: {min: 2, max: 1}}}}`, "write a `max` of at least `min`"},
		{`{name: a, request: GET /, expect: {took: 5s}}`, "write `{min: 50ms}`"},
		{`{name: a, request: GET /, expect: {took: {min: 2s, max: 1s}}}`, "write a `max` of at least `min`"},
		{`{name: a, request: GET /, expect: {max_size: 10Mi}}`, "write `10MiB`"},
		{`{name: a, request: GET /, expect: {schema: {$ref: "file:///etc/passwd"}}}`, "is another document: use references within the schema only"},
		{`{name: a, request: GET /, expect: {schema: {multipleOf: 1e999999999}}}`, "s.yaml:5: "},
		{`{name: a, request: GET /, expect: {json: "{{missing}}"}}`, "unknown variable `missing`"},
	} {
		t.Run(tt.check, func(t *testing.T) {
			wantMistakes(t, "suite: s\nvars: {prague: 1}\ngroups:\n  g:\n    - "+tt.check+"\n", "s.yaml:5: ", tt.want)
		})
	}
	t.Run("twice the same name", func(t *testing.T) {
		wantMistakes(t, "suite: s\ngroups:\n  g:\n    - {name: a, request: GET /, expect: {status: 200}}\n    - {name: a, request: GET /, expect: {status: 200}}\n",
			"s.yaml:5: `groups.g[1].name` is \"a\"; write another name")
	})
	t.Run("all at once", func(t *testing.T) {
		wantMistakes(t, "suite: s\ngroups:\n  g:\n    - {name: a, request: x, expect: {statsu: 1}}\n    - {name: b, request: \"GET /{{c}}\", expect: {status: 1}}\n",
			"s.yaml:4: ", "write a method and a path", "did you mean `status`?", "s.yaml:5: ", "unknown variable `c`", "from 100 to 599")
	})
}

func wantMistakes(t *testing.T, text string, want ...string) {
	t.Helper()
	s, err := ParseSuite("s.yaml", []byte(text))
	var mistakes strictyaml.Mistakes
	testenv.Need(t, errors.As(err, &mistakes) && s == nil, "%v, %+v", err, s)
	for _, lines := range want {
		for w := range strings.SplitSeq(lines, "\n") {
			testenv.Check(t, strings.Contains(err.Error(), w), "got\n%v\nwant %q in it", err, w)
		}
	}
}

func TestLoadSuite(t *testing.T) {
	names := SuiteNames()
	testenv.Check(t, slices.Contains(names, "locations"), "bundled: %v", names)
	for _, name := range SuiteNames() {
		s := testenv.Must(LoadSuite(name))(t)
		testenv.Equal(t, s.Name, name)
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	testenv.OK(t, os.WriteFile(file, []byte(twoGroups), 0o600))
	s, err := LoadSuite(file)
	testenv.Check(t, err == nil && s.Len() == 3 && s.Groups[1].Name == "search", "%v, %+v", err, s)
	testenv.OK(t, os.WriteFile(file, make([]byte, strictyaml.MaxSize+1), 0o600))
	for name, want := range map[string]string{
		"location":              "did you mean `locations`?",
		"../nowhere":            "no such file",
		file:                    "larger than the 1MiB allowed",
		t.TempDir() + "/a.yaml": "no such file",
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Fails(t, testenv.Err(LoadSuite(name)), want)
		})
	}
}

// The bundled suite has all groups, and checks more than the status.
func TestLoadSuite_Bundled(t *testing.T) {
	s := testenv.Must(LoadSuite("locations"))(t)
	var groups []string
	for _, g := range s.Groups {
		groups = append(groups, g.Name)
		for _, c := range g.Checks {
			testenv.Check(t, len(c.Expect.matchers) != 0 || !slices.Contains(c.Expect.Status, 200),
				"%s: %s checks only the status", g.Name, c.Name)
		}
	}
	testenv.Equal(t, groups, []string{"get", "closest", "associatedFeatured", "search", "featured", "api-docs", "benchmark"})
}

func FuzzSuite(f *testing.F) {
	data := testenv.Must(dataset.Suites.ReadFile("suites/locations.yaml"))(f)
	f.Add(data)
	f.Add([]byte(twoGroups))
	f.Add([]byte("suite: s\nvars: {a: '{{a}}'}\ngroups:\n  g:\n    - {name: a, request: '/{{a}}', expect: {json: '{{a}}', keys: {$: a}, count: {a: {min: 1}}, present: 'a|b[*]', took: {min: 1s}}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseSuite("s.yaml", data)
		testenv.Need(t, (err == nil) != (s == nil), "%v, %v", s, err)
		if err != nil {
			testenv.Need(t, err.Error() != "", "a mistake without words")
			return
		}
		// Each check that was read can be sent, and its response checked, whatever it is.
		a := &response{status: 200, body: []byte(`{"a":[{"b":1}]}`)}
		for _, g := range s.Groups {
			testenv.Need(t, len(g.Checks) != 0, "group %q without a check", g.Name)
			for _, c := range g.Checks {
				_, err := c.Request.build(t.Context(), "http://127.0.0.1")
				testenv.Check(t, err == nil, "%s: %v", c.Request, err)
				c.Expect.judge(a)
			}
		}
	})
}

// TestRaw: numbers are kept exactly.
func TestRaw(t *testing.T) {
	const text = `{"a":[1,1.25,18446744073709551615,1e400,1.10],"b":"x","c":null,"d":true}`
	err := strictyaml.DecodeThen("x", []byte(text), new(any), func(v strictyaml.Value) {
		saved := testenv.Must(json.Marshal(Raw(v)))(t)
		testenv.Equal(t, string(saved), text)
	})
	testenv.OK(t, err)
}
