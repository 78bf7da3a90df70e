//go:build acceptance && terminal && unix

package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

func TestMain(m *testing.M) {
	if given := os.Getenv(screenVariable); given != "" {
		os.Exit(screen(given))
	}
	os.Exit(testenv.AloneOnMachine(m, machine.RunsVariable))
}

// screenVariable makes this program the screen of TestWorkerOfAKilledScreen. Its value is the
// worker's binary and arguments.
const screenVariable = "LOCBENCH_TEST_SCREEN"

func screen(given string) int {
	var args []string
	if json.Unmarshal([]byte(given), &args) != nil {
		return 1
	}
	s, err := Start(args[0], args[1:])
	if err != nil {
		return 1
	}
	for ok := true; ok; {
		_, ok = s.Next()
	}
	return 0
}

func begun(t *testing.T, args ...string) *Session {
	t.Helper()
	path := testenv.Locbench(t)
	leaks := goleak.IgnoreCurrent()
	s, err := Start(path, args)
	testenv.OK(t, err)
	t.Cleanup(func() {
		s.Close()
		goleak.VerifyNone(t, leaks)
	})
	return s
}

// until reads events until match accepts one; nil reads to the end.
func until(t *testing.T, s *Session, match func(bench.Record) bool) (all []bench.Record) {
	t.Helper()
	late := time.AfterFunc(time.Minute, func() { s.Stop(os.Interrupt); s.Stop(os.Interrupt) })
	defer late.Stop()
	for {
		batch, ok := s.Next()
		if !ok {
			if match != nil {
				code, talk := s.Wait()
				t.Fatalf("no matching event; exit code %d:\n%s", code, talk)
			}
			return all
		}
		all = append(all, batch...)
		if match != nil && slices.ContainsFunc(batch, match) {
			return all
		}
	}
}

func is[E bench.Event](rec bench.Record) bool {
	_, ok := rec.Event.(E)
	return ok
}

func firstStep(rec bench.Record) bool {
	e, ok := rec.Event.(bench.StepStarted)
	return ok && e.Index == 0 && rec.Trial.Round == 1
}

func send(t *testing.T, s *Session, c bench.Control) {
	t.Helper()
	testenv.OK(t, s.Send(c))
}

func TestSessionControls(t *testing.T) {
	args, out := testenv.SmallRun(t, "[{rate: 200, duration: 3s}, {connections: 1, duration: 60s}, 2]")
	s := begun(t, args...)
	until(t, s, is[bench.WindowClosed])
	send(t, s, bench.Control{Kind: bench.ControlPause})
	until(t, s, is[bench.Paused])
	send(t, s, bench.Control{Kind: bench.ControlResume})
	until(t, s, func(rec bench.Record) bool { e, ok := rec.Event.(bench.WindowClosed); return ok && e.Index == 1 })
	send(t, s, bench.Control{Kind: bench.ControlSkipStep})
	until(t, s, is[bench.TrialEnded])
	until(t, s, firstStepOf(2))
	send(t, s, bench.Control{Kind: bench.ControlStop})
	until(t, s, nil)
	code, talk := s.Wait()
	if code != console.ExitInterrupted || !regexp.MustCompile(`stopped by the user after step [12]`).MatchString(talk) {
		t.Errorf("exit code %d:\n%s", code, talk)
	}
	testenv.Check(t, s.Dir() == out && s.Send(bench.Control{Kind: bench.ControlPause}) != nil,
		"folder %s; a run that has ended takes controls", s.Dir())
	run, trials, err := results.Read(out)
	testenv.Need(t, err == nil && len(trials) == 2, "%d trials, %v", len(trials), err)
	testenv.Check(t, !strings.Contains(strings.Join(run.Command, " "), Flag) && run.Command[1] == "run",
		"command %q", run.Command)
	if run.State != bench.RunInterrupted || trials[0].State != bench.TrialAborted || trials[0].Failure != "step 2 (1 connection) was skipped by the user" {
		t.Errorf("run %s, trial %s: %s", run.State, trials[0].State, trials[0].Failure)
	}
	steps := trials[0].Steps
	if len(steps) != 3 || !strings.Contains(steps[1].Warnings.Join("\n"), "run was paused for") {
		t.Errorf("steps %+v", steps)
	}
	testenv.Check(t, len(trials[0].ManualChanges) == 3 && steps[1].Load.Succeeded != 0,
		"manual changes %+v", trials[0].ManualChanges)
	testenv.Fails(t, testenv.Err(os.Stat(filepath.Join(out, results.ReportFile))), "")
}

func firstStepOf(round int) func(bench.Record) bool {
	return func(rec bench.Record) bool { return is[bench.StepStarted](rec) && rec.Trial.Round == round }
}

func TestSessionEndsWithTheSignalOfItsScreen(t *testing.T) {
	args, out := testenv.SmallRun(t, "[{connections: 1, duration: 60s}]")
	s := begun(t, args...)
	until(t, s, firstStep)
	watcher := Watch(out)
	defer watcher.Close()
	until(t, watcher, firstStep)
	stop := syscall.SIGHUP
	if signal.Ignored(stop) { // under nohup a run ignores it, as it should
		stop = syscall.SIGTERM
	}
	s.Stop(stop)
	mine, seen := until(t, s, nil), until(t, watcher, nil)
	if code, talk := s.Wait(); code != console.ExitInterrupted || !strings.Contains(talk, "interrupted by "+console.SignalName(stop)) || strings.Contains(talk, ": stopping") {
		t.Errorf("exit code %d:\n%s", code, talk)
	}
	code, talk := watcher.Wait()
	testenv.Check(t, code == console.ExitOK && talk == "", "the watcher's exit code is %d:\n%s", code, talk)
	for name, events := range map[string][]bench.Record{"controlling": mine, "watching": seen} {
		testenv.Check(t, len(events) != 0 && is[bench.RunEnded](events[len(events)-1]),
			"the session %s does not see the end", name)
	}
	_, trials, err := results.Read(out)
	testenv.Check(t, err == nil && len(trials) == 1 && strings.Contains(trials[0].Failure, console.SignalName(stop)),
		"%d trials, %v", len(trials), err)
}

func TestSessionOfAKilledWorker(t *testing.T) {
	args, out := testenv.SmallRun(t, "[{connections: 1, duration: 60s}]")
	s := begun(t, args...)
	until(t, s, firstStep)
	watcher := Watch(out)
	defer watcher.Close()
	testenv.OK(t, s.child.(started).cmd.Process.Kill())
	until(t, s, nil)
	if code, talk := s.Wait(); code != console.ExitContender || !strings.Contains(talk, "signal: killed") || !strings.Contains(talk, "--resume "+out) {
		t.Errorf("exit code %d:\n%s", code, talk)
	}
	until(t, watcher, nil)
	if code, talk := watcher.Wait(); code != console.ExitFailure || !strings.Contains(talk, "the run was killed") || !strings.Contains(talk, "--resume "+out) {
		t.Errorf("the watcher's exit code is %d:\n%s", code, talk)
	}
}

// TestHangingWorkerIsKilled: a worker that hangs is killed at once by the third stop, within a time
// limit after the second (see TestSession_HangIsKilled), and never when a terminal closes.
func TestHangingWorkerIsKilled(t *testing.T) {
	for _, stops := range []int{2, 3} {
		t.Run(fmt.Sprint(stops), func(t *testing.T) {
			args, _ := testenv.SmallRun(t, "[{connections: 1, duration: 60s}]")
			s := begun(t, args...)
			until(t, s, firstStep)
			if err := s.child.Signal(syscall.SIGSTOP); err != nil { // it cannot end gracefully
				t.Fatal(err)
			}
			s.Stop(os.Interrupt)
			for range 3 {
				s.Stop(syscall.SIGHUP)
			}
			testenv.Check(t, s.Running(), "the worker has already ended")
			for range stops - 1 {
				s.Stop(os.Interrupt)
			}
			if code, talk := s.Wait(); code != console.ExitInterrupted || !strings.Contains(talk, "killed") {
				t.Errorf("exit code %d:\n%s", code, talk)
			}
		})
	}
}

// TestWorkerOfAKilledScreen: a run whose screen was killed ends gracefully by itself.
func TestWorkerOfAKilledScreen(t *testing.T) {
	path := testenv.Locbench(t)
	args, out := testenv.SmallRun(t, "[{connections: 1, duration: 60s}]")
	given, err := json.Marshal(append([]string{path}, args...))
	testenv.OK(t, err)
	screen := exec.Command(os.Args[0])
	screen.Env = append(os.Environ(), screenVariable+"="+string(given))
	testenv.OK(t, screen.Start())
	testenv.Until(t, time.Minute, "the run begins", func() bool { return results.Running(out) })
	watcher := Watch(out)
	defer watcher.Close()
	until(t, watcher, firstStep)
	testenv.OK(t, screen.Process.Kill())
	_ = screen.Wait()
	until(t, watcher, nil)
	code, talk := watcher.Wait()
	testenv.Need(t, code == console.ExitOK, "the run did not end gracefully: %d:\n%s", code, talk)
	run, trials, err := results.Read(out)
	if err != nil || run.State != bench.RunInterrupted || len(trials) != 1 || trials[0].Failure != "interrupted: the screen is gone" || trials[0].Stop == nil {
		t.Errorf("run %s, trials %+v, %v", run.State, trials, err)
	}
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range envs {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "LOCBENCH_RUN="+run.ID+"\x00") {
			t.Errorf("process left: %s", filepath.Dir(file))
		}
	}
	// The worker writes its reports last, into a folder that the test removes at its end.
	testenv.Until(t, time.Minute, "the reports are written", func() bool {
		half, _ := filepath.Glob(filepath.Join(out, ".*"))
		return len(half) == 0 && results.Has(out, results.ReportFile) && results.Has(out, results.SummaryFile)
	})
}

// The results of a run in which nothing ran stay until the screen is closed.
func TestNothingRanOnAScreen(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results", "x")
	s := begun(t, "--elastic", "http://127.0.0.1:1", "--runtime", "process", "-o", out)
	events := until(t, s, nil)
	if code, talk := s.Wait(); code != console.ExitFailure || !strings.Contains(talk, "nothing ran") || len(events) == 0 || !is[bench.RunEnded](events[len(events)-1]) {
		t.Errorf("exit code %d, %d events:\n%s", code, len(events), talk)
	}
	testenv.Check(t, !results.Has(out, "report.html") && results.Has(out, "run.json"),
		"a report although nothing ran, or no record while the screen is open")
	s.Close()
	_, err := os.Stat(filepath.Dir(out))
	testenv.Check(t, errors.Is(err, fs.ErrNotExist), "left behind: %v", err)
}
