package container

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/compose"
	"github.com/locbench/locbench/internal/needs/relay"
	"github.com/locbench/locbench/internal/text/secret"
)

// reach connects to an external service once, and makes it reachable for contenders. It writes nothing.
func (n *Need) reach(ctx context.Context) error {
	f := &compose.Filler{Getenv: n.at.Getenv, Hide: n.at.Hide}
	for _, name := range bench.EnvNames(n.url) {
		f.Text("${" + name + "}")
	}
	if err := f.Err(); err != nil {
		return err
	}
	a, err := n.spec.AtURL(needs.FillAddress(n.url, f.Getenv))
	if err != nil {
		return err
	}
	n.at.Hide(a.Password)
	target := net.JoinHostPort(a.Host, a.Port)
	if err := accepts(ctx, target, n.pace.open); err != nil {
		return fmt.Errorf("%s does not respond: %w; start it, or write an `image`", target, err)
	}
	if to := n.at.Network; to.Host != "" && onLoopback(a.Host) {
		if a, err = n.relayed(a, target, to); err != nil {
			return err
		}
	}
	n.target = target
	// Its process here may be a proxy, and its children may do the work: it is not measured.
	return n.set(nil, nil, a)
}

// onLoopback reports whether a host is this machine's loopback interface.
func onLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// relayed returns the address at which containers reach a service on the loopback interface.
func (n *Need) relayed(a bench.NeedAddress, target string, to needs.Network) (bench.NeedAddress, error) {
	at := net.JoinHostPort(to.Host, a.Port)
	if !to.Named {
		var err error
		if at, n.relay, err = relay.To(target, to.Host, to.Peers...); err != nil {
			return a, fmt.Errorf("let containers reach %s: %w", target, err)
		}
		n.warn(" listens only for this machine, so locbench relays its connections, "+
			"with CPU time of the client; to avoid it, have it listen at %s", to.Host)
	}
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return a, err
	}
	if u, err := secret.ParseURL(a.URL); a.URL != "" && err == nil {
		u.Host = at
		a.URL = u.String()
	}
	a.Host, a.Port, a.Ports = host, port, map[string]string{compose.MainPort: port}
	return a, nil
}
