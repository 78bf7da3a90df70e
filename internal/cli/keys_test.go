package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// A profile is shown as its file has it, and with --json as a run has it: with all defaults, and where a secret comes from
// and goes to. The secret is not shown.
func TestProfilesShow(t *testing.T) {
	const text = `
follow: 3
header: {Cookie: "sid={sid}; k={password}", X-Api-Key: "{api_key}", Authorization: "Basic ${BASIC}"}
variables:
  token: uuid
  user: {file: users.csv, draw: in_turn}
setup:
  - name: log in
    post: /login
    form: {password: "{user.password}", token: "{token}", secret: hunter2-of-mine}
    save:
      sid: {cookie: sid}
      password: data.password
      api_key: {header: X-Api-Key, regex: "key=([a-z]+)"}
      access_token: {regex: "token=(.*)"}
      refresh_token: {json: data.token, regex: "(.+)"}
sessions:
  - name: s
    pace: 2s
    setup:
      - {post: /in, multipart: {token: "{token}", password: {value: hunter3-of-mine}, secret: {file: a.png, type: image/png}}, save: {mine: {cookie: sid}}}
    requests:
      - get: "/x?token={token}&p={password:raw}"
        header: {Cookie: "", Authorization: "Bearer {mine}"}
        expect: {status: [200, 202], header: {Set-Cookie: "sid={token}"}, json_includes: {token: "{token}"}, present: [password]}
        repeat: {until: {at: {token: done}}, every: 100ms, most: 20}
        save: {session_token: "items[*].token"}
      - {get: "/y?t={session_token}&a={access_token}&r={refresh_token}", json: {password: hunter4-of-mine, pin: 123456}}
steps: [1]
`
	dir := testenv.Folder(t, map[string]string{"p.yaml": text, "users.csv": "name,password\nada,x\n", "a.png": "x"})
	file := filepath.Join(dir, "p.yaml")
	shown := says(t, 0, "follow: 3\n…X-Api-Key: \"{api_key}\", Authorization: \"Basic ${BASIC}\"…steps: [1]\n", "profiles", "show", file)
	plan := says(t, 0, `"path": "/x?token={token}\u0026p={password:raw}"…"name": "password",…"of": "data.password"…"timeout_ns": 10000000000`, "profiles", "show", file, "--json")
	testenv.Check(t, json.Valid([]byte(plan)), "%s", plan)
	lacks(t, "show", shown+plan, "-of-mine")
	bundled := testenv.Must(os.ReadFile("../../profiles/locations.yaml"))(t)
	testenv.Equal(t, says(t, 0, "", "profiles", "show", "locations"), string(bundled))
}

// TestOptionsAreEverywhere: each row of the table of options is a flag in the help of 'locbench
// run', and its key is in the profile that explains every key. The setup screen has its own test.
func TestOptionsAreEverywhere(t *testing.T) {
	help := saying(t, "run", "--help")
	text := unwrapped(help)
	explained := testenv.Must(os.ReadFile("../../profiles/locations.yaml"))(t)
	for _, o := range profile.Options() {
		usage := strings.ReplaceAll(o.Usage, "`", "")
		testenv.Check(t, o.Usage == "" || strings.Contains(text, " --"+o.Name+" ") && strings.Contains(text, usage),
			"locbench run --help does not have --%s: %s", o.Name, usage)
		key := o.Key[strings.LastIndexByte(o.Key, '.')+1:]
		if key != "" && !strings.Contains(string(explained), key+":") && !strings.Contains(string(explained), key+" ") {
			t.Errorf("profiles/locations.yaml does not explain the key %s", o.Key)
		}
	}
}

// TestDocsOfOptions compares docs/profiles.md with the table of options; -update writes the page.
func TestDocsOfOptions(t *testing.T) {
	table := "| key of a profile | option of `locbench run` | what |\n|---|---|---|\n"
	for _, o := range profile.Options() {
		if o.Usage != "" && o.Key != "" {
			what := strings.ReplaceAll(strings.ReplaceAll(o.Usage, "`", ""), "|", `\|`)
			table += "| `" + o.Key + "` | `--" + o.Name + "` | " + what + " |\n"
		}
	}
	madePart(t, profilesPage, "options", table, "TestDocsOfOptions")
}

// TestDocsOfGates compares docs/comparing.md with the measures of --fail-on; -update writes the page.
func TestDocsOfGates(t *testing.T) {
	table := "| condition | what it compares |\n|---|---|\n"
	for _, g := range compare.GateTable() {
		table += "| `" + g[0] + "` | " + g[1] + " |\n"
	}
	madePart(t, "../../docs/comparing.md", "gates", table, "TestDocsOfGates")
}

// profilesPage is the page with the parts that are made.
const profilesPage = "../../docs/profiles.md"

// tablesOfKeys are the tables of docs/profiles.md in their order: the definition in the schema
// ("" is the profile), and the title. docs/suites.md has the keys of `expect`.
var tablesOfKeys = [][2]string{
	{"", "a profile"},
	{"settings", "an item of `contenders`"},
	{"limits", "`limits`"},
	{"request", "a request"},
	{"part", "a field of `multipart`"},
	{"repeated", "`repeat`"},
	{"session", "a session"},
	{"source", "a variable"},
	{"targetFile", "`requests` of a target file"},
	{"ids", "`ids`"},
	{"step", "a step"},
	{"connectionRamp", "`connections` as a ramp"},
	{"ramp", "`rate` as a ramp"},
	{"wave", "`rate` as a wave"},
	{"arrivals", "`arrivals`"},
	{"threshold", "a threshold"},
	{"checks", "`checks`"},
	{"firstRequests", "`first_requests`"},
	{"elasticsearch", "`elasticsearch` in `needs`"},
	{"citiesMap", "`cities`"},
	{"service", "another need"},
	{"serviceLimits", "`limits` of a need"},
	{"readyMap", "`ready`"},
	{"readyHTTP", "`http` of `ready`"},
	{"readyLog", "`log` of `ready`"},
	{"seedMap", "an item of `seed`"},
	{"ulimitMap", "an item of `ulimits`"},
}

// TestDocsOfKeys compares the keys in docs/profiles.md with the schema of profiles; -update writes
// the page. Each definition of the schema is in a table there or in docs/suites.md.
func TestDocsOfKeys(t *testing.T) {
	schema, defs := readSchema(t, "profile")
	titles := map[string]string{}
	for _, table := range tablesOfKeys {
		titles[table[0]] = table[1]
	}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if titles[name] == "" && !slices.Contains([]string{"expectFile", "countBounds", "tookBounds"}, name) {
			t.Errorf("%s of the schema is in no table", name)
		}
	}
	var made strings.Builder
	for i, table := range tablesOfKeys {
		of := schema
		if table[0] != "" {
			of = defs[table[0]]
		}
		keys := of.Properties
		testenv.Need(t, len(keys) != 0, "the schema has no %s", table[0])
		if i > 0 {
			made.WriteString("\n")
		}
		fmt.Fprintf(&made, "| keys of %s | value | what |\n|---|---|---|\n", table[1])
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			what := strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`).Replace(keys[key].Description)
			fmt.Fprintf(&made, "| `%s` | %s | %s |\n", key, strings.Join(kindsOf(keys[key]), ", "), what)
		}
	}
	madePart(t, profilesPage, "keys", made.String(), "TestDocsOfKeys")
}

// TestEveryKeyIsShown: profiles/locations.yaml shows each key of the tables, but not those of needs
// that it does not have, which are spelled as in compose.
func TestEveryKeyIsShown(t *testing.T) {
	shown := testenv.Must(os.ReadFile("../../profiles/locations.yaml"))(t)
	schema, defs := readSchema(t, "profile")
	defs[""] = schema
	methods := []string{"head", "put", "patch", "delete", "options"} // all in one line
	testenv.Check(t, strings.Contains(string(shown), "(get head post put patch delete options)"),
		"profiles/locations.yaml does not show the methods")
	for _, table := range tablesOfKeys {
		if table[0] == "service" {
			break // all that follow are parts of it
		}
		for key := range defs[table[0]].Properties {
			if !slices.Contains(methods, key) && !regexp.MustCompile(`(^|[^a-z_])`+key+`:`).Match(shown) {
				t.Errorf("profiles/locations.yaml does not show %s of %s", key, table[1])
			}
		}
	}
}

// madePart compares the part NAME of a page with a text; -update writes it.
func madePart(t *testing.T, file, name, text, test string) {
	t.Helper()
	begin, end := "<!-- made: "+name+" -->\n", "<!-- /made -->"
	data, err := os.ReadFile(file)
	testenv.OK(t, err)
	before, rest, found := strings.Cut(string(data), begin)
	old, after, ended := strings.Cut(rest, end)
	switch {
	case !found || !ended:
		t.Fatalf("%s has no place for %s", file, name)
	case *testenv.Update:
		err = os.WriteFile(file, []byte(before+begin+text+end+after), 0o644)
	case old != text:
		t.Errorf("the part %s of %s is out of date: run go test ./internal/cli -run %s -update", name, file, test)
	}
	testenv.OK(t, err)
}

// keySchema is the part of a JSON Schema that the tables show.
type keySchema struct {
	Description      string
	Properties       map[string]keySchema
	AnyOf            []keySchema
	Items            *keySchema
	Ref              string `json:"$ref"`
	Enum             []any
	Type             any
	Minimum, Maximum *json.Number
	MaxLength        *int
	Pattern          string

	AdditionalProperties json.RawMessage
}

// readSchema returns a printed schema and its definitions.
func readSchema(t *testing.T, kind string) (keySchema, map[string]keySchema) {
	t.Helper()
	var schema struct {
		keySchema
		Defs map[string]keySchema `json:"$defs"`
	}
	testenv.OK(t, json.Unmarshal(printedSchema(t, kind), &schema))
	return schema.keySchema, schema.Defs
}

// kindsOf returns the kinds of values that a schema accepts, each once, in its order.
func kindsOf(of keySchema) (all []string) {
	add := func(kind string) {
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	zero := of.Maximum != nil && *of.Maximum == "0"
	empty := of.MaxLength != nil && *of.MaxLength == 0
	switch {
	case zero, empty: // the default may be written
		return nil
	case strings.Contains(of.Pattern, "(ns|us|"):
		add("time")
	case strings.HasSuffix(of.Pattern, "[bB])?$"):
		add("size")
	case strings.Contains(of.Pattern, `%\s*$`):
		add("percent")
	case of.Ref == "#/$defs/expectFile":
		add("[`expect`](suites.md)")
	case of.Ref != "":
		add("map")
	case len(of.Enum) > 12:
		add("text")
	}
	if len(of.Enum) <= 12 {
		for _, value := range of.Enum {
			if text := fmt.Sprint(value); text != "" {
				add("`" + text + "`")
			}
		}
	}
	for _, way := range of.AnyOf {
		for _, kind := range kindsOf(way) {
			add(kind)
		}
	}
	if len(all) > 0 {
		return all
	}
	switch kind := fmt.Sprint(of.Type); kind {
	case "integer", "number", "[integer string]":
		switch {
		case of.Minimum != nil && of.Maximum != nil:
			add(fmt.Sprintf("%s to %s", of.Minimum, of.Maximum))
		case of.Minimum != nil:
			add(fmt.Sprintf("from %s", of.Minimum))
		default:
			add("whole number")
		}
		if strings.Contains(kind, "string") {
			add("text")
		}
	case "array":
		add("list")
	case "object":
		add("map")
	case "boolean":
		add("`true`")
		add("`false`")
	case "<nil>":
		add("any")
	default:
		add("text")
	}
	return all
}
