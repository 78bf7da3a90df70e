package seed

import (
	"sync"
	"time"
)

// meter counts what is taken and reports it to the user four times a second.
type meter struct {
	started time.Time
	tell    func(Progress)
	stop    chan struct{}
	stopped sync.WaitGroup

	mu sync.Mutex
	p  Progress
}

const tick = 250 * time.Millisecond

func newMeter(tell func(Progress), plans []*plan) *meter {
	m := &meter{started: time.Now(), tell: tell, stop: make(chan struct{})}
	for _, p := range plans {
		m.p.Total += p.Count
	}
	if tell == nil {
		return m
	}
	m.stopped.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				tell(m.read())
			case <-m.stop:
				tell(m.read())
				return
			}
		}
	})
	return m
}

// close reports the last state, and nothing after it.
func (m *meter) close() {
	close(m.stop)
	m.stopped.Wait()
}

func (m *meter) read() Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.p
	p.Elapsed = time.Since(m.started)
	if p.Elapsed > 0 {
		p.PerSecond = float64(p.Done) / p.Elapsed.Seconds()
	}
	return p
}

// change changes what is reported.
func (m *meter) change(f func(*Progress)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.p)
}

func (m *meter) taken(docs, bytes int) {
	m.change(func(p *Progress) {
		p.Done += int64(docs)
		p.Bytes += int64(bytes)
	})
}
