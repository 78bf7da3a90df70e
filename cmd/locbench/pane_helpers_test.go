//go:build acceptance && unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
)

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

func (p *pane) resize(width, height int) {
	p.t.Helper()
	p.run("resize-window", "-t", "0", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
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
