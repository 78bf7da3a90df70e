package relay

import (
	"context"
	"net"
	"net/netip"
	"slices"
)

// loopback returns the networks of this machine's loopback interface.
func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// Listen listens at addr for connections from these networks only; without any, from this machine's
// loopback interface. On Linux addr may be an address that this machine does not have yet: Podman makes the
// bridge of a network, whose address it is, when its first container starts, and removes it with the last.
func Listen(addr string, peers ...netip.Prefix) (net.Listener, error) {
	if len(peers) == 0 {
		peers = loopback()
	}
	l, err := (&net.ListenConfig{Control: beforeItIsThere}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &onlyFrom{l, peers}, nil
}

// onlyFrom is a listener that accepts connections from peers only. It must check them: Linux
// accepts packets for the address of a bridge on every interface, so containers of other networks,
// and neighbors with a route to it, reach the listener too.
type onlyFrom struct {
	net.Listener
	peers []netip.Prefix
}

// Accept resets connections from elsewhere before it reads from them.
func (l *onlyFrom) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || l.knows(c.RemoteAddr()) {
			return c, err
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		c.Close()
	}
}

func (l *onlyFrom) knows(a net.Addr) bool {
	from, err := netip.ParseAddrPort(a.String())
	peer := from.Addr().Unmap().WithZone("")
	return err == nil && slices.ContainsFunc(l.peers, func(p netip.Prefix) bool { return p.Contains(peer) })
}
