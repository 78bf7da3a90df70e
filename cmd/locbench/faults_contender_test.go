//go:build acceptance && faults && linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
)

// TestContender_Harmed does to the contender, in the second of four steps, what people and kernels do.
func TestContender_Harmed(t *testing.T) {
	testenv.Docker(t)
	t.Parallel()
	docker := func(args ...string) func(*disturbed, bench.InstanceInfo) {
		return func(d *disturbed, info bench.InstanceInfo) { dockerDo(d.t, append(args, info.ID)...) }
	}
	for _, f := range []fault{
		{name: "killed", harm: docker("kill"), words: []string{"killed by SIGKILL"}, steps: 2, lost: "stopped in step 2 after"},
		{name: "restarted", harm: docker("restart", "-t", "0"), words: []string{"the contender died"}, steps: 2, lost: "stopped in step 2 after"},
		{name: "removed", harm: docker("rm", "-f"), words: []string{"the contender died"}, steps: 2, lost: "stopped in step 2 after"},
		{name: "paused", harm: docker("pause"), words: []string{"paused externally"}, kind: bench.IncidentPaused, steps: 3, lost: "not measured: 8 connections"},
		{name: "network disconnected", harm: func(d *disturbed, info bench.InstanceInfo) {
			run, _ := read(d.t, d.out)
			network := dockerDo(d.t, "network", "ls", "-q", "--filter", "label=locbench.run="+run.ID)
			dockerDo(d.t, "network", "disconnect", "--force", network, info.ID)
		}, words: []string{"no success in 2 consecutive steps"}, steps: 4},
		{name: "process stopped", harm: func(d *disturbed, info bench.InstanceInfo) {
			testenv.OK(d.t, syscall.Kill(info.PID, syscall.SIGSTOP))
		}, words: []string{"(SIGSTOP)"}, steps: 3, lost: "not measured: 8 connections"},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			rounds, runtime := 1, "docker"
			switch f.name {
			case "killed":
				rounds = 2 // the next trial continues
			case "process stopped":
				runtime = "process"
			}
			f.happens(disturb(t, nil, "run", "--headless", "-p", quiet(t, runtime, rounds, "1, 2 for 9s, 4, 8")), rounds)
		})
	}
}

// TestContender_Loopback: only this machine reaches the built-in contender during a
// trial.
func TestContender_Loopback(t *testing.T) {
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", quiet(t, "process", 1, "1 for 20s"))
	_, port, err := net.SplitHostPort(d.loaded(0).Address)
	testenv.OK(t, err)
	for host, open := range map[string]bool{"127.0.0.1": true, "127.0.0.2": false} { // the same interface
		c, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), 5*time.Second)
		if err == nil {
			c.Close()
		}
		testenv.Check(t, (err == nil) == open, "at %s: %v", host, err)
	}
	d.signal(syscall.SIGINT)
	d.ends(130)
}

// gate is a proxy to a store that can be closed and opened on the same address.
type gate struct {
	t      *testing.T
	addr   string
	target *url.URL
	server *http.Server
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	g := &gate{t: t, addr: "127.0.0.1:0", target: testenv.Must(url.Parse(target))(t)}
	g.open()
	t.Cleanup(g.shut)
	return g
}

func (g *gate) open() {
	g.t.Helper()
	l := testenv.Must(net.Listen("tcp", g.addr))(g.t)
	g.addr = l.Addr().String()
	g.server = &http.Server{Handler: httputil.NewSingleHostReverseProxy(g.target)}
	go func(s *http.Server) { _ = s.Serve(l) }(g.server)
}

// shut refuses new connections and breaks the open ones.
func (g *gate) shut() { _ = g.server.Close() }

// TestStore_Goes has no data in the store at first; then the store is away for a while, and at last for good.
func TestStore_Goes(t *testing.T) {
	t.Parallel()
	s := embedded.New(embedded.Options{})
	defer s.Close()
	url := testenv.Must(s.Listen("127.0.0.1:0"))(t)
	dir := t.TempDir()
	args := []string{"run", "--headless", "-p", quiet(t, "process", 1, "1, 2"), "--elastic", url, "-o"}
	code, _, stderr := locbench(t, dir, append(args, "empty")...)
	testenv.Check(t, code == 1 && strings.Contains(stderr, "locbench seed --elastic "+url), "exit code %d, without data it says:\n%s", code, stderr)

	testenv.OK(t, s.Fill(t.Context(), testenv.Must(dataset.Generated(200, 12, 1))(t), nil))
	g := newGate(t, url)
	storeGoes(t, "process", "http://"+g.addr, g.shut, g.open)

	c := startLocbench(t, dir, append(args, "out")...)
	c.waitEvent(filepath.Join(dir, "out"), stepStarted(1))
	s.Close()
	code = c.wait(time.Minute)
	testenv.Check(t, code == 3 && strings.Contains(c.stderr.String(), "lost elasticsearch"), "exit code %d:\n%s", code, c.stderr.String())
	_, trials := read(t, filepath.Join(dir, "out"))
	testenv.Check(t, len(trials) == 1 && len(trials[0].Steps) == 2 && trials[0].Steps[0].Load.Succeeded > 0, "finished steps are lost: %s", states(trials))
}

// TestFullDisk fills the file system of the results in the second step of the first trial, and
// frees space for --resume.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system to fill")
	}
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		if text, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", dir).CombinedOutput(); err != nil {
			t.Skipf("no file system can be mounted here: %v: %s", err, text)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		d := disturbIn(t, dir, []string{"TMPDIR=" + t.TempDir()}, "run", "--headless", "-p", quiet(t, runtime, 2, "1, 2 for 9s, 4"))
		d.loaded(1)
		filler := filepath.Join(dir, "filler")
		fill(t, filler)
		run, trials := d.ends(3, "cannot save results", "no space left on device; free space in "+d.out, "--resume out")
		testenv.Check(t, strings.Count(d.stderr.String(), "no space left") <= 6,
			"the error is printed more than six times")
		if run.State != bench.RunRunning || len(trials) != 1 || len(trials[0].Steps) != 1 || trials[0].Steps[0].Load.Succeeded == 0 {
			t.Errorf("run %s, %s", run.State, states(trials))
		}
		testenv.OK(t, os.Remove(filler))
		d.resumes()
	})
}

// fill writes to path until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f := testenv.Must(os.Create(path))(t)
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2] // to the last byte
		}
	}
}

// TestSignal_Teardown: a signal ends a run whose target has what its setup made. The teardown removes it, --resume
// makes it again, and a second signal skips the teardown and says so.
func TestSignal_Teardown(t *testing.T) {
	path := profileFile(t, `rounds: 1
setup: [{post: /seed, expect: {status: 201}}]
requests: [{get: /load}]
teardown: [{name: clean, delete: /seed}]
steps: [{connections: 1, duration: 4s}]
`)
	for _, signals := range [][]syscall.Signal{{syscall.SIGTERM}, {syscall.SIGINT, syscall.SIGTERM}} {
		t.Run(fmt.Sprint(signals), func(t *testing.T) {
			t.Parallel()
			var journal lockedBuffer
			var loads atomic.Int64
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if loads.Add(1); r.Method != http.MethodGet {
					fmt.Fprint(&journal, r.Method, " ")
				}
				switch {
				case r.Method == http.MethodPost:
					w.WriteHeader(http.StatusCreated)
				case r.Method == http.MethodDelete && len(signals) > 1:
					<-r.Context().Done() // no response
				}
			}))
			defer target.Close()
			d := disturb(t, nil, "run", "--headless", "-p", path, "--target", target.URL)
			testenv.Until(t, time.Minute, "the target is loaded", func() bool { return loads.Load() > 100 })
			d.signal(signals[0])
			if len(signals) > 1 {
				testenv.Until(t, time.Minute, "the teardown is sent", func() bool { return journal.String() == "POST DELETE " })
				d.signal(signals[1])
				d.ends(130, "teardown was not finished, 1 of 1 requests without a response", "may be left at "+strings.TrimPrefix(target.URL, "http://"))
				return
			}
			d.ends(130)
			testenv.Equal(t, journal.String(), "POST DELETE ")
			d.resumes()
			testenv.Equal(t, journal.String(), "POST DELETE POST DELETE ", "after resuming")
		})
	}
}

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
	testenv.OK(e.t, e.cmd.Start())
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

// TestEngine_Stops takes the container engine away in the second step of the first trial: it comes back at once, or
// after the end of the run.
func TestEngine_Stops(t *testing.T) {
	t.Parallel()
	e := ownEngine(t)
	for rounds, f := range map[int]fault{
		1: {harm: func(*disturbed, bench.InstanceInfo) { e.stop() }, undo: e.start},
		2: {harm: func(*disturbed, bench.InstanceInfo) { e.stop(); e.start() }},
	} {
		f.words, f.steps, f.lost = []string{"the contender died", "container engine"}, 2, "stopped in step 2 after"
		t.Run(fmt.Sprintf("%d rounds", rounds), func(t *testing.T) {
			f.happens(disturb(t, []string{"DOCKER_HOST=" + e.host}, "run", "--headless", "-p", quiet(t, "docker", rounds, "1, 2 for 9s, 4")), rounds)
		})
	}
}

// TestProcessFolders: each start of a process has its own working directory, also in a run that
// is killed and resumed; clean removes what the kill left.
func TestProcessFolders(t *testing.T) {
	services, found := t.TempDir(), filepath.Join(t.TempDir(), "found")
	manifest := `language: Shell
framework: none
version: "1"
env: {PORT: "{{.Port}}", LISTEN: "{{.Listen}}"}
process: {command: [sh, -c, 'echo start >>starts; cat starts >>` + found + `; exec "$0" serve --embedded-store', "{{.Dir}}/server"]}
`
	writeFile(t, filepath.Join(services, "starts", "service.yaml"), manifest)
	writeFile(t, filepath.Join(services, "starts", "server"), readFile(t, testenv.Locbench(t)))
	path := profileFile(t, "contenders: [starts]\nruntime: process\nrounds: 2\nrequests: [{get: /}]\nchecks: {lifecycle: none, suites: []}\nsteps: [{connections: 1, duration: 2s}]\n")
	d := disturb(t, nil, "run", "--headless", "-p", path, "--services", services)
	d.loaded(0)
	d.signal(syscall.SIGKILL)
	d.wait(time.Minute)
	run, _ := read(t, d.out)
	if left := leftOf(run.ID); !slices.ContainsFunc(left, func(l string) bool { return strings.HasPrefix(l, "folder left") }) {
		t.Errorf("the killed run had no folder: %v", left)
	}
	d.resumes()
	text, err := os.ReadFile(found)
	testenv.Check(t, err == nil && string(text) == "start\nstart\nstart\n", "%v; the starts found %q", err, text)
}
