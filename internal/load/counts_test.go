package load

import (
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The counts are those of the server's journal, of requests and of sessions, in a closed and in an
// open loop, over 1 to 512 connections.
func TestCountsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	for _, sessions := range []bool{false, true} {
		for _, connections := range []int{1, 8, 64, 512} {
			t.Run(fmt.Sprintf("sessions %t, %d connections", sessions, connections), func(t *testing.T) {
				eachWay(t, func(t *testing.T, e Engine, open bool) { countsOfServer(t, e, open, sessions, connections) })
			})
		}
	}
}

func countsOfServer(t *testing.T, e Engine, open, sessions bool, connections int) {
	const units = 600
	o := newOrders(t)
	p := ordersPlan(t, o.URL, connections, units)
	if open {
		p.Step = bench.Step{Name: "open", Rate: 20_000, MaxConnections: connections, Duration: p.Step.Duration, MaxRequests: units}
	}
	if !sessions {
		p.Requests, p.Sessions = p.Requests[:2], nil
	}
	l := run(t, e, p)
	seen := func() int64 {
		o.mu.Lock()
		defer o.mu.Unlock()
		return int64(sum(o.items) + sum(o.words) + o.logins + sum(o.orders) + o.refused)
	}
	if l.FailedTotal() > 0 || l.Cut > 0 {
		t.Errorf("failed %v, %d cut off", l.Failed, l.Cut)
	}
	testenv.Until(t, 30*time.Second, "the server has seen all", func() bool { return seen() >= l.Sent })
	if n := seen(); n != l.Sent {
		t.Errorf("the server saw %d, sent %d", n, l.Sent)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	begun := int64(sum(o.items) + sum(o.words) + o.logins)
	if !open && begun != units || open && begun+l.Dropped != units {
		t.Errorf("the server saw %d units of %d; dropped %d", begun, units, l.Dropped)
	}
	if sessions && (l.Sessions[0].Begun != int64(o.logins) || l.Sessions[0].Completed != int64(len(o.orders))) {
		t.Errorf("sessions %+v; the server saw %d logins and %d orders", l.Sessions[0], o.logins, len(o.orders))
	}
}
