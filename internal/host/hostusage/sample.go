package hostusage

import (
	"context"
	"fmt"
	"time"

	"locbench/internal/bench"
)

// readTimeout bounds one reading: a busy engine answers within some hundred milliseconds.
const readTimeout = 5 * time.Second

// ReadInstance reads the counters of an instance now. Where they come from (cgroup files, /proc, the
// engine) is the instance's affair; so is the running maximum behind a peak that the kernel does not keep.
func ReadInstance(ctx context.Context, inst bench.Instance) (*bench.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	u, err := inst.Usage(ctx)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return &u, nil
}

// BeginInstance reads the counters, and begins the step's high-water mark, where the kernel can do that.
func BeginInstance(ctx context.Context, inst bench.Instance) (*bench.Usage, error) {
	if s, ok := inst.(bench.Starter); ok {
		_ = s.BeginPeak() // where it fails, the readings have no such mark
	}
	return ReadInstance(ctx, inst)
}

// Sampler reads the counters regularly, in a goroutine that never holds up the load.
type Sampler struct {
	stop    context.CancelFunc
	done    chan struct{}
	samples []bench.Usage // these two are the goroutine's until it is done
	failed  int
}

// Sample reads inst's counters every interval, until Stop or until ctx ends. A reading that fails is
// left out; a slow one makes the next one late. onUsage, which may be nil, gets each reading.
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
			s.samples = append(s.samples, *u)
			if onUsage != nil {
				onUsage(*u)
			}
		}
	}()
	return s
}

// Stop ends the sampling and returns all readings, oldest first. It may be called again.
func (s *Sampler) Stop() []bench.Usage {
	s.stop()
	<-s.done
	return s.samples
}

// Failed returns the number of readings that failed, once it has been stopped.
func (s *Sampler) Failed() int { return s.failed }
