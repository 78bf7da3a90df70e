package thread

import (
	"context"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
)

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
