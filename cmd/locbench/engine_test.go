//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/docker/dockertest"
	"locbench/internal/testenv"
)

// privateEngine is a second Docker engine, which a test may stop without harm to the others.
type privateEngine struct {
	t    *testing.T
	host string
	args []string
	cmd  *exec.Cmd // that runs; nil: none
}

// ownEngine starts one.
func ownEngine(t *testing.T) *privateEngine {
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
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// A bridge of its own: with none, an engine takes away the bridge of the machine's first one.
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

// start returns when it answers.
func (e *privateEngine) start() {
	e.t.Helper()
	e.cmd = exec.Command(e.args[0], e.args[1:]...)
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	testenv.Until(e.t, time.Minute, "the engine answers", func() bool {
		cmd := exec.Command("docker", "version")
		cmd.Env = append(os.Environ(), "DOCKER_HOST="+e.host)
		return cmd.Run() == nil
	})
}

// stop returns when it has ended.
func (e *privateEngine) stop() {
	if e.cmd != nil {
		_ = e.cmd.Process.Signal(syscall.SIGTERM)
		_ = e.cmd.Wait()
		e.cmd = nil
	}
}

// TestEngineThatStops takes the container engine away in the second step of the first leg.
func TestEngineThatStops(t *testing.T) {
	t.Parallel()
	e := ownEngine(t)
	t.Run("and comes back", func(t *testing.T) {
		d := disturb(t, []string{"DOCKER_HOST=" + e.host}, "run", "--headless", "-p", quiet(t, "docker", 2, 1, 1, 2, 4))
		d.instance(1)
		e.stop()
		e.start()
		_, legs := d.ends(3, "the contender died", "the container engine", "lost  ")
		if len(legs) != 2 || legs[0].State != bench.LegFailed || legs[1].State != bench.LegComplete {
			t.Fatal(states(legs))
		}
		if leg := legs[0]; len(leg.Steps) != 2 || leg.Steps[0].Load.Succeeded == 0 || leg.Exit == nil {
			t.Errorf("%d steps, exit %v", len(leg.Steps), leg.Exit)
		}
		d.reported("the container engine")
		d.resumes()
	})
	t.Run("for good", func(t *testing.T) {
		d := disturb(t, []string{"DOCKER_HOST=" + e.host}, "run", "--headless", "-p", quiet(t, "docker", 1, 1, 1, 2, 4))
		d.instance(1)
		e.stop()
		if code := d.wait(2 * time.Minute); code != 3 {
			t.Errorf("exit code %d, want 3", code)
		}
		says(t, "standard error", d.stderr.String(), "the contender died", "the container engine", "lost  ")
		_, legs := read(t, d.out)
		if len(legs) != 1 || len(legs[0].Steps) != 2 || legs[0].Steps[0].Load.Succeeded == 0 {
			t.Errorf("finished steps are lost: %s", states(legs))
		}
		if t.Failed() {
			t.Logf("it said:\n%s", d.stderr.String())
		}
		e.start()
		d.resumes()
	})
}

// TestEngineElsewhere runs on an engine in another network namespace, which is as far away as
// another machine. What cannot work is reported before anything is built or measured; what can,
// works: ports are published, counters and clock are the engine's.
func TestEngineElsewhere(t *testing.T) {
	t.Parallel()
	unix, tcp, _ := dockertest.Elsewhere(t)
	none := func(t *testing.T, host string) {
		t.Helper()
		for _, what := range [][]string{{"ps", "-aq"}, {"network", "ls", "-q"}} {
			if left := dockerTo(t, host, append(what, "--filter", "label=locbench.run")...); left != "" {
				t.Errorf("left in the engine: %s", left)
			}
		}
	}
	for what, c := range map[string]struct {
		host, want string
		args       []string
	}{
		"a forwarded socket":                             {unix, "the ports of its containers are out of reach; run locbench there, or name the engine by its own address", []string{"--runtime", "docker"}},
		"store in a container behind a forwarded socket": {unix, "the ports of its containers are out of reach", []string{"--runtime", "process", "--store", "container"}},
		"embedded store":                                 {tcp, "cannot reach a store on this machine's loopback interface; use --store container, or an Elasticsearch at an address that they reach", []string{"--runtime", "docker", "--store", "embedded"}},
		"store on loopback":                              {tcp, "cannot reach a store on this machine's loopback interface", []string{"--runtime", "docker", "--elastic", "http://127.0.0.1:9"}},
	} {
		t.Run(what, func(t *testing.T) {
			c2 := startIn(t, t.TempDir(), []string{"DOCKER_HOST=" + c.host}, append([]string{"run", "--headless", "-o", "out"}, c.args...)...)
			began := time.Now()
			if code := c2.wait(time.Minute); code != 1 || !strings.Contains(c2.stderr.String(), c.want) || !strings.Contains(c2.stderr.String(), "--runtime process") {
				t.Errorf("exit code %d; it said:\n%s", code, c2.stderr.String())
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
			none(t, c.host)
		})
	}
	t.Run("a runtime of locbench's choice", func(t *testing.T) {
		d := disturb(t, []string{"DOCKER_HOST=" + unix}, "run", "--headless", "-p", small(t, "go-nethttp", "auto"), "--no-checks", "--rounds", "1", "--connections", "1", "--duration", "300ms")
		run, legs := d.ends(0, "warning: contenders run as processes: the Docker engine at "+unix)
		if run.Profile.Runtime != bench.RuntimeProcess || len(legs) != 1 || legs[0].Instance.Runtime != bench.RuntimeProcess {
			t.Errorf("runtime %s, %s", run.Profile.Runtime, states(legs))
		}
	})
	t.Run("store beside the contenders", func(t *testing.T) {
		binary, err := storeBinary()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := errors.Join(os.Rename(binary, filepath.Join(dir, "store")), os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte("FROM scratch\nCOPY store /store\nENTRYPOINT [\"/store\"]\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		dockerTo(t, tcp, "build", "-t", "store:test", dir)
		data, err := os.ReadFile(small(t, "go-nethttp", "docker"))
		if err != nil {
			t.Fatal(err)
		}
		profile := profileFile(t, strings.Replace(string(data), "store: embedded", "store: {kind: container, image: \"store:test\"}", 1))
		d := disturb(t, []string{"DOCKER_HOST=" + tcp}, "run", "--headless", "-p", profile, "--rounds", "1", "--duration", "1s")
		run, legs := d.ends(0, "CPUs     ")
		if len(legs) != 1 || len(legs[0].Steps) != 3 {
			t.Fatalf("%s", states(legs))
		}
		there, info := strings.TrimSuffix(strings.TrimPrefix(tcp, "tcp://"), ":2375"), legs[0].Instance
		if !strings.HasPrefix(info.Address, there+":") || info.PID == 0 {
			t.Errorf("reached at %s, process %d", info.Address, info.PID) // the kernel is the same, and so are its processes
		}
		if !strings.HasPrefix(run.Store.URL, "http://"+there+":") || run.Store.Seen == run.Store.URL || !strings.HasSuffix(run.Store.Seen, ":9200") {
			t.Errorf("store %+v", run.Store)
		}
		for _, step := range legs[0].Steps {
			// A busy machine may be too slow for the time-out of half a second, but nothing else
			// fails.
			if step.Load.Succeeded == 0 || step.Load.FailedTotal() > step.Load.Failed[bench.ErrTimeout] || step.After == nil {
				t.Errorf("step %s: %+v", step.Step.Name, step.Load.Failed)
			}
		}
		if run.Isolated == nil || run.Isolated.Separate {
			t.Errorf("CPUs %+v", run.Isolated)
		}
	})
}
