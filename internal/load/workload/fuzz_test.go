package workload

import (
	"strings"
	"testing"
)

// The parts of a URL, put together again, are the URL.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "/x", "/{id}", "/{language}/{id}{id}?a={language}", "{i{id}d}", "{{id}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		for _, p := range split(s) {
			switch p.kind {
			case partText:
				if p.text == "" || strings.Contains(p.text, "{id}") || strings.Contains(p.text, "{language}") {
					t.Errorf("text %q", p.text)
				}
				b.WriteString(p.text)
			case partID:
				b.WriteString("{id}")
			case partLanguage:
				b.WriteString("{language}")
			}
		}
		if b.String() != s {
			t.Errorf("%q became %q", s, b.String())
		}
	})
}
