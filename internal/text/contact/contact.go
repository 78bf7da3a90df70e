// Package contact is how a contender is asked outside the load: by what waits for it, and by what
// checks its responses. It speaks the protocol of the load, and trusts whom the load trusts. It also has
// what all who ask an address of the user's do about a response that points elsewhere.
package contact

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// Way is a protocol and whom to trust.
type Way struct {
	HTTP2 bool        // over TLS for https, else from the first byte
	TLS   *tls.Config // for https; nil checks certificates against those of the system
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client asks that way, without a proxy; redirects stay answers. Its connections are closed by
// CloseIdleConnections.
func (w Way) Client() *http.Client {
	dial := w.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	}
	t := &http.Transport{DisableCompression: true, DialContext: dial, TLSClientConfig: w.TLS.Clone()}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(!w.HTTP2)
	t.Protocols.SetHTTP2(w.HTTP2)
	t.Protocols.SetUnencryptedHTTP2(w.HTTP2)
	return &http.Client{Transport: t, CheckRedirect: StayHere}
}
