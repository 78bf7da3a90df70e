package thread

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
)

func TestWatchedAreSpread(t *testing.T) {
	testenv.Equal(t, watched(nil), []int{-1}, "without a choice")
	testenv.Equal(t, watched([]int{2, 5}), []int{2, 5})
	var many []int
	for i := range 64 {
		many = append(many, i)
	}
	got := watched(many)
	testenv.Check(t, len(got) == maxCPUs && got[0] == 0 && got[len(got)-1] == 60, "of 64: %v", got)
}

func TestStallsAreAddedUp(t *testing.T) {
	m := &StallMeter{since: bench.Hiccups{CPUs: 2}}
	m.add(5 * time.Millisecond)
	m.add(2 * time.Millisecond)
	m.add(200 * time.Microsecond) // no stall
	h := m.Take()
	testenv.Check(t, h.Count == 2 && h.Sum == 7*time.Millisecond && h.Max == 5*time.Millisecond && h.CPUs != 0,
		"%+v", h)
	if h := m.Take(); h.Count != 0 || h.Sum != 0 || h.Max != 0 || h.CPUs == 0 {
		t.Errorf("taken a second time: %+v", h)
	}
}

// Every CPU has its thread, and all threads end.
func TestMeterStops(t *testing.T) {
	defer Tune(StallThreads()).Stop()
	m := WatchStalls(time.Millisecond)
	h := m.Take()
	testenv.Check(t, h.CPUs == len(watched(cpuset.OfThread())), "%d CPUs are watched", h.CPUs)
	m.Stop()
}
