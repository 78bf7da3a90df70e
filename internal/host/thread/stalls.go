package thread

import (
	"context"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
)

const (
	// LookEvery is how long the threads sleep: 250 looks per second cost some thousandths of a CPU.
	LookEvery = 4 * time.Millisecond

	stall   = time.Millisecond // how late a thread has to be for it to count
	maxCPUs = 16               // that are watched, spread over those that there are
)

// StallMeter notices when the machine itself stands still: a hypervisor that runs others, a firmware
// interrupt, a frozen host. A thread on each CPU sleeps for a little while, again and again, and keeps
// how much later than asked it ran. It is the idea of Gil Tene's jHiccup. What a step measured while its
// machine stood still says nothing about the contender, and a steal time of 0 does not say that it did
// not. The methods may be called from any goroutine.
type StallMeter struct {
	mu      sync.Mutex
	since   bench.Hiccups
	cancel  context.CancelFunc
	threads sync.WaitGroup
}

// WatchStalls watches every CPU that this process may use, sixteen at most, with looks every so often.
// Its threads need StallThreads of Tune.
func WatchStalls(every time.Duration) *StallMeter {
	ctx, cancel := context.WithCancel(context.Background())
	cpus := watched(cpuset.OfThread())
	m := &StallMeter{cancel: cancel}
	m.since.CPUs = len(cpus)
	preferred := make(chan bool, len(cpus))
	for _, cpu := range cpus {
		m.threads.Go(func() { m.watch(ctx, cpu, every, preferred) })
	}
	m.since.Realtime = true
	for range cpus {
		m.since.Realtime = <-preferred && m.since.Realtime
	}
	return m
}

// StallThreads returns how many more threads to run Go code a StallMeter needs; see Tune.
func StallThreads() int { return len(watched(cpuset.OfThread())) + spare }

// watched returns the CPUs to watch: -1 stands for any, where they cannot be chosen.
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
	for ctx.Err() == nil {
		// Only the nap itself is the kernel's and the machine's doing. Before and after it the Go
		// runtime may take its time, such as to collect garbage.
		due := time.Now().Add(every)
		nap(every)
		m.add(time.Since(due))
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

// Take returns what has happened since it was last called.
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
