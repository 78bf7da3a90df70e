// Package contact sends requests to a contender outside the load: while waiting for it, and for
// checks. It uses the protocol and the trusted certificates of the load. It also has the handling
// of redirects for all requests to a URL that the user gave.
package contact

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/text/secret"
)

// Way is a protocol and the certificates to trust.
type Way struct {
	HTTP2 bool        // over TLS for https, otherwise with prior knowledge
	TLS   *tls.Config // for https; nil uses the system's certificates
	Host  string      // Host of requests without one in their header; "": that of their URL
	Fresh bool        // each request has a new connection
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client returns a client that sends requests this way, without a proxy, and does not follow
// redirects. CloseIdleConnections closes its connections.
func (w Way) Client() *http.Client {
	dial := w.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	}
	t := &http.Transport{
		DisableCompression: true, DisableKeepAlives: w.Fresh, DialContext: dial, TLSClientConfig: w.TLS.Clone(),
	}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(!w.HTTP2)
	t.Protocols.SetHTTP2(w.HTTP2)
	t.Protocols.SetUnencryptedHTTP2(w.HTTP2)
	return &http.Client{Transport: named{t, w.Host}, CheckRedirect: StayHere}
}

// named is a transport that sends a Host.
type named struct {
	*http.Transport
	host string
}

// RoundTrip sends a request.
func (n named) RoundTrip(req *http.Request) (*http.Response, error) {
	if n.host != "" && (req.Host == "" || req.Host == req.URL.Host) {
		req = req.Clone(req.Context())
		req.Host = n.host
	}
	return n.Transport.RoundTrip(req)
}

// OnLoopback reports whether only this machine can reach that URL.
func OnLoopback(raw string) bool {
	u, err := secret.ParseURL(raw)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

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
