//go:build acceptance && terminal && unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
)

// TestScreen follows a run from its command to the summary on the normal screen. It runs
// alone: warnings about other runs would push its summary off the screen.
func TestScreen(t *testing.T) {
	p, out := onScreen(t, 120, 40, "go-nethttp", "docker", "")
	p.see("go-nethttp", "round 1 of 2", "throughput")
	p.see("round 2 of 2", "req/s")
	testenv.Contains(t, p.see("code=0"), "results  out", "per billion requests", "!throughput  ")
	run, _ := readClean(t, out)
	testenv.Check(t, run.State == bench.RunComplete && !strings.Contains(strings.Join(run.Command, " "), "controlled"),
		"state %s, command %q", run.State, run.Command)
}

// TestScreen_Suspended stops the screen by Ctrl-Z: the shell is back, the run continues,
// and fg shows it again.
func TestScreen_Suspended(t *testing.T) {
	t.Parallel()
	p, out := onScreen(t, 100, 30, "go-nethttp", "docker", "--duration 120s")
	p.see("step 1 of 3", "req/s")
	p.keys("C-z")
	p.see("Stopped", "ready$")
	before := lastSeq(out)
	testenv.Until(t, time.Minute, "the run continues while the screen is stopped", func() bool { return lastSeq(out) > before+4 })
	p.typed("echo the shell is $((40+2))")
	p.see("the shell is 42")
	p.typed("fg")
	shown := p.see("step 1 of 3", "req/s")
	p.until(time.Minute, "show what continues", func(s string) bool { return strings.Contains(s, "step 1 of 3") && s != shown })
	p.keys("C-c", "C-c")
	p.see("--resume out", "ready$")
	readClean(t, out)
}

// TestScreen_Closes stops the run gracefully, also if the screen was suspended: SIGHUP, results kept, nothing left.
// internal/run/worker has the other ends of a screen, and its controls.
func TestScreen_Closes(t *testing.T) {
	t.Parallel()
	p, out := onScreen(t, 80, 24, "go-nethttp", "docker", "--duration 3s")
	p.see("step 2/3")
	p.keys("C-z")
	p.see("Stopped")
	p.kill()
	testenv.Until(t, time.Minute, "the run stops gracefully", func() bool { return runState(out) == bench.RunInterrupted && !results.Running(out) })
	testenv.Until(t, time.Minute, "the reports, which come last", func() bool {
		unfinished, _ := filepath.Glob(filepath.Join(out, ".*.tmp*"))
		return len(unfinished) == 0 && results.Has(out, results.ReportFile) && results.Has(out, results.SummaryFile)
	})
	_, trials := readClean(t, out)
	testenv.Check(t, len(trials) == 1 && len(trials[0].Steps) > 0 && trials[0].State == bench.TrialAborted, "%s", states(trials))
}

// TestScreen_Detached: the run continues without its screen and its terminal, to its end.
func TestScreen_Detached(t *testing.T) {
	t.Parallel()
	p, out := onScreen(t, 80, 24, "go-nethttp", "docker", "--rounds 1 --duration 8s")
	p.see("step 1/3", "req/s")
	p.keys("d")
	p.see("The run continues as process", "locbench tui out", "code=0")
	p.run("kill-server")
	testenv.Until(t, time.Minute, "the run ends", func() bool { return !results.Running(out) })
	run, trials := readClean(t, out)
	testenv.Check(t, run.State == bench.RunComplete && len(trials) == 1 && len(trials[0].Steps) == 3,
		"state %s, trials %d", run.State, len(trials))
}

// TestDashboard uses all screens: set up, watch, abort; again to the end; past runs, open, compare.
func TestDashboard(t *testing.T) {
	t.Parallel()
	testenv.Docker(t)
	dir := t.TempDir()
	data := readFile(t, small(t, "go-nethttp", "docker"))
	writeFile(t, filepath.Join(dir, "small.yaml"), data)
	p := newPane(t, 120, 40, dir)
	p.typed("locbench tui -- --profile small.yaml; echo code=$?")
	p.see("set up  ", "small.yaml", "go-nethttp", "$ locbench run --profile small.yaml", "ready: ")
	p.keys("s")
	p.see("step 1 of 3", "throughput")
	p.keys("q")
	p.see("stop now")
	p.keys("C-c")
	p.see("interrupted:", "1 Result") // the run has ended, not only its trial
	p.keys("q")
	p.see("set up  ")

	time.Sleep(1100 * time.Millisecond) // the name of a results folder has the second of its start
	p.keys("s")
	p.see("round 2 of 2") // its last step alone may end between two looks at a busy machine
	p.until(time.Minute, "show the end", func(s string) bool { return strings.Contains(s, "complete") && !strings.Contains(s, "left") })
	folders, _ := filepath.Glob(filepath.Join(dir, "results", "*"))
	if len(folders) != 2 || runState(folders[0]) != bench.RunInterrupted || runState(folders[1]) != bench.RunComplete {
		t.Fatalf("folders %q", folders)
	}
	p.keys("2")
	p.see("4 connections", "bound by")
	p.keys("q")

	p.see("set up  ")
	p.keys("b")
	p.see("past runs", "interrupted", filepath.Base(folders[1]))
	p.keys("Enter")
	p.see("1 Result", "complete")
	p.keys("q")
	p.see("interrupted")
	p.keys("Space", "Down", "c")
	p.see("● old", "■ new", "go-nethttp")
	p.keys("q")
	p.see("interrupted")
	p.keys("q")
	p.see("set up  ")
	p.keys("q")
	screen := p.see("code=0")
	testenv.Check(t, strings.Contains(screen, "results  results/") && !strings.Contains(screen, "set up  "),
		"the normal screen shows:\n%s", screen)
	for _, f := range folders {
		readClean(t, f)
	}
}

// pane is a terminal with a shell in it, in its own tmux server.
type pane struct {
	t    *testing.T
	tmux string
	name string // name of the server's socket
	dir  string
}

// newPane opens a terminal of that size, with its shell in dir.
func newPane(t *testing.T, width, height int, dir string, env ...string) *pane {
	t.Helper()
	p := &pane{t: t, tmux: testenv.Program(t, "tmux", "tmux"), name: fmt.Sprintf("locbench-test-%d-%d", os.Getpid(), time.Now().UnixNano()), dir: dir}
	set := append([]string{"PATH=" + filepath.Dir(testenv.Locbench(t)) + ":" + os.Getenv("PATH"), "PS1=ready$ ", "LC_ALL=C.UTF-8", "HISTFILE=", machine.RunsVariable + "=" + t.TempDir()}, env...)
	args := append([]string{"-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", dir, "env"}, set...)
	p.run(append(args, "bash", "--norc", "--noprofile", "-i")...)
	p.run("set-option", "-g", "set-titles", "off")
	t.Cleanup(func() {
		if t.Failed() {
			if text, err := p.output("capture-pane", "-p", "-t", "0"); err == nil {
				t.Logf("the terminal at the end:\n%s", text)
			}
		}
		_, _ = p.output("kill-server")
		p.empty()
	})
	p.see("ready$")
	return p
}

// onScreen starts a run in a new terminal, and returns its results folder.
func onScreen(t *testing.T, width, height int, contender, runtime, more string) (p *pane, out string) {
	t.Helper()
	if runtime == "docker" {
		testenv.Docker(t)
	}
	dir := t.TempDir()
	p = newPane(t, width, height, dir)
	p.typed("locbench run --profile " + small(t, contender, runtime) + " " + more + " -o out; echo code=$?")
	return p, filepath.Join(dir, "out")
}

// empty waits until no process works in the terminal's folder: a run that outlives its terminal
// releases the lock of its results before it has written their reports.
func (p *pane) empty() {
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var at []string
		links, _ := filepath.Glob("/proc/[0-9]*/cwd") // empty on systems other than Linux
		for _, link := range links {
			if dir, err := os.Readlink(link); err == nil && (dir == p.dir || strings.HasPrefix(dir, p.dir+"/")) {
				at = append(at, link)
			}
		}
		if len(at) == 0 {
			return
		}
		if time.Now().After(end) {
			p.t.Errorf("processes continue in %s after its terminal is gone: %v", p.dir, at)
			return
		}
	}
}

func (p *pane) output(args ...string) (string, error) {
	cmd := exec.Command(p.tmux, append([]string{"-L", p.name}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *pane) run(args ...string) string {
	p.t.Helper()
	out, err := p.output(args...)
	testenv.Need(p.t, err == nil, "tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	return out
}

// screen returns the current content of the terminal.
func (p *pane) screen() string {
	p.t.Helper()
	return p.run("capture-pane", "-p", "-t", "0")
}

// keys presses keys, by tmux's names: "Enter", "Escape", "C-c".
func (p *pane) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.run("send-keys", "-t", "0", k)
	}
}

// typed types text unchanged, and Enter.
func (p *pane) typed(text string) {
	p.t.Helper()
	p.run("send-keys", "-t", "0", "-l", text)
	p.keys("Enter")
}

// see waits until the terminal shows every text, and returns its content.
func (p *pane) see(texts ...string) string {
	p.t.Helper()
	return p.until(time.Minute, fmt.Sprintf("show %q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// until waits for a screen that is accepts.
func (p *pane) until(timeout time.Duration, what string, is func(screen string) bool) string {
	p.t.Helper()
	var screen string
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if screen = p.screen(); is(screen) {
			return screen
		}
	}
	p.t.Fatalf("the terminal does not %s after %v; it shows:\n%s", what, timeout, screen)
	return ""
}

// kill ends the terminal, as closing its window does.
func (p *pane) kill() {
	p.t.Helper()
	p.run("kill-session", "-t", "0")
}

// stops stops the run that the terminal shows.
func (p *pane) stops() {
	p.t.Helper()
	p.keys("q")
	p.see("stop now")
	p.keys("C-c")
	p.see("code=130")
}

// TestScreen_CtrlC needs a confirmation, then stops gracefully, then by force: the
// contender is killed, and nothing is left.
func TestScreen_CtrlC(t *testing.T) {
	t.Parallel()
	p, out := onScreen(t, 80, 24, "faulty", "docker", "--services "+faulty(t, "deaf", 0)+" --duration 60s")
	p.see("step 1/3", "req/s")
	p.keys("C-c", "C-c")
	p.see("stopping")
	p.keys("C-c")
	p.see("code=130", "--resume out")
	run, trials := readClean(t, out)
	if run.State != bench.RunInterrupted || len(trials) != 1 || trials[0].Stop == nil || !trials[0].Stop.Forced {
		t.Errorf("run %s, trials %+v", run.State, trials)
	}
}

// TestScreen_Resize changes the terminal while a step runs: every size shows the run.
func TestScreen_Resize(t *testing.T) {
	t.Parallel()
	p, _ := onScreen(t, 80, 24, "go-nethttp", "process", "--rounds 1 --duration 120s")
	p.see("step 1/3", "req/s")
	for _, size := range [][2]int{{200, 50}, {60, 20}, {40, 12}, {120, 40}, {80, 24}} {
		p.resize(size[0], size[1])
		p.until(time.Minute, "show the run in its new size", func(s string) bool {
			lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
			return strings.Contains(s, "go-nethttp") && strings.Contains(s, "req/s") && strings.Contains(lines[len(lines)-1], "keys") && len(lines) == size[1]
		})
	}
	p.stops()
}

// TestScreen_HostileLogs has a contender write escape sequences: they change neither title nor
// colors, and clear or move nothing.
func TestScreen_HostileLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := newPane(t, 100, 30, dir)
	p.typed("printf '\\033]2;title before\\007'; locbench run --profile " + small(t, "faulty", "process") + " --services " + faulty(t, "shout", 0) + " --rounds 1 --duration 60s -o out; echo code=$?")
	p.see("step 1 of 3", "req/s")
	p.keys("4", "v")
	screen := p.see("pwned")
	testenv.Check(t, !strings.ContainsAny(screen, "\x1b\a"), "%q", screen)
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	testenv.Check(t, strings.Contains(lines[0], "faulty") && strings.Contains(lines[len(lines)-1], "keys"), "the layout is broken:\n%s", screen)
	testenv.Equal(t, strings.TrimSpace(p.run("display-message", "-p", "-t", "0", "#{pane_title}")), "title before")
	p.stops()
}

func (p *pane) resize(width, height int) {
	p.t.Helper()
	p.run("resize-window", "-t", "0", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}
