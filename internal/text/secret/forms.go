package secret

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is looked for. Escapes take no room here: a text is looked at without them too.
const (
	minLength  = 6       // bytes; shorter values are part of too many words
	maxEncoded = 2 << 20 // bytes of all encoded forms, about 20 bytes of memory each
)

// plainForms returns a value in the forms that it has in a text without escapes.
func plainForms(v string) []string {
	trimmed := strings.TrimSpace(v)
	oneLine := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, v)
	forms := []string{v, trimmed, oneLine, strings.ReplaceAll(v, " ", "+")}
	for _, quote := range []string{"'", `"`} { // as in SQL
		if strings.Contains(v, quote) {
			forms = append(forms, strings.ReplaceAll(v, quote, quote+quote))
		}
	}
	if bytes, replaced, ok := latin1(v); ok {
		forms = append(forms, bytes, replaced)
	}
	if strings.Contains(v, "\n") { // a private key, which may come back line by line
		for line := range strings.SplitSeq(v, "\n") {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") {
				forms = append(forms, line)
			}
		}
	}
	return forms
}

// latin1 returns a value in ISO 8859-1, and what is left of that in UTF-8. ok is false for plain
// ASCII, and if a character is not in ISO 8859-1.
func latin1(v string) (bytes, replaced string, ok bool) {
	var b, r strings.Builder
	for _, c := range v {
		if c > 0xff {
			return "", "", false
		}
		b.WriteByte(byte(c))
		if c >= utf8.RuneSelf {
			c, ok = utf8.RuneError, true
		}
		r.WriteRune(c)
	}
	return b.String(), r.String(), ok
}

// encodedForms returns a value in base64 and in hexadecimal digits. In base64 a text such as
// user:password may be around it: it then begins at one of three offsets, and its first and last
// characters depend on that text.
func encodedForms(v string) (forms []string) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(v)))
		for offset, first := range []int{0, 2, 3} {
			text := encoding.EncodeToString(append(make([]byte, offset), v...))
			forms = append(forms, text[first:(offset+len(v))*8/6])
		}
	}
	digits := hex.EncodeToString([]byte(v))
	return append(forms, digits, strings.ToUpper(digits))
}
