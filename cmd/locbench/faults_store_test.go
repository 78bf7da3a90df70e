//go:build acceptance && faults && linux

package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
)

// gate is a proxy to a store that can be closed and opened on the same address.
type gate struct {
	t      *testing.T
	addr   string
	target *url.URL
	server *http.Server
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	u, err := url.Parse(target)
	testenv.OK(t, err)
	g := &gate{t: t, addr: "127.0.0.1:0", target: u}
	g.open()
	t.Cleanup(g.shut)
	return g
}

func (g *gate) open() {
	g.t.Helper()
	l, err := net.Listen("tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	g.addr = l.Addr().String()
	g.server = &http.Server{Handler: httputil.NewSingleHostReverseProxy(g.target)}
	go func(s *http.Server) { _ = s.Serve(l) }(g.server)
}

// shut refuses new connections and breaks the open ones.
func (g *gate) shut() { _ = g.server.Close() }

// embedded opens an embedded store, which fill fills.
func embedded(t *testing.T) (s *store.Store, fill func()) {
	t.Helper()
	s, err := store.Open(t.Context(), bench.StoreSpec{Kind: bench.StoreEmbedded}, store.Options{})
	testenv.OK(t, err)
	t.Cleanup(func() { s.Close() })
	return s, func() {
		data, err := dataset.Generated(200, 12, 1)
		if err == nil {
			err = s.Fill(t.Context(), data, nil)
		}
		testenv.OK(t, err)
	}
}

// TestStore_ComesBack takes the store away in the second step of the first trial and brings it
// back as soon as locbench waits for it.
func TestStore_ComesBack(t *testing.T) {
	t.Parallel()
	s, fill := embedded(t)
	fill()
	g := newGate(t, s.URL())
	storeGoesAndComesBack(t, "process", "http://"+g.addr, g.shut, g.open)
}

// TestStore_Gone has no data in the store at first, and no store from the second step on.
func TestStore_Gone(t *testing.T) {
	t.Parallel()
	s, fill := embedded(t)
	dir := t.TempDir()
	args := []string{"run", "-p", small(t, "go-nethttp", "process"), "--elastic", s.URL(), "--rounds", "1", "-o"}

	// Without data, the command that seeds is reported.
	if code, _, stderr := locbench(t, dir, append(args, "empty")...); code != 1 || !strings.Contains(stderr, "locbench seed --elastic "+s.URL()) {
		t.Errorf("exit code %d, without data it says:\n%s", code, stderr)
	}
	fill()
	c := startLocbench(t, dir, append(args, "out")...)
	c.waitEvent(filepath.Join(dir, "out"), stepStarted(1))
	s.Close()
	if code := c.wait(time.Minute); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if !strings.Contains(c.stderr.String(), "lost the store") {
		t.Errorf("it says:\n%s", c.stderr.String())
	}
	_, trials := read(t, filepath.Join(dir, "out"))
	if len(trials) != 1 || len(trials[0].Steps) < 2 || trials[0].Steps[0].Load.Succeeded == 0 {
		t.Errorf("finished steps are lost: %+v", trials)
	}
}

// TestStore_Silent gives commands a store that accepts connections and never responds, and one that
// stops responding after its greeting. Each command reports its timeout.
func TestStore_Silent(t *testing.T) {
	t.Parallel()
	silent := func(greets bool) string {
		hold := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if greets && r.URL.Path == "/" {
				io.WriteString(w, `{"version":{"number":"7.10.2"}}`)
				return
			}
			<-hold
		}))
		t.Cleanup(func() { close(hold); server.CloseClientConnections(); server.Close() })
		return server.URL
	}
	mute, greeting := silent(false), silent(true)
	for what, args := range map[string][]string{
		"run":                    {"run", "--headless", "--runtime", "process", "--elastic", mute, "-o", "out"},
		"run after a greeting":   {"run", "--headless", "--runtime", "process", "--elastic", greeting, "-o", "out"},
		"seed":                   {"seed", "--elastic", mute},
		"seed after a greeting":  {"seed", "--elastic", greeting},
		"check":                  {"check", mute},
		"doctor":                 {"doctor", "--elastic", mute},
		"capacity of its client": {"capacity", "go-nethttp", "--runtime", "process", "--slo", "p99<1s", "--elastic", greeting, "-o", "out"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := startLocbench(t, t.TempDir(), args...)
			if code := c.wait(2 * time.Minute); code == 0 && what != "doctor" {
				t.Errorf("exit code %d", code)
			}
			if said := c.stdout.String() + c.stderr.String(); !strings.Contains(said, "no response within") || strings.Contains(said, "deadline exceeded") {
				t.Errorf("it said: %s", said)
			}
		})
	}
}
