package store_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSeal_Container makes the whole container read-only and reports a container that refuses.
func TestSeal_Container(t *testing.T) {
	var got []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			body, _ := io.ReadAll(r.Body)
			got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
			w.WriteHeader(status)
			return
		}
		io.WriteString(w, `{"version":{"number":"7.17.28"}}`)
	}))
	defer server.Close()
	r := &runner{address: strings.TrimPrefix(server.URL, "http://"), exited: make(chan struct{})}
	s := mustOpen(t, store.Spec{From: bench.NeedContainer}, store.Options{Containers: r})
	testenv.OK(t, s.Unseal(t.Context()))
	testenv.OK(t, s.Seal(t.Context()))
	const call = "PUT /_cluster/settings application/json "
	if len(got) != 2 || got[0] != call+`{"persistent":{"cluster.blocks.read_only":false}}` || got[1] != call+`{"persistent":{"cluster.blocks.read_only":true}}` {
		t.Errorf("%q", got)
	}
	status = http.StatusBadRequest
	testenv.Fails(t, s.Seal(t.Context()), "returned 400")
}

// TestSeal_External writes nothing to an external store.
func TestSeal_External(t *testing.T) {
	server := elastic(t, "7.10.2", "")
	s := mustOpen(t, store.Spec{From: bench.NeedExternal, URL: server.URL}, store.Options{})
	server.Close() // any request would fail
	testenv.OK(t, s.Seal(t.Context()))
}

// TestListenAs: a store on loopback responds to the name that a gateway forwards to it, and to no
// other.
func TestListenAs(t *testing.T) {
	s := mustOpen(t, store.Spec{From: bench.NeedEmbedded}, store.Options{})
	seen, err := s.ListenAs("host.docker.internal")
	testenv.Need(t, err == nil && strings.HasPrefix(seen, "http://host.docker.internal:") && s.Info().Seen == seen,
		"%s, %v", seen, err)
	port := seen[strings.LastIndexByte(seen, ':'):]
	for host, want := range map[string]int{"host.docker.internal": 200, "localhost": 200, "evil.example": 403} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+port, nil)
		req.Host = host + port
		resp := testenv.Must(http.DefaultClient.Do(req))(t)
		resp.Body.Close()
		testenv.Equal(t, resp.StatusCode, want, host, resp.Status)
	}
	outside := mustOpen(t, store.Spec{From: bench.NeedContainer},
		store.Options{Containers: &runner{address: strings.TrimPrefix(elastic(t, "7.10.2", "").URL, "http://"), exited: make(chan struct{})}})
	seen, err = outside.ListenAs("host.docker.internal")
	testenv.Check(t, err == nil && seen == "http://172.18.0.2:9200", "a container: %s, %v", seen, err)
}
