package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// span is a part of a text: s[from:to].
type span struct{ from, to int }

// spans finds the secrets of a text by their place, in order: the value of a secret name or of an
// option with a secret name, and the token after the name of an authentication scheme.
func spans(s string) []span {
	var all []span
	if strings.ContainsAny(s, "=:") {
		all = assignments(s)
	}
	if strings.Contains(s, "-") {
		all = append(all, options(s)...)
	}
	all = append(all, ofTools(s)...)
	for _, m := range schemes.FindAllStringSubmatchIndex(s, -1) {
		if token := s[m[2]:m[3]]; isToken(token) {
			all = append(all, span{m[2], m[3]})
		}
	}
	return apart(all)
}

// assignments finds token=…, "token": "…" and token: … in a URL, a connection string, a list,
// JSON, YAML or a header.
func assignments(s string) (all []span) {
	done := 0 // end of the last span
	for at := 0; ; {
		next := strings.IndexAny(s[at:], "=:")
		if next < 0 {
			return all
		}
		sep := at + next
		at = sep + 1
		colon := s[sep] == ':'
		switch rest := s[sep+1:]; {
		case strings.HasPrefix(rest, s[sep:at]): // a comparison, or :: as in C++
			at++
			continue
		case strings.HasPrefix(rest, ">") && !colon, strings.HasPrefix(rest, "=") && colon:
			at++
		}
		end := sep
		for end > done && isBlank(s[end-1]) {
			end--
		}
		quoted := end
		for end > done && strings.IndexByte(`"'\`, s[end-1]) >= 0 {
			end--
		}
		from := end
		for from > done && isNameByte(s[from-1]) {
			from--
		}
		name, isQuoted := s[from:end], end < quoted
		if name == "" || from > done && !begins(s[from-1], colon) {
			continue
		}
		value := at
		for value < len(s) && isBlank(s[value]) {
			value++
		}
		x, ok := credentials(s, value)
		switch {
		case ok:
		case colon && !assigned(lastPart(name)), !colon && !assigned(name):
			continue
		case colon && from > 0 && s[from-1] == '{' && typed.MatchString(s[at:min(len(s), at+7)]): // {token:raw}
			continue
		case colon && (name == "PWD" || name == "OLDPWD"):
			continue
		case colon && name == "cookie" && !isQuoted && value == at && namesCookie(s[at:until(s, at, " \t\n\r\"'`,;)")]):
			continue
		case colon && !isQuoted && from > 0 && inBraces(s[:from]) && value > at:
			if x = afterColonInBraces(s, value); isPlaceholder(name, strings.TrimLeft(s[value:x.to], "\"'\\")) {
				continue
			}
		case colon:
			x = afterColon(s, value, isQuoted, alone(s[:from]) || isHeader(name))
		default:
			x = afterEquals(s, value)
		}
		if harmless(s[x.from:x.to]) {
			continue
		}
		all = append(all, x)
		at, done = x.to, x.to
	}
}

// typed matches the rest of the place of a variable after its name and a colon.
var typed = regexp.MustCompile(`^(?:raw|number|json)\}`)

// afterEquals returns the value at from, with its quotes, or the elements of a list of texts.
func afterEquals(s string, from int) span {
	if startsList.MatchString(s[from:]) {
		return elements(s, from)
	}
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		if n := strings.IndexByte(s[from+1:], s[from]); n > 0 {
			return span{from, from + n + 2}
		}
	}
	return span{from, until(s, from, "&; \t\n\v\f\r\"'#<>")}
}

// startsList matches the beginning of a list of texts, and one that is masked.
var startsList = regexp.MustCompile(`^\[(?:\s*["']|\*{3}(?:\]|$))`)

// afterColon returns the value at from, without its quotes. inJSON: its name has quotes.
// whole: it is the rest of the line, as in YAML or a header.
func afterColon(s string, from int, inJSON, whole bool) span {
	rest := s[from:]
	mark := rest[:len(rest)-len(strings.TrimLeft(rest, `\`))]
	switch quote := rest[len(mark):]; {
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "{"): // a URL, or an object with its own names
		return span{from, from}
	case strings.HasPrefix(rest, "["):
		return elements(s, from)
	case quote != "" && (quote[0] == '"' || quote[0] == '\''):
		begin := from + len(mark) + 1
		return span{begin, closing(s, begin, mark, quote[0])}
	case whole:
		return span{from, from + len(strings.TrimRight(s[from:until(s, from, "\n\"'")], " \t\r"))}
	case inJSON:
		return span{from, until(s, from, " \t\n\r\"'<>,}]")}
	}
	return span{from, until(s, from, " \t\n\r\"'<>")}
}

// elements returns what is between the bracket at from and the one that closes it, or the rest of a
// text that was cut in between. Brackets in quotes do not count.
func elements(s string, from int) span {
	open := 0
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '[':
			open++
		case ']':
			if open--; open == 0 {
				return span{from + 1, i}
			}
		case '"', '\'':
			mark := s[len(strings.TrimRight(s[:i], `\`)):i]
			if strings.IndexByte("[{(,:= \t\r\n", s[i-len(mark)-1]) < 0 {
				continue // an apostrophe
			}
			for i = closing(s, i+1, mark, s[i]); i < len(s) && s[i] == '\\'; i++ { // to the quote itself
			}
		}
	}
	return span{from + 1, len(s)}
}

// afterColonInBraces is afterColon for an entry of a map of YAML on one line, {token: x, other: y}:
// what has no quotes ends before the next entry.
func afterColonInBraces(s string, from int) span {
	if from == len(s) || strings.IndexByte("\"'{[/\\", s[from]) >= 0 {
		return afterColon(s, from, false, true)
	}
	x := span{from, until(s, from, "}\n\"")}
	if next := strings.Index(s[from:x.to], ", "); next >= 0 {
		x.to = from + next
	}
	return x
}

// inBraces reports whether a name after this text is the key of a map of YAML on one line.
func inBraces(before string) bool {
	before = strings.TrimRight(before, " ")
	return strings.HasSuffix(before, "{") ||
		strings.HasSuffix(before, ",") && strings.LastIndexByte(before, '{') > strings.LastIndexByte(before, '\n')
}

// isPlaceholder reports whether an entry without quotes says where a secret is, as in {cookie:
// sid}, {cookie: NAME} and {token: data.access_token}.
func isPlaceholder(name, value string) bool {
	if strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return true
	}
	for i := range len(value) {
		if !isNameByte(value[i]) {
			return false
		}
	}
	named := words(lastPart(value))
	return strings.EqualFold(name, "cookie") || len(named) > 0 && slices.Contains(ofPaths, named[len(named)-1])
}

// namesCookie reports whether the word after "cookie:" is the name of a cookie, as in cookie:sid:
// the header has blanks or an equals sign.
func namesCookie(word string) bool {
	return word != "" && len(word) <= 20 && !IsToken(word) && strings.TrimFunc(word, func(c rune) bool {
		return c == '_' || c == '-' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}) == ""
}

// ofPaths are the last words of paths to secrets in responses.
var ofPaths = []string{"TOKEN", "COOKIE", "SECRET", "PASSWORD", "JWT", "KEY"}

// closing returns the end of the quoted text at from: the next quote with the same number of
// backslashes before it as the first quote, or the end of the line.
func closing(s string, from int, mark string, quote byte) int {
	for i := from; i < len(s) && s[i] != '\n'; i++ {
		backslashes := 0
		for i < len(s) && s[i] == '\\' {
			backslashes, i = backslashes+1, i+1
		}
		switch {
		case i >= len(s):
			return len(s)
		case s[i] == quote && backslashes == len(mark), s[i] == quote && mark == "" && backslashes%2 == 0:
			return i - backslashes
		}
	}
	return until(s, from, "\n")
}

func until(s string, from int, ends string) int {
	if n := strings.IndexAny(s[from:], ends); n >= 0 {
		return from + n
	}
	return len(s)
}

// notTokens are words that follow the name of an authentication scheme in sentences.
var notTokens = []string{
	"auth", "authentication", "authorization", "token", "tokens", "scheme", "credentials", "realm", "realm=",
	"is", "and", "or",
}

// credentials returns the text after "Bearer" or "Basic" at the beginning of a value.
func credentials(s string, value int) (x span, ok bool) {
	for value < len(s) && strings.IndexByte(`"'\`, s[value]) >= 0 {
		value++
	}
	for _, scheme := range []string{"bearer", "basic"} {
		after := value + len(scheme)
		if after >= len(s) || !strings.EqualFold(s[value:after], scheme) || !isBlank(s[after]) {
			continue
		}
		from := after
		for from < len(s) && isBlank(s[from]) {
			from++
		}
		x = span{from, until(s, from, " \t\n\r\"'\\,;<>")}
		word := strings.TrimRight(strings.ToLower(s[x.from:x.to]), ".:")
		return x, x.to > x.from && !slices.Contains(notTokens, word)
	}
	return x, false
}

var schemes = regexp.MustCompile(`(?i)\b(?:bearer|basic)[ \t]+([A-Za-z0-9._~+/=-]+)`)

// IsToken reports whether a value of an unknown kind is credentials rather than a word or a number.
func IsToken(v string) bool { return len(v) >= 12 && strings.Trim(v, digits) != "" && isToken(v) }

// isToken reports whether a text is credentials, not a word of a sentence.
func isToken(s string) bool {
	mixed := strings.ContainsFunc(s[1:], unicode.IsUpper) && strings.ToUpper(s) != s
	return len(s) >= 20 || mixed || strings.ContainsAny(s, "0123456789=") && !strings.HasPrefix(s, "realm=")
}

var option = regexp.MustCompile(`(?:^|[\s"'=])(--?[A-Za-z][A-Za-z0-9_.-]*)[ \t]+("[^"\n]+"|'[^'\n]+'|[^\s"'-][^\s"']*)`)

// userOption matches the option of curl and others for a user with a password.
var userOption = regexp.MustCompile(`(?:^|[\s"'])(?:-u|--user|--proxy-user)[ \t=]*["']?([^\s:"'=-][^\s:"']*:[^\s"']+)`)

// options finds the values of options with a secret name: "--db-password x".
func options(s string) (all []span) {
	for at := 0; ; {
		m := option.FindStringSubmatchIndex(s[at:])
		if m == nil {
			break
		}
		if Name(s[at+m[2] : at+m[3]]) {
			all = append(all, span{at + m[4], at + m[5]})
		}
		at += m[4] - 1 // the value may itself be an option, in quotes
	}
	for _, m := range userOption.FindAllStringSubmatchIndex(s, -1) {
		if isUser(s[m[2]:m[3]]) {
			all = append(all, span{m[2], m[3]})
		}
	}
	return all
}

// isUser reports whether a text is a user with a password, not two numeric ids.
func isUser(s string) bool {
	user, password, ok := strings.Cut(s, ":")
	return ok && password != "" && strings.Trim(user+password, "0123456789") != "" && !strings.HasPrefix(password, "//")
}

// begins reports whether a name may begin after c.
func begins(c byte, colon bool) bool {
	return strings.IndexByte("?&;#, \t\n\v\f\r\"'({[<\\|", c) >= 0 || !colon && (c == '=' || c == ':')
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-", c) >= 0
}

// lastPart keeps file names from counting as names of values: secret.go:12.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// alone reports whether only indentation or a list marker is before a name in its line.
func alone(before string) bool {
	return strings.Trim(before[strings.LastIndexByte(before, '\n')+1:], " \t-") == ""
}

// isHeader reports whether a name is that of a header whose value has several words.
func isHeader(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "authorization") || strings.HasSuffix(name, "cookie")
}

// namesPlace matches the places of templates: ${PASSWORD}, {token}.
var namesPlace = regexp.MustCompile(`^["'\\]*(?:[A-Za-z]+ )?(?:\$\{[A-Za-z0-9_]+\}|\{[A-Za-z_.]{1,40}\})["'\\]*$`)

// harmless reports whether a value cannot be a secret.
func harmless(v string) bool {
	if namesPlace.MatchString(v) {
		return true
	}
	v = strings.TrimRight(strings.ToLower(strings.Trim(v, `"'\`)), ",.;:)]}")
	return v == "" || v == Mask || v == cutMark || slices.Contains(settings, v)
}

// settings are values of switches with names such as HTTP_AUTH. They are not secret.
var settings = []string{
	"enabled", "disabled", "required", "optional", "default",
	"true", "false", "yes", "no", "on", "off", "null", "none", "nil", "~", "|", ">", "|-", ">-",
}
