//go:build acceptance && faults && linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// privateEngine is a second Docker engine, which a test may stop without harm to the others.
type privateEngine struct {
	t    *testing.T
	host string
	args []string
	cmd  *exec.Cmd // the running engine; nil: none
}

// ownEngine starts a private engine.
func ownEngine(t *testing.T) *privateEngine {
	t.Helper()
	testenv.Docker(t)
	path, err := exec.LookPath("dockerd")
	if err != nil {
		path = "/usr/sbin/dockerd"
	}
	if _, err := os.Stat(path); err != nil || os.Getuid() != 0 {
		t.Skip("only root with dockerd installed can start a private engine")
	}
	dir, err := os.MkdirTemp("", "dockerd-") // the path of a socket must be short
	testenv.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// Its own bridge: without one, an engine removes the bridge of the machine's first engine.
	const bridge = "locbench-test0"
	for _, args := range []string{"link add " + bridge + " type bridge", "addr add 10.251.251.1/24 dev " + bridge, "link set " + bridge + " up"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("no bridge can be made here: ip %s: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", bridge).Run() })
	host := "unix://" + dir + "/docker.sock"
	e := &privateEngine{t: t, host: host, args: []string{path, "--data-root", dir + "/data", "--exec-root", dir + "/exec", "--pidfile", dir + "/pid",
		"-H", host, "--bridge", bridge, "--iptables=false"}}
	t.Cleanup(e.stop)
	e.start()
	return e
}

// start returns when the engine responds.
func (e *privateEngine) start() {
	e.t.Helper()
	e.cmd = exec.Command(e.args[0], e.args[1:]...)
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	testenv.Until(e.t, time.Minute, "the engine responds", func() bool {
		cmd := exec.Command("docker", "version")
		cmd.Env = append(os.Environ(), "DOCKER_HOST="+e.host)
		return cmd.Run() == nil
	})
}

// stop returns when the engine has ended.
func (e *privateEngine) stop() {
	if e.cmd != nil {
		_ = e.cmd.Process.Signal(syscall.SIGTERM)
		_ = e.cmd.Wait()
		e.cmd = nil
	}
}

// TestEngine_Stops takes the container engine away in the second step of the first trial.
func TestEngine_Stops(t *testing.T) {
	t.Parallel()
	e := ownEngine(t)
	t.Run("and comes back", func(t *testing.T) {
		d := disturb(t, []string{"DOCKER_HOST=" + e.host}, "run", "--headless", "-p", quiet(t, "docker", 2, 1, 1, 2, 4))
		d.loaded(1)
		e.stop()
		e.start()
		_, trials := d.ends(3, "the contender died", "container engine", "lost  ")
		if len(trials) != 2 || trials[0].State != bench.TrialFailed || trials[1].State != bench.TrialComplete {
			t.Fatal(states(trials))
		}
		if trial := trials[0]; len(trial.Steps) != 2 || trial.Steps[0].Load.Succeeded == 0 || trial.Exit == nil {
			t.Errorf("%d steps, exit %v", len(trial.Steps), trial.Exit)
		}
		d.reported("container engine")
		d.resumes()
	})
	t.Run("for good", func(t *testing.T) {
		d := disturb(t, []string{"DOCKER_HOST=" + e.host}, "run", "--headless", "-p", quiet(t, "docker", 1, 1, 1, 2, 4))
		d.loaded(1)
		e.stop()
		if code := d.wait(2 * time.Minute); code != 3 {
			t.Errorf("exit code %d, want 3", code)
		}
		says(t, "standard error", d.stderr.String(), "the contender died", "container engine", "lost  ")
		_, trials := read(t, d.out)
		if len(trials) != 1 || len(trials[0].Steps) != 2 || trials[0].Steps[0].Load.Succeeded == 0 {
			t.Errorf("finished steps are lost: %s", states(trials))
		}
		if t.Failed() {
			t.Logf("it said:\n%s", d.stderr.String())
		}
		e.start()
		d.resumes()
	})
}
