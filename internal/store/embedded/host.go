package embedded

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// onlyFor serves calls whose Host is known and refuses all others: a page in a browser on this
// machine can resolve its own name to this address, and could then read and write the store. A
// listener on all addresses has no known address, so the caller must protect it.
func onlyFor(at net.Addr, names []string, next http.Handler) http.Handler {
	own, _ := netip.ParseAddrPort(at.String())
	if own.Addr().IsUnspecified() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if known(r.Host, own.Addr(), names) {
			next.ServeHTTP(w, r)
			return
		}
		writeError(w, &apiError{http.StatusForbidden, "security_exception",
			"unknown host [" + shorten(r.Host) + "]; use the store's address"})
	})
}

// known reports whether a Host is the listener's address, an address of the loopback interface,
// localhost, or one of names. A request without a Host does not come from a browser.
func known(hostport string, own netip.Addr, names []string) bool {
	if hostport == "" {
		return true
	}
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.WithZone("") == own.Unmap().WithZone("") || slices.Contains(names, host)
	}
	same := func(name string) bool { return strings.EqualFold(name, host) }
	return same("localhost") || slices.ContainsFunc(names, same)
}
