package store

import (
	"net"
	"net/netip"
	"slices"
)

// loopback returns this machine, as seen by itself.
func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// listenFor listens at addr for connections from these networks and no others.
func listenFor(addr string, peers []netip.Prefix) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &onlyFrom{l, peers}, nil
}

// onlyFrom is a listener whose connections come from peers. It needs to look: Linux answers for the
// address of a bridge on every interface, so containers of other networks, and neighbours with
// a route to it, reach what listens there.
type onlyFrom struct {
	net.Listener
	peers []netip.Prefix
}

// Accept resets connections from elsewhere before a byte of them is read.
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
