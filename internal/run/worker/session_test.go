package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// fake is a worker in this process: Run reads a pipe and runs a function of the test. Signals
// cancel its context, as in a process.
type fake struct {
	t    *testing.T
	dir  string
	deaf bool // ignores signals

	interrupt context.CancelCauseFunc
	ended     chan ending
	once      sync.Once

	mu      sync.Mutex
	signals []os.Signal
	killed  bool

	session chan *Session // the session once it controls the worker
	log     *results.Writer
	seq     int64
}

func (f *fake) Signal(sig os.Signal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signals = append(f.signals, sig)
	if !f.deaf {
		f.interrupt(console.Signal{Signal: sig})
	}
	return nil
}

func (f *fake) Kill() {
	f.mu.Lock()
	f.killed = true
	f.mu.Unlock()
	f.interrupt(errors.New("killed"))
	f.end(ending{code: -1, signal: "signal: killed"})
}

func (f *fake) Wait() ending { return <-f.ended }

func (f *fake) end(e ending) { f.once.Do(func() { f.ended <- e }) }

func (f *fake) got() ([]os.Signal, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.signals), f.killed
}

// start starts a session with a fake worker that runs do. The worker reports do's error and ends
// with its exit code.
func start(t *testing.T, f *fake, do func(ctx context.Context, controls <-chan bench.Control) error) *Session {
	t.Helper()
	f.t, f.ended, f.session = t, make(chan ending, 1), make(chan *Session, 1)
	ctx, interrupt := context.WithCancelCause(context.Background())
	f.interrupt = interrupt
	s, following := newSession()
	in, out := io.Pipe()
	go func() {
		err := Run(ctx, console.Env{Stdin: in}, do)
		if err != nil {
			fmt.Fprintln(s.stderr, err)
		}
		f.end(ending{code: console.ExitCode(ctx, err)})
		interrupt(nil)
	}()
	s.control(following, f, out)
	f.session <- s
	return s
}

// begins makes the results folder, announces it and reports the start of the run.
func (f *fake) begins() {
	w := (<-f.session).stdout
	f.dir = filepath.Join(f.t.TempDir(), "results", "x")
	log, err := results.Create(f.dir, bench.Run{Schema: bench.SchemaVersion, ID: "1"}, func(error) {})
	if err != nil {
		f.t.Error(err)
		return
	}
	f.log = log
	f.says(bench.RunStarted{Run: bench.Run{Schema: bench.SchemaVersion, ID: "1", State: bench.RunRunning}, Dir: f.dir})
	if err := Announce(w, f.dir); err != nil {
		f.t.Error(err)
	}
}

func (f *fake) says(e bench.Event) {
	f.seq++
	f.log.Handle(bench.Record{Seq: f.seq, At: time.Now(), Event: e})
}

// ends reports the end of the run.
func (f *fake) ends(state bench.RunState) {
	f.says(bench.RunEnded{State: state})
	f.leaves()
}

// leaves releases the results folder, as the kernel does for a process that is killed.
func (f *fake) leaves() {
	if err := f.log.Close(); err != nil {
		f.t.Error(err)
	}
}

func events(s *Session) (kinds []string) {
	for {
		batch, ok := s.Next()
		if !ok {
			return kinds
		}
		for _, rec := range batch {
			kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", rec.Event), "bench."))
		}
	}
}

func TestSession_Controls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		var received []string
		s := start(t, f, func(_ context.Context, controls <-chan bench.Control) error {
			f.begins()
			for c := range controls {
				received = append(received, string(c.Kind))
				f.says(bench.ChangedManually{Control: c})
				if c.Kind == bench.ControlStop {
					f.ends(bench.RunInterrupted)
					return console.WithCode(console.ExitInterrupted, errors.New("stopped by the user after step 1"))
				}
			}
			return errors.New("no control has stopped the run")
		})
		testenv.Check(t, !s.ReportedEnd() && s.CanSteer() && s.Running(),
			"at the start: end reported %v, takes controls %v, running %v", s.ReportedEnd(), s.CanSteer(), s.Running())
		want := []bench.ControlKind{bench.ControlPause, bench.ControlResume, bench.ControlSkipStep, bench.ControlStop}
		for _, kind := range want {
			testenv.OK(t, s.Send(bench.Control{Kind: kind}))
		}
		if got := events(s); !slices.Equal(got, []string{"RunStarted", "ChangedManually", "ChangedManually", "ChangedManually", "ChangedManually", "RunEnded"}) {
			t.Errorf("events %q", got)
		}
		code, talk := s.Wait()
		testenv.Check(t, code == console.ExitInterrupted && talk == "stopped by the user after step 1\n",
			"exit code %d:\n%s", code, talk)
		testenv.Equal(t, received, []string{"pause", "resume", "skip_step", "stop_after_step"}, "received")
		if !s.ReportedEnd() || s.Running() || s.Dir() != f.dir || s.Send(bench.Control{Kind: bench.ControlPause}) == nil {
			t.Errorf("after the end: reported %v, running %v, in %q; or it takes controls", s.ReportedEnd(), s.Running(), s.Dir())
		}
		s.Close()
		testenv.Check(t, results.Has(f.dir, results.RunFile), "the results are gone")
	})
}

func TestSession_CannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, &fake{}, func(context.Context, <-chan bench.Control) error {
			return console.Usagef("unknown profile")
		})
		got := events(s)
		testenv.Check(t, len(got) <= 0, "events %q", got)
		if code, talk := s.Wait(); code != console.ExitUsage || !strings.Contains(talk, "unknown profile") || s.Dir() != "" {
			t.Errorf("exit code %d, folder %q:\n%s", code, s.Dir(), talk)
		}
		s.Close()
	})
}

// TestSession_StopsGracefully: the worker gets the signal, and the session that controls the run
// and one that watches it both see its end. A session that stops watching ends nothing.
func TestSession_StopsGracefully(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := start(t, f, func(ctx context.Context, _ <-chan bench.Control) error {
			f.begins()
			<-ctx.Done()
			f.ends(bench.RunInterrupted)
			return context.Cause(ctx)
		})
		synctest.Wait()
		watcher, other := Watch(f.dir), Watch(f.dir)
		testenv.Check(t, !watcher.CanSteer() && watcher.Send(bench.Control{Kind: bench.ControlPause}) != nil,
			"a run that is only watched takes controls")
		batch, ok := other.Next()
		testenv.Check(t, ok && len(batch) != 0, "no events in the other session")
		other.Stop(os.Interrupt)
		code, _ := other.Wait()
		testenv.Check(t, code == console.ExitOK, "exit code %d after watching has ended", code)
		other.Close()
		signals, _ := f.got()
		testenv.Check(t, len(signals) == 0, "a watching session has sent %v", signals)
		go s.Stop(syscall.SIGHUP)
		for name, one := range map[string]*Session{"controlling": s, "watching": watcher} {
			testenv.Equal(t, events(one), []string{"RunStarted", "RunEnded"}, name)
		}
		if code, talk := s.Wait(); code != console.ExitInterrupted || talk != "interrupted by SIGHUP\n" {
			t.Errorf("exit code %d:\n%s", code, talk)
		}
		code, talk := watcher.Wait()
		testenv.Check(t, code == console.ExitOK && talk == "", "the watcher's exit code is %d:\n%s", code, talk)
		if signals, killed := f.got(); !slices.Equal(signals, []os.Signal{syscall.SIGHUP}) || killed {
			t.Errorf("signals %v, killed %v", signals, killed)
		}
		s.Close()
		watcher.Close()
	})
}

// TestSession_KilledWorker: after a kill from outside, both the session that controls the run and
// one that watches it say how to continue.
func TestSession_KilledWorker(t *testing.T) {
	for name, begun := range map[string]bool{"in a run": true, "before": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{}
				s := start(t, f, func(ctx context.Context, _ <-chan bench.Control) error {
					if begun {
						f.begins()
						defer f.leaves()
					}
					<-ctx.Done()
					return nil
				})
				synctest.Wait()
				if !begun {
					f.Kill()
					code, talk := s.Wait()
					if code != console.ExitFailure || !strings.Contains(talk, "signal: killed") || strings.Contains(talk, "--resume") {
						t.Errorf("exit code %d:\n%s", code, talk)
					}
					s.Close()
					return
				}
				watcher := Watch(f.dir)
				go f.Kill()
				for name, one := range map[string]*Session{"controlling": s, "watching": watcher} {
					testenv.Equal(t, events(one), []string{"RunStarted"}, name)
				}
				if code, talk := s.Wait(); code != console.ExitContender || !strings.Contains(talk, "signal: killed") || !strings.Contains(talk, "--resume "+f.dir) {
					t.Errorf("exit code %d:\n%s", code, talk)
				}
				if code, talk := watcher.Wait(); code != console.ExitFailure || !strings.Contains(talk, "the run was killed") || !strings.Contains(talk, "--resume "+f.dir) {
					t.Errorf("the watcher's exit code is %d:\n%s", code, talk)
				}
				s.Close()
				watcher.Close()
			})
		})
	}
}

// TestWatch_WithoutALog: a run that has ended may lack its event log, or the end of it.
func TestWatch_WithoutALog(t *testing.T) {
	trial := bench.TrialResult{Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete}
	for name, c := range map[string]struct {
		state  bench.RunState
		broken bool // the file of a second trial cannot be read
		log    string
		events []string
		code   int
		talk   string
	}{
		"complete": {bench.RunComplete, false, "", nil, console.ExitOK, ""},
		"incomplete log": {bench.RunComplete, false, `{"seq":1,"at":"2026-03-14T09:26:53Z","type":"run_started","event":{}}` + "\n" + `{"seq`,
			[]string{"RunStarted"}, console.ExitOK, ""},
		"no log of a killed one": {bench.RunRunning, false, "", nil, console.ExitFailure, "no such file"},
		"broken":                 {bench.RunComplete, true, "", nil, console.ExitFailure, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run := bench.Run{Schema: bench.SchemaVersion, State: c.state, Trials: []bench.TrialEntry{{Trial: trial.Trial, State: trial.State, File: "a-1.json"}}}
			if c.broken {
				other := bench.TrialEntry{Trial: bench.Trial{Contender: "b", Round: 1}, State: bench.TrialComplete, File: "b-1.json"}
				run.Trials = append(run.Trials, other)
				testenv.OK(t, os.WriteFile(filepath.Join(dir, other.File), []byte("{"), 0o600))
			}
			for file, v := range map[string]any{results.RunFile: run, "a-1.json": trial} {
				testenv.OK(t, results.WriteJSON(filepath.Join(dir, file), v))
			}
			if c.log != "" {
				testenv.OK(t, os.WriteFile(filepath.Join(dir, results.EventsFile), []byte(c.log), 0o600))
			}
			s := Watch(dir)
			defer s.Close()
			testenv.Equal(t, events(s), c.events, "events")
			if code, talk := s.Wait(); code != c.code || !strings.Contains(talk, c.talk) || c.talk == "" && talk != "" {
				t.Errorf("exit code %d, %q", code, talk)
			}
		})
	}
}

// TestSession_HangIsKilled: a worker that does not end is killed at once by the third stop, within
// a time limit after the second, and never when a terminal closes.
func TestSession_HangIsKilled(t *testing.T) {
	for name, test := range map[string]struct {
		stops   []os.Signal
		within  time.Duration // 0: never killed
		signals int           // signals that it gets
	}{
		"one stop":              {[]os.Signal{os.Interrupt}, 0, 1},
		"the terminal closes":   {[]os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP}, 0, 1},
		"two stops":             {[]os.Signal{os.Interrupt, os.Interrupt}, console.ForceWithin + sessionPipes, 2},
		"three stops":           {[]os.Signal{os.Interrupt, os.Interrupt, os.Interrupt}, time.Nanosecond, 2},
		"a terminal in between": {[]os.Signal{syscall.SIGHUP, syscall.SIGHUP, os.Interrupt, syscall.SIGHUP}, console.ForceWithin + sessionPipes, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, over := &fake{deaf: true}, make(chan struct{})
				s := start(t, f, func(ctx context.Context, _ <-chan bench.Control) error {
					<-over // it ignores its context
					return nil
				})
				for _, sig := range test.stops {
					s.Stop(sig)
				}
				check := func(want bool, when string) {
					t.Helper()
					synctest.Wait()
					if signals, killed := f.got(); killed != want || s.Running() == want || len(signals) != test.signals {
						t.Errorf("%s: killed %v, running %v, signals %v", when, killed, s.Running(), signals)
					}
				}
				switch test.within {
				case 0:
					time.Sleep(time.Hour)
					check(false, "after an hour")
					f.Kill()
				case time.Nanosecond:
					check(true, "at once")
				default:
					time.Sleep(test.within - 1)
					check(false, "before the time limit")
					time.Sleep(time.Nanosecond)
					check(true, "at the time limit")
				}
				if code, talk := s.Wait(); code != console.ExitInterrupted || !strings.Contains(talk, "killed") {
					t.Errorf("exit code %d:\n%s", code, talk)
				}
				close(over)
				s.Close()
			})
		})
	}
}

// TestSession_End: when the screen is gone, a run that has reported its end or is already stopping
// is only waited for; any other gets the signal that ended the screen.
func TestSession_End(t *testing.T) {
	for name, test := range map[string]struct {
		reports, stops bool
		cause          error
		signals        []os.Signal
	}{
		"reported its end": {reports: true},
		"already stopping": {stops: true, signals: []os.Signal{os.Interrupt}},
		"in a run":         {signals: []os.Signal{syscall.SIGTERM}},
		"by a signal":      {cause: console.Signal{Signal: syscall.SIGHUP}, signals: []os.Signal{syscall.SIGHUP}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{}
				s := start(t, f, func(ctx context.Context, _ <-chan bench.Control) error {
					f.begins()
					if !test.reports {
						<-ctx.Done()
					}
					f.ends(bench.RunComplete)
					time.Sleep(time.Minute) // its reports
					return nil
				})
				go events(s)
				synctest.Wait()
				time.Sleep(time.Second)
				testenv.Equal(t, s.ReportedEnd(), test.reports, "end reported")
				if test.stops {
					s.Stop(os.Interrupt)
				}
				ctx, end := context.WithCancelCause(context.Background())
				end(test.cause)
				code, talk := s.End(ctx)
				testenv.Check(t, code == console.ExitOK, "exit code %d:\n%s", code, talk)
				if signals, killed := f.got(); !slices.Equal(signals, test.signals) || killed {
					t.Errorf("signals %v, killed %v", signals, killed)
				}
				s.Close()
			})
		})
	}
}

// TestSession_Close: the worker sees the end of its standard input, and ends gracefully.
func TestSession_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		var cause error
		s := start(t, f, func(ctx context.Context, _ <-chan bench.Control) error {
			f.begins()
			<-ctx.Done()
			cause = context.Cause(ctx)
			f.ends(bench.RunInterrupted)
			return ctx.Err()
		})
		synctest.Wait()
		s.Close()
		if code, _ := s.Wait(); code != console.ExitInterrupted || !errors.Is(cause, ErrScreenGone) {
			t.Errorf("exit code %d, cause %v", code, cause)
		}
		signals, killed := f.got()
		testenv.Check(t, len(signals) <= 0 && !killed, "signals %v, killed %v", signals, killed)
	})
}

// TestSession_Detach: the run continues when its session has let it go.
func TestSession_Detach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		finish := make(chan struct{})
		var cause error
		s := start(t, f, func(ctx context.Context, _ <-chan bench.Control) error {
			f.begins()
			<-finish
			cause = context.Cause(ctx)
			f.ends(bench.RunComplete)
			return nil
		})
		synctest.Wait()
		testenv.OK(t, s.Detach())
		s.Close()
		synctest.Wait()
		testenv.Check(t, s.Detached() && !s.hasExited(), "detached %v, exited %v", s.Detached(), s.hasExited())
		close(finish)
		for ok := true; ok; {
			_, ok = s.Next()
		}
		code, _ := s.Wait()
		testenv.Check(t, code == console.ExitOK && cause == nil, "exit code %d, cause %v", code, cause)
		testenv.Check(t, s.Detach() != nil, "a run that has ended was let go")
		signals, killed := f.got()
		testenv.Check(t, len(signals) <= 0 && !killed, "signals %v, killed %v", signals, killed)
		<-s.done
	})
}

// TestSession_NothingRan: the results are removed when the session is closed.
func TestSession_NothingRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := start(t, f, func(context.Context, <-chan bench.Control) error {
			f.begins()
			f.ends(bench.RunFailed)
			return errors.New("nothing ran")
		})
		events(s)
		s.Wait()
		testenv.Check(t, results.Has(f.dir, results.RunFile), "no results while the screen is open")
		s.Close()
		_, err := os.Stat(filepath.Dir(f.dir))
		testenv.Check(t, errors.Is(err, os.ErrNotExist), "left behind: %v", err)
	})
}
