package bench

import (
	"net/url"
	"reflect"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestTemplate(t *testing.T) {
	env := map[string]string{"TOKEN": "s3cr3t{id}", "A": "1"}
	getenv := func(name string) string { return env[name] }
	for name, test := range map[string]struct {
		text         string
		names, words []string
		want         string
	}{
		"plain":             {text: `{"a": {"b": 1}}`, want: `{"a": {"b": 1}}`},
		"variable":          {text: "Bearer ${TOKEN}", names: []string{"TOKEN"}, want: "Bearer s3cr3t{id}"},
		"twice":             {text: "${A}${A}${B}", names: []string{"A", "B"}, want: "11"},
		"not a variable":    {text: "$${A} $A ${a b} ${}", want: "${A} $A ${a b} ${}"},
		"word":              {text: `{"user": "u{id}"}`, words: []string{"id"}, want: `{"user": "u{id}"}`},
		"text of a word":    {text: `{user{{id}}}`, want: `{user{id}}`},
		"braces with space": {text: `{ id }`, want: `{ id }`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := EnvNames(test.text); !reflect.DeepEqual(got, test.names) {
				t.Errorf("variables %q, want %q", got, test.names)
			}
			var words []string
			for _, p := range (Request{Body: test.text}).Places() {
				words = append(words, p.Name)
			}
			testenv.Check(t, reflect.DeepEqual(words, test.words), "places %q, want %q", words, test.words)
			var got string
			for _, p := range Parts((Request{Body: test.text}).Filled(getenv).Body) {
				got += p.Text
			}
			testenv.Check(t, got == test.want, "filled %q, want %q", got, test.want)
		})
	}
}

// Values of the environment are escaped for the body, and are not templates.
func TestFilledIsEscapedForTheBody(t *testing.T) {
	getenv := func(string) string { return "a&b=\"\\ {id}" }
	for encoding, want := range map[Encoding]string{
		"": `p=a&b="\ {{id}}`, FormBody: "p=a%26b%3D%22%5C+%7Bid%7D", JSONBody: `p=a&b=\"\\ {{id}}`,
	} {
		if got := (Request{Encoding: encoding, Body: "p=${A}"}).Filled(getenv).Body; got != want {
			t.Errorf("%q: %q, want %q", encoding, got, want)
		}
	}
	if got := Escaped("a b${A}{id}{{id}}$${A}&", url.QueryEscape); got != "a+b${A}{id}%7Bid%7D$${A}%26" {
		t.Error(got)
	}
}
