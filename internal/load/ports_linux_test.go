package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"locbench/internal/bench"
)

// The ports of connections to an address are counted while they are open and, on the side that
// closes first, for a minute afterwards.
func TestPortsTo(t *testing.T) {
	// An address only this process uses: other connections to 127.0.0.1, also closed ones, may have
	// any port.
	own := net.IPv4(127, byte(1+rand.IntN(254)), byte(rand.IntN(256)), byte(1+rand.IntN(254)))
	l, err := net.Listen("tcp", net.JoinHostPort(own.String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addrs := []netip.AddrPort{netip.MustParseAddrPort(l.Addr().String())}
	if n, ok := portsTo(addrs); !ok || n != 0 {
		t.Errorf("%d ports before anything was opened", n)
	}
	for range 5 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		other, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		defer other.Close()
	}
	if n, _ := portsTo(addrs); n != 5 {
		t.Errorf("%d ports, want 5", n)
	}
}

func TestAwaitPorts(t *testing.T) {
	addrs := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9")}
	arrivals := func(users int, over time.Duration) bench.Step {
		return bench.Step{Arrivals: &bench.Arrivals{Users: users, Over: over, Requests: 1}}
	}
	if w, err := awaitPorts(t.Context(), addrs, arrivals(10, time.Second)); w != nil || err != nil {
		t.Errorf("%q, %v", w, err)
	}
	var limit *LimitError
	if _, err := awaitPorts(t.Context(), addrs, arrivals(70_000, time.Second)); !errors.As(err, &limit) || limit.Need != 70_000 {
		t.Errorf("%v", err)
	}
	if n := portsNeeded(arrivals(70_000, 10*time.Minute)); n != 7000 {
		t.Errorf("%d ports for 70,000 users over ten minutes", n)
	}
	if n := portsNeeded(bench.Step{Connections: 7}); n != 0 {
		t.Errorf("%d ports to wait for in a closed loop, whose connections are kept", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	have, _ := localPorts()
	if used, _ := portsTo(addrs); used == 0 {
		if _, err := awaitPorts(ended, addrs, arrivals(int(have), time.Second)); err != nil {
			t.Errorf("all ports are free, and yet %v", err)
		}
	}
}
