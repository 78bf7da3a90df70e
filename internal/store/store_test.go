package store_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// elsewhere is an address of this machine that the servers of these tests do not listen on, as the
// gateway of a Docker network would be.
const elsewhere = "127.0.0.2:0"

// elastic responds to GET / like a server of this version.
func elastic(t *testing.T, version, distribution string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, `{"version":{"number":%q,"distribution":%q},"tagline":%q}`, version, distribution, user+password)
	}))
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp := testenv.Must(client.Get(url))(t)
	defer resp.Body.Close()
	body := testenv.Must(io.ReadAll(resp.Body))(t)
	return string(body)
}

func mustOpen(t *testing.T, spec store.Spec, opts store.Options) *store.Store {
	t.Helper()
	s := testenv.Must(store.Open(t.Context(), spec, opts))(t)
	t.Cleanup(func() {
		for range 2 { // it is idempotent
			testenv.OK(t, s.Close())
		}
	})
	return s
}

func TestEmbedded(t *testing.T) {
	for _, kind := range []bench.NeedOrigin{bench.NeedEmbedded, bench.NeedAuto, ""} {
		s := mustOpen(t, store.Spec{From: kind, Latency: time.Millisecond}, store.Options{})
		info := s.Info()
		if info.From != bench.NeedEmbedded || info.URL != s.URL() || !strings.HasPrefix(info.Version, "7.10.2") {
			t.Errorf("%+v", info)
		}
		seen := testenv.Must(s.Listen("127.0.0.1:0"))(t)
		testenv.Check(t, seen != s.URL() && s.Info().Seen == seen, "contenders see %s, this machine %s", seen,
			s.URL())
		for _, url := range []string{seen, s.URL()} {
			testenv.Contains(t, get(t, url), "7.10.2")
		}
		s.Close()
		testenv.Check(t, testenv.Err(s.Listen("127.0.0.1:0")) != nil, "a closed store listens")
	}
	_, err := store.Open(t.Context(), store.Spec{From: bench.NeedEmbedded, Latency: 2, P99: 1}, store.Options{})
	testenv.Check(t, err != nil, "a p99 below the median was accepted")
}

func TestNone(t *testing.T) {
	s := mustOpen(t, store.Spec{From: bench.NeedNone}, store.Options{})
	testenv.Check(t, s.URL() == "" && s.Info() == (bench.NeedInfo{From: bench.NeedNone}), "%+v", s.Info())
	_, err := s.Listen("127.0.0.1:0")
	testenv.Check(t, errors.Is(err, store.ErrNone), "listen: %v", err)
	testenv.Check(t, testenv.Err(store.Open(t.Context(), store.Spec{From: "cloud"}, store.Options{})) != nil,
		"an unknown kind was accepted")
}

// TestExternal reaches a server on the loopback interface through the relay, with the password,
// which no output may show.
func TestExternal(t *testing.T) {
	server := elastic(t, "7.17.28", "")
	base := strings.Replace(server.URL, "http://", "http://elastic:secret@", 1)
	s := mustOpen(t, store.Spec{From: bench.NeedAuto, URL: base + "/"}, store.Options{})
	if s.URL() != base || s.Info().From != bench.NeedExternal || s.Info().Version != "7.17.28" || len(s.Warnings()) != 0 {
		t.Errorf("%s %+v %v", s.URL(), s.Info(), s.Warnings())
	}
	seen := testenv.Must(s.Listen(second(t) + ":0"))(t)
	testenv.Check(t, seen != base && strings.Contains(get(t, seen), "elasticsecret"), "through the relay %s: %s",
		secret.WithoutUser(seen), get(t, seen))
	testenv.Contains(t, fmt.Sprintf("%+v", s.Info()), "!secret")
}

// second returns another address of this machine than the one that test servers listen on.
func second(t *testing.T) string {
	t.Helper()
	const addr = "127.0.0.2"
	l, err := net.Listen("tcp", addr+":0")
	if err != nil {
		t.Skipf("this machine has no %s: %v", addr, err)
	}
	l.Close()
	return addr
}

// TestExternal_AllAddresses needs no relay either: the same store responds at the contenders'
// gateway, and an address that is not of loopback is seen unchanged. Another store is not taken for it.
func TestExternal_AllAddresses(t *testing.T) {
	addr, other := second(t), false
	l := testenv.Must(net.Listen("tcp", "0.0.0.0:0"))(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		uuid := "one"
		if other && strings.HasPrefix(r.Host, addr) {
			uuid = "another"
		}
		fmt.Fprintf(w, `{"cluster_uuid":%q,"version":{"number":"7.10.2"}}`, uuid)
	})}}
	server.Start()
	defer server.Close()
	s := mustOpen(t, store.Spec{From: bench.NeedExternal, URL: "http://127.0.0.1:" + port}, store.Options{})
	seen, err := s.Listen(addr + ":0")
	testenv.Check(t, err == nil && seen == "http://"+addr+":"+port, "seen as %s (%v)", seen, err)
	for _, a := range testenv.Must(net.InterfaceAddrs())(t) {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			base := "http://" + net.JoinHostPort(ip.IP.String(), port)
			elsewhere := mustOpen(t, store.Spec{From: bench.NeedExternal, URL: base}, store.Options{})
			seen, err := elsewhere.Listen("127.0.0.1:0")
			testenv.Check(t, err == nil && seen == base, "%s is seen as %s (%v)", base, seen, err)
		}
	}
	other = true
	seen, err = s.Listen(addr + ":0")
	testenv.Check(t, err == nil && seen != "http://"+addr+":"+port, "another store is taken for it: %s (%v)", seen, err)
}

func TestExternal_Versions(t *testing.T) {
	for _, tt := range []struct{ version, distribution, want string }{
		{"7.10.2", "", ""}, {"8.15.0", "", "8.15.0, not Elasticsearch 7"}, {"2.11.0", "opensearch", "opensearch 2.11.0, not Elasticsearch 7"},
	} {
		t.Run(tt.version, func(t *testing.T) {
			s := mustOpen(t, store.Spec{From: bench.NeedExternal, URL: elastic(t, tt.version, tt.distribution).URL}, store.Options{})
			if got := s.Warnings().Join(""); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%s: warning %q", tt.version, got)
			}
		})
	}
}

func TestExternal_Refused(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>\x1b[31m hello") }))
	defer silent.Close()
	angry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) }))
	defer angry.Close()
	for _, tt := range []struct{ url, want string }{
		{"", "no URL given: expected"},
		{"localhost:9200", "expected a URL such as"},
		{"http://", "expected a URL such as"},
		{"http://me:secret@[::1", "malformed URL"},
		{"http://me:secret@127.0.0.1:1/?x=1", "remove the query or fragment"},
		{"http://me:secret@127.0.0.1:1", "refused"},
		{silent.URL, "not Elasticsearch: GET / returned"},
		{angry.URL, "401"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			_, err := store.Open(t.Context(), store.Spec{From: bench.NeedExternal, URL: tt.url}, store.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: %v", tt.url, err)
			} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("the error shows too much: %q", err)
			}
		})
	}
}

// TestExternal_Redirects: a redirect is an error that names its address, from every method and at
// any time. The password is not sent there.
func TestExternal_Redirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("requested %s with %v", r.URL, r.Header) }))
	defer other.Close()
	moved := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if moved {
			http.Redirect(w, r, strings.Replace(other.URL, "http://", "http://you:secret@", 1)+"/there?token=secret", http.StatusTemporaryRedirect)
			return
		}
		io.WriteString(w, `{"version":{"number":"7.10.2"}}`)
	}))
	defer s.Close()
	spec := store.Spec{From: bench.NeedExternal, URL: strings.Replace(s.URL, "http://", "http://me:secret@", 1)}
	open := mustOpen(t, spec, store.Options{})
	moved = true
	_, errOpen := store.Open(t.Context(), spec, store.Options{})
	_, errCount := open.Count(t.Context(), "city")
	for what, err := range map[string]error{"open": errOpen, "count": errCount, "alive": open.Alive(t.Context())} {
		want := "http://***@" + strings.TrimPrefix(other.URL, "http://") + "/there?..."
		testenv.Check(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "secret"),
			"%s: error %v, want %s", what, err, want)
	}
}

// TestRelayEnds checks that the relay passes on the end of a direction. Close ends what is still
// open.
func TestRelayEnds(t *testing.T) {
	echo := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var echoes sync.WaitGroup
	echoes.Go(func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			echoes.Go(func() {
				defer c.Close()
				line := make([]byte, 4)
				if _, err := io.ReadFull(c, line); err != nil {
					return
				}
				if string(line) == "GET " { // the probe of Open
					http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(line), c)))
					io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"version\":{\"number\":\"7.0.0\"}}")
					return
				}
				rest, _ := io.ReadAll(c)
				c.Write(append(line, rest...))
			})
		}
	})
	defer echoes.Wait()
	defer echo.Close()
	s := mustOpen(t, store.Spec{From: bench.NeedExternal, URL: "http://" + echo.Addr().String()}, store.Options{})
	seen := testenv.Must(s.Listen(elsewhere))(t)
	dial := func() *net.TCPConn {
		c := testenv.Must(net.Dial("tcp", strings.TrimPrefix(seen, "http://")))(t)
		return c.(*net.TCPConn)
	}
	c := dial()
	io.WriteString(c, "hello, store")
	c.CloseWrite()
	got, err := io.ReadAll(c)
	testenv.Check(t, err == nil && string(got) == "hello, store", "%q, %v", got, err)
	c.Close()
	open := dial()
	defer open.Close()
	io.WriteString(open, "hel")
	testenv.OK(t, s.Close())
	open.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := open.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an open connection survives Close: %v", err)
	}
}

// runner replaces Docker: its container is a server, or one that has ended.
type runner struct {
	needs.Containers
	needs.Container
	address string
	exited  chan struct{}
	spec    docker.ContainerSpec
	started func() // may be nil
	stops   int
	err     error
}

func (r *runner) Image(context.Context, string, func(bench.Progress)) (docker.Image, error) {
	return docker.Image{}, nil
}

func (r *runner) Run(_ context.Context, spec docker.ContainerSpec) (needs.Container, string, error) {
	if r.spec = spec; r.started != nil {
		r.started()
	}
	return r, "", r.err
}
func (r *runner) Address() string        { return r.address }
func (r *runner) NetworkAddress() string { return "172.18.0.2:9200" }
func (r *runner) LocalPID() int          { return 0 }

func (r *runner) Exited() <-chan struct{} { return r.exited }
func (r *runner) Logs() []bench.LogLine {
	return []bench.LogLine{{Text: "starting"}, {Text: "max virtual memory areas \x1b[31mtoo low"}}
}
func (r *runner) Stop(context.Context, time.Duration) (bench.StopResult, error) {
	r.stops++
	return bench.StopResult{}, nil
}

func TestContainer(t *testing.T) {
	server := elastic(t, "7.17.28", "")
	r := &runner{address: strings.TrimPrefix(server.URL, "http://"), exited: make(chan struct{})}
	s := mustOpen(t, store.Spec{From: bench.NeedContainer}, store.Options{Containers: r})
	if r.spec.Image != store.DefaultImage || r.spec.Port != 9200 || r.spec.Env["discovery.type"] != "single-node" {
		t.Errorf("%+v", r.spec)
	}
	testenv.Check(t, s.URL() == server.URL && s.Info().Version == "7.17.28", "%+v", s.Info())
	if seen, err := s.Listen(elsewhere); err != nil || seen != "http://172.18.0.2:9200" || s.Info().Seen != seen {
		t.Errorf("contenders in its network reach it at %s, %v", seen, err)
	}
	s.Close()
	testenv.Equal(t, r.stops, 1)
}

func TestContainerFails(t *testing.T) {
	spec := store.Spec{From: bench.NeedContainer, Image: "es:1"}
	testenv.Fails(t, testenv.Err(store.Open(t.Context(), spec, store.Options{})), "no Docker engine")
	broken := &runner{err: errors.New("no such image")}
	testenv.Fails(t, testenv.Err(store.Open(t.Context(), spec, store.Options{Containers: broken})),
		"es:1: no such image")
	died := &runner{address: "127.0.0.1:1", exited: make(chan struct{})}
	close(died.exited)
	_, err := store.Open(t.Context(), spec, store.Options{Containers: died})
	if err == nil || !strings.Contains(err.Error(), "ended before it responded") || !strings.Contains(err.Error(), "too low") || strings.Contains(err.Error(), "\x1b") || died.stops != 1 {
		t.Errorf("a crash: %v, stopped %d times", err, died.stops)
	}
	ctx, cancel := context.WithCancel(t.Context())
	slow := &runner{address: "127.0.0.1:1", exited: make(chan struct{}), started: cancel}
	_, err = store.Open(ctx, spec, store.Options{Containers: slow})
	testenv.Check(t, err != nil && slow.stops == 1, "interrupted: %v, stopped %d times", err, slow.stops)
}

// TestPeers: what listens on loopback is for this machine, what listens for a network is for that
// one, and a connection from elsewhere ends before it is read.
func TestPeers(t *testing.T) {
	addr := second(t)
	server := elastic(t, "7.10.2", "")
	for what, spec := range map[string]store.Spec{"embedded": {From: bench.NeedEmbedded}, "relay": {From: bench.NeedExternal, URL: server.URL}} {
		t.Run(what, func(t *testing.T) {
			s := mustOpen(t, spec, store.Options{})
			for _, c := range []struct {
				peers  []netip.Prefix
				served bool
			}{
				{nil, true},
				{[]netip.Prefix{netip.MustParsePrefix("172.18.0.0/16"), netip.MustParsePrefix("127.0.0.0/8")}, true},
				{[]netip.Prefix{netip.MustParsePrefix("172.18.0.0/16"), netip.MustParsePrefix("fd00::/64")}, false},
			} {
				seen := testenv.Must(s.Listen(net.JoinHostPort(addr, "0"), c.peers...))(t)
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
				for range 3 { // a refused connection must not block the next one
					resp, err := client.Get(seen)
					if err == nil {
						resp.Body.Close()
					}
					testenv.Equal(t, err == nil, c.served, what, c.peers, err)
				}
			}
		})
	}
}

// TestChosen: a URL stands for an external store, nothing for an embedded one.
func TestChosen(t *testing.T) {
	for spec, want := range map[store.Spec]bench.NeedOrigin{
		{}: bench.NeedEmbedded, {From: bench.NeedAuto}: bench.NeedEmbedded, {URL: "u"}: bench.NeedExternal,
		{From: bench.NeedAuto, URL: "u"}: bench.NeedExternal, {From: bench.NeedNone, URL: "u"}: bench.NeedNone,
	} {
		testenv.Equal(t, spec.Chosen(), want, spec)
	}
}
