// Package secret masks passwords, tokens and keys before text leaves the process. A secret is what
// comes in by one of three doors: a variable of the environment, the user of an address, or a value
// under a secret name, such as DB_PASSWORD or Authorization. Of finds these where a run is planned;
// a Masker that knows them replaces each copy, in any form, wherever it occurs.
//
// Other text is not searched: a password that is only a part of a sentence is shown.
package secret

import (
	"errors"
	"net"
	"net/http"
	"net/url"
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

// ParseURL is url.Parse with an error that does not repeat the URL: a malformed one may contain a
// password with characters that need escaping.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("malformed URL; " +
			"in a password write # as %23, / as %2F, ? as %3F, @ as %40 and a space as %20")
	}
	return u, nil
}

// Unreadable replaces a URL in which a password may be anywhere.
const Unreadable = "(malformed URL)"

// Address returns a URL without user info, or Unreadable if a password may be anywhere in it.
func Address(raw string) string {
	if address := WithoutUser(raw); !strings.Contains(address, "@") {
		return Masker{}.Keyed(address)
	}
	return Unreadable
}

// WithoutUser returns a URL without user info, unless the password is only named (${NAME}), or
// Unreadable for what may be a password instead. Unlike Address it keeps all else, so it is still the
// address.
func WithoutUser(raw string) string {
	named := userInfo.FindStringSubmatch(raw)
	if raw == "" || isHostPort(raw) || named != nil && onlyNamed.MatchString(named[1]) {
		return raw
	}
	u, err := ParseURL(raw)
	if err != nil || u.Opaque != "" || (u.User == nil && u.Host == "" && strings.Contains(raw, "@")) {
		return Unreadable
	}
	u.User = nil
	return u.String()
}

// isHostPort reports whether an address is HOST:PORT, without a scheme or a user.
func isHostPort(raw string) bool {
	host, port, err := net.SplitHostPort(raw)
	return err == nil && host != "" && !strings.ContainsAny(raw, "/?#@ ") && len(port) <= 5 && port != "" && strings.Trim(port, digits) == ""
}

// Proxy is http.ProxyFromEnvironment with an error that does not repeat the variable.
func Proxy(req *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(req)
	if err != nil {
		return nil, errors.New("HTTP_PROXY or HTTPS_PROXY: expected a URL")
	}
	return u, nil
}

// IsHTTP reports whether a parsed URL is one of a host over http or https.
func IsHTTP(u *url.URL) bool {
	return u != nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// secretName matches the words of a secret name, in capitals and with a blank around each. A word must
// match completely or be the end of a longer word without separator: KEYBOARD and TOKENIZER are not
// secret, GITHUBTOKEN is.
var secretName = regexp.MustCompile(strings.Join([]string{
	`PASSWORD|PASSWD|PASSPHRASE|PASSCODE|AUTHORIZATION`, // anywhere in a word
	`(?:TOKEN|SECRET|CREDENTIAL|COOKIE|PWD|SESSIONID|SESSID)S? `,
	` (?:CRED|JWT|SIGNATURE|REQUIREPASS)S? `,
	// as the last word: AUTH_ENABLED and PRIVATE_NETWORK name switches
	` (?:PASS|DSN|SIG|PEM|SALT|OTP|BEARER|PRIVATE|PIN|WEBHOOK) $|PWS? $|\w PAT $|AUTH $`,
	` AUTH (?:HEADER|VALUE|STRING|DATA|CONFIG|JSON)S? | CONN[A-Z]* ?STR(?:ING)?S? `,
	` SESSIONS? IDS? | WEBHOOK UR[LI]S? `,
	// where a key may also be a search key, as in ?key=7&sort_key=name
	`(?:API|ACCESS|SECRET|PRIVATE|SHARED|ACCOUNT|AUTH|SIGNING|ENCRYPTION|MASTER|SUBSCRIPTION|LICENSE|SESSION|CLIENT|SSH) ?KEYS? `,
}, "|"))

var (
	anyKey = regexp.MustCompile(`KEYS? `)
	// words that are not those of secrets: the pin of a processor or a circuit is not that of a card
	noSecret = regexp.MustCompile(` (?:OAUTH|(?:CPU|CORE|THREAD|GPIO)S? PIN|(?:MON|DON|TUR|HOC|JOC|WHIS|HOT)KEYS?) `)
	// the working directory of a shell, switches of databases, and where a secret is
	noSecretName = regexp.MustCompile(`^(?:OLD)?PWD$|(?:ALLOW_EMPTY(?:_ROOT)?|RANDOM_ROOT)_PASSWORD$|_FILE$`)

	noLetters    = regexp.MustCompile(`\P{L}+`)
	lowerToUpper = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	endOfCapital = regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll})`) // the K of "APIKey"
)

// Name reports whether the value with this name (of a variable, a header, an option) is secret.
func Name(name string) bool {
	of := words(name)
	return !noSecretName.MatchString(strings.ToUpper(name)) && (secretName.MatchString(of) || anyKey.MatchString(of))
}

// assigned is Name for text and URLs, where a key may also be a search key.
func assigned(name string) bool { return secretName.MatchString(words(name)) }

// words returns the words of a name in capitals, split at non-letters and in camelCase, with a blank
// around each.
func words(name string) string {
	name = lowerToUpper.ReplaceAllString(name, "$1 $2")
	name = endOfCapital.ReplaceAllString(name, "$1 $2")
	name = " " + noLetters.ReplaceAllString(strings.ToUpper(name), " ") + " "
	return noSecret.ReplaceAllString(strings.ReplaceAll(name, "  ", " "), " x ")
}
