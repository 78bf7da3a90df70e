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

// plainPair is a setting of a pool or a time limit in a connection string: no other is shown, as a cookie has
// pairs, too.
var plainPair = regexp.MustCompile(`(?i)^\s*(?:(?:max(?:imum)?|min(?:imum)?) pool ?size|pooling|multiplexing|max auto prepare|` +
	`(?:connect|connection|command|idle) (?:idle )?(?:timeout|lifetime)|timeout)=(?:[0-9]{1,6}|true|false)\s*$`)

// maskedList returns Mask, with the plain pairs of a list such as a connection string without quotes:
// "***;Maximum Pool Size=2". By them a reader sees how two secrets differ.
func maskedList(v string) string {
	out := Mask
	pairs := strings.Split(strings.TrimSuffix(v, ";"), ";")
	for _, pair := range pairs {
		if !strings.Contains(pair, "=") || len(pairs) < 2 || strings.ContainsAny(v, "\"'{}\n") {
			return Mask
		}
		if plainPair.MatchString(pair) {
			out += ";" + pair
		}
	}
	return out
}

// around masks a secret value but for its places of variables: a resumed run fills them in again.
func around(v string) string {
	var out strings.Builder
	split(v, func(part string, place bool) {
		switch {
		case place:
		case part == v:
			part = maskedList(v)
		case len(part) >= minLength:
			part = Mask
		}
		out.WriteString(part)
	})
	return out.String()
}
