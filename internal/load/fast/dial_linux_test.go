package fast

import (
	"net/netip"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/workload"
)

// A long line of requests whose connections are all refused at once is worked off one in each turn,
// so that the stack does not grow with it.
func TestRefusedAtOnce(t *testing.T) {
	const waiting = 5_000
	c := config(t, bench.Step{Rate: 1, MaxConnections: 1, Duration: time.Second})
	c.Recorder.Begin(1)
	// A broadcast address, to which the kernel opens no connection.
	c.Timeout, c.Addresses = time.Hour, []netip.AddrPort{netip.MustParseAddrPort("255.255.255.255:1")}
	l := &Loop{conf: c}
	s, err := newShard(l, 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	l.shards = append(l.shards, s)
	s.open = newOpenShard(s)
	for range waiting {
		s.open.give(workload.Job{Requests: 1}, 0)
	}
	turns := 0
	for ; s.active > 0; turns++ {
		s.failRefused()
	}
	c.Recorder.Finish()
	if failed := c.Recorder.Load().FailedTotal(); failed != waiting || turns < waiting {
		t.Errorf("%d failed in %d turns", failed, turns)
	}
}
