package thread

import (
	"runtime"
	"testing"
	"time"
)

func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 5))
	if n := Cores(); n < 1 || n > runtime.NumCPU() {
		t.Errorf("%d cores of %d CPUs", n, runtime.NumCPU())
	}
}

func TestNap(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
	began := time.Now()
	for range 20 { // a signal may end any of them early
		Nap(2 * time.Millisecond)
	}
	if d := time.Since(began); d < 10*time.Millisecond {
		t.Errorf("20 naps of 2 ms took %v", d)
	}
}
