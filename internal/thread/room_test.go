package thread

import (
	"runtime"
	"testing"
)

// Room stays on top of what somebody else sets meanwhile, and goes with its end.
func TestRoomOnANewBase(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer func() {
		runtime.GOMAXPROCS(before)
		Rebase()
	}()
	end := Room(3)
	runtime.GOMAXPROCS(1)
	Rebase()
	if n := runtime.GOMAXPROCS(0); n != 1+3+spare {
		t.Errorf("%d places with room for three", n)
	}
	end()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("%d places after that", n)
	}
	runtime.GOMAXPROCS(before)
	Rebase()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d places, %d before", n, before)
	}
}
