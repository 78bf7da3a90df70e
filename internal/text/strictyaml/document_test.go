package strictyaml

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// A document of other programs is read as they mean it, or refused with the line: refused.md.
func TestDocument(t *testing.T) {
	for text, want := range map[string]string{
		"a: [1, 1.50, x, true, null, 2020-01-01, '1']\n200: {}\n": `{"a":[1,1.50,"x",true,null,"2020-01-01","1"],"200":{}}`,
		`{"a": {"b": 1e3}}`:            `{"a":{"b":1e3}}`,
		"[18446744073709551615]":       `[18446744073709551615]`,
		strings.Repeat("- - x\n", 3e5): "[[" + strings.Repeat(`"x"],[`, 3e5-1) + `"x"]]`,
		"a: 1\nb: &a [1]\n":            "f.yaml:2: anchor (`&…`); remove it: anchors are not supported; or put a text in quotes",
		"a: 1\nb: .inf\n":              "f.yaml:2: `b` is +Inf; write it as JSON does, such as 31 or 0.5; or put it in quotes if it is a text",
		"a: !!binary x\n":              "f.yaml:1: tag (`!…`); remove it: the key decides the type; or put a text in quotes",
		"a: 1\nb: 1\na: 2\n":           "f.yaml:3: duplicate key `a`; also in line 1: remove one of them",
		"? {a: 1}\n: 2\n":              "f.yaml:1: a key is not a text",
		"a: 1\n---\nb: 1\n":            "f.yaml:2: a second document begins here; write one document per file",
		"":                             "f.yaml:1: the file is empty",
		strings.Repeat("[", 66) + strings.Repeat("]", 66): "f.yaml:1: nested deeper than the 64 levels allowed",
	} {
		got, err := Document("f.yaml", []byte(text))
		testenv.Check(t, got == want || err != nil && err.Error() == want, "%.60q: %.60q, %v", text, got, err)
	}
}

func TestOnce(t *testing.T) {
	var reads int
	read := func(v Value) {
		for range 2 {
			got, err := v.Once("a", func() (any, error) { reads++; return reads, nil })
			testenv.Check(t, got == any(1) && err == nil, "%v, %v", got, err)
		}
	}
	err := DecodeThen("f.yaml", []byte("a: 1\n"), new(any), func(v Value) { read(v); read(v.At("a")) })
	testenv.Check(t, err == nil && reads == 1, "%d reads, %v", reads, err)
}
