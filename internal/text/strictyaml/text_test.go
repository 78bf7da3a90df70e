package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// An error of the parser has the line where it is, and what to write.
func TestSyntax(t *testing.T) {
	for text, line := range map[string]int{
		"- {name: a, get: /search?q=lamp, share: 50%}\n- name: b\n": 4,
		"- {get: /items/{id}}\n- {get: /b}\n":                       4,
		"- {name: a,\n   get: /search?q=lamp,\n   share: 50%}\n":    4,
		"- get: \"/items\n- get: /b\n- get: /c\n":                   4,
		"- get: {base}/items\n  share: 5%\n":                        5,
		"- title: one: two\n  get: /\n":                             4,
		"- get: %2Fitems\n":                                         4,
		"- user: @ada\n":                                            4,
		"- get: /\n  header:\n    Accept: */*\n":                    6,
		"- get: /\n\tshare: 5%\n":                                   5,
		"- a: b\n- save: {x: {regex: \"id=(\\d+)\"}}\n- c: d\n":     5,
		"- get: /\n share: 5%\n- get: /b\n":                         5,
		"- a: b\n- {get: /items\n":                                  5,
	} {
		var got any
		err := strictyaml.Decode("f.yaml", []byte("# first\nsteps: [1]\nrequests:\n"+text), &got)
		testenv.Fails(t, err, fmt.Sprintf("f.yaml:%d: not YAML: ", line), "; put a text in quotes if it has `?`")
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
		"get: {next}":              "`next` in braces has no value; put a text with braces or a comma in quotes, such as `\"{id}\"`; an empty value is `null`",
		"json: {user: {user}}":     "`user` in braces has no value",
		"json: {{user}}":           "in braces has no value",
		"json: {a: [{x:number}]}":  "a key in braces has no value",
		"json: {a: b, c}":          "`c` in braces has no value",
		"{get: /a,b}":              "`b` in braces has no value",
		"json:\n      color: #fff": "`color` has no value: `#` begins a comment; put the text in quotes",
		"get: #frag":               "`get` has no value: `#` begins a comment",
		"get: &next":               "anchor (`&…`); remove it: anchors are not supported; or put a text in quotes",
		"get: !next":               "tag (`!…`); remove it: the key decides the type; or put a text in quotes",
	} {
		var got file
		err := strictyaml.Decode("f.yaml", []byte("requests:\n  - "+text+"\n"), &got)
		line := 2 + strings.Count(text, "\n")
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
		"0x1F":    "write it as JSON does, such as 31 or 0.5; or put it in quotes if it is a text",
		"1_000.5": "write it as JSON does",
		".5":      "write it as JSON does",
		"+5":      "write it as JSON does",
		"5.e3":    "write it as JSON does",
		"-.Inf":   "write it as JSON does",
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
