package limits

import (
	"context"
	"errors"
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
	if _, _, err := AwaitPorts(t.Context(), addrs, arrivals(70_000, time.Second)); !errors.As(err, &limit) || limit.Need != 70_000 {
		t.Errorf("%v", err)
	}
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
