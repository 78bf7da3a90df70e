package limits

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestAwaitPorts(t *testing.T) {
	addrs := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9")}
	arrivals := func(users int, over time.Duration) bench.Step {
		return bench.Step{Arrivals: &bench.Arrivals{Users: users, Over: over, Requests: 1}}
	}
	took, _, err := AwaitPorts(t.Context(), addrs, arrivals(10, time.Second))
	testenv.Check(t, took == 0 && err == nil, "%v, %v", took, err)
	var limit *Error
	_, _, err = AwaitPorts(t.Context(), addrs, arrivals(70_000, time.Second))
	testenv.Check(t, errors.As(err, &limit) && limit.Need == 70_000, "%v", err)
	testenv.Equal(t, portsNeeded(arrivals(70_000, 10*time.Minute)), 7000)
	testenv.Equal(t, portsNeeded(bench.Step{Connections: 7}), 0)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	have, _ := LocalPorts()
	if used, _ := PortsTo(addrs); used == 0 {
		_, _, err := AwaitPorts(ended, addrs, arrivals(int(have), time.Second))
		testenv.Check(t, err == nil, "all ports are free, and yet %v", err)
	}
}

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
	n, _ = PortsTo(addrs)
	testenv.Check(t, n == 5, "%d ports, want 5", n)
	all, ok := connections()
	testenv.Check(t, ok && all >= 5, "%d connections in all", all)
}
