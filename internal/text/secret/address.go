package secret

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

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
