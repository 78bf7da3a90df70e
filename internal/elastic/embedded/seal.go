package embedded

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Seal refuses from now on whatever would change the store, as an Elasticsearch does whose cluster is
// read-only. Who reads the store notices nothing. No call undoes it, only Unseal.
func (s *Server) Seal() { s.sealed.Store(true) }

// Unseal lets the store be changed again.
func (s *Server) Unseal() { s.sealed.Store(false) }

func errSealed() error {
	return &apiError{
		status: http.StatusForbidden, kind: "cluster_block_exception", reason: "blocked by: [FORBIDDEN/6/cluster read-only (api)];",
	}
}

// putClusterSettings knows the one setting that seals the store. A sealed store does not take the
// call at all.
func (s *Server) putClusterSettings(c call) (any, error) {
	var body map[string]map[string]json.RawMessage
	if err := json.Unmarshal(c.body, &body); err != nil {
		return nil, badRequest("parse_exception", "malformed settings: %v", err)
	}
	read := false
	for scope, settings := range body {
		if scope != "persistent" && scope != "transient" {
			return nil, unsupported("%q in the settings of the cluster", shorten(scope))
		}
		for key, value := range settings {
			if key != "cluster.blocks.read_only" {
				return nil, unsupported("the setting %q of the cluster", shorten(key))
			}
			read = read || strings.Trim(string(value), `"`) == "true"
		}
	}
	if read {
		s.Seal()
	}
	return table{"acknowledged": true, "persistent": table{}, "transient": table{}}, nil
}

// onlyFor answers calls whose Host is known, and refuses all others: a page in a browser here can
// have its own name resolved to this address, and would read and write the store as its own. What
// listens on all addresses has none to be known by, and is left to who has opened it.
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
		writeError(w, &apiError{status: http.StatusForbidden, kind: "security_exception",
			reason: "the store is not known as [" + shorten(r.Host) + "]; it is asked by its address"})
	})
}

// known tells whether a Host is the listener's own address, an address of the loopback interface,
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
