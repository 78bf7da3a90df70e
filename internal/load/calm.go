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
	calming
}

type calming struct {
	steps   int
	percent int // as it was before
	now     int
	watched bool // somebody waits for the next collection
	room    func()
}

// adjust leaves the headroom beside what the last collection has left. The caller holds the lock.
func (c *calming) adjust() {
	want := c.percent // nobody who wants none gets collections
	if want > 0 {
		want = max(want, min(mostGarbage, percentFor(liveHeap())))
	}
	if want != c.now {
		debug.SetGCPercent(want)
		c.now = want
	}
}

// afterEachCollection adjusts the headroom as soon as a collection has found another size of the heap, for as long as any step runs: a share of
// what is alive, it would grow with it.
func afterEachCollection() {
	beacon := new([4]uintptr)
	runtime.AddCleanup(beacon, func(struct{}) {
		calm.Lock()
		defer calm.Unlock()
		if calm.watched = calm.steps > 0; calm.watched {
			calm.adjust()
			afterEachCollection()
		}
	}, struct{}{})
}

// calmDown begins it; end ends it.
func calmDown() (end func()) {
	calm.Lock()
	defer calm.Unlock()
	if calm.steps == 0 {
		runtime.GC() // what is garbage by now need not be collected later
		calm.room = thread.Room(0)
		calm.percent = debug.SetGCPercent(100)
		calm.now = 100
		calm.adjust()
		if !calm.watched {
			calm.watched = true
			afterEachCollection()
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
