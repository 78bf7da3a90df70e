package limits

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// The ports of connections to an address are counted while they are open and, on the side that
// closes first, for a minute afterwards.
func TestPortsTo(t *testing.T) {
	// An address only this process uses: other connections to 127.0.0.1, also closed ones, may have
	// any port.
	own := net.IPv4(127, byte(1+rand.IntN(254)), byte(rand.IntN(256)), byte(1+rand.IntN(254)))
	l := testenv.Must(net.Listen("tcp", net.JoinHostPort(own.String(), "0")))(t)
	defer l.Close()
	addrs := []netip.AddrPort{netip.MustParseAddrPort(l.Addr().String())}
	n, ok := PortsTo(addrs)
	testenv.Check(t, ok && n == 0, "%d ports before anything was opened", n)
	for range 5 {
		c := testenv.Must(net.Dial("tcp", l.Addr().String()))(t)
		other := testenv.Must(l.Accept())(t)
		c.Close()
		defer other.Close()
	}
	if n, _ := PortsTo(addrs); n != 5 {
		t.Errorf("%d ports, want 5", n)
	}
	if all, ok := connections(); !ok || all < 5 {
		t.Errorf("%d connections in all", all)
	}
}
