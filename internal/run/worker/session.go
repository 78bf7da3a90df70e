package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
	"locbench/internal/results"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

const (
	sessionQueue = 64              // controls that wait to be written
	saidLines    = 100             // of what a worker wrote to standard error last
	sessionPipes = 3 * time.Second // for somebody else who holds a dead worker's pipes
)

// Session is a run that a screen watches, and steers if it is its own. Its events are read from the
// results folder; its methods may be called from any goroutine.
type Session struct {
	child   child // nil when only watching
	began   time.Time
	stdout  *safe.LineWriter // takes the announcement
	stderr  *safe.LineWriter
	said    safe.Ring // the last lines of stderr
	batches chan []bench.Record
	send    chan bench.Control
	there   chan struct{} // closed when the folder is known
	exited  chan struct{} // closed after code is set
	done    chan struct{} // closed when nothing of it runs any more
	stop    context.CancelCauseFunc

	mu    sync.Mutex
	dir   string
	code  int
	word  string // what there is to say of the end besides the worker's own standard error
	asked int    // times that Stop was called

	over atomic.Bool // the run has reported its end: only its reports are still to be written
}

// Start starts a worker: locbench run with args. binary is the locbench to start; "" is this one.
func Start(binary string, args []string) (*Session, error) {
	if binary == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the running binary: %w", err)
		}
		binary = self
	}
	s, ctx := newSession()
	cmd := exec.Command(binary, slices.Concat([]string{"run", Flag}, args)...)
	cmd.Stdout, cmd.Stderr = s.stdout, s.stderr
	cmd.WaitDelay = sessionPipes
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the run: %w", err)
	}
	s.steer(ctx, started{cmd}, in)
	return s, nil
}

// child is the process of a worker.
type child interface {
	Signal(os.Signal) error
	Kill()
	Wait() ending
}

// ending is how a process has ended.
type ending struct {
	code   int
	signal string // that has ended it, in words
	err    error  // what went wrong in waiting for it
}

type started struct{ cmd *exec.Cmd }

func (p started) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }
func (p started) Kill()                      { kill(p.cmd.Process) }

func (p started) Wait() ending {
	err := p.cmd.Wait()
	e := ending{code: p.cmd.ProcessState.ExitCode()}
	if ended, ok := errors.AsType[*exec.ExitError](err); !ok {
		e.err = err
	} else if e.code < 0 {
		e.signal = ended.String()
	}
	return e
}

// steer follows a worker that runs, and hands it what is asked of it by in.
func (s *Session) steer(ctx context.Context, worker child, in io.WriteCloser) {
	s.child = worker
	var wg sync.WaitGroup
	wg.Go(func() { s.await(worker.Wait()) })
	wg.Go(func() {
		defer in.Close()
		for {
			select {
			case c := <-s.send:
				if line, err := json.Marshal(c); err == nil {
					_, _ = in.Write(append(line, '\n')) // a worker that is gone is reported by its exit
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
		case <-s.there:
		case <-s.exited:
		}
		if dir := s.Dir(); dir != "" {
			s.follow(ctx, dir)
		}
		close(s.batches)
	})
	go func() {
		defer close(s.done)
		wg.Wait()
		s.stop(nil)
	}()
}

// Watch watches the run in dir, in progress or finished, to its end. Nothing is asked of it. Of a
// finished run without its whole event log it hands over what the results say.
func Watch(dir string) *Session {
	s, ctx := newSession()
	s.found(dir)
	go func() {
		defer close(s.done)
		defer s.stop(nil)
		err := s.follow(ctx, dir)
		close(s.batches)
		if err != nil && ctx.Err() == nil {
			s.code = console.ExitFailure
		}
		close(s.exited)
	}()
	return s
}

// newSession also returns what ends with its stop.
func newSession() (*Session, context.Context) {
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Session{
		began: time.Now(), said: safe.Ring{Size: saidLines}, batches: make(chan []bench.Record),
		send: make(chan bench.Control, sessionQueue), there: make(chan struct{}), exited: make(chan struct{}),
		done: make(chan struct{}), stop: stop,
	}
	s.stderr = safe.NewLineWriter("stderr", time.Now, s.said.Add)
	s.stdout = safe.NewLineWriter("stdout", time.Now, func(l bench.LogLine) {
		var a announcement
		if s.Dir() == "" && json.Unmarshal([]byte(l.Text), &a) == nil && a.Dir != "" {
			s.found(a.Dir)
		}
	})
	return s, ctx
}

// found takes note of the results folder.
func (s *Session) found(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir = dir
	close(s.there)
}

// follow hands over the events in dir until their end or ctx's. The last word has what goes wrong.
func (s *Session) follow(ctx context.Context, dir string) error {
	hand := func(batch []bench.Record) error {
		for _, rec := range batch {
			// One that is resumed has reported an earlier end, before it was started.
			if _, ended := rec.Event.(bench.RunEnded); ended && !rec.At.Before(s.began) {
				s.over.Store(true)
			}
		}
		select {
		case s.batches <- batch:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	var err error
	watched := s.child == nil
	if watched && !results.Has(dir, results.EventsFile) {
		err = fromResults(dir, hand)
	} else {
		_, err = results.Follow(ctx, dir, hand)
	}
	if watched && errors.Is(err, results.ErrKilled) {
		if run, _, readErr := results.Read(dir); readErr == nil && run.State != bench.RunRunning {
			err = fromResults(dir, hand) // it has ended, and its log is cut short
		}
	}
	switch killed := errors.Is(err, results.ErrKilled); {
	case err == nil || ctx.Err() != nil || killed && !watched: // the last is reported by its exit
	case killed:
		s.say(fmt.Sprintf("%v; finished steps are kept. Resume: %s", err, results.ResumeCommand(dir)))
	default:
		s.say("watching the run failed: " + err.Error())
	}
	return err
}

// fromResults hands over what can be read of the results in dir, also where that is not all.
func fromResults(dir string, hand func([]bench.Record) error) error {
	run, trials, err := results.Read(dir)
	if err != nil && len(trials) == 0 {
		return err
	}
	if handErr := hand(results.Records(run, trials, dir)); handErr != nil {
		return handErr
	}
	if err == nil && run.State == bench.RunRunning {
		return results.ErrKilled
	}
	return err
}

// ReportedEnd reports whether the run has reported its end, and ends by itself soon.
func (s *Session) ReportedEnd() bool { return s.over.Load() }

// await takes note of how the worker has ended.
func (s *Session) await(end ending) {
	s.stderr.Flush()
	code := end.code
	switch {
	case end.signal != "":
		text := "the benchmark process ended: " + end.signal
		code = console.ExitFailure
		if dir := s.Dir(); dir != "" {
			code = console.ExitContender
			text += "; finished steps are kept. Resume: " + results.ResumeCommand(dir)
		}
		s.say(text)
	case end.err != nil:
		s.say("benchmark process: " + end.err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked > 0 && end.signal != "" {
		code = console.ExitInterrupted
	}
	s.code = code
	close(s.exited)
}

func (s *Session) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.word += text + "\n"
}

// Dir returns the results folder; "" until it is known.
func (s *Session) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir
}

// Running reports whether your own run has not ended yet.
func (s *Session) Running() bool { return s.child != nil && !s.hasExited() }

func (s *Session) hasExited() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}
