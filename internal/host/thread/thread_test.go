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
	naps := 0
	for until := time.Now().Add(20 * time.Millisecond); time.Now().Before(until); naps++ {
		nap(2 * time.Millisecond)
	}
	if naps > 100 { // a signal may end some naps early; without sleeping there would be thousands
		t.Errorf("%d naps of 2 ms in 20 ms", naps)
	}
}
