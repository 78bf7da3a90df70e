package launch

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// connect makes a fake the engine of this machine ("unix"), or of another one ("tcp").
func connect(t *testing.T, f *fakedocker.Engine, network string) *docker.Engine {
	t.Helper()
	dir, err := os.MkdirTemp("", "fake-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen(network, map[string]string{"unix": dir + "/s", "tcp": "127.0.0.1:0"}[network])
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: f}}
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_HOST", network+"://"+l.Addr().String())
	e, err := docker.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// launched starts a contender on a fake, whose container exits at once when it is signalled.
func launched(t *testing.T, f *fakedocker.Engine, spec bench.LaunchSpec) (*Docker, *container) {
	t.Helper()
	f.OnKill = func(signal string) { f.End(map[string]int{"SIGKILL": 137}[signal]) }
	d, err := NewDocker(t.Context(), connect(t, f, "unix"), "20261127-0001", false)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := d.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := inst.Stop(context.Background(), time.Minute); err != nil {
			t.Error(err)
		}
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d, inst.(*container)
}

// TestDockerLaunch: the golden file has the request that creates each contender's container, and
// what is said of it, on a machine of four CPUs.
func TestDockerLaunch(t *testing.T) {
	artifact := bench.Artifact{Image: "img:1", ImageSize: 1 << 20}
	all := bench.LaunchSpec{
		Name: "go:lto 1", Artifact: bench.Artifact{Image: "img:1", Command: []string{"serve"}}, Env: map[string]string{"PORT": "8080"}, Port: 8080,
		Limits: bench.Limits{CPUs: 1.5, CPUSet: 2, Memory: 512 << 20, PIDs: 64},
		More:   bench.Privileges{Capabilities: []string{"NET_RAW"}, NewPrivileges: true, Processes: 5000},
	}
	var golden strings.Builder
	for _, tt := range []struct {
		name string
		lack []string // limits that the engine cannot enforce
		spec bench.LaunchSpec
	}{
		{"a plain contender", nil, bench.LaunchSpec{Name: "plain", Artifact: artifact}},
		{"everything set", nil, all},
		{"more CPUs than the machine has", nil, bench.LaunchSpec{Artifact: artifact, Limits: bench.Limits{CPUs: 4.01, CPUSet: 9}}},
		{"as many CPUs as the machine has", nil, bench.LaunchSpec{Artifact: artifact, Limits: bench.Limits{CPUs: 4, CPUSet: 4}}},
		{"processes of the manifest", nil, bench.LaunchSpec{Artifact: artifact, More: bench.Privileges{Processes: 5000}}},
		{"given CPUs", nil, bench.LaunchSpec{Artifact: artifact, Limits: bench.Limits{CPUSet: 1}, CPUs: cpuset.Of(2, 3)}},
		{"without limits", []string{"CpuCfsQuota", "CPUSet", "MemoryLimit", "SwapLimit", "PidsLimit", "NCPU"}, all},
		{"without a limit of processes", []string{"PidsLimit"}, bench.LaunchSpec{Artifact: artifact}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fakedocker.New()
			for _, limit := range tt.lack {
				delete(f.Info, limit)
			}
			d, c := launched(t, f, tt.spec)
			info := c.Info()
			info.StartedAt = time.Time{}
			said, err := json.Marshal(info)
			if err != nil {
				t.Fatal(err)
			}
			names := strings.NewReplacer(owner(), "OWNER", d.Network.Name, "NETWORK")
			golden.WriteString("# " + tt.name + "\n" + names.Replace(f.Created()) + "---\n" + fakedocker.Fields(said) + "\n")
		})
	}
	testenv.Golden(t, "testdata/docker_launch.golden", golden.String())
}
