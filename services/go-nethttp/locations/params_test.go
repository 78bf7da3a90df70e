package locations

import (
	"net/url"
	"strings"
	"testing"
)

// get must find what url.Values would, wherever the query is one that it can read.
func FuzzParams(f *testing.F) {
	for _, q := range []string{"", "id=1", "a&id=1&id=2", "id", "=x", "%69d=%31", "id=%zz", "id=a+b%20c", "i%64=x&id=y", "id=1;language=cs", "&&&", "id==", "%zz=1&id=2"} {
		f.Add(q, "id")
	}
	f.Fuzz(func(t *testing.T, query, name string) {
		p := params{query: query}
		got, given := p.get(name)
		values, err := url.ParseQuery(query)
		if err != nil || name == "" || strings.Contains(query, ";") {
			return // it must only not fail
		}
		if given != values.Has(name) || got != values.Get(name) {
			t.Errorf("%q of %q: %q %t, want %q %t", name, query, got, given, values.Get(name), values.Has(name))
		}
		if p.err() != nil {
			t.Errorf("%q of %q: %v", name, query, p.err())
		}
	})
}
