package thread

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestSettingsAreTakenBack(t *testing.T) {
	percent, procs := debug.SetGCPercent(100), runtime.GOMAXPROCS(0)
	defer debug.SetGCPercent(percent)
	settings := Tune(3)
	p := debug.SetGCPercent(100)
	testenv.Check(t, p >= 100 && p <= mostGarbage, "%d%% while load is driven", p)
	testenv.Equal(t, runtime.GOMAXPROCS(0), procs+3+spare+LoadThreads(), procs)
	settings.Stop()
	if p, n := debug.SetGCPercent(100), runtime.GOMAXPROCS(0); p != 100 || n != procs {
		t.Errorf("afterwards %d%%, %d procs; before 100%%, %d", p, n, procs)
	}
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
