//go:build linux

package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/elastic/store"
	"locbench/internal/locations/dataset"
	"locbench/internal/locations/seed"
	"locbench/internal/testenv"
)

// gate is a store that can be stopped and comes back on the same address: a way through to it that
// is closed and opened.
type gate struct {
	t      *testing.T
	addr   string
	target *url.URL
	server *http.Server
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
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

// shut refuses every connection from now on, and breaks those that are open.
func (g *gate) shut() { _ = g.server.Close() }

// TestStoreStoppedAndBack takes the store away in the second step of the first leg and gives it
// back as soon as locbench waits for it.
func TestStoreStoppedAndBack(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), bench.StoreSpec{Kind: bench.StoreEmbedded}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	data, err := dataset.Generated(200, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seed.Run(t.Context(), seed.Options{URL: s.URL(), Set: data}); err != nil {
		t.Fatal(err)
	}
	g := newGate(t, s.URL())
	storeGoesAndComesBack(t, "process", "http://"+g.addr, g.shut, g.open)
}

// TestRealStoreStoppedAndBack is the same with the container of a real Elasticsearch.
func TestRealStoreStoppedAndBack(t *testing.T) {
	testenv.Docker(t)
	image := testenv.ElasticsearchImage(t)
	t.Parallel()
	id := dockerDo(t, "run", "-d", "-p", "127.0.0.1:0:9200", "-e", "discovery.type=single-node", "-e", "ES_JAVA_OPTS=-Xms256m -Xmx256m", image)
	if t.Failed() {
		return
	}
	t.Cleanup(func() { dockerDo(t, "rm", "-f", "-v", id) })
	url := "http://" + strings.SplitN(dockerDo(t, "port", id, "9200/tcp"), "\n", 2)[0]
	answers(t, url)
	data, err := dataset.Generated(200, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seed.Run(t.Context(), seed.Options{URL: url, Set: data}); err != nil {
		t.Fatal(err)
	}
	// Frozen rather than ended: it comes back at once, and a store that hangs is harder to see than
	// one that refuses connections.
	storeGoesAndComesBack(t, "docker", url, func() { dockerDo(t, "pause", id) }, func() { dockerDo(t, "unpause", id) })
}

func storeGoesAndComesBack(t *testing.T, runtime, url string, away, back func()) {
	t.Helper()
	d := disturb(t, nil, "run", "--headless", "-p", quiet(t, runtime, 2, 1, 1, 2, 4, 8), "--elastic", url)
	d.instance(1)
	away()
	d.waitEvent(d.out, func(r bench.Record) bool {
		e, ok := r.Event.(bench.Notice)
		return ok && strings.HasPrefix(e.Text, "waiting for the store")
	})
	back()
	_, legs := d.ends(3, "the store is gone", "waiting for the store, for at most 30s", "the store answers again, after", "lost  ")
	if len(legs) != 2 || legs[0].State != bench.LegFailed || legs[1].State != bench.LegComplete {
		t.Fatal(states(legs))
	}
	leg := legs[0]
	if len(leg.Steps) < 2 || leg.Steps[0].Load.Succeeded == 0 || leg.Steps[0].Aborted != "" {
		t.Errorf("the finished step is lost: %d steps", len(leg.Steps))
	}
	if in, ok := incident(leg, bench.IncidentStore); !ok || in.Step == nil {
		t.Errorf("incidents %v", leg.Incidents)
	}
	d.reported("the store is gone", "the store does not answer")
	d.resumes()
}

// answers waits until url does.
func answers(t *testing.T, url string) {
	t.Helper()
	testenv.Until(t, 2*time.Minute, url+" answers", func() bool {
		resp, err := http.Get(url)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// TestSilentStore gives commands a store that takes connections and never answers, and one that
// falls silent behind its greeting. Each command says so within half a minute.
func TestSilentStore(t *testing.T) {
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
			began := time.Now()
			if code := c.wait(40 * time.Second); code == 0 && what != "doctor" {
				t.Errorf("exit code %d", code)
			}
			if said := c.stdout.String() + c.stderr.String(); !strings.Contains(said, "no answer within") || strings.Contains(said, "deadline exceeded") {
				t.Errorf("it said: %s", said)
			}
			t.Logf("after %v", time.Since(began).Round(time.Millisecond))
		})
	}
}
