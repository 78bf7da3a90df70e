package jsonpath

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/testenv"
)

func TestPath(t *testing.T) {
	doc := map[string]any{"a": []any{map[string]any{"b": "x", "c.d": "y"}, map[string]any{"b": "z"}}, "e": []any{}}
	for _, tt := range []struct {
		path string
		want any
		ok   bool
	}{
		{"$", doc, true},
		{"a[0].b", "x", true},
		{"$.a[0].b", "x", true},
		{`a[0]["c.d"]`, "y", true},
		{"a[*].b", []any{"x", "z"}, true},
		{"e[*].b", []any{}, true},
		{"a[*].c", nil, false},
		{"a[2]", nil, false},
		{"a.b", nil, false},
		{"a[0][0]", nil, false},
		{"e[0]", nil, false},
		{"b", nil, false},
	} {
		t.Run(tt.path, func(t *testing.T) {
			p, err := Parse(tt.path)
			testenv.Need(t, err == nil, "%s: %v", tt.path, err)
			got, ok := p.Value(doc)
			testenv.Check(t, ok == tt.ok && reflect.DeepEqual(got, tt.want), "%s: %v %v, want %v %v", tt.path, got,
				ok, tt.want, tt.ok)
		})
	}
	for _, bad := range []string{"", " ", ".a", "a.", "a..b", "a[", "a[]", "a[1", "a[+1]", "a[**]", `a["]`, `a["b]`, "a]b", "a b", "$.", "$$[", strings.Repeat("a", 501)} {
		p, err := Parse(bad)
		testenv.Check(t, err != nil, "%q: %+v", bad, p)
	}
}

// Scan finds in a text the values that Find finds in the document, one at a time.
func TestScan(t *testing.T) {
	const body = `{"skip":{"a":["]",{"}":"\\\""}]}, "a":[{"b":"x\u00e9\n","n":-1.5e3},  true ,null],"k\u0065y":{"":0},"dup":1}`
	for _, tt := range []struct{ path, want, text string }{
		{"a[0].b", `"x\u00e9\n"`, "xé\n"}, {"a[0].n", "-1.5e3", "-1.5e3"}, {"a[1]", "true", "true"}, {"a[2]", "null", "null"},
		{"key", `{"":0}`, `{"":0}`}, {`key[""]`, "0", "0"}, {"skip.a[0]", `"]"`, "]"}, {"dup", "1", "1"}, {"$", body, body},
		{"a[3]", "", ""}, {"b", "", ""}, {"a.b", "", ""}, {"dup.x", "", ""}, {"dup[0]", "", ""}, {"a[*].b", "", ""},
	} {
		p := testenv.Must(Parse(tt.path))(t)
		got, ok := p.Scan([]byte(body))
		testenv.Check(t, string(got) == tt.want && ok == (tt.want != ""), "%s: %q, %t, want %q", tt.path, got, ok,
			tt.want)
		testenv.Equal(t, string(Text(nil, got)), tt.text, tt.path)
	}
	deep, long := []byte(strings.Repeat("[", 1<<20)), []byte(`{"a":`+strings.Repeat(" ", 1000))
	for _, bad := range [][]byte{nil, []byte("{"), []byte(`{"a"`), []byte(`{"a":}`), []byte(`{"b":1`), []byte(`{"a":"x`), []byte("null"), deep, long} {
		p, _ := Parse("a")
		got, ok := p.Scan(bad)
		testenv.Check(t, !ok, "%.20q has %q", bad, got)
	}
	p, _ := Parse("a[0].n")
	if n := testing.AllocsPerRun(100, func() { p.Scan([]byte(body)) }); n > 1 {
		t.Errorf("%g allocations", n) // the one for the body itself
	}
}

// Scan ends for every body. In valid JSON it finds the value that Find finds.
func FuzzScan(f *testing.F) {
	f.Add("a[0].b", []byte(`{"a":[{"b":"x"}]}`))
	f.Add("$", []byte(`[1,2]`))
	f.Add(`["k"][1]`, []byte(`{"k":[0,{"x":"\u0041"}]}`))
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		p, err := Parse(path)
		if err != nil {
			return
		}
		got, ok := p.Scan(body)
		if !utf8.Valid(body) { // Scan compares bytes, a decoder replaces what is not UTF-8
			return
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		var doc any
		if d.Decode(&doc) != nil || d.More() || p.Many() || hasDuplicates(body) {
			return
		}
		want, has := p.Value(doc)
		testenv.Need(t, ok == has, "%q in %q: found %t (%q), want %t", path, body, ok, got, has)
		if !ok {
			return
		}
		d = json.NewDecoder(bytes.NewReader(got))
		d.UseNumber()
		var value any
		if err := d.Decode(&value); err != nil || !reflect.DeepEqual(value, want) {
			t.Fatalf("%q in %q: %q, want %v", path, body, got, want)
		}
	})
}

// hasDuplicates reports whether an object has a key twice: decoders use the last one, Scan the
// first.
func hasDuplicates(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var object func() bool
	object = func() bool {
		token, err := d.Token()
		if err != nil {
			return true
		}
		open, _ := token.(json.Delim)
		if open == 0 {
			return false
		}
		keys := map[string]bool{}
		for d.More() {
			if open == '{' {
				key, err := d.Token()
				text, _ := key.(string)
				if err != nil || keys[text] {
					return true
				}
				keys[text] = true
			}
			if object() {
				return true
			}
		}
		_, err = d.Token()
		return err != nil
	}
	return object()
}

// Of the keys on a path, one that is repeated is found before and after the value, written in any
// form.
func TestRepeats(t *testing.T) {
	for body, want := range map[string]bool{
		`{"a":[{"b":1}]}`: false, `{"a":[{"b":1}],"a":1}`: true, `{"a":[{"b":1,"x":[],"\u0062":2}]}`: true,
		`{"a":[{"b":1},{"b":1}]}`: false, `{"x":1,"x":1,"a":[{"b":1}]}`: false, `{"a":[{"b":1,`: false, `[]`: false,
	} {
		p, err := Parse("a[0].b")
		testenv.Check(t, err == nil && p.Repeats([]byte(body), 0) == want, "%s: %v, want %v", body, !want, want)
	}
}
