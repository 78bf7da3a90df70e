package jsonpath

import (
	"bytes"
	"encoding/json"
	"errors"
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
		err = d.Decode(&value)
		testenv.Need(t, err == nil && reflect.DeepEqual(value, want), "%q in %q: %q, want %v", path, body, got, want)
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

func TestDecode(t *testing.T) {
	list := func(n int, of string) string { return "[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]" }
	for _, tt := range []struct {
		name, body string
		wrong      string // part of the error; "": none
	}{
		{"all kinds", ` {"a" : [1, -0.5e+3, "x\n\u00e9", true, false, null, {}, []] } `, ""},
		{"not UTF-8", "\"\xff\"", ""},
		{"a lone surrogate", `"\ud800"`, ""},
		{"nothing", ``, "unexpected EOF"},
		{"half", `{"a":`, "unexpected EOF"},
		{"a comma too many", `[1,]`, "invalid character ']' at byte 4"},
		{"a leading zero", `01`, `invalid number "01"`},
		{"no digits", `-`, `invalid number "-"`},
		{"a control character", "\"\n\"", "invalid character"},
		{"a bad escape", `"\x"`, "invalid text"},
		{"two documents", `{} {}`, "extra content after the JSON document"},
		{"a repeated key", `{"id":1,"id":1}`, `an object that repeats the key "id"`},
		{"a repeated key, escaped", `{"id":1,"\u0069d":2}`, `repeats the key "id"`},
		// Each bound permits its number, and nothing above it.
		{"the deepest", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), ""},
		{"too deep", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), ErrDepth.Error()},
		{"too deep, never closed", strings.Repeat(`{"a":`, 1<<18), ErrDepth.Error()},
		{"the longest number", strings.Repeat("9", MaxDigits), ""},
		{"too long a number", strings.Repeat("7", MaxDigits+1), ErrNumber.Error()},
		{"the largest exponents", `[1e400, 1E-400]`, ""},
		{"too large an exponent", `1e401`, ErrNumber.Error()},
		{"too small an exponent", `1e-401`, ErrNumber.Error()},
		{"an exponent beyond int", `1e99999999999999999999`, ErrNumber.Error()},
		{"all exponents", list(maxExponents/MaxExponent, "1e400"), ""},
		{"one exponent too many", list(maxExponents/MaxExponent+1, "1e400"), ErrNumber.Error()},
		{"one small exponent too many", list(maxExponents/MaxExponent+1, "1e-400"), ErrNumber.Error()},
		{"exponents of both signs", list(maxExponents/MaxExponent/2+1, "1e400,1e-400"), ErrNumber.Error()},
		{"all values", list(MaxValues-1, "1"), ""}, // and the list
		{"a value too many", list(MaxValues, "1"), ErrValues.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode([]byte(tt.body))
			testenv.Fails(t, err, tt.wrong)
			for _, bound := range []error{ErrDepth, ErrNumber, ErrValues} {
				testenv.Equal(t, errors.Is(err, bound), tt.wrong == bound.Error(), bound)
			}
			if err == nil {
				testenv.Equal(t, got, decoded(t, tt.body))
			}
		})
	}
}

func decoded(t *testing.T, body string) (doc any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	testenv.OK(t, d.Decode(&doc))
	return doc
}

// Decode accepts what encoding/json accepts within its bounds, with the same values. Paths find or
// miss values without a panic, and both ways to follow one agree.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"a":[1,2,{"b":null}]}`, `{"a":1e1000001}`, `[[[[`, `{"a":1,"a":2}`, `"\ud800\udc00"`, "\"\xff\"", `-0`, `1.`, `{"`, `[1e400]`,
	} {
		f.Add([]byte(body), "a[*].b")
		f.Add([]byte(body), "a[0]")
	}
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		doc, err := Decode(body)
		valid := json.Valid(body)
		testenv.Need(t, err != nil || valid, "accepted what is not JSON")
		testenv.Need(t, err == nil || !valid || errors.Is(err, ErrDepth) || errors.Is(err, ErrNumber) || errors.Is(err, ErrValues) || strings.Contains(err.Error(), "repeats the key"),
			"refused JSON: %v", err)
		p, wrong := Parse(path)
		if wrong != nil {
			return
		}
		raw, scanned := p.Scan(body)
		if err != nil {
			return
		}
		want := decoded(t, string(body))
		testenv.Need(t, reflect.DeepEqual(doc, want), "%v, want %v", doc, want)
		values, found := p.Find(doc)
		if !found || p.Many() {
			return
		}
		testenv.Need(t, scanned, "Scan misses what Find finds: %v", values)
		want, err = Decode(raw)
		testenv.Need(t, err == nil && reflect.DeepEqual(want, values[0]), "Scan: %s, Find: %v", raw, values[0])
	})
}

func TestSameNumber(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"10", "10.0", true}, {"10", "1e1", true}, {"10", "100E-1", true}, {"0.1", "1e-1", true}, {"0", "-0.000", true},
		{"0", "0e400", true}, {"10", "-10", false}, {"10", "1", false}, {"1e400", "1e399", false}, {"0.5", "0.51", false},
		{"18446744073709551615", "18446744073709551615.00", true}, {"18446744073709551615", "18446744073709551616", false},
		{"9007199254740993", "9007199254740992", false}, {"0.1", "0.1000000000000000055511151231257827", false},
	} {
		testenv.Equal(t, SameNumber(tt.a, tt.b), tt.same, tt.a, tt.b)
		testenv.Equal(t, SameNumber(tt.b, tt.a), tt.same, tt.b, tt.a)
	}
}

func TestIsNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"1": true, "-0.5e+3": true, "": false, "01": false, "1.": false, " 1": false, "1 ": false, "0x1F": false, "1_000": false, "1e401": false, ".5": false,
	} {
		testenv.Equal(t, IsNumber(text), want, text)
	}
}
