package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// connect makes a fake the engine of this machine ("unix"), or of another one ("tcp").
func connect(t *testing.T, f *fakedocker.Engine, network string) *docker.Engine {
	t.Helper()
	dir, err := os.MkdirTemp("", "fake-") // a socket's path must be short
	testenv.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := testenv.Must(net.Listen(network, map[string]string{"unix": dir + "/s", "tcp": "127.0.0.1:0"}[network]))(t)
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: f}}
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_HOST", network+"://"+l.Addr().String())
	e := testenv.Must(docker.Connect(t.Context()))(t)
	t.Cleanup(func() { e.Close() })
	return e
}

// launched starts a contender on a fake, whose container exits at once when it is signaled.
func launched(t *testing.T, f *fakedocker.Engine, spec bench.LaunchSpec) (*Docker, *container) {
	t.Helper()
	f.OnKill = func(signal string) { f.End(map[string]int{"SIGKILL": 137}[signal]) }
	d := testenv.Must(NewDocker(t.Context(), connect(t, f, "unix"), "20261127-0001", false))(t)
	inst := testenv.Must(d.Launch(t.Context(), spec))(t)
	t.Cleanup(func() {
		testenv.OK(t, testenv.Err(inst.Stop(context.Background(), time.Minute)))
		testenv.OK(t, d.Close(context.Background()))
	})
	return d, inst.(*container)
}

// TestDockerLaunch: the golden file has the request that creates each contender's container, and
// what is said of it, on a machine of four CPUs.
func TestDockerLaunch(t *testing.T) {
	all := bench.LaunchSpec{
		Name: "go:lto 1", Artifact: bench.Artifact{Image: "img:1", Command: []string{"serve"}}, Port: 8080, Ready: 8081,
		Env:      map[string]string{"PORT": "8080"},
		Limits:   bench.Limits{CPUs: 1.5, CPUSet: 2, Memory: 512 << 20, PIDs: 64},
		More:     bench.Privileges{Capabilities: []string{"NET_RAW"}, NewPrivileges: true, Processes: 5000},
		Confined: bench.Confined{ReadOnly: true, Tmpfs: []string{"/tmp", "/run:size=1m"}, ShmSize: 256 << 20, User: "1000:1000"}, Signal: "SIGQUIT",
	}
	var golden strings.Builder
	for _, tt := range []struct {
		name string
		lack []string // limits that the engine cannot enforce
		spec bench.LaunchSpec
	}{
		{"a plain contender", nil, bench.LaunchSpec{Name: "plain"}},
		{"everything set", nil, all},
		{"more CPUs than the machine has", nil, bench.LaunchSpec{Limits: bench.Limits{CPUs: 4.01, CPUSet: 9}}},
		{"as many CPUs as the machine has", nil, bench.LaunchSpec{Limits: bench.Limits{CPUs: 4, CPUSet: 4}}},
		{"processes of the manifest", nil, bench.LaunchSpec{More: bench.Privileges{Processes: 5000}}},
		{"given CPUs", nil, bench.LaunchSpec{Limits: bench.Limits{CPUSet: 1}, CPUs: cpuset.Of(2, 3)}},
		{"without limits", []string{"CpuCfsQuota", "CPUSet", "MemoryLimit", "SwapLimit", "PidsLimit", "NCPU"}, all},
		{"without a limit of processes", []string{"PidsLimit"}, bench.LaunchSpec{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fakedocker.New()
			for _, limit := range tt.lack {
				delete(f.Info, limit)
			}
			if tt.spec.Artifact.Image == "" {
				tt.spec.Artifact = bench.Artifact{Image: "img:1", ImageSize: 1 << 20}
			}
			d, c := launched(t, f, tt.spec)
			info := c.Info()
			info.StartedAt = time.Time{}
			said := testenv.Must(json.Marshal(info))(t)
			names := strings.NewReplacer(owner(), "OWNER", d.Network.Name, "NETWORK")
			fmt.Fprintf(&golden, "# %s\n%s---\n%s\n", tt.name, names.Replace(f.Created()), fakedocker.Fields(said))
		})
	}
	testenv.Golden(t, "testdata/docker_launch.golden", golden.String())
}

// groupOf returns a reader of a group of cgroup v2, made of folders.
func groupOf(t *testing.T, files map[string]string) *cgroup.Reader {
	t.Helper()
	tree := hierarchies1(t)
	writeFile(t, filepath.Join(tree.Root, "proc/7/cgroup"), "0::/x\n")
	for name, text := range files {
		writeFile(t, filepath.Join(groupDir(tree, "x"), name), text)
	}
	r := testenv.Must(tree.Process(7))(t)
	return r
}

// TestContainer_Usage: the counters are those of its group, or where that cannot be read the
// engine's. An OOM kill in a reading explains a SIGKILL for which the engine has no reason, except
// that of Stop.
func TestContainer_Usage(t *testing.T) {
	for name, tt := range map[string]struct {
		kills  string // "": the counters are the engine's
		stops  bool
		oom    bool
		source string
	}{
		"a kill":           {"oom_kill 1\n", false, true, "cgroup v2"},
		"no kill":          {"oom_kill 0\n", false, false, "cgroup v2"},
		"stopped":          {"oom_kill 1\n", true, false, "cgroup v2"},
		"from the engine":  {"", false, false, "docker stats"},
		"only of CPU time": {"-", true, false, "cgroup v2"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			f.Stats = `{"cpu_stats":{"cpu_usage":{"total_usage":7000}},"memory_stats":{"usage":5}}`
			_, c := launched(t, f, bench.LaunchSpec{Artifact: bench.Artifact{Image: "img"}, Port: 8080})
			if err := c.BeginPeak(); err != errNoGroup {
				t.Error(err)
			}
			switch tt.kills {
			case "":
			case "-":
				c.reader = groupOf(t, map[string]string{"cpu.stat": "usage_usec 7\n"})
			default:
				c.reader = groupOf(t, map[string]string{
					"cpu.stat": "usage_usec 7\n", "memory.current": "5\n", "memory.events": tt.kills,
				})
				if err := c.BeginPeak(); err == errNoGroup {
					t.Error(err)
				}
			}
			u, err := c.Usage(t.Context())
			testenv.Check(t, err == nil && u.CPU == 7*time.Microsecond && u.Source == tt.source, "%+v, %v", u, err)
			testenv.Equal(t, testenv.Must(c.EngineUsage(t.Context()))(t).Source, "docker stats")
			if tt.stops {
				f.Change(func() { f.OnKill = func(signal string) { f.End(137) } })
				r, err := c.Stop(t.Context(), time.Minute)
				testenv.Check(t, err == nil && !r.Exit.OOMKilled && r.Exit.Signal == "SIGKILL", "%+v, %v", r, err)
				_, err = c.Usage(t.Context())
				testenv.Check(t, err == errStopped, "%v", err)
				return
			}
			code := 3
			if tt.kills != "" {
				code = 137
			}
			f.Change(func() { f.End(code) })
			<-c.Exited()
			exit := c.Exit()
			testenv.Check(t, exit.OOMKilled == tt.oom && exit.Code == code, "%+v", exit)
			f.Change(func() { f.Stats = "{}" })
			_, err = c.Usage(t.Context())
			testenv.Check(t, tt.kills != "" || err != nil && err.Error() == "container exited: exit code 3", "%v", err)
			r, err := c.Stop(t.Context(), time.Minute)
			testenv.Check(t, err == nil && r.ExitedBeforeStop && r.Exit.OOMKilled == tt.oom, "%+v, %v", r, err)
		})
	}
}

// TestContainer_Process: what the kernel says of a container's main process, which is this one, and
// of a container elsewhere.
func TestContainer_Process(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	defer l.Close()
	here := func(c *container) bool {
		return slices.ContainsFunc(c.Listens(), func(a netip.AddrPort) bool { return a.String() == l.Addr().String() })
	}
	f := fakedocker.New()
	d, c := launched(t, f, bench.LaunchSpec{Artifact: bench.Artifact{Image: "img"}, Port: 8080})
	testenv.Check(t, !c.Gone() && c.Listens() == nil && c.Diagnose(t.Context()) == "" && c.LocalPID() == 0,
		"elsewhere: gone %v, listens at %v, %q", c.Gone(), c.Listens(), c.Diagnose(t.Context()))
	testenv.Check(t, c.BaseURL() == "http://127.0.0.1:0", "%v", c.BaseURL())
	c.info.PID, c.info.ID = os.Getpid(), "/" // which the name of its group has
	testenv.Check(t, !c.Gone() && here(c) && c.Diagnose(t.Context()) == "",
		"here: gone %v, listens at %v, %q", c.Gone(), c.Listens(), c.Diagnose(t.Context()))
	l.Close()
	testenv.Check(t, !here(c), "it listens where it has stopped to")
	stopped := exec.Command("sleep", "600")
	testenv.OK(t, stopped.Start())
	testenv.OK(t, stopped.Process.Signal(syscall.SIGSTOP))
	c.info.PID = stopped.Process.Pid
	testenv.Until(t, time.Minute, "it is stopped", func() bool {
		return strings.Contains(c.Diagnose(t.Context()), "SIGSTOP")
	})
	f.Change(func() { f.Paused = true })
	got := c.Diagnose(t.Context())
	testenv.Check(t, got == "paused externally (docker pause)", "%v", got)
	stopped.Process.Kill()
	testenv.Until(t, time.Minute, "gone before its parent has waited for it", c.Gone)
	stopped.Wait()
	testenv.Check(t, c.Gone(), "it was waited for, and is not gone")
	c.info.PID = os.Getpid() // which has a handler of SIGTERM
	f.Change(func() {
		f.OnKill = func(signal string) {
			if signal == "SIGKILL" {
				f.End(137)
			}
		}
	})
	r, err := c.Stop(t.Context(), time.Millisecond)
	testenv.Check(t, err == nil && r.Killed && r.Handled, "%+v, %v", r, err)
	testenv.Check(t, c.Diagnose(t.Context()) == "" && c.Listens() == nil, "it is said to run")
	text := d.Warnings()
	testenv.Check(t, len(text) == 0, "%v", text)
}

// TestDocker_Fails: a network that is not made, or not removed.
func TestDocker_Fails(t *testing.T) {
	f := fakedocker.New()
	e := connect(t, f, "unix")
	d, err := NewDocker(t.Context(), e, "r", true)
	testenv.OK(t, err)
	f.Change(func() {
		for _, request := range []string{
			"DELETE /networks/" + fakedocker.NetworkID, "POST /networks/create", "POST /containers/create",
		} {
			f.Responses[request] = fakedocker.Response{Status: 500, Body: `{"message":"x"}`}
		}
	})
	for range 2 {
		hint := `x ("locbench clean" or --resume removes what is left)`
		err := d.Close(t.Context())
		testenv.Check(t, err != nil && strings.HasSuffix(err.Error(), hint), "%v", err)
	}
	testenv.Check(t, testenv.Err(NewDocker(t.Context(), e, "r", true)) != nil, "made a network")
	_, err = d.Launch(t.Context(), bench.LaunchSpec{Artifact: bench.Artifact{Image: "img"}})
	testenv.Check(t, err != nil, "launched a container")
	testenv.Equal(t, len(f.Removed()), 1)
}
