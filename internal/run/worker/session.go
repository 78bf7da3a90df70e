package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	sessionQueue = 64              // controls waiting to be written
	stderrLines  = 100             // lines kept of a worker's standard error
	sessionPipes = 3 * time.Second // wait for children that hold a dead worker's pipes
)

// Session is a run that a screen watches and, if it started the run, controls. Events are read from
// the results folder. All methods may be called from any goroutine.
type Session struct {
	child    child // nil when only watching
	began    time.Time
	stdout   *safe.LineWriter // takes the announcement
	stderr   *safe.LineWriter
	tail     safe.Ring // the last lines of stderr
	batches  chan []bench.Record
	send     chan bench.Control
	letGo    chan chan error // takes where to report that the worker has been let go
	dirKnown chan struct{}   // closed when dir is set
	exited   chan struct{}   // closed after code is set
	done     chan struct{}   // closed when all goroutines have ended
	stop     context.CancelCauseFunc

	mu      sync.Mutex
	dir     string
	code    int
	message string // about the end, after the worker's own standard error
	stops   int    // calls of Stop
	gone    bool   // the run continues without this session

	ended atomic.Bool // the run has reported its end: only reports are still being written
}

// Start starts "locbench run" with args as a worker; binary is its locbench, "" this one.
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
	OwnSession(cmd)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the run: %w", err)
	}
	s.control(ctx, started{cmd}, in)
	return s, nil
}

// child is the process of a worker.
type child interface {
	Signal(os.Signal) error
	Kill()
	Wait() ending
}

// ending is how a process ended.
type ending struct {
	code   int
	signal string // the signal that ended it, for people
	err    error  // of waiting for it
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

// control follows a running worker and writes the controls that Send takes to in.
func (s *Session) control(ctx context.Context, worker child, in io.WriteCloser) {
	s.child = worker
	var wg sync.WaitGroup
	wg.Go(func() { s.await(worker.Wait()) })
	wg.Go(func() {
		defer in.Close()
		for {
			select {
			case c := <-s.send:
				if line, err := json.Marshal(c); err == nil {
					_, _ = in.Write(append(line, '\n')) // await reports a worker that is gone
				}
			case reply := <-s.letGo:
				_, err := fmt.Fprintf(in, `{"kind":%q}`+"\n", detach)
				reply <- err
				return
			case <-s.exited:
				return
			case <-ctx.Done():
				return // the worker ends when its standard input does
			}
		}
	})
	wg.Go(func() {
		select {
		case <-s.dirKnown:
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

// Watch watches the run in dir, in progress or finished, to its end, without controlling it. The
// event log of a finished run may be missing or incomplete.
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

// newSession returns a session and a context that its stop cancels.
func newSession() (*Session, context.Context) {
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Session{
		began: time.Now(), tail: safe.Ring{Size: stderrLines}, batches: make(chan []bench.Record),
		send: make(chan bench.Control, sessionQueue), letGo: make(chan chan error), dirKnown: make(chan struct{}), exited: make(chan struct{}),
		done: make(chan struct{}), stop: stop,
	}
	s.stderr = safe.NewLineWriter("stderr", time.Now, s.tail.Add)
	s.stdout = safe.NewLineWriter("stdout", time.Now, func(l bench.LogLine) {
		var a announcement
		if s.Dir() == "" && json.Unmarshal([]byte(l.Text), &a) == nil && a.Dir != "" {
			s.found(a.Dir)
		}
	})
	return s, ctx
}

// found sets the results folder.
func (s *Session) found(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir = dir
	close(s.dirKnown)
}

// follow sends the events in dir to Next until they or ctx end. A problem is added to the message.
func (s *Session) follow(ctx context.Context, dir string) error {
	deliver := func(batch []bench.Record) error {
		for _, rec := range batch {
			// A resumed run has an earlier end in its log.
			if _, ended := rec.Event.(bench.RunEnded); ended && !rec.At.Before(s.began) {
				s.ended.Store(true)
			}
		}
		select {
		case s.batches <- batch:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	watched := s.child == nil
	_, err := results.Follow(ctx, dir, deliver)
	if watched && (errors.Is(err, results.ErrKilled) || errors.Is(err, fs.ErrNotExist)) {
		if run, _, readErr := results.Read(dir); readErr == nil && run.State != bench.RunRunning {
			err = nil // the run has ended, but its log is missing or incomplete
		}
	}
	switch killed := errors.Is(err, results.ErrKilled); {
	case err == nil || ctx.Err() != nil || killed && !watched: // await reports the exit of a worker
	case killed:
		s.report(fmt.Sprintf("%v; finished steps are kept. Resume: %s", err, results.ResumeCommand(dir)))
	default:
		s.report("watching the run failed: " + err.Error())
	}
	return err
}

// ReportedEnd reports whether the run has reported its end; its process ends soon.
func (s *Session) ReportedEnd() bool { return s.ended.Load() }

// await sets the exit code and the message from how the worker ended.
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
		s.report(text)
	case end.err != nil:
		s.report("benchmark process: " + end.err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stops > 0 && end.signal != "" {
		code = console.ExitInterrupted
	}
	s.code = code
	close(s.exited)
}

func (s *Session) report(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.message += text + "\n"
}

// Dir returns the results folder; "" until it is known.
func (s *Session) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir
}

// Running reports whether this session has started a run that has not ended yet.
func (s *Session) Running() bool { return s.child != nil && !s.hasExited() }

func (s *Session) hasExited() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}
