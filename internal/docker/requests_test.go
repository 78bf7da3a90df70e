package docker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// said returns "RESULT, ERROR".
func said(result any, err error) string {
	if err == nil {
		return fmt.Sprintf("%+v", result)
	}
	return fmt.Sprintf("%+v, %v", result, err)
}

// TestRequests: what each request returns for a response of the engine.
func TestRequests(t *testing.T) {
	const ref = "locbench/x:1"
	inspect := func(e *Engine, ctx context.Context) string { return testenv.Err(e.ImageInspect(ctx, ref)).Error() }
	remove := func(e *Engine, ctx context.Context) string { return said("", e.RemoveImage(ctx, ref)) }
	build := func(e *Engine, ctx context.Context) string {
		var out bytes.Buffer
		id, err := e.BuildImage(ctx, strings.NewReader("tar"), BuildOptions{Tag: ref}, &out)
		return out.String() + said(id, err)
	}
	kit := func(e *Engine, ctx context.Context) string {
		return said(e.BuildImage(ctx, strings.NewReader("tar"), BuildOptions{BuildKit: true}, nil))
	}
	pull := func(e *Engine, ctx context.Context) string {
		var out bytes.Buffer
		err := e.Pull(ctx, ref, &out)
		return out.String() + said("", err)
	}
	list := func(e *Engine, ctx context.Context) string { return said(e.List(ctx, "r")) }
	running := func(e *Engine, ctx context.Context) string { return said(e.Running(ctx, "r")) }
	clock := func(e *Engine, ctx context.Context) string { return said(e.ClockOffset(ctx)) }
	leave := func(e *Engine, ctx context.Context) string {
		return said("", e.RemoveNetwork(ctx, fakedocker.NetworkID))
	}
	diagnose := func(e *Engine, ctx context.Context) string {
		return (&Container{engine: e, id: fakedocker.ID}).Diagnose(ctx)
	}
	const image, create, state = "/images/" + ref, "POST /images/create", "GET " + ours + "/json"
	const network = "DELETE " + bridge
	for name, tt := range map[string]struct {
		do      func(*Engine, context.Context) string
		request string // "": none is scripted
		status  int
		body    string
		want    string
	}{
		"no image": {inspect, "GET " + image + "/json", 404, refused,
			"inspect image locbench/x:1: not found: " + failed},
		"an image removed": {remove, "DELETE " + image, 200, `[]`, ""},
		"removed before":   {remove, "DELETE " + image, 404, refused, ""},
		"an image in use":  {remove, "DELETE " + image, 409, refused, ", remove image locbench/x:1: " + failed},
		"a build":          {build, "POST /build", 200, `{"stream":"1\n"}` + "\n" + `{"aux":{"ID":"id1"}}`, "1\nid1"},
		"two IDs":          {build, "POST /build", 200, `{"aux":{"ID":"id1"}}` + "\n" + `{"aux":{"ID":"id2"}}`, "id2"},
		"no ID":            {build, "POST /build", 200, ``, ", build image " + ref + ": the engine returned no image ID"},
		"no session": {kit, "POST /session", 500, refused,
			", build image : open a session: unable to upgrade to h2c, received 500"},
		"a failed build":  {build, "POST /build", 200, `{"error":"exit 1"}`, ", build image locbench/x:1: exit 1"},
		"a refused build": {build, "POST /build", 500, refused, ", build image locbench/x:1: " + failed},
		"a pull":          {pull, create, 200, `{"status":"Digest: 1"}`, "Digest: 1\n"},
		"a failed pull":   {pull, create, 200, `{"error":"x"}`, ", pull locbench/x:1: x"},
		"not in a registry": {pull, create, 404, refused,
			", pull locbench/x:1: not found in its registry: " + failed},
		"a refused pull":       {pull, create, 500, refused, ", pull locbench/x:1: " + failed},
		"no containers":        {running, "GET /containers/json", 500, refused, "[], list containers: " + failed},
		"no list":              {list, "GET /containers/json", 500, refused, "[], list containers: " + failed},
		"half a list":          {list, "GET /networks", 500, refused, "[], list networks: " + failed},
		"most of a list":       {list, "GET /volumes", 500, refused, "[], list volumes: " + failed},
		"no clock":             {clock, "GET /info", 500, refused, "0s, read docker engine's time: " + failed},
		"a clock":              {clock, "", 0, "", "1h0m0s"},
		"a network":            {leave, "", 0, "", ""},
		"no network":           {leave, network, 404, refused, ""},
		"a network in use":     {leave, network, 403, refused, ", remove network 77aa8a1e9d7b: " + failed},
		"no reason":            {diagnose, "", 0, "", ""},
		"paused":               {diagnose, state, 200, `{"State":{"Paused":true}}`, "paused externally (docker pause)"},
		"no state":             {diagnose, state, 200, `{}`, ""},
		"an engine that fails": {diagnose, state, 500, refused, "container engine not responding: " + failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				f.Ahead, f.Latency = time.Hour, time.Second
				if tt.request != "" {
					f.Responses[tt.request] = reply(tt.status, tt.body)
				}
				testenv.Equal(t, tt.do(engineOf(t, f), t.Context()), tt.want)
			})
		})
	}
}

// TestBuildImage_Request: what a build sends to the classic builder.
func TestBuildImage_Request(t *testing.T) {
	f := fakedocker.New()
	f.Responses["POST /build"] = reply(200, `{"aux":{"ID":"sha256:1"}}`)
	o := BuildOptions{
		Dockerfile: "D", Tag: "t:1", Target: "last", NoCache: true,
		Args: map[string]string{"A": "1"},
	}
	testenv.OK(t, testenv.Err(engineOf(t, f).BuildImage(t.Context(), strings.NewReader("tar"), o, nil)))
	sent := f.Requests("POST /build")[0]
	want := "buildargs=%7B%22A%22%3A%221%22%7D&dockerfile=D&forcerm=1&" +
		"nocache=1&t=t%3A1&target=last&version=1"
	got := sent.Query.Encode()
	testenv.Check(t, got == want && string(sent.Body) == "tar", "%s with %q, want %s", got, sent.Body, want)
}

// TestClean: it removes the containers, networks and volumes with labels and names of a run, except
// those to be kept, and continues after an error.
func TestClean(t *testing.T) {
	thing := func(kind, name, run string) fakedocker.Thing {
		return fakedocker.Thing{Kind: kind, Name: name, Labels: map[string]string{LabelRun: run, LabelOwner: "o"}}
	}
	const x1, y1, x2 = "locbench-r1-x-01234567", "locbench-r1-y-01234567", "locbench-r2-x-01234567"
	const net1, volume1 = "locbench-r1-89abcdef", "locbench-r1-db-89abcdef"
	left := []fakedocker.Thing{
		thing("container", x1, "r1"), thing("container", y1, "r1"), thing("container", "shop", "r1"),
		thing("container", x2, "r2"), thing("container", "locbench-none-01234567", ""),
		{Kind: "container", Name: "other"},
		thing("volume", volume1, "r1"), thing("volume", "their-volume", "r1"), thing("network", net1, "r1"), thing("network", "their-net", "r1"),
	}
	kept := func(l Left) bool { return l.Name == y1 }
	for name, tt := range map[string]struct {
		run     string
		keep    func(Left) bool
		refused string
		removed []string
		err     string
	}{
		"a run":          {"r1", nil, "", []string{x1, y1, net1, volume1}, ""},
		"but for one":    {"r1", kept, "", []string{x1, net1, volume1}, ""},
		"every run":      {"", kept, "", []string{x1, x2, net1, volume1}, ""},
		"another run":    {"r3", nil, "", nil, ""},
		"one is refused": {"r1", kept, "/containers/" + x1, []string{net1, volume1}, "remove container locbench-r1-"},
		"one is in use":  {"r1", kept, "/volumes/" + volume1, []string{x1, net1}, "remove volume locbench-r1-"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			f.Others = slices.Clone(left)
			f.Responses["DELETE "+tt.refused] = reply(500, refused)
			removed, err := engineOf(t, f).Clean(t.Context(), tt.run, tt.keep)
			testenv.Check(t, (err == nil) == (tt.err == "") && (err == nil || strings.HasPrefix(err.Error(), tt.err)),
				"%v, want %q", err, tt.err)
			var want []Left
			for _, name := range tt.removed {
				kind := map[string]string{net1: "network", volume1: "volume"}[name]
				want = append(want, Left{cmp.Or(kind, "container"), name, name, name[len("locbench-"):][:2], "o"})
			}
			testenv.Check(t, slices.Equal(removed, want), "%+v, want %+v", removed, want)
		})
	}
	// A volume that the engine still needs for a container that it was making when the run was killed.
	synctest.Test(t, func(t *testing.T) {
		f, lists := fakedocker.New(), 0
		f.Others = slices.Clone(left)
		f.Responses["DELETE /volumes/"+volume1] = reply(409, refused)
		f.OnRequest = func(request string) {
			if lists += strings.Count(request, "GET /volumes"); lists == 3 {
				delete(f.Responses, "DELETE /volumes/"+volume1)
			}
		}
		removed, err := engineOf(t, f).Clean(t.Context(), "r1", nil)
		testenv.Check(t, err == nil && lists == 3 && removed[len(removed)-1].Name == volume1, "%+v, %v, after %d lists", removed, err, lists)
	})
	f := fakedocker.New()
	f.Responses["GET /volumes"] = reply(500, "")
	testenv.Check(t, testenv.Err(engineOf(t, f).Clean(t.Context(), "", nil)) != nil, "cleaned without a list")
}

// TestRunning: the running containers that are not of the run.
func TestRunning(t *testing.T) {
	f := fakedocker.New()
	f.Responses["GET /containers/json"] = reply(200, `[{"Id":"1"},
		{"Names":["/locbench-r1-x-01234567"],"Labels":{"locbench.run":"r1"}},
		{"Names":["/shop"],"Labels":{"locbench.run":"r1"}},
		{"Names":["/locbench-r2-x-01234567"],"Labels":{"locbench.run":"r2"}}]`)
	for run, want := range map[string][]string{
		"r1": {"1", "shop", "locbench-r2-x-01234567"},
		"":   {"1", "locbench-r1-x-01234567", "shop", "locbench-r2-x-01234567"},
	} {
		got, err := engineOf(t, f).Running(t.Context(), run)
		testenv.Check(t, err == nil && slices.Equal(got, want), "%q: %q, %v, want %q", run, got, err, want)
	}
}

// TestCreateNetwork: the network of a run, and what each failure leaves.
func TestCreateNetwork(t *testing.T) {
	for name, tt := range map[string]struct {
		request, body string
		status        int
		err           string
		removed       bool
	}{
		"made": {},
		"dual": {"GET " + bridge, `{"IPAM":{"Config":[{"Subnet":"fd00::/64","Gateway":"fd00::1"},
			{"Subnet":"172.30.0.0/16","Gateway":"172.30.0.1"},{"Gateway":"172.31.0.1"}]}}`, 200, "", false},
		"no address left": {"POST /networks/create", `{"message":"all address pools are subnetted"}`, 400,
			`subnetted; free some with "locbench clean" or "docker network prune"`, false},
		"not made": {"POST /networks/create", refused, 400, failed, false},
		"not seen": {"GET " + bridge, refused, 500, failed, true},
		"canceled": {"POST /networks/create", "", 0, "context canceled", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.status > 0 {
				f.Responses[tt.request] = reply(tt.status, tt.body)
			} else if tt.request != "" {
				f.OnRequest = func(string) { cancel() }
			}
			labels := map[string]string{LabelRun: "r1"}
			n, err := engineOf(t, f).CreateNetwork(ctx, labels, false)
			switch {
			case err == nil && tt.err == "":
				subnets := map[string]int{"made": 1, "dual": 2}[name]
				if n.ID != fakedocker.NetworkID || n.Direct() || n.Gateway != "172.30.0.1" || !named(labels, n.Name) ||
					len(n.Subnets) != subnets {
					t.Errorf("%+v", n)
				}
			case err == nil,
				!strings.HasPrefix(err.Error(), "create network locbench-r1-"), !strings.HasSuffix(err.Error(), tt.err):
				t.Errorf("%v, want %q", err, tt.err)
			}
			testenv.Equal(t, len(f.Removed()) > 0, tt.removed, "removed", f.Removed())
		})
	}
	f := fakedocker.New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := engineOf(t, f).CreateNetwork(ctx, nil, false)
	testenv.Check(t, errors.Is(err, context.Canceled) && len(f.Requests(".*")) <= 0, "%v, %v", err, f.Requests(".*"))
}

// TestInterfaceHas: an address of one of this machine's interfaces is not one of another.
func TestInterfaceHas(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil {
		t.Skip(err)
	}
	for _, i := range all {
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			n, ok := a.(*net.IPNet)
			testenv.Check(t, !ok || interfaceHas(i.Name, n.IP.String()) && !interfaceHas(i.Name, "192.0.2.77"),
				"%s: %v", i.Name, n)
		}
	}
	if interfaceHas("absent", "127.0.0.1") || isLocalBridge("01234567890", "") || isLocalBridge("012345678901", "") {
		t.Error("an interface that does not exist has an address")
	}
}

// TestRetryWhileAway: an engine that is away is tried again for enginePatience; after another error
// it is not.
func TestRetryWhileAway(t *testing.T) {
	for name, tt := range map[string]struct {
		away  time.Duration // how long
		took  time.Duration
		fails bool
	}{
		"back at once":  {time.Millisecond, 200 * time.Millisecond, false},
		"back in time":  {enginePatience - time.Millisecond, enginePatience, false},
		"back at last":  {enginePatience + 100*time.Millisecond, enginePatience + 200*time.Millisecond, false},
		"back too late": {enginePatience + 201*time.Millisecond, enginePatience + 200*time.Millisecond, true},
		"never away":    {0, 0, false},
		"another error": {-1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				if f.Away = tt.away > 0; f.Away {
					f.After(tt.away, func() { f.Away = false })
				} else if tt.away < 0 {
					f.Responses["DELETE "+bridge] = reply(500, "")
				}
				began := time.Now()
				err := engineOf(t, f).RemoveNetwork(t.Context(), fakedocker.NetworkID)
				if took := time.Since(began); took != tt.took || (err != nil) != tt.fails {
					t.Errorf("%v after %v, want %v", err, took, tt.took)
				}
				time.Sleep(time.Minute)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1300*time.Millisecond)
		defer cancel()
		f := fakedocker.New()
		f.Away = true
		began := time.Now()
		if err := containerOf(t, f).remove(ctx); err == nil || time.Since(began) != 1300*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestEngine_Where: on which machine an engine is.
func TestEngine_Where(t *testing.T) {
	host, _ := os.Hostname()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Skip(err)
	}
	same := Info{Name: host, Kernel: strings.TrimSpace(string(release))}
	other, newer, rootless := same, same, same
	other.Name, newer.Kernel, rootless.Rootless = "far", "7.0", true
	for name, tt := range map[string]struct {
		host            string
		info            Info
		same, near      bool
		ports, loopback bool
	}{
		"here":             {"unix:///x.sock", same, true, true, false, false},
		"another name":     {"unix:///x.sock", other, false, true, false, false},
		"another kernel":   {"npipe:////./pipe/x", newer, false, true, false, false},
		"rootless":         {"unix:///x.sock", rootless, true, true, true, false},
		"Docker Desktop":   {"unix:///x.sock", Info{System: "Docker Desktop 4.1"}, false, true, true, true},
		"another machine":  {"tcp://10.0.0.5:2375", same, true, false, true, false},
		"a forwarded port": {"tcp://127.0.0.1:2375", other, false, false, false, false},
		"rootless, far":    {"unix:///x.sock", Info{Rootless: true}, false, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Engine{host: tt.host, info: tt.info}
			ports, loopback := e.Reach()
			if e.SameHost() != tt.same || e.Near() != tt.near || ports != tt.ports || loopback != tt.loopback {
				t.Errorf("same host %v, near %v, ports %v, loopback %v", e.SameHost(), e.Near(), ports, loopback)
			}
		})
	}
	for host, want := range map[string]bool{
		"tcp://10.0.0.5:2375": true, "unix:///x": false, "npipe://x": false, "ssh://x": false,
	} {
		testenv.Equal(t, Elsewhere(env(map[string]string{"DOCKER_HOST": host})), want, host)
	}
}

// TestDescribe: what an engine says about itself.
func TestDescribe(t *testing.T) {
	all := map[string]any{
		"Name": "box", "ServerVersion": "28.1", "OSType": "linux", "Architecture": "x86_64", "KernelVersion": "6.1",
		"OperatingSystem": "Debian", "NCPU": 12, "MemTotal": 34, "CgroupVersion": "2",
		"SecurityOptions": []string{"name=rootless"}, "CpuCfsQuota": true, "CPUSet": true,
		"MemoryLimit": true, "SwapLimit": true, "PidsLimit": true,
		"Warnings": []string{"WARNING: No swap limit support", " WARNING: x ", ""},
	}
	for name, tt := range map[string]struct {
		said map[string]any
		want Info
	}{
		"everything": {all, Info{
			Name: "box", Version: "28.1", APIVersion: "1.41", OS: "linux", Arch: "amd64", Kernel: "6.1",
			System: "Debian", CPUs: 12, MemoryBytes: 34, CgroupVersion: 2, Rootless: true,
			CPUQuota: true, CPUSet: true, MemoryLimit: true, SwapLimit: true, PIDsLimit: true,
			BuildKit: true, Warnings: warningsOf("x"),
		}},
		"before cgroup v2": {map[string]any{"OSType": "linux", "Architecture": "aarch64"},
			Info{OS: "linux", Arch: "arm64", CgroupVersion: 1, APIVersion: "1.41", BuildKit: true}},
		"Windows": {map[string]any{"OSType": "windows", "Architecture": "riscv64"},
			Info{OS: "windows", Arch: "riscv64", APIVersion: "1.41"}},
		"without a version": {map[string]any{"OSType": "linux", "CgroupVersion": "2"},
			Info{OS: "linux", CgroupVersion: 2, APIVersion: "1.41", BuildKit: true}},
		"Podman": {map[string]any{"OSType": "linux", "CgroupVersion": "2"},
			Info{OS: "linux", CgroupVersion: 2, APIVersion: "1.41", Podman: true}},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			f.Info = tt.said
			if name == "without a version" {
				f.Responses["GET /version"] = reply(404, "")
			}
			if tt.want.Podman {
				f.Component = fakedocker.PodmanComponent
			}
			got, err := describe(t.Context(), engineOf(t, f).cli)
			testenv.Check(t, err == nil && reflect.DeepEqual(got, tt.want), "%v\n%+v, want\n%+v", err, got, tt.want)
		})
	}
}
