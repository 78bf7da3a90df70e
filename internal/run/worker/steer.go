package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/text/console"
)

// CanSteer reports whether Send has an effect: a run that is only watched takes no controls.
func (s *Session) CanSteer() bool { return s.child != nil }

// Send sends c to the run and never waits. Events of the run show the effect.
func (s *Session) Send(c bench.Control) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if s.child == nil {
		return errors.New("watching only: start the run here to control it")
	}
	if s.hasExited() {
		return errors.New("the run has ended")
	}
	select {
	case s.send <- c:
		return nil
	default:
		return errors.New("the run is not responding to controls")
	}
}

// Next waits for the next events; ok is false after the last.
func (s *Session) Next() (batch []bench.Record, ok bool) {
	batch, ok = <-s.batches
	return batch, ok
}

// Wait returns the exit code and the last lines of standard error once the run has ended, or the
// watching of a run that is only watched. The lines may hold any text.
func (s *Session) Wait() (code int, stderr string) {
	<-s.exited
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.tail.Lines() {
		stderr += l.Text + "\n"
	}
	return s.code, stderr + s.message
}

// Detach lets the run that this session started continue without it, also when this process ends.
// Close and End have no effect on it afterwards.
func (s *Session) Detach() error {
	if s.child == nil || s.Dir() == "" {
		return errors.New("the run has not begun here")
	}
	reply := make(chan error)
	select {
	case s.letGo <- reply:
	case <-s.exited:
		return errors.New("the run has ended")
	}
	if err := <-reply; err != nil {
		return fmt.Errorf("let the run continue: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	return nil
}

// Detached reports whether the run continues without this session.
func (s *Session) Detached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// Process returns the process ID of the run that this session started, else 0.
func (s *Session) Process() int {
	if c, ok := s.child.(started); ok {
		return c.cmd.Process.Pid
	}
	return 0
}

// Stop ends the run gracefully, as the signal sig would. A second call forces the end; a third
// kills the process, and "locbench clean" removes what remains. A SIGHUP, the end of a terminal,
// never counts as a second call. If the run is only watched, it continues and the watching ends.
func (s *Session) Stop(sig os.Signal) {
	if s.child == nil {
		s.stop(errors.New("watching has ended"))
		return
	}
	s.mu.Lock()
	if sig == syscall.SIGHUP && s.stops > 0 {
		s.mu.Unlock()
		return
	}
	s.stops++
	n := s.stops
	s.mu.Unlock()
	if s.hasExited() {
		return
	}
	switch n {
	case 1:
		if err := s.child.Signal(sig); err != nil {
			_ = s.Send(bench.Control{Kind: bench.ControlAbort}) // on systems without signals
		}
	case 2:
		if err := s.child.Signal(sig); err != nil {
			s.child.Kill()
		}
		go func() { // kills a worker whose forced end takes too long
			select {
			case <-s.exited:
			case <-time.After(console.ForceWithin + sessionPipes):
				s.child.Kill()
			}
		}()
	default:
		s.child.Kill()
	}
}

// Close ends the session and its goroutines. A run that the session started ends gracefully, and
// its results are removed if nothing ran. A watched run continues; so does a detached one, whose
// goroutines end with this process.
func (s *Session) Close() {
	if s.Detached() {
		return
	}
	s.stop(ErrScreenGone)
	<-s.done
	if dir := s.Dir(); s.child != nil && dir != "" {
		if run, trials, err := results.Read(dir); err == nil && results.NothingRan(run, trials) {
			_ = results.Discard(dir, run) // the list of results shows what could not be removed
		}
	}
}

// End ends a run whose screen is gone, with the signal that canceled ctx, and waits for it. A run
// that is already stopping or has reported its end is only waited for.
func (s *Session) End(ctx context.Context) (code int, stderr string) {
	sig := os.Signal(syscall.SIGTERM)
	if interrupted, ok := errors.AsType[console.Signal](context.Cause(ctx)); ok {
		sig = interrupted.Signal
	}
	s.mu.Lock()
	ending := s.ReportedEnd() || s.stops > 0
	s.mu.Unlock()
	if !ending {
		s.Stop(sig)
	}
	select {
	case <-s.exited:
	case <-bench.Forced(ctx):
		s.Stop(sig)
	}
	return s.Wait()
}
