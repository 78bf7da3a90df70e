//go:build acceptance && timing

package thread

import (
	"runtime"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// The headroom does not grow with the heap: it is adjusted after each
// collection.
func TestSettingsFollowTheRealHeap(t *testing.T) {
	settings := Tune(0)
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
		testenv.Need(t, !time.Now().After(deadline), "%d%% with 64 MB alive", now())
	}
	runtime.KeepAlive(grown)
	grown = nil
	runtime.GC()
	for deadline := time.Now().Add(5 * time.Second); now() == 100; time.Sleep(time.Millisecond) {
		testenv.Need(t, !time.Now().After(deadline), "no more headroom with nothing alive")
		runtime.GC()
	}
}
