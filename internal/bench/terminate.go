package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// KillTimeout is how long an instance may take to end after SIGKILL.
const KillTimeout = 10 * time.Second

// Terminate stops an instance with ask (SIGTERM). It calls kill (SIGKILL) after grace, as soon as
// Forced is closed, or at once if ask returns errors.ErrUnsupported. The instance closes exited
// when it has ended, and exit returns how.
func Terminate(
	ctx context.Context, grace time.Duration, exited <-chan struct{}, exit func() *Exit, ask, kill func() error,
) (r StopResult, err error) {
	select {
	case <-exited:
		return StopResult{ExitedBeforeStop: true, Exit: *exit()}, nil
	default:
	}
	asked := time.Now()
	if err := ask(); errors.Is(err, errors.ErrUnsupported) {
		grace = 0
	} else if err != nil {
		return r, err
	}
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case <-exited:
	case <-Forced(ctx):
		r.Killed, r.Forced = true, true
	case <-over.C:
		r.Killed = true
	}
	if r.Killed {
		if err := kill(); err != nil {
			return r, err
		}
		select {
		case <-exited:
		case <-time.After(KillTimeout):
			return r, fmt.Errorf("still running %v after SIGKILL", KillTimeout)
		}
	}
	r.Exit, r.Took = *exit(), time.Since(asked)
	// The end is reported late, after clean-up and the rest of the log; Exit.At is more precise.
	if d := r.Exit.At.Sub(asked); d > 0 && d < r.Took {
		r.Took = d
	}
	r.Graceful = !r.Killed && r.Exit.Code == 0
	return r, nil
}
