package docker

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

const ownID = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// folder returns a root folder with a table of mounts, and with .dockerenv for a container.
func folder(mounts string, marked bool) fs.FS {
	root := fstest.MapFS{"proc/self/mountinfo": {Data: []byte(mounts)}}
	if marked {
		root[".dockerenv"] = &fstest.MapFile{}
	}
	return root
}

const (
	mountedInside = "612 600 8:1 /var/lib/docker/containers/" + ownID + "/resolv.conf /etc/resolv.conf rw,relatime - ext4 /dev/sda1 rw\n" +
		"613 600 8:1 /var/lib/docker/containers/" + ownID + "/hostname /etc/hostname rw,relatime - ext4 /dev/sda1 rw\n"
	mountedOnHost = "25 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n" +
		"99 25 0:50 / /var/lib/docker/containers/" + ownID + "/mounts/shm rw - tmpfs shm rw\n" +
		"98 25 8:1 /var/lib/docker/containers/" + ownID + "/hostname /srv/look rw - ext4 /dev/sda1 rw\n"
)

func TestShell(t *testing.T) {
	for name, c := range map[string]struct {
		root   fs.FS
		id     string
		inside bool
	}{
		"a container":              {folder(mountedInside, true), ownID, true},
		"one without a mark":       {folder(mountedInside, false), ownID, true},
		"one of another kind":      {folder("25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", true), "", true},
		"a machine of containers":  {folder(mountedOnHost, false), "", false},
		"a table with other lines": {folder("\nx\n1 2 3\n", false), "", false},
		"no /proc":                 {fstest.MapFS{}, "", false},
		"nothing":                  {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := shell{c.root}
			if s.id() != c.id || s.inside() != c.inside {
				t.Errorf("%q, %v; want %q, %v", s.id(), s.inside(), c.id, c.inside)
			}
		})
	}
}

// networks is an engine in memory that makes networks and has one container, that of this process.
type networks struct {
	mu       sync.Mutex
	mode     string // of the container's network; "": no container
	refuses  bool   // to connect the container
	homeless bool   // the container gets no address
	joined   bool
	said     []string
	icc      string // the option of the new network
}

func (n *networks) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	path, _ := strings.CutPrefix(r.URL.Path, "/v1.41")
	n.said = append(n.said, r.Method+" "+path)
	fail := func(status int, text string) (*http.Response, error) {
		resp := response(jsonBody(map[string]any{"message": text}))
		resp.StatusCode = status
		return resp, nil
	}
	switch {
	case path == "/networks/create":
		var body struct{ Options map[string]string }
		data, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(data, &body)
		n.icc = body.Options["com.docker.network.bridge.enable_icc"]
		resp := response(jsonBody(map[string]any{"Id": "net1"}))
		resp.StatusCode = http.StatusCreated
		return resp, nil
	case path == "/networks/net1" && r.Method == http.MethodGet:
		return response(jsonBody(map[string]any{"Id": "net1", "IPAM": map[string]any{
			"Config": []any{map[string]any{"Subnet": "172.30.0.0/16", "Gateway": "172.30.0.1"}},
		}})), nil
	case path == "/networks/net1/connect":
		if n.refuses {
			return fail(http.StatusForbidden, "container cannot be connected to multiple networks")
		}
		n.joined = true
		return response(nil), nil
	case path == "/networks/net1/disconnect":
		n.joined = false
		return response(nil), nil
	case path == "/networks/net1" && r.Method == http.MethodDelete:
		if n.joined {
			return fail(http.StatusForbidden, "network has active endpoints")
		}
		resp := response(nil)
		resp.StatusCode = http.StatusNoContent
		return resp, nil
	case path == "/containers/"+ownID+"/json":
		if n.mode == "" {
			return fail(http.StatusNotFound, "No such container")
		}
		in := map[string]any{"bridge": map[string]any{"NetworkID": "net0", "IPAddress": "172.17.0.9"}}
		if n.joined && !n.homeless {
			in["locbench"] = map[string]any{"NetworkID": "net1", "IPAddress": "172.30.0.7"}
		}
		return response(jsonBody(map[string]any{
			"Id": ownID, "HostConfig": map[string]any{"NetworkMode": n.mode}, "NetworkSettings": map[string]any{"Networks": in},
		})), nil
	}
	return nil, fmt.Errorf("the fake does not know %s %s", r.Method, r.URL)
}

// TestCreateNetwork_InContainer: locbench in a container joins the network of its contenders and
// leaves it at the end. If it cannot join, it reports that at once and leaves nothing.
func TestCreateNetwork_InContainer(t *testing.T) {
	inside := folder(mountedInside, true)
	for name, c := range map[string]struct {
		fake  *networks
		root  fs.FS
		own   string
		icc   string
		wrong string
	}{
		"in a container":             {&networks{mode: "bridge"}, inside, "172.30.0.7", "", ""},
		"in its own network":         {&networks{mode: "mine"}, inside, "172.30.0.7", "", ""},
		"in the machine's network":   {&networks{mode: "host"}, inside, "", "false", ""},
		"in one of another engine":   {&networks{}, inside, "", "false", ""},
		"in none":                    {&networks{mode: "bridge"}, folder(mountedOnHost, false), "", "false", ""},
		"in one that stays outside":  {&networks{mode: "none", refuses: true}, inside, "", "", "start it with --network host"},
		"in one without any address": {&networks{mode: "bridge", homeless: true}, inside, "", "", "start it with --network host"},
	} {
		t.Run(name, func(t *testing.T) {
			cli, err := endpoint{host: "tcp://engine:2375", version: "1.41", transport: c.fake}.client()
			if err != nil {
				t.Fatal(err)
			}
			defer cli.Close()
			e := &Engine{cli: cli, patience: infoTimeout, shell: shell{c.root}}
			n, err := e.CreateNetwork(t.Context(), map[string]string{LabelRun: "x"}, true)
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Fatalf("%v, want %q", err, c.wrong)
			}
			if n.OwnAddress != c.own || n.Direct() != (c.own != "") || c.fake.icc != c.icc {
				t.Errorf("own address %q, direct %v, icc %q", n.OwnAddress, n.Direct(), c.fake.icc)
			}
			if err == nil {
				if len(n.Subnets) != 1 || n.Subnets[0] != netip.MustParsePrefix("172.30.0.0/16") {
					t.Errorf("subnets %v", n.Subnets)
				}
				if err := e.RemoveNetwork(t.Context(), n.ID); err != nil {
					t.Error(err)
				}
			}
			if c.fake.joined || !slices.Contains(c.fake.said, "DELETE /networks/net1") {
				t.Errorf("something is left: %q", c.fake.said)
			}
		})
	}
}

// TestPublished: ports are published only at the address at which the engine was reached.
func TestPublished(t *testing.T) {
	addr := netip.MustParseAddr
	for name, c := range map[string]struct {
		host     string
		peer     netip.Addr
		at, seen string
	}{
		"socket":              {"unix:///var/run/docker.sock", netip.Addr{}, "127.0.0.1", "127.0.0.1"},
		"pipe":                {"npipe:////./pipe/docker", netip.Addr{}, "127.0.0.1", "127.0.0.1"},
		"localhost":           {"tcp://localhost:2375", addr("127.0.0.1"), "127.0.0.1", "127.0.0.1"},
		"localhost by IPv6":   {"tcp://localhost:2375", addr("::1"), "127.0.0.1", "127.0.0.1"},
		"this machine's name": {"tcp://here:2375", addr("127.0.1.1"), "127.0.0.1", "127.0.0.1"},
		"an address":          {"tcp://10.0.0.5:2376", addr("10.0.0.5"), "10.0.0.5", "10.0.0.5"},
		"a name":              {"tcp://somehost:2375", addr("192.0.2.7"), "192.0.2.7", "192.0.2.7"},
		"a name, by IPv6":     {"https://somehost:2376", addr("2001:db8::7"), "2001:db8::7", "2001:db8::7"},
		"a link-local one":    {"tcp://somehost:2375", addr("fe80::1%eth0"), "fe80::1", "fe80::1%eth0"},
		"never reached":       {"tcp://somehost:2375", netip.Addr{}, "127.0.0.1", "somehost"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Engine{host: c.host, peer: c.peer}
			if got := e.publishAddress().String(); got != c.at || e.PublishedHost() != c.seen {
				t.Errorf("published on %s, reached at %s; want %s, %s", got, e.PublishedHost(), c.at, c.seen)
			}
		})
	}
}

// TestConnect_Peer: a host name is resolved once, by the connection to the engine.
func TestConnect_Peer(t *testing.T) {
	s := engineStub(t, "1.41")
	s.Start()
	_, port, _ := strings.Cut(s.Listener.Addr().String(), ":")
	e, err := connect(t.Context(), env(map[string]string{"DOCKER_HOST": "tcp://localhost:" + port}), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if !e.peer.IsLoopback() || e.PublishedHost() != "127.0.0.1" {
		t.Errorf("reached at %s, published at %s", e.peer, e.PublishedHost())
	}
}
