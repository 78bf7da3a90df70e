package secret

import (
	"regexp"
	"strings"
)

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
