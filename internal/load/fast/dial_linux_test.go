package fast

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"locbench/internal/bench"
)

// A long line of requests whose connections are all refused at once is worked off without a stack
// that grows with it.
func TestRefusedAtOnce(t *testing.T) {
	const waiting = 50_000
	c := config(bench.Step{Rate: 1, MaxConnections: 1, Duration: time.Second})
	c.Recorder.Begin(1)
	// A broadcast address, to which the kernel opens no connection.
	c.Timeout, c.Addresses = time.Hour, []netip.AddrPort{netip.MustParseAddrPort("255.255.255.255:1")}
	l := &Loop{Config: c}
	s, err := newShard(l, 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	l.shards = append(l.shards, s)
	s.open = newOpenShard(s)
	for range waiting {
		s.open.give(0, 1, 0)
	}
	turns := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for ; s.active > 0; turns++ {
		s.failRefused()
	}
	runtime.ReadMemStats(&after)
	c.Recorder.Finish()
	if failed := c.Recorder.Load().FailedTotal(); failed != waiting || turns < waiting {
		t.Errorf("%d failed in %d turns", failed, turns)
	}
	if grown := int64(after.StackInuse) - int64(before.StackInuse); grown > 4<<20 {
		t.Errorf("the stack grew by %d bytes", grown)
	}
}
