package thread

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Garbage is collected only when headroom has been allocated besides what is alive. The client
// itself allocates little, so short steps have no collection at all; a thread that is to send
// a request on time, and happens to be looked at by a collector that the kernel lets wait, would
// wait with it.
const (
	headroom    = 32 << 20
	mostGarbage = 800 // per cent; the smallest heap that is collected is 4 MB at 100 per cent
)

// spare is for how many goroutines that have to run at once there is room besides all others.
const spare = 2

// Tuning is how the Go runtime of this process is set while it drives load: how often garbage is
// collected, and how many threads run Go code at the same time.
type Tuning struct {
	procs int           // GOMAXPROCS before
	live  func() uint64 // bytes that the last collection has left

	mu      sync.Mutex
	stopped bool
	before  int // garbage collection percentage,
	now     int // and the one that is set
}

// Tune sets the runtime of this whole process for driving load, until Stop: call it once, before the
// first step. extra is how many threads (GOMAXPROCS) need to run Go code besides those of the load, such
// as those that keep their right to while they sleep. Without the spare ones a thread that the kernel
// lets run at once would wait for the Go scheduler's leave: threads that the kernel lets wait may hold
// all that there is.
func Tune(extra int) *Tuning { return tune(extra, liveHeap) }

func tune(extra int, live func() uint64) *Tuning {
	s := &Tuning{procs: runtime.GOMAXPROCS(0), live: live}
	runtime.GOMAXPROCS(s.procs + extra + spare)
	runtime.GC() // what is garbage by now need not be collected later
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.now = debug.SetGCPercent(100), 100
	s.adjust()
	s.afterEachCollection()
	return s
}

// Stop gives the runtime back what was set before.
func (s *Tuning) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.stopped = true
	debug.SetGCPercent(s.before)
	runtime.GOMAXPROCS(s.procs)
}

// adjust leaves the headroom besides what the last collection has left. The caller holds the lock.
func (s *Tuning) adjust() {
	want := s.before // nobody who wants none gets collections
	if want > 0 {
		want = max(want, min(mostGarbage, percentFor(s.live())))
	}
	if want != s.now {
		debug.SetGCPercent(want)
		s.now = want
	}
}

// afterEachCollection adjusts the headroom as soon as a collection has found another size of the
// heap: a share of what is alive, it would grow with it.
func (s *Tuning) afterEachCollection() {
	beacon := new([4]uintptr)
	runtime.AddCleanup(beacon, func(s *Tuning) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.stopped {
			s.adjust()
			s.afterEachCollection()
		}
	}, s)
}

// percentFor returns how much a heap of so many bytes may grow by, in per cent, for headroom to be left.
func percentFor(live uint64) int { return int(100 * headroom / max(live, 1<<20)) }

// liveHeap returns how many bytes the last collection has left.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return headroom
	}
	return s[0].Value.Uint64()
}
