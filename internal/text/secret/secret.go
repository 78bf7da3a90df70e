// Package secret masks passwords, tokens and keys before text leaves the process: values of names
// such as DB_PASSWORD, the user info of URLs, and every copy of a known secret in other text, such
// as a line of a log.
//
// It finds secrets by their names and places, not by their form. It does not find a secret with a
// harmless name.
package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mask replaces a secret.
const Mask = "***"

// minLength is the shortest value to look for in other text: shorter ones are part of many words.
const minLength = 6

var userInfo = regexp.MustCompile(`://[^\s/?#"'<>]*@`)

// Masker masks secrets. The zero value knows no values and masks by names and places.
type Masker struct {
	replace *strings.Replacer
	values  []string // those of replace
	numbers []string // only masked as complete numbers, not as a part of another number
}

// New returns a Masker that knows values. It finds those below minLength only by their names.
func New(values ...string) Masker {
	var all []string
	var m Masker
	add := func(form string) {
		switch {
		case len(form) < minLength || form == Mask || slices.Contains(all, form):
		case strings.Trim(form, digits) == "":
			m.numbers = append(m.numbers, form)
		default:
			all = append(all, form)
		}
	}
	for _, v := range values {
		inJSON := quoted(v)
		for _, form := range []string{
			v, url.QueryEscape(v), url.PathEscape(v), url.UserPassword("", v).String()[1:],
			base64.StdEncoding.EncodeToString([]byte(v)), inJSON, unquoted(strconv.Quote(v)), unquoted(strconv.Quote(inJSON)),
			strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inJSON),
		} {
			add(form)
		}
		if strings.Contains(v, "\n") { // a private key, which may come back line by line
			for line := range strings.SplitSeq(v, "\n") {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") {
					add(line)
				}
			}
		}
	}
	if len(all) == 0 {
		return m
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	var pairs []string
	for _, v := range all {
		pairs = append(pairs, v, Mask)
	}
	m.replace, m.values = strings.NewReplacer(pairs...), all
	return m
}

const digits = "0123456789"

// quoted returns a text in the form that it has in a JSON string.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return unquoted(string(b))
}

func unquoted(s string) string { return s[1 : len(s)-1] }

// Text masks known values, the user info of URLs, and values of secret names and secret options.
func (m Masker) Text(s string) string {
	if m.replace != nil {
		s = m.replace.Replace(s)
	}
	if m.replace != nil || m.numbers != nil {
		s = m.maskCut(s)
	}
	for _, n := range m.numbers {
		s = maskNumber(s, n)
	}
	s = maskSpans(s)
	if strings.Contains(s, "@") {
		if strings.Contains(s, "://") {
			s = userInfo.ReplaceAllString(maskBroken(s), "://"+Mask+"@")
		}
		s = maskUserInfo(s)
	}
	return s
}

// Bounds of maskCut.
const (
	cutMark = "…" // where a text was cut
	minCut  = 4   // the shortest beginning that is masked
	maxCuts = 100 // the most marks in one text that are looked at
)

// maskCut masks the beginning of a known value where the text was cut within that value.
func (m Masker) maskCut(s string) string {
	for at, n := 0, 0; n < maxCuts; n++ {
		i := strings.Index(s[at:], cutMark)
		if i < 0 {
			return s
		}
		i += at
		longest := 0
		for _, v := range slices.Concat(m.values, m.numbers) {
			for k := min(len(v)-1, i); k >= max(minCut, longest+1); k-- {
				if v[k-1] == s[i-1] && s[i-k:i] == v[:k] {
					longest = k
				}
			}
		}
		if longest > 0 {
			s = s[:i-longest] + Mask + s[i:]
			i += len(Mask) - longest
		}
		at = i + len(cutMark)
	}
	return s
}

// maskNumber masks n where no digit is next to it.
func maskNumber(s, n string) string {
	isDigit := func(i int) bool { return i >= 0 && i < len(s) && strings.IndexByte(digits, s[i]) >= 0 }
	for at := 0; ; {
		i := strings.Index(s[at:], n)
		if i < 0 {
			return s
		}
		i += at
		if at = i + 1; !isDigit(i-1) && !isDigit(i+len(n)) {
			s = s[:i] + Mask + s[i+len(n):]
			at = i + len(Mask)
		}
	}
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
