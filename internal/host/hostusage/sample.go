package hostusage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// readTimeout is the time limit of one reading: a busy engine needs some hundred milliseconds.
const readTimeout = 5 * time.Second

// ReadInstance reads the counters of an instance. The instance knows their source (cgroup files,
// /proc, the engine) and keeps the maximum for a peak that the kernel does not keep.
func ReadInstance(ctx context.Context, inst bench.Instance) (*bench.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	u, err := inst.Usage(ctx)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return &u, nil
}

// BeginInstance reads the counters and, if possible, resets the step's high-water mark.
func BeginInstance(ctx context.Context, inst bench.Instance) (*bench.Usage, error) {
	if s, ok := inst.(bench.Starter); ok {
		_ = s.BeginPeak() // if it fails, the readings have no mark of the step
	}
	return ReadInstance(ctx, inst)
}

// Sampler reads the counters regularly, in a goroutine that never delays the load.
type Sampler struct {
	stop    context.CancelFunc
	done    chan struct{}
	samples []bench.Usage // only the goroutine uses samples and failed until it is done
	failed  int
}

// Sample reads inst's counters every interval until Stop or the end of ctx. It leaves out a reading
// that fails; a slow one makes the next one late. onUsage, which may be nil, gets each reading.
func Sample(ctx context.Context, inst bench.Instance, interval time.Duration, onUsage func(bench.Usage)) *Sampler {
	ctx, cancel := context.WithCancel(ctx)
	s := &Sampler{stop: cancel, done: make(chan struct{})}
	ticker := time.NewTicker(interval)
	go func() {
		defer close(s.done)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-inst.Exited():
				return
			case <-ticker.C:
			}
			u, err := ReadInstance(ctx, inst)
			if err != nil {
				if ctx.Err() == nil {
					s.failed++
				}
				continue
			}
			u.ThreadCPU = nil // the ends of a step have it
			s.samples = append(s.samples, *u)
			if onUsage != nil {
				onUsage(*u)
			}
		}
	}()
	return s
}

// KeepPressure makes the kernel add up the waiting for disks of those that can (bench.Presser)
// regularly, until the end of ctx or until stop, which waits for the last time.
func KeepPressure(ctx context.Context, interval time.Duration, of ...any) (stop func()) {
	var all []bench.Presser
	for _, x := range of {
		if p, ok := x.(bench.Presser); ok && p.AddPressure() {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			for _, p := range all {
				p.AddPressure()
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// Stop ends the sampling and returns all readings, oldest first. It is idempotent.
func (s *Sampler) Stop() []bench.Usage {
	s.stop()
	<-s.done
	return s.samples
}

// Failed returns the number of failed readings. Call it after Stop.
func (s *Sampler) Failed() int { return s.failed }
