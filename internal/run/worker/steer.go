package worker

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"locbench/internal/bench"
	"locbench/internal/results"
	"locbench/internal/text/console"
)

// CanSteer reports whether Send does anything: not with a run that is only watched.
func (s *Session) CanSteer() bool { return s.child != nil }

// Send asks c of the run. It never waits. What the run makes of it is shown by its events.
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

// Next waits for the next events. ok is false when there will be none any more.
func (s *Session) Next() (batch []bench.Record, ok bool) {
	batch, ok = <-s.batches
	return batch, ok
}

// Wait returns when the run has ended (or, if it is only watched, when watching has), with its exit
// code and the last lines that it wrote to standard error, which may hold anything.
func (s *Session) Wait() (code int, stderr string) {
	<-s.exited
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.said.Lines() {
		stderr += l.Text + "\n"
	}
	return s.code, stderr + s.word
}

// Stop ends the run in order, as the signal sig would. A second call ends it by force, a third
// kills it: then "locbench clean" removes what is left. A SIGHUP, the end of a terminal, hurries
// nothing. A run that is only watched continues; the watching ends.
func (s *Session) Stop(sig os.Signal) {
	if s.child == nil {
		s.stop(errors.New("not watched any more"))
		return
	}
	s.mu.Lock()
	if sig == syscall.SIGHUP && s.asked > 0 {
		s.mu.Unlock()
		return
	}
	s.asked++
	asked := s.asked
	s.mu.Unlock()
	if s.hasExited() {
		return
	}
	switch asked {
	case 1:
		if err := s.child.Signal(sig); err != nil {
			_ = s.Send(bench.Control{Kind: bench.ControlAbort}) // where there are no signals
		}
	case 2:
		if err := s.child.Signal(sig); err != nil {
			s.child.Kill()
		}
		go func() { // it ought to end by force now
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

// Close lets go of the run: one's own ends in order, as if the screen were gone, a watched one
// continues. It returns when nothing of the session is left; of one's own run in which nothing ran no
// results are, either.
func (s *Session) Close() {
	s.stop(ErrScreenGone)
	<-s.done
	if dir := s.Dir(); s.child != nil && dir != "" {
		if run, trials, err := results.Read(dir); err == nil && results.NothingRan(run, trials) {
			_ = results.Discard(dir, run) // what is left of it is reported when results are listed
		}
	}
}

// End ends a run whose screen is gone, for the reason for which ctx has ended. One that stops
// already, or has reported its end and writes its reports, is only waited for.
func (s *Session) End(ctx context.Context) (code int, stderr string) {
	sig := os.Signal(syscall.SIGTERM)
	if interrupted, ok := errors.AsType[console.Signal](context.Cause(ctx)); ok {
		sig = interrupted.Signal
	}
	s.mu.Lock()
	stops := s.ReportedEnd() || s.asked > 0
	s.mu.Unlock()
	if !stops {
		s.Stop(sig)
	}
	select {
	case <-s.exited:
	case <-bench.Forced(ctx):
		s.Stop(sig)
	}
	return s.Wait()
}
