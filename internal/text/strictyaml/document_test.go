package strictyaml

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// A document of other programs is read as they mean it, and its mistakes have lines.
func TestDocument(t *testing.T) {
	for name, c := range map[string]struct{ text, want, wrong string }{
		"all kinds":           {"a: [1, 1.50, x, true, null, 2020-01-01, '1']\n200: {}\n", `{"a":[1,1.50,"x",true,null,"2020-01-01","1"],"200":{}}`, ""},
		"numbers of YAML":     {"[0x10, .5, +3, 1_000, 18446744073709551615]", `[16,0.5,3,1000,18446744073709551615]`, ""},
		"an alias":            {"a: &a [1]\nb: *a\n", `{"a":[1],"b":[1]}`, ""},
		"JSON":                {`{"a": {"b": 1e3}}`, `{"a":{"b":1e3}}`, ""},
		"a number of no JSON": {"a: 1\nb: .inf\n", "", "f.yaml:2: a number that JSON does not have"},
		"a merge":             {"a: &a {}\nb: {<<: *a}\n", "", "f.yaml:2: merge key"},
		"a tag":               {"a: !!binary x\n", "", "f.yaml:1: tag"},
		"a key twice":         {"a: 1\nb: 1\na: 2\n", "", "f.yaml:3: duplicate key `a`"},
		"a map as a key":      {"? {a: 1}\n: 2\n", "", "f.yaml:1: a key is not a text"},
		"two documents":       {"a: 1\n---\nb: 1\n", "", "f.yaml:2: a second document"},
		"nothing":             {"", "", "f.yaml:1: the file is empty"},
		"five levels":         {"[[[[[]]]]]", `[[[[[]]]]]`, ""},
		"six levels":          {"[[[[[[]]]]]]", "", "nested deeper than the 4 levels allowed"},
		"twelve values":       {"[1,1,1,1,1,1,1,1,1,1,1]", `[1,1,1,1,1,1,1,1,1,1,1]`, ""},
		"thirteen values":     {"[1,1,1,1,1,1,1,1,1,1,1,1]", "", "too large: at most 12 values"},
		"aliases that grow":   {"a: &a [1,1,1]\nb: [*a,*a,*a]\n", "", "too large: at most 12 values"},
		"a long text again":   {"a: &a " + strings.Repeat("x", 2<<20) + "\nb: [*a,*a,*a,*a,*a,*a,*a,*a]\n", "", "too large: at most 16MiB of texts"},
		"a long key again":    {"a: &a {? " + strings.Repeat("x", 4<<20) + "\n : 1}\nb: [*a,*a,*a,*a]\n", "", "too large: at most 16MiB of texts"},
		"within itself":       {"a: &a [*a]\n", "", "f.yaml:1: "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Document("f.yaml", []byte(c.text), 4, 12)
			if c.wrong == "" && (err != nil || got != c.want) || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("%s, %v, want %s%s", got, err, c.want, c.wrong)
			}
		})
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
