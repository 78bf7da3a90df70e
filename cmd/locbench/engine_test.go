//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locbench/internal/testenv"
)

// ownEngine starts a second Docker engine, which a test may stop without harm to the others, and returns its address and process.
func ownEngine(t *testing.T) (host string, engine *exec.Cmd) {
	t.Helper()
	testenv.Docker(t)
	path, err := exec.LookPath("dockerd")
	if err != nil {
		path = "/usr/sbin/dockerd"
	}
	if _, err := os.Stat(path); err != nil || os.Getuid() != 0 {
		t.Skip("only root with dockerd installed can start an engine of its own")
	}
	dir, err := os.MkdirTemp("", "dockerd-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	// A bridge of its own: with none, an engine takes away the bridge of the machine's first one.
	const bridge = "locbench-test0"
	for _, args := range []string{"link add " + bridge + " type bridge", "addr add 10.251.251.1/24 dev " + bridge, "link set " + bridge + " up"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("no bridge can be made here: ip %s: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", bridge).Run() })
	host = "unix://" + dir + "/docker.sock"
	engine = exec.Command(path, "--data-root", dir+"/data", "--exec-root", dir+"/exec", "--pidfile", dir+"/pid",
		"-H", host, "--bridge", bridge, "--iptables=false")
	engine.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := engine.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = engine.Process.Signal(syscall.SIGTERM)
		_ = engine.Wait()
		_ = os.RemoveAll(dir)
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		cmd := exec.Command("docker", "version")
		cmd.Env = append(os.Environ(), "DOCKER_HOST="+host)
		if cmd.Run() == nil {
			return host, engine
		}
	}
	t.Fatal("the engine does not answer")
	return "", nil
}

func TestEngineThatStops(t *testing.T) {
	host, engine := ownEngine(t)
	t.Setenv("DOCKER_HOST", host)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	c := startLocbench(t, dir, "run", "-p", small(t, "go-nethttp", "docker"), "--rounds", "1", "-o", "out")
	c.waitEvent(out, stepStarted(1))
	if err := engine.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := c.wait(90 * time.Second); code != 3 {
		t.Errorf("exit code %d, want 3\n%s", code, c.stderr.String())
	}
	if said := c.stderr.String(); !strings.Contains(said, "the contender died") {
		t.Errorf("it says:\n%s", said)
	}
	_, legs := read(t, out)
	if len(legs) != 1 || len(legs[0].Steps) != 2 || legs[0].Steps[0].Load.Succeeded == 0 {
		t.Errorf("finished steps are lost: %+v", legs)
	}
}
