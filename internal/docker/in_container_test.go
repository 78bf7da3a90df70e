package docker

import (
	"encoding/json"
	"io/fs"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// folder returns a root folder with a table of mounts, and with .dockerenv for a container.
func folder(mounts string, marked bool) fs.FS {
	root := fstest.MapFS{"proc/self/mountinfo": {Data: []byte(mounts)}}
	if marked {
		root[".dockerenv"] = &fstest.MapFile{}
	}
	return root
}

const (
	mountedInside = "612 600 8:1 /var/lib/docker/containers/" + fakedocker.OwnID + "/resolv.conf /etc/resolv.conf rw,relatime - ext4 /dev/sda1 rw\n" +
		"613 600 8:1 /var/lib/docker/containers/" + fakedocker.OwnID + "/hostname /etc/hostname rw,relatime - ext4 /dev/sda1 rw\n"
	mountedOnHost = "25 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n" +
		"99 25 0:50 / /var/lib/docker/containers/" + fakedocker.OwnID + "/mounts/shm rw - tmpfs shm rw\n" +
		"98 25 8:1 /var/lib/docker/containers/" + fakedocker.OwnID + "/hostname /srv/look rw - ext4 /dev/sda1 rw\n"
)

func TestShell(t *testing.T) {
	for name, c := range map[string]struct {
		root   fs.FS
		id     string
		inside bool
	}{
		"a container":              {folder(mountedInside, true), fakedocker.OwnID, true},
		"one of Podman":            {folder(strings.ReplaceAll(mountedInside, "/containers/", "/overlay-containers/"), true), fakedocker.OwnID, true},
		"one without a mark":       {folder(mountedInside, false), fakedocker.OwnID, true},
		"one of another kind":      {folder("25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", true), "", true},
		"a machine of containers":  {folder(mountedOnHost, false), "", false},
		"a table with other lines": {folder("\nx\n1 2 3\n", false), "", false},
		"a short line":             {folder("613 600 8:1 /containers/"+fakedocker.OwnID+"/hostname /etc/hostname\n", false), fakedocker.OwnID, true},
		"no /proc":                 {fstest.MapFS{}, "", false},
		"nothing":                  {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := ownRoot{c.root}
			testenv.Check(t, s.id() == c.id && s.inside() == c.inside,
				"%q, %v; want %q, %v", s.id(), s.inside(), c.id, c.inside)
		})
	}
}

// TestCreateNetwork_InContainer: locbench in a container joins the network of its contenders and
// leaves it at the end. If it cannot join, it reports that at once and leaves nothing.
func TestCreateNetwork_InContainer(t *testing.T) {
	inside := folder(mountedInside, true)
	for name, c := range map[string]struct {
		mode    string // of the network of locbench's container; "": it is of another engine
		root    fs.FS
		own     string
		apart   string // the option of the new network
		wrong   string
		refuses bool // the engine, to connect it
		lost    bool // it gets no address
		podman  bool
	}{
		"in a container":             {mode: "bridge", root: inside, own: "172.30.0.7"},
		"in a container of Podman":   {mode: "bridge", root: inside, own: "172.30.0.7", podman: true},
		"on Podman's machine":        {mode: "bridge", root: folder(mountedOnHost, false), podman: true},
		"in its own network":         {mode: "mine", root: inside, own: "172.30.0.7"},
		"in the machine's network":   {mode: "host", root: inside, apart: "false"},
		"in one of another engine":   {root: inside, apart: "false"},
		"in none":                    {mode: "bridge", root: folder(mountedOnHost, false), apart: "false"},
		"in one that stays outside":  {mode: "none", root: inside, refuses: true, wrong: "multiple networks; start it with --network host"},
		"in one without any address": {mode: "bridge", root: inside, lost: true, wrong: "no address assigned; start it with --network host"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			if c.podman {
				f = fakedocker.Podman()
			}
			f.OwnMode, f.Homeless = c.mode, c.lost
			if c.refuses {
				f.Responses["POST "+bridge+"/connect"] = reply(403, `{"message":"multiple networks"}`)
			}
			e := engineOf(t, f)
			e.root, e.info.Podman = ownRoot{c.root}, c.podman
			n, err := e.CreateNetwork(t.Context(), map[string]string{LabelRun: "x"}, true)
			testenv.Need(t, (err == nil) == (c.wrong == "") && (err == nil || strings.Contains(err.Error(), c.wrong)),
				"%v, want %q", err, c.wrong)
			var made struct{ Options map[string]string }
			testenv.OK(t, json.Unmarshal(f.Requests("POST /networks/create")[0].Body, &made))
			icc := made.Options["com.docker.network.bridge.enable_icc"]
			testenv.Check(t, n.OwnAddress == c.own && n.Direct() == (c.own != "") && icc == c.apart && len(n.Warnings) == 0,
				"own address %q, direct %v, icc %q, warnings %v", n.OwnAddress, n.Direct(), icc, n.Warnings)
			if err == nil {
				if n.Gateway != "172.30.0.1" || len(n.Subnets) != 1 || n.Subnets[0] != netip.MustParsePrefix("172.30.0.0/16") {
					t.Errorf("gateway %s, subnets %v", n.Gateway, n.Subnets)
				}
				testenv.OK(t, e.RemoveNetwork(t.Context(), n.ID))
			}
			testenv.Check(t, !f.Joined && slices.Equal(f.Removed(), []string{fakedocker.NetworkID}),
				"something is left: removed %q", f.Removed())
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
	s := httptest.NewServer(fakedocker.New())
	defer s.Close()
	_, port, _ := strings.Cut(s.Listener.Addr().String(), ":")
	e, err := connect(t.Context(), env(map[string]string{"DOCKER_HOST": "tcp://localhost:" + port}), t.TempDir())
	testenv.OK(t, err)
	defer e.Close()
	testenv.Check(t, e.peer.IsLoopback() && e.PublishedHost() == "127.0.0.1",
		"reached at %s, published at %s", e.peer, e.PublishedHost())
}
