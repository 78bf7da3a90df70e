package thread

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
)

func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 5))
	n := Cores()
	testenv.Check(t, n >= 1 && n <= runtime.NumCPU(), "%d cores of %d CPUs", n, runtime.NumCPU())
}

func TestNap(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	naps, wait := 0, Wait{}
	for until := time.Now().Add(20 * time.Millisecond); time.Now().Before(until); naps++ {
		wait.Sleep(2 * time.Millisecond)
	}
	if naps > 100 { // a signal may end some naps early; without sleeping there would be thousands
		t.Errorf("%d naps of 2 ms in 20 ms", naps)
	}
}

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
	h = m.Take()
	testenv.Check(t, h.Count == 0 && h.Sum == 0 && h.Max == 0 && h.CPUs != 0, "taken a second time: %+v", h)
}

// Every CPU has its thread, and all threads end.
func TestMeterStops(t *testing.T) {
	defer Tune(StallThreads()).Stop()
	m := WatchStalls(time.Millisecond)
	h := m.Take()
	testenv.Check(t, h.CPUs == len(watched(cpuset.OfThread())), "%d CPUs are watched", h.CPUs)
	m.Stop()
}

func TestSettingsAreTakenBack(t *testing.T) {
	percent, procs := debug.SetGCPercent(100), runtime.GOMAXPROCS(0)
	defer debug.SetGCPercent(percent)
	settings := Tune(3)
	p := debug.SetGCPercent(100)
	testenv.Check(t, p >= 100 && p <= mostGarbage, "%d%% while load is driven", p)
	testenv.Equal(t, runtime.GOMAXPROCS(0), procs+3+spare+LoadThreads(), procs)
	settings.Stop()
	p, n := debug.SetGCPercent(100), runtime.GOMAXPROCS(0)
	testenv.Check(t, p == 100 && n == procs, "afterwards %d%%, %d procs; before 100%%, %d", p, n, procs)
	runtime.GOMAXPROCS(procs + 1)
	settings.Stop() // no longer has an effect
	testenv.Equal(t, runtime.GOMAXPROCS(procs), procs+1, "stopped twice")

	debug.SetGCPercent(-1) // collections that are off stay off
	Tune(0).Stop()
	testenv.Equal(t, debug.SetGCPercent(-1), -1, "collections were switched on")
}

// The headroom does not grow with the heap: it is adjusted after each
// collection.
func TestSettingsFollowTheHeap(t *testing.T) {
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	var live atomic.Uint64
	settings := tune(0, live.Load)
	defer settings.Stop()
	for _, test := range []struct {
		live uint64
		want int
	}{{64 << 20, 100}, {8 << 20, 400}, {32 << 20, 100}, {0, mostGarbage}} {
		live.Store(test.live)
		runtime.GC()
		testenv.Until(t, 30*time.Second, fmt.Sprintf("%d%% with %d bytes alive", test.want, test.live), func() bool {
			settings.mu.Lock()
			defer settings.mu.Unlock()
			return settings.now == test.want
		})
		testenv.Equal(t, debug.SetGCPercent(test.want), test.want, test.live)
	}
}

func TestPercentForHeadroom(t *testing.T) {
	for live, want := range map[uint64]int{0: 3200, 4 << 20: 800, 32 << 20: 100, 320 << 20: 10} {
		testenv.Equal(t, percentFor(live), want, live)
	}
}
