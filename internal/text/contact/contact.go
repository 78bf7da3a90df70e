// Package contact sends requests to a contender outside the load: while waiting for it, and for
// checks. It uses the protocol and the trusted certificates of the load. It also has the handling
// of redirects for all requests to a URL that the user gave.
package contact

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
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
