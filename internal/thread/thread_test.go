package thread

import (
	"runtime"
	"testing"
	"time"
)

func TestRoom(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	one := Room(3)
	if n := runtime.GOMAXPROCS(0); n != before+3+spare {
		t.Errorf("%d places with room for 3, %d before", n, before)
	}
	two := Room(0)
	one()
	one() // has no effect any more
	if n := runtime.GOMAXPROCS(0); n != before+spare {
		t.Errorf("%d places with room for none, %d before", n, before)
	}
	two()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d places afterwards, %d before", n, before)
	}
}

func TestCores(t *testing.T) {
	defer Room(5)()
	if n := Cores(); n < 1 || n > runtime.NumCPU() {
		t.Errorf("%d cores of %d CPUs", n, runtime.NumCPU())
	}
}

func TestNap(t *testing.T) {
	defer Room(1)()
	began := time.Now()
	for range 20 { // a signal may end any of them early
		Nap(2 * time.Millisecond)
	}
	if d := time.Since(began); d < 10*time.Millisecond {
		t.Errorf("20 naps of 2 ms took %v", d)
	}
}
