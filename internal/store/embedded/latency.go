package embedded

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// delays draws the injected latencies: log-normal with the given median and 99% quantile, roughly
// like the latencies of a store over a network. The n-th call of a server always gets the n-th
// value of its seed.
type delays struct {
	median time.Duration
	sigma  float64 // standard deviation of the logarithm; 0: constant
	seed   uint64
	calls  atomic.Uint64
}

const (
	z99  = 2.3263478740408408 // the 99% quantile of the standard normal distribution
	zMax = 4                  // limit; about one value in 30,000 would be above it
)

// newDelays returns none for a median of 0. A p99 below the median counts as it.
func newDelays(median, p99 time.Duration, seed uint64) *delays {
	if median <= 0 {
		return nil
	}
	d := &delays{median: median, seed: seed}
	if p99 > median {
		d.sigma = math.Log(float64(p99)/float64(median)) / z99
	}
	return d
}

func (d *delays) next() time.Duration {
	if d.sigma == 0 {
		return d.median
	}
	z := rand.New(rand.NewPCG(d.seed, d.calls.Add(1))).NormFloat64()
	z = max(-zMax, min(zMax, z))
	return time.Duration(float64(d.median) * math.Exp(d.sigma*z))
}

// wait sleeps for the next latency, or until ctx ends. Its timer needs no thread.
func (d *delays) wait(ctx context.Context) {
	if d == nil {
		return
	}
	select {
	case <-time.After(d.next()):
	case <-ctx.Done():
	}
}
