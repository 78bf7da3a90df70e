package jsonpath

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

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
		{"a leading zero", `01`, "extra content"},
		{"no digits", `-`, "unexpected EOF"},
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
		if err != nil && valid && !errors.Is(err, ErrDepth) && !errors.Is(err, ErrNumber) && !errors.Is(err, ErrValues) &&
			!strings.Contains(err.Error(), "repeats the key") {
			t.Fatalf("refused JSON: %v", err)
		}
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
		if want, err := Decode(raw); err != nil || !reflect.DeepEqual(want, values[0]) {
			t.Fatalf("Scan: %s, Find: %v", raw, values[0])
		}
	})
}
