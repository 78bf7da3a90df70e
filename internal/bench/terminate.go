package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// KillTimeout is how long an instance may take to end after SIGKILL.
const KillTimeout = 10 * time.Second

// Stopping is an instance that is to be stopped.
type Stopping struct {
	Exited    <-chan struct{} // closed when it has ended
	Exit      func() *Exit    // how
	Ask, Kill func() error    // SIGTERM, or the signal that it wants; SIGKILL
}

// Terminate stops an instance by Ask. It calls Kill after grace, as soon as Forced is closed, or at
// once if Ask returns errors.ErrUnsupported.
func (s Stopping) Terminate(ctx context.Context, grace time.Duration) (r StopResult, err error) {
	select {
	case <-s.Exited:
		return StopResult{ExitedBeforeStop: true, Exit: *s.Exit()}, nil
	default:
	}
	asked := time.Now()
	if err := s.Ask(); errors.Is(err, errors.ErrUnsupported) {
		grace = 0
	} else if err != nil {
		return r, err
	}
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case <-s.Exited:
	case <-Forced(ctx):
		r.Killed, r.Forced = true, true
	case <-over.C:
		r.Killed = true
	}
	if r.Killed {
		if err := s.Kill(); err != nil {
			return r, err
		}
		select {
		case <-s.Exited:
		case <-time.After(KillTimeout):
			return r, fmt.Errorf("still running %v after SIGKILL", KillTimeout)
		}
	}
	r.Exit, r.Took = *s.Exit(), time.Since(asked)
	// The end is reported late, after clean-up and the rest of the log; Exit.At is more precise.
	if d := r.Exit.At.Sub(asked); d > 0 && d < r.Took {
		r.Took = d
	}
	r.Graceful = !r.Killed && r.Exit.Code == 0
	return r, nil
}
