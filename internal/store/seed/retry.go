package seed

import (
	"context"
	"math/rand/v2"
	"time"
)

// Retry says how often and how patiently a call is repeated that was turned away for the moment (a
// full queue, a server that starts), or got no answer. Before try n the pause is between half and
// all of Base·2ⁿ⁻¹, at most Max.
type Retry struct {
	Tries int // in a row without a single document taken
	Base  time.Duration
	Max   time.Duration
}

// DefaultRetry gives up after some 40 seconds without progress: a restart may take as long.
func DefaultRetry() Retry { return Retry{12, 100 * time.Millisecond, 10 * time.Second} }

func (r Retry) pause(try int) time.Duration {
	d := r.Max
	if try < 32 {
		d = min(r.Base<<(try-1), r.Max)
	}
	return d/2 + time.Duration(rand.Int64N(int64(d/2)+1))
}

// Bounds of patience, besides those of Retry.
const (
	doubtfulTries = 5               // where an answer leaves open whether another try helps
	patience      = time.Minute     // without a document taken: a try may take long to be turned away
	maxSilent     = 2               // tries of a bulk request without an answer: each takes minutes
	afterRejected = 5 * time.Second // after the first rejected document: more are listed, if they come soon
)

// tries is how often a call is made after err.
func (r Retry) tries(err error) int {
	switch outlookAfter(err) {
	case passing:
		return r.Tries
	case doubtful:
		return min(r.Tries, doubtfulTries)
	}
	return 1
}

// wait waits before the next try.
func (r Retry) wait(ctx context.Context, try int) error {
	select {
	case <-time.After(r.pause(try)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// repeat makes a call of which it does not matter how often it is made, until it succeeds or its
// error would stay. It returns the call's last error.
func (r Retry) repeat(ctx context.Context, call func() error) error {
	for try := 1; ; try++ {
		err := explain(call())
		if err == nil || isSilence(err) || ctx.Err() != nil || outlookAfter(err) != passing || try >= r.Tries {
			return err
		}
		if r.wait(ctx, try) != nil {
			return err
		}
	}
}
