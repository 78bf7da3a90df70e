package fast

import (
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/testenv"
)

// A long queue of refused connections is handled one per batch, so the stack does not grow with it.
func TestRefusedAtOnce(t *testing.T) {
	const waiting = 5_000
	c := config(t, bench.Step{Rate: 1, MaxConnections: 1, Duration: time.Second})
	c.Recorder.Begin(1)
	// A broadcast address, to which the kernel opens no connection.
	c.Timeout, c.Addresses = time.Hour, []netip.AddrPort{netip.MustParseAddrPort("255.255.255.255:1")}
	l := &Loop{conf: c}
	s := testenv.Must(newShard(l, 0, 1, 1))(t)
	defer s.close()
	l.shards = append(l.shards, s)
	s.open = newOpenShard(s)
	for range waiting {
		s.open.give(workload.Job{Requests: 1}, 0)
	}
	batches := 0
	for ; s.active > 0; batches++ {
		s.failRefused()
	}
	c.Recorder.Finish()
	failed := c.Recorder.Load().FailedTotal()
	testenv.Check(t, failed == waiting && batches >= waiting, "%d failed in %d batches", failed, batches)
}

// A socket that is connected to itself, as no process listens at its port, counts as refused.
func TestConnectedToItself(t *testing.T) {
	for name, address := range map[string]unix.Sockaddr{"IPv4": &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, "IPv6": &unix.SockaddrInet6{Addr: netip.IPv6Loopback().As16()}} {
		t.Run(name, func(t *testing.T) {
			c := config(t, bench.Step{Connections: 1, Duration: time.Second})
			c.Epoll = true
			s, err := newShard(&Loop{conf: c}, 0, 1, 1)
			testenv.OK(t, err)
			defer s.close()
			family := unix.AF_INET
			if name == "IPv6" {
				family = unix.AF_INET6
			}
			fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Skip("SKIP: ", err)
			}
			s.conns[0].fd = int32(fd)
			if err := unix.Bind(fd, address); err != nil {
				t.Skip("SKIP: ", err)
			}
			own := testenv.Must(unix.Getsockname(fd))(t)
			testenv.OK(t, unix.Connect(fd, own))
			testenv.Equal(t, wire.Classify(s.finishDial(&s.conns[0], 0)), bench.ErrRefused)
		})
	}
}
