// Package thread controls how this process is scheduled while it drives load. It gives goroutines
// that must wake up on time their own thread, which the system prefers (Own, Prefer), sets the Go
// runtime (Tune), and notices machine stalls (WatchStalls). It changes nothing that the system
// cannot do or does not permit.
package thread

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
)

// initialProcs is the Go runtime's initial GOMAXPROCS, which takes a cgroup's quota into account.
var initialProcs = runtime.GOMAXPROCS(0)

// Cores returns the number of CPUs on which this process may run, limited by a quota.
func Cores() int {
	if n := len(cpuset.OfThread()); n > 0 {
		return min(n, initialProcs)
	}
	return initialProcs
}

// Own gives the calling goroutine its own thread. If the system can do it, the thread wakes up from
// a sleep on time to the nanosecond instead of to 50 µs. The thread ends with the goroutine.
func Own() {
	runtime.LockOSThread()
	sharpen()
}

const (
	// LookEvery is how often one of the threads looks. A look takes some 20 µs of a CPU that has nothing
	// else to do. A stall is noticed if a look falls into it, so short ones are a sample.
	LookEvery = 20 * time.Millisecond

	stall   = time.Millisecond // a thread that wakes up this late counts
	maxCPUs = 16               // watched CPUs at most, spread over all CPUs
)

// StallMeter notices machine stalls: a hypervisor that runs other machines, a firmware interrupt, a
// frozen host. A thread on each CPU sleeps for a short time, again and again, and records how late
// it wakes up, like Gil Tene's jHiccup. Values measured during a stall say nothing about the
// contender, and a steal time of 0 does not rule out a stall. It is safe for concurrent use.
type StallMeter struct {
	mu      sync.Mutex
	since   bench.Hiccups
	cancel  context.CancelFunc
	threads sync.WaitGroup
}

// WatchStalls watches the CPUs that this process may use, at most 16, one after the other with a
// wake-up every interval. Pass StallThreads to Tune for its threads.
func WatchStalls(every time.Duration) *StallMeter {
	ctx, cancel := context.WithCancel(context.Background())
	cpus := watched(cpuset.OfThread())
	m := &StallMeter{cancel: cancel}
	m.since.CPUs = len(cpus)
	preferred := make(chan bool, len(cpus))
	for _, cpu := range cpus {
		m.threads.Go(func() { m.watch(ctx, cpu, every*time.Duration(len(cpus)), preferred) })
	}
	m.since.Realtime = true
	for range cpus {
		m.since.Realtime = <-preferred && m.since.Realtime
	}
	return m
}

// StallThreads returns how many more threads that run Go code a StallMeter needs; see Tune.
func StallThreads() int { return len(watched(cpuset.OfThread())) + spare }

// watched returns the CPUs to watch; -1 stands for any CPU, if CPUs cannot be chosen.
func watched(cpus []int) []int {
	if len(cpus) == 0 {
		return []int{-1}
	}
	if len(cpus) <= maxCPUs {
		return cpus
	}
	some := make([]int, maxCPUs)
	for i := range some {
		some[i] = cpus[i*len(cpus)/maxCPUs]
	}
	return some
}

func (m *StallMeter) watch(ctx context.Context, cpu int, every time.Duration, preferred chan<- bool) {
	Own()
	if cpu >= 0 {
		_ = cpuset.KeepThread(cpuset.Of(cpu))
	}
	preferred <- preferOverAll()
	var wait Wait
	for ctx.Err() == nil {
		// Only the nap itself depends on the kernel and the machine. Before and after it the Go
		// runtime may cause a delay, such as for collecting garbage.
		scheduled := time.Now().Add(every)
		wait.Sleep(every)
		m.add(time.Since(scheduled))
	}
}

func (m *StallMeter) add(late time.Duration) {
	if late < stall {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since.Count++
	m.since.Sum += late
	m.since.Max = max(m.since.Max, late)
}

// Take returns the stalls since the last call.
func (m *StallMeter) Take() bench.Hiccups {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.since
	m.since = bench.Hiccups{CPUs: h.CPUs, Realtime: h.Realtime}
	return h
}

// Stop ends the watching.
func (m *StallMeter) Stop() {
	m.cancel()
	m.threads.Wait()
}

// timerSlack is how late timers of the runtime may be. The rest of a nap is slept in the kernel.
const timerSlack = 3 * time.Millisecond

// Nap sleeps until a moment, more exactly than the runtime's timers where the system permits it.
// Use it from one goroutine, which must end after Close.
type Nap struct {
	timer *time.Timer
	sleep func(time.Duration) // for at most timerSlack
}

// NewNap returns a Nap that sleeps its rest with sleep; nil is the kernel's, on a thread with
// realtime priority.
func NewNap(sleep func(time.Duration)) *Nap {
	if sleep == nil {
		Own()
		Prefer()
		sleep = Sleep
	}
	return &Nap{time.NewTimer(0), sleep}
}

// Close frees its timer.
func (n *Nap) Close() { n.timer.Stop() }

// Until sleeps until t, or returns false when halted is closed.
func (n *Nap) Until(t time.Time, halted <-chan struct{}) bool {
	for {
		left := time.Until(t)
		select {
		case <-halted:
			return false
		default:
		}
		switch {
		case left <= 0:
			return true
		case left <= timerSlack:
			n.sleep(left)
		default:
			n.timer.Reset(left - timerSlack)
			select {
			case <-n.timer.C:
			case <-halted:
				return false
			}
		}
	}
}

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
