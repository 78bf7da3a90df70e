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
	"locbench/internal/thread"
)

const (
	// Nap is how long the threads sleep where nothing else is asked for: 250 looks per second and
	// CPU cost some thousandths of it.
	Nap = 4 * time.Millisecond

	stall   = time.Millisecond // how late a thread has to be for it to count
	maxCPUs = 16               // that are watched, spread over those that there are
)

// Meter watches. Its methods may be called from any goroutine.
type Meter struct {
	mu      sync.Mutex
	since   bench.Hiccups
	gaps    []Gap
	keep    bool
	cancel  context.CancelFunc
	threads sync.WaitGroup
}

// Gap is one time for which a CPU did not run the thread that was due on it.
type Gap struct {
	CPU    int
	At     time.Time // when it was due
	Length time.Duration
}

// Start watches every CPU that this process may use, sixteen at most, with looks nap apart. Its
// threads need places to run; see Places.
func Start(nap time.Duration) *Meter { return start(nap, false) }

// StartKept is Start for those who want to have the single gaps, of which it keeps the last
// thousands.
func StartKept(nap time.Duration) *Meter { return start(nap, true) }

func start(nap time.Duration, keep bool) *Meter {
	ctx, cancel := context.WithCancel(context.Background())
	cpus := watched(thread.CPUs())
	m := &Meter{cancel: cancel, keep: keep}
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

// Places is how many more places to run Go code (GOMAXPROCS) a Meter needs: its threads keep theirs
// while they sleep. The process that uses one gives them; see goruntime.Start.
func Places() int { return len(watched(thread.CPUs())) + spare }

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
		thread.Pin(cpu)
	}
	preferred <- thread.Watch()
	for ctx.Err() == nil {
		// Only the nap itself is the kernel's and the machine's doing. Before and after it the Go
		// runtime may take its time, such as to collect garbage.
		due := time.Now().Add(nap)
		thread.Nap(nap)
		if late := time.Since(due); late >= min(stall, nap) {
			m.add(Gap{CPU: cpu, At: due, Length: late})
		}
	}
}

const maxGaps = 1 << 14

func (m *Meter) add(g Gap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keep {
		if len(m.gaps) == maxGaps {
			m.gaps = m.gaps[:copy(m.gaps, m.gaps[maxGaps/2:])]
		}
		m.gaps = append(m.gaps, g)
	}
	if g.Length < stall {
		return
	}
	m.since.Count++
	m.since.Sum += g.Length
	m.since.Max = max(m.since.Max, g.Length)
}

// Take is what has happened since it was last called.
func (m *Meter) Take() bench.Hiccups {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.since
	m.since = bench.Hiccups{CPUs: h.CPUs, Preferred: h.Preferred}
	return h
}

// Gaps are the single ones since it was last called, also those shorter than a millisecond if the
// naps are shorter.
func (m *Meter) Gaps() []Gap {
	m.mu.Lock()
	defer m.mu.Unlock()
	gaps := m.gaps
	m.gaps = nil
	return gaps
}

// Stop ends the watching.
func (m *Meter) Stop() {
	m.cancel()
	m.threads.Wait()
}
