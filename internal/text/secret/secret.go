// Package secret masks passwords, tokens and keys before text leaves the process. A secret is what
// comes in by one of three doors: a variable of the environment, the user of an address, or a value
// under a secret name, such as DB_PASSWORD or Authorization. Of finds these where a run is planned;
// a Masker that knows them replaces each copy, in any form, wherever it occurs.
//
// Other text is not searched: a password that is only a part of a sentence is shown.
package secret

import (
	"regexp"
	"strings"
)

// Mask replaces a secret.
const Mask = "***"

var userInfo = regexp.MustCompile(`://([^\s/?#"'<>\x00]*)@`)

// onlyNamed matches a user info whose password is only named, and harmlessUser also that of addresses in
// messages.
var (
	onlyNamed    = regexp.MustCompile(`^(?:(?:` + variable + `|[\w.-]*):)?` + variable + `$`)
	harmlessUser = regexp.MustCompile(`^user:password$|` + onlyNamed.String())
)

// variable matches the place of a variable of the environment, which may say what is missing, as in compose.
const variable = `\$\{[A-Za-z_]\w*(?::?\?[^}]*)?\}`

// Masker masks secrets. The zero value knows no values.
type Masker struct{ known index }

// Text masks known values in any form, and the user info of URLs.
func (m Masker) Text(s string) string { return m.within(s, nil) }

// Keyed is Text for a text in which values have names, such as a body, a header or a file in YAML:
// it also masks the values of secret names.
func (m Masker) Keyed(s string) string { return m.within(s, find(s)) }

// within is Text for a text in which some parts are secret.
func (m Masker) within(s string, parts []span) string {
	s = masked(s, append(parts, m.known.in(s)...))
	if !strings.Contains(s, "://") || !strings.Contains(s, "@") {
		return s
	}
	return userInfo.ReplaceAllStringFunc(s, func(found string) string {
		if harmlessUser.MatchString(found[len("://") : len(found)-1]) {
			return found
		}
		return "://" + Mask + "@"
	})
}

// Args masks a command line.
func (m Masker) Args(argv []string) []string { return walk{text: m.within}.args(argv) }

// masked returns a text with a mask in place of the spans.
func masked(s string, all []span) string {
	if all = apart(all); len(all) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, x := range all {
		text := s[x.from:x.to]
		if x.user {
			text = Mask
		} else if !harmless(text) {
			text, _ = around(text)
		}
		b.WriteString(s[at:x.from] + text)
		at = x.to
	}
	return b.String() + s[at:]
}

// Error returns an error with the causes of err and a text without secrets.
func (m Masker) Error(err error) error {
	if err != nil {
		if text := m.Text(err.Error()); text != err.Error() {
			return maskedError{err, text}
		}
	}
	return err
}

type maskedError struct {
	error
	text string
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.error }
