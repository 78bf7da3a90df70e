package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
	"locbench/internal/results"
	"locbench/internal/text/console"
)

const (
	sessionQueue = 64              // controls that wait to be written
	stderrBytes  = 16 << 10        // of what a worker wrote to standard error last
	sessionPipes = 3 * time.Second // for somebody else who holds a dead worker's pipes
)

// Session is a run that a screen watches, and steers if it is its own. Its events are read from the
// results folder; its methods may be called from any goroutine.
type Session struct {
	child   child // nil when only watching
	began   time.Time
	dirs    firstLine
	stderr  lastBytes
	batches chan []bench.Record
	send    chan bench.Control
	exited  chan struct{} // closed after code is set
	done    chan struct{} // closed when nothing of it runs any more
	stop    context.CancelCauseFunc

	mu    sync.Mutex
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
	cmd.Stdout, cmd.Stderr = &s.dirs, &s.stderr
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
		case <-s.dirs.there:
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
	s.dirs.set(dir)
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
	return &Session{
		began: time.Now(), dirs: firstLine{there: make(chan struct{})}, batches: make(chan []bench.Record),
		send: make(chan bench.Control, sessionQueue), exited: make(chan struct{}), done: make(chan struct{}), stop: stop,
	}, ctx
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
		s.say(fmt.Sprintf("%v; finished steps are kept, resume with: %s", err, results.ResumeCommand(dir)))
	default:
		s.say("watching the run failed: " + err.Error())
	}
	return err
}

// fromResults hands over what can be read of the results in dir, also where that is not all.
func fromResults(dir string, hand func([]bench.Record) error) error {
	run, legs, err := results.Read(dir)
	if err != nil && len(legs) == 0 {
		return err
	}
	if handErr := hand(results.Records(run, legs, dir)); handErr != nil {
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
	code := end.code
	switch {
	case end.signal != "":
		text := "the process that ran the benchmark has ended: " + end.signal
		code = console.ExitFailure
		if dir := s.Dir(); dir != "" {
			code = console.ExitContender
			text += "; finished steps are kept, resume with: " + results.ResumeCommand(dir)
		}
		s.say(text)
	case end.err != nil:
		s.say("the process that ran the benchmark: " + end.err.Error())
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

// Dir is the results folder; "" until it is known.
func (s *Session) Dir() string { return s.dirs.dir() }

// Running reports whether a run of one's own has not ended yet.
func (s *Session) Running() bool { return s.child != nil && !s.hasExited() }

func (s *Session) hasExited() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

// firstLine takes the announcement from a worker's standard output, whose rest is of no interest.
type firstLine struct {
	there chan struct{} // closed when the folder is known

	mu   sync.Mutex
	line []byte
	full bool
	name string
}

func (l *firstLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full {
		return len(p), nil
	}
	line, _, ended := bytes.Cut(p, []byte{'\n'})
	l.line = append(l.line, line[:min(len(line), controlLine)]...)
	if l.full = ended || len(l.line) >= controlLine; l.full {
		var a announcement
		if json.Unmarshal(l.line, &a) == nil && a.Dir != "" {
			l.name = a.Dir
			close(l.there)
		}
	}
	return len(p), nil
}

func (l *firstLine) set(dir string) {
	l.name, l.full = dir, true
	close(l.there)
}

func (l *firstLine) dir() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
}

type lastBytes struct {
	mu  sync.Mutex
	b   []byte
	cut bool
}

func (t *lastBytes) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-stderrBytes):]...)
	if len(t.b) > stderrBytes || len(p) > stderrBytes {
		t.b, t.cut = slices.Clone(t.b[max(0, len(t.b)-stderrBytes):]), true
	}
	return len(p), nil
}

// String is what is kept, from the beginning of a line.
func (t *lastBytes) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.b)
	if t.cut {
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
		text = "…\n" + text
	}
	return text
}
