package docker

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// podman returns the Engine of a fake Podman at a socket of this machine.
func podman(t *testing.T, f *fakedocker.Engine) *Engine {
	t.Helper()
	e := engineOf(t, f)
	e.host, e.info = "unix:///x.sock", testenv.Must(describe(t.Context(), e.cli))(t)
	return e
}

// TestPodman_Local: Podman makes a bridge when its first container starts, so a network is here if the engine is.
func TestPodman_Local(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has bridges")
	}
	name := testenv.Must(os.Hostname())(t)
	kernel := strings.TrimSpace(string(testenv.Must(os.ReadFile("/proc/sys/kernel/osrelease"))(t)))
	socket := filepath.Join(t.TempDir(), "s")
	l := testenv.Must(net.Listen("unix", socket))(t)
	defer l.Close()
	for what, c := range map[string]struct {
		host string
		info map[string]any
		want bool
	}{
		"here":                   {"unix:///nowhere.sock", nil, true},
		"of a process here":      {"unix://" + socket, nil, true},
		"rootless":               {"unix:///nowhere.sock", map[string]any{"SecurityOptions": []string{"name=rootless"}}, false},
		"at a port":              {"tcp://127.0.0.1:2375", nil, false},
		"a machine of that name": {"unix:///nowhere.sock", map[string]any{"KernelVersion": "0.1"}, false},
		"another machine":        {"unix:///nowhere.sock", map[string]any{"Name": "far"}, false},
	} {
		t.Run(what, func(t *testing.T) {
			f := fakedocker.Podman()
			f.Info["Name"], f.Info["KernelVersion"] = name, kernel
			for key, value := range c.info {
				f.Info[key] = value
			}
			e := podman(t, f)
			e.host = c.host
			g := testenv.Must(e.NewGroup(t.Context(), "r1", "o", true))(t)
			testenv.Check(t, g.Network.Local == c.want && e.Local() == c.want, "local: %v", g.Network.Local)
			testenv.Equal(t, len(g.Warnings()), 0, "warnings", g.Warnings())
			testenv.Equal(t, g.HostAddress() == "172.30.0.1", c.want, "this machine's address", g.HostAddress())
		})
	}
}

// TestPodman_CPUSet: without the controller Podman starts no container with a CPU set. It starts without one, and
// that is said.
func TestPodman_CPUSet(t *testing.T) {
	for has, want := range map[bool]string{true: `CpusetCpus: "0"`, false: "!CpusetCpus"} {
		f := fakedocker.Podman()
		f.Info["CPUSet"] = has
		f.OnKill = func(string) { f.End(0) }
		g := &Group{Engine: podman(t, f), id: "r1", owner: "o"}
		c, missing, note, err := g.Run(t.Context(), ContainerSpec{Image: "img", CPUs: cpuset.Of(0)})
		testenv.OK(t, err)
		testenv.Contains(t, f.Created(), want)
		testenv.Check(t, (len(missing) == 0) == has && strings.Contains(note, "CPU set: unsupported") != has, "%q, %q", missing, note)
		testenv.OK(t, c.Kill(t.Context()))
	}
}

// TestPodman_Exit: the end of the log is the sign of an exit. The engine gets no request to wait, which costs it a CPU.
func TestPodman_Exit(t *testing.T) {
	for what, early := range map[string]time.Duration{"with its log": 0, "after its log": time.Second} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.Podman()
				c := containerOf(t, f)
				c.engine.info.Podman, c.copied = true, make(chan struct{})
				f.After(time.Minute, func() { f.End(3) })
				time.AfterFunc(time.Minute-early, func() { close(c.copied) })
				testenv.Equal(t, ends(t, c).Code, 3)
				testenv.Equal(t, len(f.Requests(".*/wait")), 0, "requests to wait")
			})
		})
	}
}

// TestPodman_CopyVolume: a program of the image copies, since Podman's archives lack the owners.
func TestPodman_CopyVolume(t *testing.T) {
	for code, want := range map[int]string{0: "", 1: "copy volume a: cp: exit code 1"} {
		f := fakedocker.Podman()
		f.OnRequest = func(request string) {
			if request == "POST "+ours+"/start" {
				go f.Change(func() { f.End(code) })
			}
		}
		g := &Group{Engine: podman(t, f), id: "r1", owner: "o"}
		_, err := g.CopyVolume(t.Context(), "a", "b", "img", 1)
		testenv.Check(t, (err == nil) == (want == "") && (err == nil || err.Error() == want), "%v, want %q", err, want)
		testenv.Contains(t, f.Created(), `Entrypoint: ["cp","-a","/locbench-volume/.","/locbench-copy"]`, `User: "0"`)
		testenv.Equal(t, len(f.Requests(".*/archive")), 0, "archives")
	}
}

// TestDelegated: what a rootless Podman can enforce is what systemd delegates to its user.
func TestDelegated(t *testing.T) {
	all := Info{CPUQuota: true, CPUSet: true, MemoryLimit: true, SwapLimit: true, PIDsLimit: true}
	user := fmt.Sprintf("sys/fs/cgroup/user.slice/user-%d.slice/user@%[1]d.service/cgroup.controllers", os.Getuid())
	for what, c := range map[string]struct {
		version  int
		rootless bool
		has      string // of the user; "": no such file
		says     Info
		want     Info
	}{
		"rootless":         {2, true, "cpu memory pids\n", Info{}, Info{CPUQuota: true, MemoryLimit: true, SwapLimit: true, PIDsLimit: true}},
		"all of them":      {2, true, "cpuset cpu io memory pids\n", Info{}, all},
		"without systemd":  {2, true, "", all, all},
		"rootless with v1": {1, true, "", all, Info{}},
		"of root":          {2, false, "cpu\n", Info{}, Info{CPUSet: true, MemoryLimit: true, SwapLimit: true}},
		"of root, with v1": {1, false, "", all, all},
	} {
		t.Run(what, func(t *testing.T) {
			root := t.TempDir()
			if c.has != "" {
				writeFile(t, c.has, root, user)
				writeFile(t, "cpuset memory\n", root, "sys/fs/cgroup/cgroup.controllers")
			}
			info := c.says
			info.CgroupVersion, info.Rootless = c.version, c.rootless
			c.want.CgroupVersion, c.want.Rootless = c.version, c.rootless
			info.delegated(root)
			testenv.Equal(t, fmt.Sprintf("%+v", info), fmt.Sprintf("%+v", c.want))
		})
	}
}

// TestSeen: limits are enforced if the container has them, or tighter ones.
func TestSeen(t *testing.T) {
	asked := bench.Limits{CPUs: 1.5, Memory: 64, PIDs: 9}
	for what, c := range map[string]struct {
		has   bench.Limits
		swaps bool
		want  Info
	}{
		"all":     {asked, false, Info{CPUQuota: true, MemoryLimit: true, SwapLimit: true, PIDsLimit: true}},
		"tighter": {bench.Limits{CPUs: 1, Memory: 63, PIDs: 8}, false, Info{CPUQuota: true, MemoryLimit: true, SwapLimit: true, PIDsLimit: true}},
		"none":    {bench.Limits{}, true, Info{}},
		"wider":   {bench.Limits{CPUs: 2, Memory: 65, PIDs: 10}, true, Info{}},
	} {
		var info Info
		info.seen(c.has, c.swaps, asked)
		testenv.Equal(t, fmt.Sprintf("%+v", info), fmt.Sprintf("%+v", c.want), what)
	}
}
