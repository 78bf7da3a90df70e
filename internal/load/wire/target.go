package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
)

// Target is to where connections are opened.
type Target struct {
	Address string      // host:port
	TLS     *tls.Config // nil: in clear
}

// Scheme is that of its URL.
func (t Target) Scheme() string {
	if t.TLS != nil {
		return "https"
	}
	return "http"
}

// NewTarget is where a base URL points that is known to parse. own is used for https; nil checks
// certificates against those of the system.
func NewTarget(baseURL string, own *tls.Config, http2 bool) (t Target) {
	base, _ := url.Parse(baseURL)
	port := base.Port()
	if base.Scheme == "https" {
		config := own.Clone()
		if config == nil {
			config = &tls.Config{}
		}
		if config.ServerName == "" {
			config.ServerName = base.Hostname()
		}
		config.NextProtos = []string{"http/1.1"}
		if http2 {
			config.NextProtos = nil // net/http adds it
		}
		t.TLS = config
		if port == "" {
			port = "443"
		}
	} else if port == "" {
		port = "80"
	}
	t.Address = net.JoinHostPort(base.Hostname(), port)
	return t
}

// Resolve returns the target's addresses; none where that fails or an address has a zone.
func (t Target) Resolve(ctx context.Context) (all []netip.AddrPort) {
	host, service, err := net.SplitHostPort(t.Address)
	if err != nil {
		return nil
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for _, ip := range ips {
		if ip.Zone() != "" {
			return nil
		}
		all = append(all, netip.AddrPortFrom(ip.Unmap(), uint16(port)))
	}
	return all
}
