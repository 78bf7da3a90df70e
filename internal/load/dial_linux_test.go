package load

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"locbench/internal/bench"
)

// A long line of requests whose connections are all refused at once is worked off without a stack that grows with it.
func TestRefusedAtOnce(t *testing.T) {
	const waiting = 50_000
	p := plan("http://h", 0, time.Second)
	p.Step = bench.Step{Rate: 1, MaxConnections: 1, Duration: time.Second}
	rec := newOpenRecorder(nil)
	rec.begin(1, time.Second)
	rec.interval.decide(0, int64(time.Hour))
	// A broadcast address, to which the kernel opens no connection.
	l := &fastLoop{rec: rec, timeout: time.Hour, addrs: []netip.AddrPort{netip.MustParseAddrPort("255.255.255.255:1")}}
	s, err := newShard(Engine{}, l, p, 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	l.shards = append(l.shards, s)
	s.open = newOpenShard(s, p)
	for range waiting {
		s.open.give(0, 1, 0)
	}
	turns := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for ; s.active > 0; turns++ {
		s.serveBroken()
	}
	runtime.ReadMemStats(&after)
	failed := int64(0)
	for _, n := range s.account.window.failed {
		failed += n
	}
	if failed != waiting || turns < waiting {
		t.Errorf("%d failed in %d turns", failed, turns)
	}
	if grown := int64(after.StackInuse) - int64(before.StackInuse); grown > 4<<20 {
		t.Errorf("the stack grew by %d bytes", grown)
	}
}
