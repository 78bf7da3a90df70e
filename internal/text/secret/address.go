package secret

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// ParseURL returns url.Parse with an error that repeats nothing: what cannot be read may be a password
// with characters that have to be escaped.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it is not a URL; " +
			"in a password # is written as %23, / as %2F, ? as %3F, @ as %40 and a blank as %20")
	}
	return u, nil
}

// Unreadable stands for an address that may hold a password which cannot be told from the rest.
const Unreadable = "(malformed URL)"

// Address returns an address as messages may show it: without user info, and not at all where a password
// may be anywhere in it.
func Address(raw string) string {
	u, err := ParseURL(raw)
	if err != nil || u.User == nil && strings.Contains(raw, "@") {
		return Unreadable
	}
	u.User = nil
	return Masker{}.Text(u.String())
}

// Proxy returns http.ProxyFromEnvironment with an error that does not repeat the variable.
func Proxy(req *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(req)
	if err != nil {
		return nil, errors.New("the proxy that HTTP_PROXY or HTTPS_PROXY names is not a URL")
	}
	return u, nil
}

// maskBroken masks the user info of addresses in which a password has characters that end it, as in
// http://user:pass/word@host: what follows the colon is not a port.
func maskBroken(s string) string {
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return s
		}
		at += i + len("://")
		line := s[at:until(s, at, "\n\"'<>")]
		authority := line[:until(line, 0, " \t/?#")]
		colon := strings.LastIndexByte(authority, ':')
		end := strings.LastIndexByte(line, '@')
		switch {
		case colon < 0 || end < len(authority) || strings.Contains(authority, "@") || strings.HasPrefix(authority, "["):
		case strings.Trim(authority[colon+1:], digits) != "":
			s = s[:at] + Mask + s[at+end:]
		}
	}
}
