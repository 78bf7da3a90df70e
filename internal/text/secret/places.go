package secret

import (
	"regexp"
	"strings"
)

// envPlace matches the place of a variable of the environment, and $${NAME}, which is a text.
var envPlace = regexp.MustCompile(`\$?` + variable)

// around masks a secret value but for its places of variables, which a resumed run fills in again. What is
// around these is masked, and returned, if it is long enough to be more than a part of words.
func around(v string) (masked string, secrets []string) {
	at, all := 0, append(envPlace.FindAllStringIndex(v, -1), []int{len(v), len(v)})
	for _, m := range all {
		if strings.HasPrefix(v[m[0]:m[1]], "$$") {
			continue
		}
		switch part := v[at:m[0]]; {
		case part == v:
			return maskedList(v), []string{v}
		case len(part) >= minLength:
			masked, secrets = masked+Mask, append(secrets, part)
		default:
			masked += part
		}
		masked += v[m[0]:m[1]]
		at = m[1]
	}
	return masked, secrets
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
