package bench

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// The parts of a template, joined, are the template, except for doubled braces.
func FuzzParts(f *testing.F) {
	for _, s := range []string{
		"", "/x", "/{id}", "/{language}/{id}{id}?a={language}", "{i{id}d}", "{{id}}", `{"a":"{n:number}"}`, "{user.name}", "{{a}}{b}{{c", "${A}$${B}{c}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		parts := Parts(s)
		for i, p := range parts {
			switch {
			case p.Name == "" && (p.Text == "" || i > 0 && parts[i-1].Name == ""):
				t.Errorf("an empty text, or two of them: %q", parts)
			case p.Name != "" && !strings.HasPrefix(p.Text, "{"+p.Name):
				t.Errorf("place %q of %q", p.Text, p.Name)
			}
			b.WriteString(p.Text)
		}
		testenv.Check(t, strings.Count(s, "{{") != 0 || b.String() == s, "%q became %q", s, b.String())
		testenv.Check(t, len(b.String()) <= len(s), "%q grew to %q", s, b.String())
	})
}

// What is filled in to the template of a text is the text, whatever places it seems to have.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{
		"", "{id}", "{{id}}", "{{{id}}}", "{{id}", "{id}}", "${HOME}", "$${HOME}", "$$${HOME}", "${a.b}{c}{d}", `{"a": "{n:number}"}`,
		"{{a}{b}}", "${{a}}", "{a}{{b}}{{{c}}}$",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		filled := Request{Body: Literal(s), Header: map[string]string{"X": Literal(s)}}.Filled(func(name string) string {
			t.Errorf("%q names the environment variable %s", Literal(s), name)
			return ""
		})
		for _, text := range []string{filled.Body, filled.Header["X"]} {
			parts := Parts(text)
			if s == "" && len(parts) == 0 {
				continue
			}
			testenv.Check(t, len(parts) == 1 && parts[0] == (Part{Text: s}),
				"%q became %q, with the parts %q", s, text, parts)
		}
	})
}
