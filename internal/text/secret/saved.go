package secret

import (
	"slices"
	"strings"
	"unicode"

	"github.com/locbench/locbench/internal/bench"
)

// Saved returns the names of the values from responses that are secrets: those from a cookie or a
// secret header, those with a secret name here or in the response, and those that a request uses
// where a secret is.
func Saved(requests []bench.Request) map[string]bool {
	used := map[string]bool{}
	for _, r := range requests {
		for name, value := range r.Header {
			use(used, value, Name(name))
		}
		use(used, r.Path, false)
		use(used, r.Body, false)
		for _, f := range r.Multipart {
			use(used, f.Value, Name(f.Name))
		}
	}
	all := map[string]bool{}
	for _, r := range requests {
		for _, s := range r.Save {
			of := s.From == bench.FromCookie || s.From == bench.FromHeader && Name(s.Of) ||
				s.From == bench.FromJSON && assigned(s.Of[strings.LastIndexByte(s.Of, '.')+1:])
			if of || Name(s.Name) || used[s.Name] {
				all[s.Name] = true
			}
		}
	}
	return all
}

// use adds the variables in a template that are in the place of a secret; whole: all are.
func use(all map[string]bool, template string, whole bool) {
	const value = "s4vedvalue" // of a variable
	var text strings.Builder
	at := map[int]string{}
	for _, p := range bench.Parts(template) {
		if p.Name == "" {
			text.WriteString(p.Text)
			continue
		}
		at[text.Len()] = p.Name
		text.WriteString(value)
	}
	if len(at) == 0 {
		return
	}
	secrets := find(text.String(), false)
	for from, name := range at {
		within := func(x span) bool { return x.from < from+len(value) && from < x.to }
		if whole || slices.ContainsFunc(secrets, within) {
			all[name] = true
		}
	}
}

// IsToken reports whether a value of an unknown kind, such as a cookie, is credentials rather than a word
// or a number.
func IsToken(v string) bool {
	if len(v) < 12 || strings.Trim(v, digits) == "" {
		return false
	}
	mixed := strings.ContainsFunc(v[1:], unicode.IsUpper) && strings.ToUpper(v) != v
	return len(v) >= 20 || mixed || strings.ContainsAny(v, digits+"=")
}
