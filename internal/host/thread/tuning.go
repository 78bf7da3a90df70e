package thread

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Garbage is collected only when headroom has been allocated on top of the live heap. The client
// allocates little, so short steps have no collection. A collection can delay requests: a thread
// has to wait for a collector that scans it while the kernel lets that collector wait.
const (
	headroom    = 32 << 20
	mostGarbage = 800 // percent; at 100 percent the smallest heap that is collected has 4 MB
)

// spare is the number of extra threads for goroutines that have to run at once.
const spare = 2

// maxLoadThreads bounds the threads that drive load.
const maxLoadThreads = 8

// LoadThreads returns the number of threads that drive load: half of the CPUs, as the other half is
// for the contender.
func LoadThreads() int { return min(max(Cores()/2, 1), maxLoadThreads) }

// Tuning is the setting of the Go runtime while this process drives load: how often garbage is
// collected, and how many threads run Go code at the same time.
type Tuning struct {
	procs int           // GOMAXPROCS before Tune
	live  func() uint64 // bytes left by the last collection

	mu      sync.Mutex
	stopped bool
	before  int // garbage collection percentage before Tune
	now     int // current garbage collection percentage
}

// Tune sets the Go runtime of this process for driving load, until Stop. Call it once, before the
// first step. extra is the number of threads (GOMAXPROCS) that need to run Go code in addition to
// those of the load, such as those that nap. Without spare threads, a thread that the kernel runs
// at once could not run Go code: threads that the kernel lets wait may use up all of GOMAXPROCS,
// and so do the threads of the load, also while they wait for responses.
func Tune(extra int) *Tuning { return tune(extra, liveHeap) }

func tune(extra int, live func() uint64) *Tuning {
	s := &Tuning{procs: runtime.GOMAXPROCS(0), live: live}
	runtime.GOMAXPROCS(s.procs + extra + spare + LoadThreads())
	runtime.GC() // the garbage so far need not be collected later
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.now = debug.SetGCPercent(100), 100
	s.adjust()
	s.afterEachCollection()
	return s
}

// Stop restores the settings from before Tune.
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

// adjust sets the percentage that allows headroom on top of the heap left by the last collection.
// The caller holds the lock.
func (s *Tuning) adjust() {
	want := s.before // 0 or less: collections are off and stay off
	if want > 0 {
		want = max(want, min(mostGarbage, percentFor(s.live())))
	}
	if want != s.now {
		debug.SetGCPercent(want)
		s.now = want
	}
}

// afterEachCollection adjusts the percentage after every collection. Otherwise the headroom would
// grow with the live heap.
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

// percentFor returns by how many percent a heap of live bytes may grow to allow headroom.
func percentFor(live uint64) int { return int(100 * headroom / max(live, 1<<20)) }

// liveHeap returns the number of bytes left by the last collection.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return headroom
	}
	return s[0].Value.Uint64()
}
