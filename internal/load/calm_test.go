package load

import (
	"runtime"
	"runtime/debug"
	"testing"
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

func TestPercentForHeadroom(t *testing.T) {
	for live, want := range map[uint64]int{0: 3200, 4 << 20: 800, 32 << 20: 100, 320 << 20: 10} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes live: %d %%, not %d", live, got, want)
		}
	}
}
