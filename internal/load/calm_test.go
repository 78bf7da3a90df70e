package load

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestCalmIsTakenBack(t *testing.T) {
	percent, procs := debug.SetGCPercent(100), runtime.GOMAXPROCS(0)
	defer debug.SetGCPercent(percent)
	one, two := calmDown(), calmDown()
	if p := debug.SetGCPercent(100); p < 100 || p > mostGarbage {
		t.Errorf("%d %% while a step runs", p)
	}
	one()
	if n := runtime.GOMAXPROCS(0); n <= procs {
		t.Errorf("%d places while a step runs, %d before", n, procs)
	}
	two()
	if p, n := debug.SetGCPercent(100), runtime.GOMAXPROCS(0); p != 100 || n != procs {
		t.Errorf("afterwards %d %%, %d places; before 100 %%, %d", p, n, procs)
	}

	debug.SetGCPercent(-1) // who wants no collections gets none
	calmDown()()
	if p := debug.SetGCPercent(-1); p != -1 {
		t.Errorf("collections were switched on: %d %%", p)
	}
}

// A heap that grows during a step does not take a share of its size on top: it is looked at after each collection.
func TestCalmFollowsTheHeap(t *testing.T) {
	defer calmDown()()
	now := func() int {
		calm.Lock()
		defer calm.Unlock()
		return calm.now
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
