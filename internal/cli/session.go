package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"locbench/internal/bench"
	"locbench/internal/exit"
	"locbench/internal/results"
)

const (
	sessionQueue = 64              // controls that wait to be written
	sessionTalk  = 16 << 10        // bytes of what a worker wrote to standard error last
	sessionPipes = 3 * time.Second // for somebody else who holds a dead worker's pipes
)

// session is a run that a screen watches, and steers if it is its own. Its events are read from the results folder; its methods
// may be called from any goroutine.
type session struct {
	cmd     *exec.Cmd // nil when only watching
	began   time.Time
	dirs    firstLine
	talk    lastBytes
	batches chan []bench.Record
	send    chan bench.Control
	exited  chan struct{} // closed after code is set
	done    chan struct{} // closed when nothing of it runs any more
	stop    context.CancelCauseFunc

	mu    sync.Mutex
	code  int
	word  string // what there is to say of the end besides the worker's own talk
	asked int    // times that Stop was called
	over  bool   // the run has told its end: only its reports are still to be written
}

// startSession starts a worker: locbench run with args, which are those behind "run". binary is the locbench to start; "" means
// this one.
func startSession(binary string, args []string) (*session, error) {
	if binary == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the running binary: %w", err)
		}
		binary = self
	}
	s := newSession()
	s.cmd = exec.Command(binary, slices.Concat([]string{"run", controlledFlag}, args)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.dirs, &s.talk
	s.cmd.WaitDelay = sessionPipes
	ownGroup(s.cmd)
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the run: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the run: %w", err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s.stop = stop
	var wg sync.WaitGroup
	wg.Go(func() { s.await(s.cmd.Wait()) })
	wg.Go(func() {
		defer in.Close()
		for {
			select {
			case c := <-s.send:
				if line, err := json.Marshal(c); err == nil {
					_, _ = in.Write(append(line, '\n')) // a worker that is gone is told of by its exit
				}
			case <-s.exited:
				return
			case <-ctx.Done():
				return // it sees the end of its standard input, and ends
			}
		}
	})
	wg.Go(func() {
		select {
		case <-s.dirs.there:
			s.follow(ctx, s.dirs.dir())
		case <-s.exited:
			if dir := s.dirs.dir(); dir != "" {
				s.follow(ctx, dir)
			}
		}
		close(s.batches)
	})
	go func() {
		defer close(s.done)
		wg.Wait()
		stop(nil)
	}()
	return s, nil
}

// watchSession watches the run in dir, in progress or finished, from its beginning to its end. Nothing is asked of it.
func watchSession(dir string) *session {
	s := newSession()
	s.dirs.set(dir)
	ctx, stop := context.WithCancelCause(context.Background())
	s.stop = stop
	go func() {
		defer close(s.done)
		defer stop(nil)
		err := s.follow(ctx, dir)
		close(s.batches)
		if err != nil && ctx.Err() == nil {
			s.code = exit.Failure
		}
		close(s.exited)
	}()
	return s
}

func newSession() *session {
	return &session{
		began: time.Now(), dirs: firstLine{there: make(chan struct{})}, batches: make(chan []bench.Record), send: make(chan bench.Control, sessionQueue),
		exited: make(chan struct{}), done: make(chan struct{}),
	}
}

// follow hands the events in dir over until their end, or until ctx does. What goes wrong is for the last word.
func (s *session) follow(ctx context.Context, dir string) error {
	_, err := results.Follow(ctx, dir, 0, func(batch []bench.Record) error {
		s.note(batch)
		select {
		case s.batches <- batch:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, results.ErrKilled) && s.cmd != nil: // told by its exit
	case errors.Is(err, results.ErrKilled):
		s.say(fmt.Sprintf("%v; finished steps are kept, go on with: locbench run --resume %s", err, dir))
	default:
		s.say("watching the run failed: " + err.Error())
	}
	return err
}

// note takes note of whether the run has told its end; one that is resumed has told an earlier one, before it was started.
func (s *session) note(batch []bench.Record) {
	for _, rec := range batch {
		if _, ended := rec.Event.(bench.RunEnded); ended && !rec.At.Before(s.began) {
			s.mu.Lock()
			s.over = true
			s.mu.Unlock()
		}
	}
}

// toldEnd tells whether the run has told its end, and ends by itself soon.
func (s *session) toldEnd() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// await takes note of how the worker has ended.
func (s *session) await(err error) {
	code, dir := s.cmd.ProcessState.ExitCode(), s.Dir()
	ended, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ok && code < 0: // by a signal
		text := "the process that ran the benchmark has ended: " + ended.String()
		code = exit.Failure
		if dir != "" {
			code = exit.Contender
			text += fmt.Sprintf("; finished steps are kept, go on with: locbench run --resume %s", dir)
		}
		s.say(text)
	case err != nil && !ok:
		s.say("the process that ran the benchmark: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked > 0 && ended != nil && !ended.Exited() {
		code = exit.Interrupted
	}
	s.code = code
	close(s.exited)
}

func (s *session) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.word += text + "\n"
}

// Dir is the results folder; "" until it is known.
func (s *session) Dir() string { return s.dirs.dir() }

// running tells whether a run of one's own has not ended yet.
func (s *session) running() bool {
	if s.cmd == nil {
		return false
	}
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

// Steered tells whether Send does anything: not with a run that is only watched.
func (s *session) Steered() bool { return s.cmd != nil }

// Send asks c of the run. It never waits. What the run makes of it is told by its events.
func (s *session) Send(c bench.Control) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if s.cmd == nil {
		return errors.New("this run is only watched: it cannot be steered from here")
	}
	select {
	case <-s.exited:
		return errors.New("the run has ended")
	default:
	}
	select {
	case s.send <- c:
		return nil
	default:
		return errors.New("the run does not listen: too many wishes wait already")
	}
}

// Next waits for the next events. ok is false when there will be none any more.
func (s *session) Next() (batch []bench.Record, ok bool) {
	batch, ok = <-s.batches
	return batch, ok
}

// Wait returns when the run has ended (or, if it is only watched, when watching has), with its exit code and the last 16 KiB of
// what it wrote to standard error, which may hold anything.
func (s *session) Wait() (code int, talk string) {
	<-s.exited
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code, s.talk.String() + s.word
}

// Stop ends the run in order, as the signal sig would, which is then on record as the cause. A second call ends it by force, a third
// kills it: then "locbench clean" removes what is left. A SIGHUP, the end of a terminal, hurries nothing. A run that is only watched
// goes on; the watching ends.
func (s *session) Stop(sig os.Signal) {
	if s.cmd == nil {
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
	select {
	case <-s.exited:
		return
	default:
	}
	switch asked {
	case 1:
		if err := s.cmd.Process.Signal(sig); err != nil {
			_ = s.Send(bench.Control{Kind: bench.ControlAbort}) // where there are no signals
		}
	case 2:
		if err := s.cmd.Process.Signal(sig); err != nil {
			kill(s.cmd.Process)
		}
		go s.killLate()
	default:
		kill(s.cmd.Process)
	}
}

// killLate kills a worker that ought to have ended by force, and has not.
func (s *session) killLate() {
	select {
	case <-s.exited:
	case <-time.After(exit.ForceWithin + sessionPipes):
		kill(s.cmd.Process)
	}
}

// stopping tells whether Stop was called.
func (s *session) stopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked > 0
}

// Close lets go of the run: one's own ends in order, as if the screen were gone, a watched one goes on. It returns when nothing of
// the session is left; of one's own run in which nothing ran no results are, either.
func (s *session) Close() {
	s.stop(errScreenGone)
	<-s.done
	if dir := s.Dir(); s.cmd != nil && dir != "" {
		if run, legs, err := results.Read(dir); err == nil && results.NothingRan(run, legs) {
			_ = results.Discard(dir, run) // what is left of it is told when results are listed
		}
	}
}
