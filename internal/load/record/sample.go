package record

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

// sample has the requests that a step keeps; nil: it keeps none.
type sample = stats.Sample[bench.KeptRequest]

// newSample returns the sample of a thread. The mix has the same seed, but other streams.
func newSample(s bench.Step, seed uint64, thread int) *sample {
	if s.KeepRequests <= 0 {
		return nil
	}
	return stats.NewSample[bench.KeptRequest](s.KeepRequests, seed, 0x6b65657000000000+uint64(thread))
}

// keep keeps an exchange, if the sample draws it.
func (c *Counters) keep(x *Exchange) {
	if rank, drawn := c.sample.Draw(); drawn {
		c.sample.Keep(rank, bench.KeptRequest{
			Request: c.names[x.Request], Start: time.Duration(x.Start) - x.Lag, Lag: x.Lag,
			Latency: time.Duration(x.End-x.Start) + x.Lag,
			Status:  x.Status, Error: x.Kind, Rejected: x.Rejected, Bytes: x.Bytes,
		})
	}
}

// later moves the start of a kept request.
func later(by time.Duration) func(*bench.KeptRequest) {
	return func(k *bench.KeptRequest) { k.Start += by }
}
