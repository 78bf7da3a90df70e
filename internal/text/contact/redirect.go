package contact

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// StayHere is the CheckRedirect of a client that follows no redirect: what it sends, perhaps a
// password, is only for the host, port and scheme that the user gave.
func StayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// RedirectError is a redirect that was not followed.
type RedirectError struct {
	Status int
	To     string // the address without credentials and parameters; "" if the response has none
}

// Error names the address of the redirect and what to do.
func (e *RedirectError) Error() string {
	if e.To == "" {
		return fmt.Sprintf("redirected (%d) without an address; use the URL of the service itself", e.Status)
	}
	return fmt.Sprintf("redirected (%d) to %s, which locbench does not follow; "+
		"use that URL if you trust it", e.Status, e.To)
}

// Redirected returns a *RedirectError if resp is a redirect, and nil for any other response.
func Redirected(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return &RedirectError{resp.StatusCode, pointed(resp)}
	}
	return nil
}

// pointed returns the parts of the redirect's address that are harmless to show.
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
	if strings.Contains(shown.Path, "@") { // with a slash missing, a password is part of the path
		shown.Path = "/..."
	}
	text := shown.String()
	if to.User != nil && strings.HasPrefix(location, to.Scheme+"://") { // the redirect's own user info
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
