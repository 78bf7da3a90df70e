package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// KillTimeout is how long an instance may take to end after SIGKILL.
const KillTimeout = 10 * time.Second

// Terminate ends an instance by ask (SIGTERM), and by kill (SIGKILL) after grace, or as soon as Forced
// says so, or at once where ask returns errors.ErrUnsupported. The instance closes exited at its end,
// and exit says how it ended.
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
	// An engine reports an end after it has cleaned up, and a process's log is read to its end first:
	// the recorded time of the end is nearer to the truth.
	if d := r.Exit.At.Sub(asked); d > 0 && d < r.Took {
		r.Took = d
	}
	r.Graceful = !r.Killed && r.Exit.Code == 0
	return r, nil
}
