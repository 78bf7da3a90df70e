package secret

import (
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
	secrets := find(template)
	if whole {
		secrets = []span{{to: len(template)}}
	}
	for _, x := range secrets {
		for _, p := range bench.Parts(template[x.from:x.to]) {
			if p.Name != "" {
				all[p.Name] = true
			}
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
