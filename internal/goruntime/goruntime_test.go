package goruntime

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestSettingsAreTakenBack(t *testing.T) {
	percent, places := debug.SetGCPercent(100), runtime.GOMAXPROCS(0)
	defer debug.SetGCPercent(percent)
	settings := Start(3)
	if p := debug.SetGCPercent(100); p < 100 || p > mostGarbage {
		t.Errorf("%d %% while load is driven", p)
	}
	if n := runtime.GOMAXPROCS(0); n != places+3+spare {
		t.Errorf("%d places with room for three others, %d before", n, places)
	}
	settings.Stop()
	if p, n := debug.SetGCPercent(100), runtime.GOMAXPROCS(0); p != 100 || n != places {
		t.Errorf("afterwards %d %%, %d places; before 100 %%, %d", p, n, places)
	}
	runtime.GOMAXPROCS(places + 1)
	settings.Stop() // has no effect any more
	if n := runtime.GOMAXPROCS(places); n != places+1 {
		t.Errorf("stopped twice: %d places", n)
	}

	debug.SetGCPercent(-1) // who wants no collections gets none
	Start(0).Stop()
	if p := debug.SetGCPercent(-1); p != -1 {
		t.Errorf("collections were switched on: %d %%", p)
	}
}

// A heap that grows meanwhile does not take a share of its size on top: it is looked at after each
// collection.
func TestSettingsFollowTheHeap(t *testing.T) {
	settings := Start(0)
	defer settings.Stop()
	now := func() int {
		settings.mu.Lock()
		defer settings.mu.Unlock()
		return settings.now
	}
	runtime.GC()
	grown := make([]byte, 64<<20)
	runtime.GC()
	for deadline := time.Now().Add(5 * time.Second); now() != 100; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d %% with 64 MB alive", now())
		}
	}
	runtime.KeepAlive(grown)
	grown = nil
	runtime.GC()
	for deadline := time.Now().Add(5 * time.Second); now() == 100; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no more headroom with nothing alive")
		}
		runtime.GC()
	}
}

func TestPercentForHeadroom(t *testing.T) {
	for live, want := range map[uint64]int{0: 3200, 4 << 20: 800, 32 << 20: 100, 320 << 20: 10} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes live: %d %%, not %d", live, got, want)
		}
	}
}
