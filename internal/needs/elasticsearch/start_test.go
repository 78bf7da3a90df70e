package elasticsearch

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
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

// at is a place whose contenders reach this machine by a host; "": they run on it.
func at(host string, peers ...netip.Prefix) needs.Place {
	return needs.Place{Network: needs.Network{Host: host, Peers: peers}, Warn: func(bench.Warning) {}, Progress: func(bench.Progress) {}}
}

func opened(t *testing.T, n *Need, place needs.Place) *Need {
	t.Helper()
	if place.Warn == nil {
		place.Warn = func(bench.Warning) {}
	}
	testenv.OK(t, n.Open(t.Context(), place))
	t.Cleanup(func() {
		for range 2 { // it is idempotent
			testenv.OK(t, n.Close(context.Background()))
		}
	})
	return n
}

// inProcess returns an embedded need.
func inProcess(s spec) *Need { return &Need{name: Name, from: bench.NeedEmbedded, spec: s} }

func external(url string) *Need {
	return &Need{name: Name, from: bench.NeedExternal, server: server{url: url}}
}

func TestEmbedded(t *testing.T) {
	n := opened(t, inProcess(spec{Latency: time.Millisecond}), at(second(t)))
	info, seen := n.Info(), n.Address().URL
	testenv.Check(t, info.From == bench.NeedEmbedded && info.URL == n.url && strings.HasPrefix(info.Version, "7.10.2") &&
		seen != n.url && info.Seen == seen, "%+v, seen at %s", info, seen)
	for _, url := range []string{seen, n.url} {
		testenv.Contains(t, get(t, url), "7.10.2")
	}
	here := opened(t, inProcess(spec{}), at(""))
	testenv.Equal(t, here.Address().URL, here.url)
	testenv.Check(t, (&Need{from: "cloud"}).Open(t.Context(), at("")) != nil, "an unknown origin was accepted")
}

// TestExternal reaches a server on the loopback interface through the relay, with the password,
// which no output may show.
func TestExternal(t *testing.T) {
	server := elastic(t, "7.17.28", "")
	base := strings.Replace(server.URL, "http://", "http://elastic:secret@", 1)
	warned := 0
	place := at(second(t))
	place.Warn = func(bench.Warning) { warned++ }
	n := opened(t, external(base+"/"), place)
	seen := n.Address().URL
	testenv.Check(t, n.url == base && n.Info().Version == "7.17.28" && warned == 0, "%s %+v", n.url, n.Info())
	testenv.Check(t, seen != base && strings.Contains(get(t, seen), "elasticsecret"), "through the relay %s: %s",
		secret.WithoutUser(seen), get(t, seen))
	testenv.Contains(t, fmt.Sprintf("%+v", n.Info()), "!secret")
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
	seenAt := func(base, host string) string {
		t.Helper()
		return opened(t, external(base), at(host)).Address().URL
	}
	testenv.Equal(t, seenAt("http://127.0.0.1:"+port, addr), "http://"+addr+":"+port)
	for _, a := range testenv.Must(net.InterfaceAddrs())(t) {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			base := "http://" + net.JoinHostPort(ip.IP.String(), port)
			testenv.Equal(t, seenAt(base, "127.0.0.1"), base)
		}
	}
	other = true
	testenv.Check(t, seenAt("http://127.0.0.1:"+port, addr) != "http://"+addr+":"+port, "another store is taken for it")
}

// TestExternal_Versions: any version is taken, without a warning.
func TestExternal_Versions(t *testing.T) {
	for _, tt := range []struct{ version, distribution, want string }{
		{"7.10.2", "", "7.10.2"}, {"8.15.0", "", "8.15.0"}, {"2.11.0", "opensearch", "opensearch 2.11.0"},
	} {
		t.Run(tt.version, func(t *testing.T) {
			place := at("")
			place.Warn = func(w bench.Warning) { t.Errorf("warning %q", w.Text) }
			n := opened(t, external(elastic(t, tt.version, tt.distribution).URL), place)
			testenv.Equal(t, n.Info().Version, tt.want)
		})
	}
}

func TestExternal_Refused(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>\x1b[31m hello") }))
	defer silent.Close()
	angry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) }))
	defer angry.Close()
	for _, tt := range []struct{ url, want string }{
		{"", "expected a URL such as"},
		{"localhost:9200", "expected a URL such as"},
		{"http://", "expected a URL such as"},
		{"http://me:secret@[::1", "expected a URL such as"},
		{"http://me:secret@127.0.0.1:1/?x=1", "remove the query or fragment"},
		{"http://me:secret@127.0.0.1:1", "refused"},
		{silent.URL, `not Elasticsearch or OpenSearch: GET / returned no version but "<html>␛[31m hello"`},
		{angry.URL, "returned 401 Unauthorized without a reason, probably from a proxy; add user and password to the URL"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			err := external(tt.url).Open(t.Context(), at(""))
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
	url := strings.Replace(s.URL, "http://", "http://me:secret@", 1)
	open := opened(t, external(url), at(""))
	moved = true
	_, errCount := open.count(t.Context(), "city")
	for what, err := range map[string]error{"open": external(url).Open(t.Context(), at("")), "count": errCount, "alive": open.Alive(t.Context())} {
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
	s := opened(t, external("http://"+echo.Addr().String()), at(second(t)))
	seen := s.Address().URL
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
	testenv.OK(t, s.Close(t.Context()))
	open.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := open.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an open connection survives Close: %v", err)
	}
}

// runner replaces Docker: its container is a server.
type runner struct {
	needs.Containers
	needs.Container
	address string
	spec    docker.ContainerSpec
	kills   int
	err     error
}

func (r *runner) Image(context.Context, string, func(bench.Progress)) (docker.Image, error) {
	return docker.Image{}, nil
}

func (r *runner) CreateVolume(_ context.Context, name string) (string, error) { return name, nil }
func (r *runner) RemoveVolume(context.Context, string) error                  { return nil }

func (r *runner) Run(_ context.Context, spec docker.ContainerSpec) (needs.Container, string, error) {
	r.spec = spec
	return r, "", r.err
}
func (r *runner) Address() string                 { return r.address }
func (r *runner) NetworkAddress() string          { return "172.18.0.2:9200" }
func (r *runner) LocalPID() int                   { return 0 }
func (r *runner) Exited() <-chan struct{}         { return nil }
func (r *runner) Logs() []bench.LogLine           { return nil }
func (r *runner) Diagnose(context.Context) string { return "" }
func (r *runner) Kill(context.Context) error      { r.kills++; return nil }

// TestContainer: an image under any name runs as the official one does; once it is seeded, it
// refuses changes.
func TestContainer(t *testing.T) {
	var settings []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			body, _ := io.ReadAll(r.Body)
			settings = append(settings, r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
			w.WriteHeader(status)
		}
		if strings.HasPrefix(r.URL.Path, "/_cluster/health") { // as of an imitation, which is ready all the same
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, `{"version":{"number":"7.17.28"}}`)
	}))
	defer server.Close()
	for host, seen := range map[string]string{"172.18.0.1": "http://elasticsearch:9200", "": server.URL} {
		r := &runner{address: strings.TrimPrefix(server.URL, "http://")}
		place := at(host)
		place.Containers = r
		n := opened(t, &Need{name: Name, from: bench.NeedContainer, spec: spec{Image: "my/es:7"}}, place)
		testenv.Check(t, r.spec.Image == "my/es:7" && r.spec.Port == 9200 && r.spec.Env["discovery.type"] == "single-node" &&
			r.spec.Env["ES_JAVA_OPTS"] == "-Xms1g -Xmx1g", "%+v", r.spec)
		testenv.Check(t, n.url == server.URL && n.Info().Version == "7.17.28" && n.Address().URL == seen, "%+v, seen at %s", n.Info(), n.Address().URL)
		testenv.OK(t, n.Alive(t.Context()))
		testenv.OK(t, n.Close(t.Context()))
		testenv.Equal(t, r.kills, 1)
		settings = nil
		testenv.OK(t, n.seal(t.Context(), false))
		testenv.OK(t, n.seal(t.Context(), true))
		const call = "/_cluster/settings application/json "
		testenv.Equal(t, settings, []string{
			call + `{"persistent":{"cluster.blocks.read_only":false}}`, call + `{"persistent":{"cluster.blocks.read_only":true}}`,
		})
		status = http.StatusBadRequest
		testenv.Fails(t, n.seal(t.Context(), true), "returned 400")
		status = http.StatusOK
	}
}

func TestContainerFails(t *testing.T) {
	n := &Need{name: Name, from: bench.NeedContainer, spec: spec{Image: "es:1"}}
	testenv.Fails(t, n.Open(t.Context(), at("")), "elasticsearch: it runs in a container, and no Docker engine is in use")
	place := at("")
	place.Containers = &runner{err: errors.New("no such image")}
	testenv.Fails(t, n.Open(t.Context(), place), "elasticsearch: no such image")
}

// TestPeers: what listens on loopback is for this machine, what listens for a network is for that
// one, and a connection from elsewhere ends before it is read.
func TestPeers(t *testing.T) {
	addr := second(t)
	server := elastic(t, "7.10.2", "")
	for what, n := range map[string]func() *Need{
		"embedded": func() *Need { return inProcess(spec{}) }, "relay": func() *Need { return external(server.URL) },
	} {
		t.Run(what, func(t *testing.T) {
			for _, c := range []struct {
				peers  []netip.Prefix
				served bool
			}{
				{nil, true},
				{[]netip.Prefix{netip.MustParsePrefix("172.18.0.0/16"), netip.MustParsePrefix("127.0.0.0/8")}, true},
				{[]netip.Prefix{netip.MustParsePrefix("172.18.0.0/16"), netip.MustParsePrefix("fd00::/64")}, false},
			} {
				seen := opened(t, n(), at(addr, c.peers...)).Address().URL
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

// TestNamed: a need on loopback is reached by the name that a gateway forwards to it; an embedded one
// responds to no other.
func TestNamed(t *testing.T) {
	place := at("host.docker.internal")
	place.Network.Named = true
	server := elastic(t, "7.10.2", "")
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	testenv.Equal(t, opened(t, external(server.URL), place).Address().URL, "http://host.docker.internal:"+port)
	seen := opened(t, inProcess(spec{}), place).Address().URL
	testenv.Contains(t, seen, "http://host.docker.internal:")
	port = seen[strings.LastIndexByte(seen, ':'):]
	for host, want := range map[string]int{"host.docker.internal": 200, "localhost": 200, "evil.example": 403} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+port, nil)
		req.Host, req.Close = host+port, true
		resp := testenv.Must(http.DefaultClient.Do(req))(t)
		resp.Body.Close()
		testenv.Equal(t, resp.StatusCode, want, host, resp.Status)
	}
}

// TestChosen: a URL stands for an external store, nothing for an embedded one.
func TestChosen(t *testing.T) {
	for _, c := range []struct {
		from bench.NeedOrigin
		url  string
		want bench.NeedOrigin
	}{
		{"", "", bench.NeedEmbedded}, {bench.NeedAuto, "", bench.NeedEmbedded}, {"", "u", bench.NeedExternal},
		{bench.NeedAuto, "u", bench.NeedExternal}, {bench.NeedNone, "u", bench.NeedNone},
	} {
		testenv.Equal(t, chosen(c.from, c.url), c.want, c)
	}
}
