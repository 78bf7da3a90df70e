package load

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"

	"locbench/internal/thread"
)

// While a step is measured garbage is collected less often: only when so much has been allocated since. The client itself allocates little, so that short
// steps have no collection at all; a thread that is to send a request on time, and happens to be looked at by a collector that the kernel lets
// wait, would wait with it.
const (
	headroom    = 32 << 20
	mostGarbage = 800 // per cent; the smallest heap that is collected is 4 MB at 100 per cent
)

// calm makes room for the threads of the loop for as long as any step runs.
var calm struct {
	sync.Mutex
	steps   int
	percent int
	room    func()
}

// calmDown begins it; end ends it.
func calmDown() (end func()) {
	calm.Lock()
	defer calm.Unlock()
	if calm.steps == 0 {
		runtime.GC() // what is garbage by now need not be collected later
		calm.room = thread.Room(0)
		calm.percent = debug.SetGCPercent(100)
		if calm.percent > 0 {
			debug.SetGCPercent(max(calm.percent, min(mostGarbage, percentFor(liveHeap()))))
		} else {
			debug.SetGCPercent(calm.percent)
		}
	}
	calm.steps++
	return sync.OnceFunc(func() {
		calm.Lock()
		defer calm.Unlock()
		if calm.steps--; calm.steps == 0 {
			debug.SetGCPercent(calm.percent)
			calm.room()
		}
	})
}

// percentFor is how much a heap of so many bytes may grow by, in per cent, for headroom to be left.
func percentFor(live uint64) int { return int(100 * headroom / max(live, 1<<20)) }

// liveHeap is how many bytes the last collection has left.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return headroom
	}
	return s[0].Value.Uint64()
}
