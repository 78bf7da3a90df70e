package docker

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// TestRun_Create: the golden file has the request that creates a container.
func TestRun_Create(t *testing.T) {
	all := ContainerSpec{
		Name: "go:lto", Image: "img:1", Command: []string{"serve", "-v"},
		Env:    map[string]string{"PORT": "8080", "GREETING": "a b"},
		Limits: bench.Limits{CPUs: 1.5, Memory: 512 << 20, PIDs: 64}, CPUs: cpuset.Of(1, 2, 3, 7),
		Port: 8080, Ready: 8081,
		Hardened: &bench.Privileges{Capabilities: []string{"NET_RAW"}},
		in:       place{map[string]string{LabelRun: "20261127-0001", LabelName: "t"}, "locbench-net", true, "host-gateway"},
	}
	need := ContainerSpec{NoGain: true,
		Name: "db", Image: "db:1", Entrypoint: []string{"run"}, Command: []string{"-f"}, Port: 5432, in: place{labels: all.in.labels, network: all.in.network},
		User: "1:2", Hostname: "main", Aliases: []string{"db", "main"}, ShmSize: 64 << 20, Init: true, StopSignal: "SIGINT",
		Mounts: []Mount{{Volume: "v1", Target: "/data", Complete: true}, {Volume: "v2", Target: "/more"}, {Volume: "v3", Target: "/etc/x", ReadOnly: true}},
		Tmpfs:  []Tmpfs{{Target: "/run", Options: "size=1m"}, {Target: "/tmp"}}, Ulimits: []Ulimit{{Name: "nofile", Soft: 10, Hard: -1}},
	}
	more, inside := all, all
	more.Limits.CPUs = 0.1 + 0.2 // a hair above 0.3
	more.Limits.Memory, more.Limits.PIDs, more.Hardened = 0, 0, &bench.Privileges{NewPrivileges: true}
	inside.in.publish, inside.in.host, inside.Hardened = false, "172.30.0.1", nil
	var created strings.Builder
	for _, tt := range []struct {
		name, system, peer string
		spec               ContainerSpec
	}{
		{"only the image", "", "", ContainerSpec{Image: "img:1", in: place{publish: true}}},
		{"everything", "", "10.0.0.5", all},
		{"new privileges, no limit but the quota; Docker Desktop", "Docker Desktop", "", more},
		{"not published, not hardened", "", "", inside},
		{"a need", "", "", need},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakedocker.New()
			e := engineOf(t, f)
			e.info.System = tt.system
			e.local.Store(true)
			e.peer, _ = netip.ParseAddr(tt.peer)
			c, warnings, err := e.run(t.Context(), tt.spec)
			testenv.Need(t, err == nil && slices.Equal(warnings, []string{"as scripted"}), "%v, %v", warnings, err)
			created.WriteString("# " + tt.name + "\n" + f.Created())
			testenv.Check(t, testenv.Err(c.Stop(t.Context(), 0)) != nil, "a container that ignores signals has stopped")
		})
	}
	testenv.Golden(t, "testdata/create_container.golden", created.String())
}

func frame(stream byte, text string) []byte {
	head := []byte{stream, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[4:], uint32(len(text)))
	return append(head, text...)
}

// TestRun: what is known of a container, its log and its incidents from the first moment to the
// exit, by the clock of this machine, from an engine whose clock is fast.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		f.Ahead, f.Latency, f.PID = time.Hour, 2*time.Second, 4711
		f.Log = slices.Concat(frame(1, "up\n"), frame(2, "oh"))
		began := time.Now()
		var logged, happened []string
		c, _, err := engineOf(t, f).run(t.Context(), ContainerSpec{
			Image: "img", OnLog: func(l bench.LogLine) { logged = append(logged, l.Stream+" "+l.Text) },
			OnIncident: func(i bench.Incident) { happened = append(happened, i.At.Sub(began).String()+" "+i.Text) },
		})
		testenv.OK(t, err)
		started, _ := time.Parse(time.RFC3339Nano, f.Started())
		if !c.StartedAt().Equal(started.Add(-time.Hour)) || c.Address()+c.NetworkAddress() != "" || c.Exit() != nil {
			t.Errorf("started at %v, %q, %q, %v", c.StartedAt(), c.Address(), c.NetworkAddress(), c.Exit())
		}
		testenv.Check(t, c.ID() == fakedocker.ID && c.ImageID() == "sha256:image" && c.PID() == 4711,
			"%s, image %s, process %d", c.ID(), c.ImageID(), c.PID())
		time.Sleep(time.Minute)
		paused := time.Now()
		f.Change(func() { f.Event(fakedocker.ID, "pause") })
		time.Sleep(time.Minute)
		f.Change(func() { f.End(3) })
		<-c.Exited()
		exit := c.Exit()
		testenv.Check(t, exit.Code == 3 && exit.At.Equal(paused.Add(time.Minute)), "%v at %v", exit, exit.At)
		r, err := c.Stop(t.Context(), time.Second)
		testenv.Check(t, err == nil && r.ExitedBeforeStop, "%+v, %v", r, err)
		want := []string{"stdout up", "stderr oh"}
		testenv.Check(t, slices.Equal(logged, want) && len(c.Logs()) == 2, "%q, want %q", logged, want)
		want = []string{paused.Sub(began).String() + " paused externally"}
		testenv.Check(t, slices.Equal(happened, want), "%q, want %q", happened, want)
	})
}

// TestRun_Fails: whichever call fails, the error names it, and no container is left.
func TestRun_Fails(t *testing.T) {
	for name, tt := range map[string]struct {
		request  string // that fails
		response fakedocker.Response
		err      string
		removed  bool
	}{
		"no such image": {"POST /containers/create", reply(404, `{"message":"No such image: img"}`),
			"create container of img: not found: ", false},
		"not created": {"POST /containers/create", reply(400, refused), "create container of img: ", false},
		"no clock": {"GET /info", reply(200, `{"SystemTime":"late"}`),
			`start container of img: docker engine's time "late": `, true},
		"no log": {"POST " + ours + "/attach", reply(500, ""),
			"start container of img: follow the log: unable to upgrade to tcp, received 500", true},
		"no log, with a reason": {"POST " + ours + "/attach", reply(409, `{"message":"OCI runtime error:\nrlimit"}`),
			"start container of img: follow the log: Error response from daemon: OCI runtime error: rlimit", true},
		"not started": {"POST " + ours + "/start", reply(500, `{"message":"no runtime"}`),
			"start container of img: Error response from daemon: no runtime", true},
		"not seen": {"GET " + ours + "/json", reply(500, `{"message":"busy"}`),
			"start container of img: Error response from daemon: busy", true},
		"not removed": {"DELETE " + ours, reply(500, `{"message":"stuck"}`),
			"(its removal failed too: remove container 5f3c8a1e9d7b: Error response from daemon: stuck)", true},
		"canceled before":       {"", reply(0, ""), "context canceled", false},
		"canceled at creation":  {"POST /containers/create", reply(0, ""), "start container of img: context", true},
		"canceled at the start": {"POST " + ours + "/start", reply(0, ""), "start container of img: context", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				switch {
				case tt.request == "":
					cancel()
				case tt.response.Status == 0:
					f.OnRequest = func(request string) {
						if request == tt.request {
							cancel()
						}
					}
				default:
					f.Responses[tt.request] = tt.response
				}
				if name == "not removed" {
					f.Responses["POST "+ours+"/start"] = reply(500, "")
				}
				c, _, err := engineOf(t, f).run(ctx, ContainerSpec{Image: "img", OnIncident: func(bench.Incident) {}})
				testenv.Need(t, c == nil && err != nil && strings.Contains(err.Error(), tt.err),
					"%v, want %q", err, tt.err)
				testenv.Equal(t, len(f.Removed()) > 0, tt.removed, "removed", f.Removed())
			})
		})
	}
}

// TestRun_Reach: where the service of a container is reached, by this machine and in its network.
func TestRun_Reach(t *testing.T) {
	networks := map[string]any{"locbench": map[string]any{"IPAddress": "172.30.0.2"}}
	published := map[string]any{"8080/tcp": []any{map[string]any{"HostIp": "127.0.0.1", "HostPort": "32768"}}}
	for name, tt := range map[string]struct {
		port            int
		publish         bool
		networks, ports map[string]any
		address, inside string
	}{
		"no port":         {0, false, networks, nil, "", ""},
		"in the network":  {8080, false, networks, nil, "172.30.0.2:8080", "172.30.0.2:8080"},
		"published":       {8080, true, networks, published, "127.0.0.1:32768", "172.30.0.2:8080"},
		"another port":    {8081, true, networks, published, "127.0.0.1:0", "172.30.0.2:8081"},
		"exited":          {8080, true, nil, nil, "127.0.0.1:0", ""},
		"exited, no port": {8080, false, map[string]any{"a": nil, "x": map[string]any{}}, nil, "127.0.0.1:0", ""},
		"by IPv6": {8080, false, map[string]any{"locbench": map[string]any{"IPAddress": "fd00::2"}}, nil,
			"[fd00::2]:8080", "[fd00::2]:8080"},
		"not to be reached": {8080, false, networks, published, "172.30.0.2:8080", "172.30.0.2:8080"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				f.Networks, f.Ports, f.OnKill = tt.networks, tt.ports, func(string) { f.End(0) }
				e := engineOf(t, f)
				e.peer = netip.MustParseAddr("127.0.0.1")
				c, _, err := e.run(t.Context(), ContainerSpec{Image: "img", Port: tt.port, Ready: tt.port, in: place{publish: tt.publish}})
				testenv.OK(t, err)
				if c.Address() != tt.address || c.ReadyAddress() != tt.address || c.NetworkAddress() != tt.inside {
					t.Errorf("%q, %q; want %q, %q", c.Address(), c.NetworkAddress(), tt.address, tt.inside)
				}
				r, err := c.Stop(t.Context(), time.Second)
				testenv.Check(t, err == nil && r.Graceful, "%+v, %v", r, err)
			})
		})
	}
}

// TestContainer_State: a container that is created runs as well, and an exit without a time is now.
func TestContainer_State(t *testing.T) {
	const exited = `{"State":{"Status":"exited","ExitCode":2,"FinishedAt":"`
	for body, want := range map[string]string{
		`{"State":{"Status":"created"}}`:             "running true, exit code 0 at 0s",
		exited + `0001-01-01T00:00:00Z"}}`:           "running false, exit code 2 at 0s",
		exited + `1999-12-31T23:59:59.999999999Z"}}`: "running false, exit code 2 at 0s",
		exited + `2000-01-01T00:00:00Z"}}`:           "running false, exit code 2 at -1h0m0s",
		`{"State":{"StartedAt":"later"}}`:            errGone.Error() + ": the container was restarted",
		refused:                                      errGone.Error() + ": the container was removed",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakedocker.New()
			status := 200
			if strings.Contains(body, "message") {
				status = 404
			}
			f.Responses["GET "+ours+"/json"] = reply(status, body)
			c := containerOf(t, f)
			c.started, c.clockOffset = "", time.Hour
			exit, running, err := c.state(t.Context())
			got := fmt.Sprintf("running %v, exit code %d", running, exit.Code)
			if err != nil {
				got = err.Error()
			} else if !running {
				got += " at " + exit.At.Sub(c.startedAt).String()
			} else {
				got += " at 0s"
			}
			testenv.Equal(t, got, want, body)
		})
	}
}
