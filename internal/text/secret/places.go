package secret

import (
	"regexp"
	"strings"
)

// envPlace matches the place of a variable of the environment, and $${NAME}, which is a text.
var envPlace = regexp.MustCompile(`\$?\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// split calls f for the parts of a secret value between its places of variables, in order, and for
// these. Without a place the value is one part.
func split(v string, f func(part string, place bool)) {
	at := 0
	for _, m := range envPlace.FindAllStringIndex(v, -1) {
		if place := v[m[0]:m[1]]; !strings.HasPrefix(place, "$$") {
			f(v[at:m[0]], false)
			f(place, true)
			at = m[1]
		}
	}
	f(v[at:], false)
}

// literals returns the secrets in a secret value: the value itself, or, if it has places of
// variables, what is around them and long enough to be more than a part of words.
func literals(v string) (all []string) {
	places := 0
	split(v, func(part string, place bool) {
		if place {
			places++
		} else if len(part) >= minLength {
			all = append(all, part)
		}
	})
	if places == 0 {
		return []string{v}
	}
	return all
}

// around masks a secret value but for its places of variables: a resumed run fills them in again.
func around(v string) string {
	var out strings.Builder
	split(v, func(part string, place bool) {
		if !place && (part == v || len(part) >= minLength) {
			part = Mask
		}
		out.WriteString(part)
	})
	return out.String()
}
