package contact

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// StayHere returns the CheckRedirect of a client that follows no redirect: what it sends, a password
// perhaps, is meant for the address that the user gave, and for no other host, port or scheme.
func StayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// RedirectError is a response that points elsewhere and was not followed.
type RedirectError struct {
	Status int
	To     string // without credentials and parameters; "" where the response does not say
}

// Error says where the response pointed, and what to do.
func (e *RedirectError) Error() string {
	if e.To == "" {
		return fmt.Sprintf("it was answered with a redirect (%d) to nowhere; give the address that responses itself", e.Status)
	}
	return fmt.Sprintf("it was answered with a redirect (%d) to %s, which is not followed; "+
		"give that address if you trust it", e.Status, e.To)
}

// Redirected returns a *RedirectError where resp points elsewhere, and nil for any other response.
func Redirected(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return &RedirectError{resp.StatusCode, pointed(resp)}
	}
	return nil
}

// pointed returns where resp points, as far as it is harmless to show.
func pointed(resp *http.Response) string {
	const most = 200
	location := resp.Header.Get("Location")
	if location == "" {
		return ""
	}
	to, err := url.Parse(location)
	if err == nil && resp.Request != nil && resp.Request.URL != nil {
		to = resp.Request.URL.ResolveReference(to)
	}
	if err != nil || to.Host == "" {
		return "a malformed address"
	}
	shown := url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}
	if strings.Contains(shown.Path, "@") { // a slash too few makes a password a part of the path
		shown.Path = "/..."
	}
	text := shown.String()
	if to.User != nil && strings.HasPrefix(location, to.Scheme+"://") { // not that of the address it is relative to
		text = strings.Replace(text, "://", "://***@", 1)
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	if to.RawQuery != "" {
		text += "?..."
	}
	return text
}
