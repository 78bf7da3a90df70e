package fast

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/testenv"
)

// A request starts when the kernel gets it, and its timeout counts from there. A request that needs
// a connection starts with the dial.
func TestWhatARequestBeginsWith(t *testing.T) {
	c := config(t, bench.Step{Connections: 2, Duration: time.Second})
	c.Epoll = true
	c.Recorder.Begin(0)
	s := testenv.Must(newShard(&Loop{conf: c}, 0, 1, 2))(t)
	defer s.close()
	for i := range s.conns {
		s.conns[i].state, s.conns[i].start, s.conns[i].req = waiting, 1, &workload.Request{}
	}
	s.conns[1].dialedNow = true
	s.batch = append(s.batch, 0, 1)
	s.startBatch()
	if a, b := &s.conns[0], &s.conns[1]; a.until != a.start+int64(c.Timeout) || b.until != 0 {
		t.Errorf("sent at %d and to be answered by %d; the dialed one by %d", a.start, a.until, b.until)
	}
	testenv.Check(t, s.conns[0].start != 1 && s.conns[1].start == 1 && len(s.batch) == 0,
		"starts %d and %d, %d left", s.conns[0].start, s.conns[1].start, len(s.batch))
}

// ringWorks returns why this system has no io_uring; nil if it has.
func ringWorks() error {
	r, err := newRing(1)
	if err != nil {
		return err
	}
	defer r.close()
	return r.enable()
}
