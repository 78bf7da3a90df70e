package secret

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// The words that make a name secret. A word must match completely or be the end of a longer word
// without separator: KEYBOARD and TOKENIZER are not secret, GITHUBTOKEN is.
var (
	// anywhere in a word
	within = []string{"PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "AUTHORIZATION"}
	// at the end of any word
	endings = []string{"TOKEN", "SECRET", "CREDENTIAL", "COOKIE", "PWD", "SESSIONID", "SESSID"}
	// as any word
	whole = []string{"CRED", "JWT", "SIGNATURE", "REQUIREPASS"}
	// after AUTH, and after CONNECTION
	ofAuth       = []string{"HEADER", "VALUE", "STRING", "DATA", "CONFIG", "JSON"}
	ofConnection = []string{"STRING", "STR"}
	// as the last word: AUTH_ENABLED and PRIVATE_NETWORK name switches
	last = []string{"PASS", "DSN", "SIG", "PEM", "SALT", "OTP", "BEARER", "PRIVATE", "PIN", "WEBHOOK"}
	// before PIN: the pin of a processor or circuit, not of a card
	noPin = []string{"CPU", "CORE", "THREAD", "GPIO"}
	// before KEY where a key may also be a search key, as in ?key=7&sort_key=name
	ofKey = strings.Fields("API ACCESS SECRET PRIVATE SHARED ACCOUNT AUTH SIGNING ENCRYPTION MASTER SUBSCRIPTION " +
		"LICENSE SESSION CLIENT SSH")
	// words that end in KEY and are not keys
	noKey = []string{"MONKEY", "DONKEY", "TURKEY", "HOCKEY", "JOCKEY", "WHISKEY", "HOTKEY"}
)

// Name reports whether the value with this name (of a variable, a header, an option) is secret.
func Name(name string) bool {
	switch n := strings.ToUpper(name); {
	case n == "PWD", n == "OLDPWD": // the working directory of a shell
		return false
	case strings.HasSuffix(n, "ALLOW_EMPTY_PASSWORD"), strings.HasSuffix(n, "ALLOW_EMPTY_ROOT_PASSWORD"),
		strings.HasSuffix(n, "RANDOM_ROOT_PASSWORD"): // switches of databases
		return false
	}
	return secretWords(words(name), false)
}

// assigned is Name for text and URLs, where a key may also be a search key.
func assigned(name string) bool { return secretWords(words(name), true) }

func secretWords(words []string, inText bool) bool {
	before := ""
	for i, w := range words {
		final := i == len(words)-1
		one, next := singular(w), ""
		if !final {
			next = singular(words[i+1])
		}
		ends := func(ending string) bool { return strings.HasSuffix(one, ending) }
		in := func(part string) bool { return strings.Contains(w, part) }
		switch {
		case slices.ContainsFunc(within, in), slices.ContainsFunc(endings, ends), slices.Contains(whole, one),
			final && slices.Contains(last, w) && (w != "PIN" || !slices.Contains(noPin, before)),
			final && (ends("PW") || w == "PAT" && before != ""),
			one == "SESSION" && next == "ID",
			w == "WEBHOOK" && (next == "URL" || next == "URI"),
			strings.HasSuffix(w, "AUTH") && w != "OAUTH" && (final || w == "AUTH" && slices.Contains(ofAuth, next)),
			strings.HasPrefix(w, "CONN") && (slices.Contains(ofConnection, next) || ends("STRING") || ends("STR")),
			key(one, before, inText):
			return true
		}
		before = w
	}
	return false
}

// key reports whether a word names a key, depending on the word before it.
func key(word, before string, inText bool) bool {
	kind, ok := strings.CutSuffix(word, "KEY")
	if !ok || slices.Contains(noKey, word) {
		return false
	}
	kind = cmp.Or(kind, before)
	return !inText || slices.ContainsFunc(ofKey, func(k string) bool { return strings.HasSuffix(kind, k) })
}

// singular returns the word without a plural S. "PASS" is not a plural.
func singular(word string) string {
	if strings.HasSuffix(word, "SS") {
		return word
	}
	return strings.TrimSuffix(word, "S")
}

// words returns the words of a name in capitals, split at non-letters and in camelCase.
func words(name string) (all []string) {
	var word []rune
	flush := func() {
		if len(word) > 0 {
			all = append(all, strings.ToUpper(string(word)))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			flush()
			continue
		}
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) ||
			i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1])) {
			flush() // "apiKey", and the K of "APIKey"
		}
		word = append(word, r)
	}
	flush()
	return all
}
