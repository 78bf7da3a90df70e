package dataset

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func responses(t *testing.T, requests ...bench.Request) *Responses {
	t.Helper()
	set := testenv.Must(Bundled())(t)
	a := testenv.Must(NewResponses(set, requests))(t)
	return a
}

// known is read once for all tests: the bundled data is large.
var known = sync.OnceValues(func() (*Responses, error) {
	set, err := Bundled()
	if err != nil {
		return nil, err
	}
	return NewResponses(set, []bench.Request{
		{Name: "get", Path: "/city/v1/get?id={id}&language={language}"},
		{Name: "one", Path: "/city/v1/get?language=de&id=3067696"},
		{Name: "wait", Path: "/v1/benchmark?delay=10"},
		{Name: "search", Path: "/city/v1/search?query=a&language=cs"},
		{Name: "missing", Path: "/city/v1/get?id={id}&language=cs", ExpectStatus: 404},
	})
})

func TestCheck(t *testing.T) {
	a := testenv.Must(known())(t)
	const prague = `{"countryIso":"CZ","id":3067696,"isFeatured":true,"name":"Praha","regionName":"Praha"}`
	for _, test := range []struct{ name, language, body, want string }{
		{"get", "cs", prague, ""},
		{"get", "cs", " " + strings.ReplaceAll(prague, ",", " ,\n") + "\n", ""},
		{"get", "en", prague, `name is "Praha": expected "Prague"`},
		{"get", "cs", strings.Replace(prague, "3067696", "1", 1), `id is "1"`},
		{"get", "cs", strings.Replace(prague, `"isFeatured":true,`, "", 1), "no isFeatured"},
		{"get", "cs", strings.Replace(prague, `{`, `{"more":1,`, 1), "unknown field"},
		{"get", "cs", prague + prague, "more than one object"},
		{"get", "cs", `{"countryIso":`, "unexpected EOF"},
		{"get", "cs", "", "EOF"},
		{"get", "cs", `[]`, "cannot unmarshal"},
		{"one", "", strings.ReplaceAll(prague, "Praha", "Prag"), ""},
		{"one", "", strings.Replace(prague, `"name":"Praha"`, `"name":"Prag"`, 1), `regionName is "Praha": expected "Prag"`},
		{"wait", "", "", ""},
		{"wait", "", "x", `body "x": expected an empty one`},
		{"search", "cs", "", "expected response not known"},
		{"missing", "cs", "", "expected response not known"},
		{"get", "fr", prague, "expected response not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			testenv.Fails(t, a.Check(test.name, 3067696, test.language, []byte(test.body)), test.want)
		})
	}
	if err := a.Check("get", 1, "cs", []byte("x")); !errors.Is(err, ErrUnknown) {
		t.Errorf("missing city: %v", err)
	}
	testenv.Check(t, len(a.cities) >= 10_000 && a.Any(), "%d cities", len(a.cities))
}

func TestNothingIsReadInVain(t *testing.T) {
	a := responses(t, bench.Request{Name: "wait", Path: "/v1/benchmark"})
	testenv.Check(t, a.cities == nil && a.Any(), "cities were read for a request without any")
	testenv.Check(t, !responses(t, bench.Request{Name: "featured", Path: "/city/v1/featured?language=cs"}).Any(),
		"a response of search is known")
}

// Of a large data set only a part of the cities is kept.
func TestLargeDataSet(t *testing.T) {
	set, err := Generated(120_000, 12, 1)
	testenv.OK(t, err)
	a, err := NewResponses(set, []bench.Request{{Name: "get", Path: "/city/v1/get?id={id}&language={language}"}})
	testenv.Check(t, err == nil && len(a.cities) >= 20_000 && len(a.cities) <= maxCities, "%d cities, %v",
		len(a.cities), err)
}

func FuzzCheck(f *testing.F) {
	a := testenv.Must(known())(f)
	f.Add([]byte(`{"countryIso":"CZ","id":3067696,"isFeatured":true,"name":"Praha","regionName":"Praha"}`))
	f.Add([]byte(`{"id":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if err := a.Check("get", 3067696, "cs", body); err != nil && len(err.Error()) > 2000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
