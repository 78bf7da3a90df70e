package strictyaml_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

type order struct {
	Name    string                `yaml:"name" strict:"required,min=1,max=20" example:"espresso"`
	Size    string                `yaml:"size" strict:"oneof=small|large"`
	Cups    int                   `yaml:"cups" strict:"min=1,max=10"`
	Seed    uint64                `yaml:"seed"`
	Tiny    int8                  `yaml:"tiny"`
	Sugar   float64               `yaml:"sugar" strict:"min=0,max=5"`
	Milk    bool                  `yaml:"milk"`
	Wait    time.Duration         `yaml:"wait" strict:"min=1ms,max=1h"`
	Weight  strictyaml.Bytes      `yaml:"weight" strict:"max=1GiB"`
	Tags    []string              `yaml:"tags" strict:"max=3"`
	Labels  map[string]string     `yaml:"labels"`
	Address *address              `yaml:"address"`
	Items   []item                `yaml:"items"`
	Shop    shop                  `yaml:"shop"`
	Extra   any                   `yaml:"extra"`
	Prices  map[string]item       `yaml:"prices"`
	Hidden  string                // without a tag: not a key
	Nested  map[string][]address  `yaml:"nested"`
	Many    []map[string][]string `yaml:"many"`
}

type address struct {
	Street string `yaml:"street" strict:"required"`
	Number int    `yaml:"number"`
}

type item struct {
	From int `yaml:"from"`
	To   int `yaml:"to"`
}

func (i *item) UnmarshalStrict(v strictyaml.Value) {
	if v.Struct(i); i.From > i.To {
		v.At("to").Wrong(fmt.Sprintf("`from` is %d, so write at least that", i.From))
	}
}

// shop is "home", or a map with a street.
type shop struct{ address }

func (s *shop) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		if _, ok := v.Enum("home", "office"); ok {
			s.Street = "here"
		}
		return
	}
	v.Decode(&s.address)
}

func TestDecode(t *testing.T) {
	const text = `
name: 1.10        # the text of a scalar is kept
size: large
cups: 0x0A
seed: 18446744073709551615
tiny: -128
sugar: 2
milk: true
wait: 1m30s
weight: 1.5kB
tags: [a, no, 3]
labels: {PORT: 8080, "on": "off"}
address: {street: Long, number: 7}
items: [{from: 1, to: 2}, {}]
shop: {street: Far}
extra: {a: [1, 2.5, x, true, null], b: {}}
prices: {x: {from: 1, to: 1}}
nested: {a: [{street: B}]}
many: [{a: [b]}]
`
	got := order{Hidden: "kept"}
	testenv.OK(t, strictyaml.Decode("order.yaml", []byte(text), &got))
	want := order{
		Name: "1.10", Size: "large", Cups: 10, Seed: 1<<64 - 1, Tiny: -128, Sugar: 2, Milk: true, Wait: 90 * time.Second, Weight: 1536,
		Tags: []string{"a", "no", "3"}, Labels: map[string]string{"PORT": "8080", "on": "off"},
		Address: &address{"Long", 7}, Items: []item{{1, 2}, {}}, Shop: shop{address{Street: "Far"}},
		Extra:  map[string]any{"a": []any{int64(1), 2.5, "x", true, nil}, "b": map[string]any{}},
		Prices: map[string]item{"x": {1, 1}}, Hidden: "kept",
		Nested: map[string][]address{"a": {{Street: "B"}}}, Many: []map[string][]string{{"a": {"b"}}},
	}
	testenv.Equal(t, got, want)
}

func TestDecode_Defaults(t *testing.T) {
	got := order{Cups: 3, Wait: time.Second}
	testenv.OK(t, strictyaml.Decode("x", []byte("name: a\n"), &got))
	testenv.Check(t, got.Cups == 3 && got.Wait == time.Second, "defaults were overwritten: %+v", got)
}

// TestMistakes compares the mistakes in each testdata/*.yaml with the .txt next to it.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	testenv.Need(t, err == nil && len(files) != 0, "no testdata: %v", err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			testenv.OK(t, err)
			err = strictyaml.Decode(filepath.Base(file), data, &order{})
			var mistakes strictyaml.Mistakes
			testenv.Need(t, errors.As(err, &mistakes), "no mistakes, but %v", err)
			testenv.Golden(t, strings.TrimSuffix(file, ".yaml")+".txt", err.Error()+"\n")
		})
	}
}

// Each unknown key that is not near another one has the known keys of its map.
func TestDecode_KnownKeys(t *testing.T) {
	err := strictyaml.Decode("f.yaml", []byte("zzzzzzzz: 1\nname: x\nitems: [{qqqqq: 1}, {wwwww: 2}]\nyyyyyyyyyyyyyyy: 2\n"), new(order))
	for known, want := range map[string]int{"`; known keys: name, size, ": 2, "`; known keys: from, to": 2, "\n": 3} {
		testenv.Equal(t, strings.Count(fmt.Sprint(err), known), want, err)
	}
}

func TestBoundedFiles(t *testing.T) {
	for name, tt := range map[string]struct{ data, want string }{
		"empty":    {"", "f:1: the file is empty"},
		"comment":  {"# nothing\n", "f:1: the file is empty"},
		"large":    {"name: " + strings.Repeat("x", strictyaml.MaxSize), "larger than the 1MiB allowed"},
		"deep":     {"extra: " + strings.Repeat("[", 500) + strings.Repeat("]", 500), "nested deeper than the 64 levels allowed"},
		"deeper":   {"extra: " + strings.Repeat("[", 200_000), "not YAML"},
		"binary":   {"name: \x00\x01", "not YAML"},
		"two":      {"name: a\n---\nname: b\n", "f:2: a second document begins here"},
		"many":     {strings.Repeat("? [a]\n: b\n", 300), "201 more mistakes"},
		"list":     {"- a\n", "f:1: the document is a list; write a map with the keys name, size"},
		"longText": {"name: a\nsize: " + strings.Repeat("x", 70_000), "f:2: `size` is \"xxx"},
	} {
		t.Run(name, func(t *testing.T) {
			err := strictyaml.Decode("f", []byte(tt.data), &order{})
			testenv.Fails(t, err, tt.want)
			testenv.Check(t, err == nil || len(err.Error()) <= 20_000, "%s: %d bytes of mistakes", name, len(err.Error()))
		})
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]int64{
		"512MiB": 512 << 20, "512MB": 512 << 20, "512mb": 512 << 20, "512M": 512 << 20, "512m": 512 << 20, "1GB": 1 << 30, "0B": 0,
		"1.5kB": 1536, "7 KiB": 7 << 10, "2tib": 2 << 40, "12B": 12, "12b": 12, "512": 512, "3p": 3 << 50,
		"MiB": -1, "-1MiB": -1, "99999999TiB": -1, "1e300GB": -1, "infGB": -1, "nanGB": -1, "512Mi": -1, "512 MBit": -1, "5 e": -1, "": -1,
	} {
		t.Run(text, func(t *testing.T) {
			got, err := strictyaml.ParseBytes(text)
			if err != nil {
				got = -1
			}
			testenv.Equal(t, got, want, text, err)
			if err == nil {
				again, err := strictyaml.ParseBytes(strictyaml.FormatBytes(got))
				testenv.Check(t, err == nil && again == got, "%q is written as %q and read as %d, %v", text, strictyaml.FormatBytes(got), again, err)
			}
		})
	}
	for text, want := range map[string]string{
		"10s": "10s", "60s": "1m", "500ms": "500ms", "3600s": "1h", "1h0m1s": "1h0m1s", "0": "0s", "90s": "1m30s", "100m": "1h40m",
		"10": "", "x": "", "": "", "10 s": "", "99999999h": "",
	} {
		t.Run(text, func(t *testing.T) {
			d, err := strictyaml.ParseDuration(text)
			testenv.Check(t, (err != nil) == (want == "") && (err != nil || units.Exact(d) == want),
				"ParseDuration(%q) = %s, %v; want %q", text, units.Exact(d), err, want)
		})
	}
}

func TestNearest(t *testing.T) {
	known := []string{"connections", "contenders", "steps", "id"}
	for word, want := range map[string]string{
		"conections": "connections", "contender": "contenders", "Steps": "steps", "setps": "steps", "di": "id", "xyz": "",
		"rate": "", "": "", strings.Repeat("connections", 50): "",
	} {
		t.Run(word, func(t *testing.T) { testenv.Equal(t, strictyaml.Nearest(word, known), want, word) })
	}
}

func FuzzStrictYAML(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range files {
		data := testenv.Must(os.ReadFile(file))(f)
		f.Add(data)
	}
	f.Add([]byte("name: a\nextra: {? [a] : b, ~: c}\n"))
	f.Add([]byte("name: !!int 5\nwait: !!null 3s\n\"size\": |\n  large\n"))
	f.Add([]byte("- {get: /items/{id}?x=%y, b: \"\\d\"z, c: [1}, #x\n- get: {a}/b\n\tc: *x\n  d: e: f\n- >x\n- {{a}}: {b}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got order
		err := strictyaml.Decode("f", data, &got)
		if err == nil {
			testenv.Check(t, got.Name != "" && len(got.Name) <= 20 && got.Cups >= 0 && got.Cups <= 10 && got.Wait >= 0 && got.Wait <= time.Hour,
				"out of bounds: %+v", got)
			return
		}
		var mistakes strictyaml.Mistakes
		testenv.Need(t, errors.As(err, &mistakes) && len(mistakes) != 0 && len(mistakes) <= 101,
			"not 1 to 101 mistakes: %v", err)
		for i, m := range mistakes {
			testenv.Check(t, m.Line >= 1 && m.What != "" && !strings.ContainsAny(m.String(), "\n\r\x1b") && (i <= 0 || m.Line >= mistakes[i-1].Line),
				"mistake %d: %q", i, m)
		}
	})
}

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
		testenv.Check(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "\n") && strings.HasPrefix(err.Error(), fmt.Sprintf("f.yaml:%d: ", line)),
			"%s: %v, want line %d, only %s", text, err, line, want)
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
		testenv.Check(t, err != nil && strings.Contains(err.Error(), hint) && strings.HasPrefix(err.Error(), "f.yaml:4: "),
			"%s: %s, %v; want line 4, %q", text, got.Value, err, hint)
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
