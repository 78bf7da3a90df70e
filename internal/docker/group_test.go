package docker

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// TestGroup_Hosts: where containers reach this machine, and what the name host.docker.internal leads
// to in them: the address in their network, not that of another bridge.
func TestGroup_Hosts(t *testing.T) {
	for _, c := range []struct {
		network    Network
		own, named string
	}{
		{Network{OwnAddress: "172.30.0.7", Local: true, Gateway: "172.30.0.1"}, "172.30.0.7", "172.30.0.1"},
		{Network{OwnAddress: "172.31.0.7", Gateway: "172.31.0.1"}, "172.31.0.7", "172.31.0.1"},
		{Network{Local: true, Gateway: "172.30.0.1"}, "172.30.0.1", "172.30.0.1"},
		{Network{Gateway: "172.30.0.1"}, "host.docker.internal", "host-gateway"},
	} {
		g := &Group{Network: c.network}
		testenv.Equal(t, g.HostAddress()+" "+g.NamedHost(), c.own+" "+c.named, c.network)
	}
}

// TestGroup_Networks: those of a run have its labels. Only contenders that need not reach each other are
// kept apart, and a network that is not removed is said once more, with what removes it.
func TestGroup_Networks(t *testing.T) {
	f := fakedocker.New()
	g := testenv.Must(engineOf(t, f).NewGroup(t.Context(), "r1", "o", true))(t)
	other := testenv.Must(g.Another(t.Context(), "needs-a"))(t)
	made := f.Requests("POST /networks/create")
	testenv.Contains(t, fakedocker.Fields(made[0].Body), `Labels.locbench.run: "r1"`, `Labels.locbench.name: "network"`, `Labels.locbench.owner: "o"`, "enable_icc")
	testenv.Contains(t, fakedocker.Fields(made[1].Body), `Labels.locbench.run: "r1"`, `Labels.locbench.name: "needs-a"`, "!enable_icc")
	testenv.Check(t, g.Network.Name != other.Network.Name, "both are %s", g.Network.Name)
	testenv.OK(t, other.Close(t.Context()))
	f.Responses["DELETE "+bridge] = reply(500, refused)
	for range 2 {
		testenv.Fails(t, g.Close(t.Context()), failed, `("locbench clean" or --resume removes what is left)`)
	}
	testenv.Equal(t, len(f.Removed()), 2)
	f.Responses["POST /networks/create"] = reply(500, refused)
	testenv.Fails(t, testenv.Err(g.Another(t.Context(), "needs-b")), failed)
}

// TestGroup_Run: a container gets the labels of its run and its network, no more CPUs than the engine
// has, a bound on its processes, and its host name as a name in the network. What the engine cannot
// enforce, or warns of, is said.
func TestGroup_Run(t *testing.T) {
	for name, c := range map[string]struct {
		spec ContainerSpec
		info Info
		want string // in the request
		note string
	}{
		"as many CPUs as there are": {ContainerSpec{Limits: bench.Limits{CPUs: 4}}, Info{CPUs: 4, CPUQuota: true}, "NanoCpus: 4000000000\n", ""},
		"more CPUs than there are":  {ContainerSpec{Limits: bench.Limits{CPUs: 4.5}}, Info{CPUs: 4, CPUQuota: true}, "NanoCpus: 4000000000\n", ""},
		"an engine of unknown CPUs": {ContainerSpec{Limits: bench.Limits{CPUs: 4.5}}, Info{CPUQuota: true}, "NanoCpus: 4500000000\n", ""},
		"default processes":         {ContainerSpec{}, Info{PIDsLimit: true}, fmt.Sprintf("PidsLimit: %d\n", bench.DefaultProcesses), ""},
		"processes":                 {ContainerSpec{Limits: bench.Limits{PIDs: 9}}, Info{PIDsLimit: true}, "PidsLimit: 9\n", ""},
		"of a manifest":             {ContainerSpec{Hardened: &bench.Privileges{Processes: 8}}, Info{PIDsLimit: true}, "PidsLimit: 8\n", ""},
		"not enforced":              {ContainerSpec{Limits: bench.Limits{Memory: 9 << 20}}, Info{SwapLimit: true}, "Memory: 9437184\n", "memory: unsupported by the engine's kernel or rights; "},
		"a host name":               {ContainerSpec{Hostname: "pg", Aliases: []string{"db"}}, Info{}, `["db","pg"]`, ""},
		"a known host name":         {ContainerSpec{Hostname: "db", Aliases: []string{"db"}}, Info{}, `["db"]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			f.OnKill = func(string) { f.End(0) }
			g := groupOf(t, f)
			g.info, g.Network.Name = c.info, "net"
			c.spec.Image, c.spec.Name = "img", "db"
			run, _, note, err := g.Run(t.Context(), c.spec)
			testenv.OK(t, err)
			testenv.Contains(t, f.Created(), c.want, `Labels.locbench.run: "r1"`, `Labels.locbench.name: "db"`, `NetworkMode: "net"`)
			testenv.Equal(t, note, c.note+"the Docker engine warns: as scripted")
			testenv.OK(t, run.Kill(t.Context()))
		})
	}
}

// TestGroup_Image: an image that the engine does not have is pulled.
func TestGroup_Image(t *testing.T) {
	f := fakedocker.New()
	var said []string
	pulled := func(request string) {
		if request == "POST /images/create" {
			f.Responses["GET /images/a/json"] = reply(200, `{"Id":"1"}`)
			f.Responses[request] = reply(200, `{"status":"Digest: 1"}`)
		}
	}
	_, err := groupOf(t, f).Image(t.Context(), "a", nil)
	testenv.Fails(t, err, "pull a: not found in its registry")
	f.OnRequest = pulled
	image, err := groupOf(t, f).Image(t.Context(), "a", func(p bench.Progress) { said = append(said, p.Text) })
	testenv.OK(t, err)
	testenv.Equal(t, image.ID+strings.Join(said, ""), "1pulling a: Digest: 1")
	f.Responses["GET /images/a/json"] = reply(500, refused)
	testenv.Fails(t, testenv.Err(groupOf(t, f).Image(t.Context(), "a", nil)), failed)
}

// TestInContainer: a process is known to be in a container by the name of its group.
func TestInContainer(t *testing.T) {
	for pid, want := range map[int]bool{os.Getpid(): runtime.GOOS == "linux", 0: false, -1: false, 1 << 30: false} {
		testenv.Equal(t, InContainer(pid, "/"), want, pid)
	}
	testenv.Check(t, !InContainer(os.Getpid(), "") && !InContainer(os.Getpid(), fakedocker.ID), "this process is in a container")
}

func TestInfo_Missing(t *testing.T) {
	l := bench.Limits{CPUs: 1, CPUSet: 1, Memory: 1, PIDs: 1}
	if m := (Info{CPUQuota: true, CPUSet: true, MemoryLimit: true, SwapLimit: true, PIDsLimit: true}).missing(l, cpuset.Of(0)); len(m) != 0 {
		t.Errorf("%q", m)
	}
	testenv.Equal(t, len((Info{}).missing(bench.Limits{}, nil)), 0, "no limits")
	m := (Info{CPUQuota: true, CPUSet: true, MemoryLimit: true}).missing(l, cpuset.Of(0))
	if note := strings.Join(m, "; "); len(m) != 2 || !strings.Contains(note, "no swap") || !strings.Contains(note, "processes") {
		t.Errorf("%q", note)
	}
}

func TestEngineNote(t *testing.T) {
	for _, tt := range []struct {
		name    string
		warned  []string
		missing int
		note    string
	}{
		{"nothing", nil, 0, ""},
		{"the swap is known", []string{"Your kernel does not support swap limit capabilities"}, 0, ""},
		{"a limit", []string{"Your kernel does not support pids limit capabilities. PIDs limit discarded."}, 1, "Your kernel"},
		{"no limit", []string{"IPv4 forwarding is disabled. Networking will not work."}, 0, "the Docker engine warns: IPv4 forwarding"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if missing, note := engineNote(nil, tt.warned); len(missing) != tt.missing || !strings.HasPrefix(note, tt.note) || (note == "") != (tt.note == "") {
				t.Errorf("%q, %q", missing, note)
			}
		})
	}
}
