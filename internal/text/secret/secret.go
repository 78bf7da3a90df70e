// Package secret masks passwords, tokens and keys before text leaves the process: values of names
// such as DB_PASSWORD, the user info of URLs, and every copy of a known secret in other text, such
// as a line of a log.
//
// It finds secrets by their names and places, not by their form. It does not find a secret with a
// harmless name.
package secret

import (
	"math"
	"regexp"
	"strings"
)

// Mask replaces a secret.
const Mask = "***"

var userInfo = regexp.MustCompile(`://[^\s/?#"'<>]*@`)

// exampleUser matches the user info of addresses in messages, and one whose password is only named.
var exampleUser = regexp.MustCompile(`^(?:user:password|\$\{[A-Za-z0-9_]+\}|(?:\$\{[A-Za-z0-9_]+\}|[A-Za-z0-9_.-]*):\$\{[A-Za-z0-9_]+\})$`)

// Masker masks secrets. The zero value knows no values and masks by names and places.
type Masker struct {
	known *search // nil: no values
}

// New returns a Masker that knows values. It finds those below minLength only by their names.
func New(values ...string) Masker {
	var all []string
	seen := map[string]bool{Mask: true}
	encoded := 0
	add := func(forms []string, most int) {
		for _, form := range forms {
			if len(form) < minLength || seen[form] || encoded+len(form) > most {
				continue
			}
			seen[form] = true
			all = append(all, form)
			if most == maxEncoded {
				encoded += len(form)
			}
		}
	}
	for _, v := range values {
		add(plainForms(v), math.MaxInt)
	}
	for _, v := range values {
		if len(v) >= minLength {
			add(encodedForms(v), maxEncoded)
		}
	}
	if len(all) == 0 {
		return Masker{}
	}
	return Masker{newSearch(all)}
}

const digits = "0123456789"

// Text masks known values in any form, the user info of URLs, and values of secret names and secret
// options.
func (m Masker) Text(s string) string {
	if m.known != nil {
		var all []span
		eachView(s, func(v view) { all = m.known.in(v, all) })
		s = masked(s, apart(all))
	}
	s = masked(s, spans(s))
	if strings.Contains(s, "@") {
		if strings.Contains(s, "://") {
			s = userInfo.ReplaceAllStringFunc(maskBroken(s), func(found string) string {
				if exampleUser.MatchString(found[len("://") : len(found)-1]) {
					return found
				}
				return "://" + Mask + "@"
			})
		}
		s = maskUserInfo(s)
	}
	return s
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
