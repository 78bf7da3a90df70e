package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// What YAML reads otherwise than its writer is named with its own line and what to write.
func TestTraps(t *testing.T) {
	for name, tt := range map[string]struct {
		text string // after three lines
		line int
		want string
	}{
		"question in a map":        {"- {name: a, get: /search?q=lamp, share: 50%}\n- name: b\n  get: /x?y=1\n", 4, "`?` begins a key here; put the text in quotes: `\"/search?q=lamp\"`"},
		"question in a list":       {"- a: [x, /a?b]\n", 4, "put the text in quotes: `\"/a?b\"`"},
		"question in a later line": {"- {name: a,\n   get: /search?q=lamp,\n   share: 50%}\n", 5, "`\"/search?q=lamp\"`"},
		"question before a key":    {"- {get: /a?b=c}\nsteps:\n  - 1\n", 4, "put the text in quotes: `\"/a?b=c\"`"},
		"question at the start":    {"- {name: a, get: ?q=1}\n", 4, "put the text in quotes"},
		"question and brace":       {"- {get: /items/x?l={limit}, share: 5%}\n", 4, "`\"/items/x?l={limit}\"`"},
		"brace in a map":           {"- {get: /items/{id}, share: 5%}\n", 4, "`{` begins a map here; put the text in quotes: `\"/items/{id}\"`"},
		"brace in the last":        {"- {get: /items/{id}}\n- {get: /b}\n", 4, "put the text in quotes: `\"/items/{id}\"`"},
		"bracket in a map":         {"- {save: {regex: x[0-9]+}}\n", 4, "put the text in quotes"},
		"text after a map":         {"- get: {base}/items\n  share: 5%\n", 4, "put the text in quotes: `\"{base}/items\"`"},
		"the same, blank lines":    {"- get: {base}/items\n\n# comment\n\n- get: /\n", 4, "`\"{base}/items\"`"},
		"the same, last":           {"- get: {base}/items\n", 4, "`\"{base}/items\"`"},
		"text after quotes":        {"- get: \"/items\"/{id}\n  share: 5%\n", 4, "text after the closing quote; put all of it in quotes"},
		"the same, in a map":       {"- {get: \"/items\"/5, share: 5%}\n", 4, "text after the closing quote"},
		"colon":                    {"- title: one: two\n  get: /\n", 4, "`: ` begins a value here; put the text in quotes"},
		"colon in a map":           {"- {title: one: two, get: /}\n", 4, "put the text in quotes"},
		"percent":                  {"- get: %2Fitems\n", 4, "a text cannot begin with `%`; put the text in quotes: `\"%2Fitems\"`"},
		"percent in a map":         {"- {get: %2Fitems}\n", 4, "a text cannot begin with `%`"},
		"at":                       {"- user: @ada\n", 4, "a text cannot begin with `@`; put the text in quotes"},
		"backtick":                 {"- user: `ada`\n", 4, "a text cannot begin with ```"},
		"star":                     {"- {header: {Accept: */*}}\n", 4, "a text cannot begin with `*`; put the text in quotes: `\"*/*\"`"},
		"star in a block":          {"- get: /\n  header:\n    Accept: */*\n  share: 5%\n", 6, "a text cannot begin with `*`"},
		"star word":                {"- get: *all\n", 4, "a text cannot begin with `*`"},
		"ampersand":                {"- get: & b\n", 4, "a text cannot begin with `&`"},
		"greater":                  {"- note: >5 items\n  get: /\n", 4, "a text cannot begin with `>`"},
		"bar":                      {"- note: |x\n  get: /\n", 4, "a text cannot begin with `|`"},
		"tab":                      {"- get: /\n\tshare: 5%\n", 5, "a tab in the indentation; write spaces"},
		"tab deeper":               {"- get: /\n  header:\n  \tA: b\n", 6, "a tab in the indentation; write spaces"},
		"no space":                 {"- name: b\n  get:/search\n  share: 5%\n", 5, "write a space after `get:`"},
		"escape":                   {"- a: b\n- save: {x: {regex: \"id=(\\d+)\"}}\n- c: d\n", 5, "`\\d` is not an escape in double quotes; write single quotes"},
		"open quote":               {"- get: \"/items\n- get: /b\n- get: /c\n", 4, "the quote is not closed"},
		"open map":                 {"- {get: /items\n- {get: /b}\n", 4, "`{` is not closed"},
		"open list":                {"- a: [1, 2\n- b: c\n", 4, "`[` is not closed"},
		"open at the end":          {"- a: b\n- {get: /items\n", 5, "`{` is not closed"},
		"closed otherwise":         {"- {a: [1, 2}}\n", 4, "`[` is not closed"},
		"no comma":                 {"- {get: /items\n   share: 5%}\n", 5, "write `,` at the end of the line above"},
		"indentation":              {"- get: /\n share: 5%\n- get: /b\n", 5, "not YAML"},
		"not the trap before":      {"- note: &x y\n  get: /\n  put: /\n share: 5\n", 7, "not YAML: did not"},
		"after a block":            {"- body: |\n    {a: b?c}\n    \"\n  get: %x\n", 7, "`%`"},
		"comments":                 {"- get: / # {a?b} \"\n# \"\n- get: @\n", 6, "`@`"},
		"apostrophe":               {"- name: it's {a?b}\n  get: @\n", 5, "`@`"},
	} {
		var got any
		err := strictyaml.Decode("f.yaml", []byte("# first\nsteps: [1]\nrequests:\n"+tt.text), &got)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("f.yaml:%d: ", tt.line)) {
			t.Errorf("%s:\n%s%v\nwant line %d, %s", name, tt.text, err, tt.line, tt.want)
		}
	}
}

// What is YAML, but not what its writer meant: one mistake, in its line.
func TestTextsWithoutQuotes(t *testing.T) {
	type request struct {
		Get  string            `yaml:"get"`
		JSON jsonText          `yaml:"json"`
		Head map[string]string `yaml:"header"`
		Any  any               `yaml:"any"`
	}
	type file struct {
		Requests []request `yaml:"requests"`
	}
	for text, want := range map[string]string{
		"get: {next}":                     "`{next}` without quotes is a map; write `\"{next}\"`",
		"header: {X: {token}}":            "`{token}` without quotes is a map; write `\"{token}\"`",
		"json: {user: {user}}":            "`{user}` without quotes is a map; write `\"{user}\"`; for a map with an empty value `{user: null}`",
		"json: {list: [{item:number}]}":   "`{item:number}` without quotes is a map; write `\"{item:number}\"`",
		"json: {user: {user }, a: 1}":     "`{user}` without quotes is a map",
		"json: {{user}}":                  "`{{user}}` without quotes is a map; put it in quotes; a variable of a profile is `\"{user}\"`",
		"any: {id: {item}}":               "`{item}` without quotes is a map",
		"json: {a: b, c}":                 "`c` has no value; put the text in quotes if the comma is part of it, or write `c: null`",
		"{get: /a,b}":                     "`b` has no value; put the text in quotes if the comma is part of it",
		"json:\n      color: #fff":        "`color` has no value: a `#` begins a comment; put the value in quotes",
		"get: #frag":                      "`get` has no value: a `#` begins a comment",
		"json: {color: #fff}\n    get: /": "`#` begins a comment here; put the text in quotes",
		"get: &next":                      "anchor (`&…`); remove it: anchors are not supported; or put a text in quotes",
		"get: !next":                      "tag (`!…`); remove it: the key decides the type; or put a text in quotes",
	} {
		var got file
		indented := "  - " + text
		err := strictyaml.Decode("f.yaml", []byte("requests:\n"+indented+"\n"), &got)
		line := 2 + strings.Count(strings.Split(text, "#f")[0], "\n")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") ||
			!strings.HasPrefix(err.Error(), fmt.Sprintf("f.yaml:%d: ", line)) {
			t.Errorf("%s: %v, want line %d, only %s", text, err, line, want)
		}
	}
	for _, text := range []string{"json: {user: null}", "json: {user: ~}", "json: {}", "json:\n      color: # a comment", "json: {a: ''}", "any: [~]"} {
		var got file
		err := strictyaml.Decode("f.yaml", []byte("requests:\n  - "+text+"\n"), &got)
		testenv.Check(t, err == nil, "%s: %v", text, err)
	}
}

// A file of one long line is read to its end, whatever it has.
func TestTrapsInOneLongLine(t *testing.T) {
	for _, part := range []string{`{"a": "b"}, `, "[a, -b], ", "{a: *b}, ", "{a?b: c}, ", "{{a}}, ", " - ", "&", "\"\\d\", ", "]", "{", "#x "} {
		text := "a: [" + strings.Repeat(part, 30_000/len(part)) + "{get: /a?b}]\n"
		var got any
		err := strictyaml.Decode("f.yaml", []byte(text), &got)
		testenv.Check(t, err != nil, "%s: no mistake", part)
	}
}

// All such texts of a file are reported at once, with the other mistakes in it.
func TestAllTrapsAtOnce(t *testing.T) {
	var got struct {
		Requests []struct {
			Get   string `yaml:"get"`
			Share int    `yaml:"share"`
		} `yaml:"requests"`
	}
	err := strictyaml.Decode("f.yaml", []byte("requests:\n- {get: /a?b=1, share: 1}\n- {get: /items/{id}, shrae: 2}\n- {get: /c, share: x}\n"+
		"- {get: %2F?it's, share: 4}\n- get: /d?e\n"), &got)
	want := []string{"f.yaml:2: not YAML: `?` begins", "f.yaml:3: not YAML: `{` begins", "f.yaml:3: unknown key `requests[1].shrae`",
		"f.yaml:4: `requests[2].share` is \"x\"", "f.yaml:5: not YAML: a text cannot begin with `%`"}
	lines := strings.Split(fmt.Sprint(err), "\n")
	testenv.Need(t, len(lines) == len(want), "%v, want %v", err, want)
	for i := range want {
		testenv.Check(t, strings.HasPrefix(lines[i], want[i]), "%s, want %s", lines[i], want[i])
	}
	if len(got.Requests) != 5 || got.Requests[0].Get != "/a?b=1" || got.Requests[1].Get != "/items/{id}" || got.Requests[3].Get != "%2F?it's" {
		t.Errorf("%+v", got)
	}
}

// doc keeps a value as the JSON that is made of it.
type doc struct {
	Value jsonText `yaml:"value"`
}

type jsonText string

func (j *jsonText) UnmarshalStrict(v strictyaml.Value) { *j = jsonText(v.JSON()) }

// A number in JSON is the one in the file, digit by digit. What JSON cannot say is not guessed.
func TestNumbersAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"18446744073709551615":              "18446744073709551615",
		"123456789012345678901234567890":    "123456789012345678901234567890",
		"10.00":                             "10.00",
		"1.10":                              "1.10",
		"1e3":                               "1e3",
		"-1E-7":                             "-1E-7",
		"1e400":                             "1e400", // more than a float64 holds: the library's text
		"-0":                                "-0",
		"0":                                 "0",
		"0.30000000000000004":               "0.30000000000000004",
		`"02142"`:                           `"02142"`,
		`'1e3'`:                             `"1e3"`,
		"NO":                                `"NO"`,
		"yes":                               `"yes"`,
		"on":                                `"on"`,
		"y":                                 `"y"`,
		"[~, null]":                         "[null,null]",
		"True":                              "true",
		"2024-01-31":                        `"2024-01-31"`,
		"2024-01-31 10:00:00":               `"2024-01-31 10:00:00"`,
		"22:30:00":                          `"22:30:00"`,
		"1.2.3":                             `"1.2.3"`,
		"0x":                                `"0x"`,
		"[10.00, {a: 1.50}]":                `[10.00,{"a":1.50}]`,
		"{02142: x}":                        `{"02142":"x"}`,
		"|-\n  02142":                       `"02142"`,
		"0xdeadbeefdeadbeefdeadbeefdeadbee": `"0xdeadbeefdeadbeefdeadbeefdeadbee"`,
	} {
		var got doc
		err := strictyaml.Decode("f.yaml", []byte("value: "+text+"\n"), &got)
		testenv.Check(t, err == nil && string(got.Value) == want, "%s: %s, %v; want %s", text, got.Value, err, want)
	}
	for text, hint := range map[string]string{
		"02142":   "leave out the leading zero",
		"-017":    "leave out the leading zero",
		"08":      "leave out the leading zero",
		"007.5":   "leave out the leading zero",
		"0x1F":    "write 31, or put it in quotes if it is a text",
		"-0x1F":   "write -31,",
		"0o17":    "write 15,",
		"0b101":   "write 5,",
		"1_000":   "write 1000,",
		"1_000.5": "write 1000.5,",
		".5":      "write 0.5,",
		"-.5e3":   "write -0.5e3,",
		"+5":      "write 5,",
		"5.":      "write 5.0,",
		"5.e3":    "write 5.0e3,",
		".inf":    "JSON cannot write it: put it in quotes if it is a text",
		"-.Inf":   "JSON cannot write it",
		".NaN":    "JSON cannot write it",
	} {
		var got doc
		err := strictyaml.Decode("f.yaml", []byte("\nvalue:\n  a: 1\n  b: ["+text+"]\n"), &got)
		if err == nil || !strings.Contains(err.Error(), hint) || !strings.HasPrefix(err.Error(), "f.yaml:4: ") {
			t.Errorf("%s: %s, %v; want line 4, %q", text, got.Value, err, hint)
		}
	}
}

// A leading zero is not read as octal anywhere.
func TestLeadingZeros(t *testing.T) {
	var got struct {
		Number int    `yaml:"number"`
		Seed   uint64 `yaml:"seed"`
	}
	err := strictyaml.Decode("f.yaml", []byte("number: 010\nseed: 007\n"), &got)
	testenv.Check(t, err != nil && strings.Count(err.Error(), "leave out the leading zero") == 2, "%+v, %v", got, err)
	err = strictyaml.Decode("f.yaml", []byte("number: 0x10\nseed: 0\n"), &got)
	testenv.Check(t, err == nil && got.Number == 16, "%+v, %v", got, err)
}
