// Package hiccup notices when the machine itself stands still: a hypervisor that runs others, a
// firmware interrupt, a frozen host. A thread on each CPU sleeps for a little while, again and
// again, and keeps how much later than asked it ran. It is the idea of Gil Tene's jHiccup. What a
// step measured while its machine stood still says nothing about the contender, and a steal time of
// 0 does not say that it did not.
package hiccup

import (
	"context"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/cpuset"
	"locbench/internal/thread"
)

const (
	// Nap is how long the threads sleep: 250 looks per second cost some thousandths of a CPU.
	Nap = 4 * time.Millisecond

	stall   = time.Millisecond // how late a thread has to be for it to count
	maxCPUs = 16               // that are watched, spread over those that there are
)

// Meter watches. Its methods may be called from any goroutine.
type Meter struct {
	mu      sync.Mutex
	since   bench.Hiccups
	cancel  context.CancelFunc
	threads sync.WaitGroup
}

// Start watches every CPU that this process may use, sixteen at most, with looks nap apart. Its
// threads need places to run; see Places.
func Start(nap time.Duration) *Meter {
	ctx, cancel := context.WithCancel(context.Background())
	cpus := watched(cpuset.OfThread())
	m := &Meter{cancel: cancel}
	m.since.CPUs = len(cpus)
	preferred := make(chan bool, len(cpus))
	for _, cpu := range cpus {
		m.threads.Go(func() { m.watch(ctx, cpu, nap, preferred) })
	}
	m.since.Preferred = true
	for range cpus {
		m.since.Preferred = <-preferred && m.since.Preferred
	}
	return m
}

// spare is for how many goroutines that have to go on at once there is room beside the threads.
const spare = 2

// Places is how many more places to run Go code (GOMAXPROCS) a Meter needs; see goruntime.Start.
func Places() int { return len(watched(cpuset.OfThread())) + spare }

// watched are the CPUs to watch: -1 stands for any, where they cannot be chosen.
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

func (m *Meter) watch(ctx context.Context, cpu int, nap time.Duration, preferred chan<- bool) {
	thread.Own()
	if cpu >= 0 {
		_ = cpuset.KeepThread(cpuset.Of(cpu))
	}
	preferred <- thread.Watch()
	for ctx.Err() == nil {
		// Only the nap itself is the kernel's and the machine's doing. Before and after it the Go
		// runtime may take its time, such as to collect garbage.
		due := time.Now().Add(nap)
		thread.Nap(nap)
		m.add(time.Since(due))
	}
}

func (m *Meter) add(late time.Duration) {
	if late < stall {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since.Count++
	m.since.Sum += late
	m.since.Max = max(m.since.Max, late)
}

// Take is what has happened since it was last called.
func (m *Meter) Take() bench.Hiccups {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.since
	m.since = bench.Hiccups{CPUs: h.CPUs, Preferred: h.Preferred}
	return h
}

// Stop ends the watching.
func (m *Meter) Stop() {
	m.cancel()
	m.threads.Wait()
}
