package embedded_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
)

// TestWrites: no call changes the store.
func TestWrites(t *testing.T) {
	_, do := open(t, two())
	for _, c := range []string{
		"DELETE /city_v1", "DELETE /city_v1/_doc/1", "PUT /other", "POST /_bulk", "PUT /_bulk", "POST /city/_bulk", "PUT /city_v1/_bulk",
		"PUT /city_v1/_doc/1", "POST /city_v1/_doc/1", "POST /city_v1/_doc", "PUT /city_v1/_create/2", "POST /city/_update/1", "POST /_aliases",
		"PUT /city_v1/_settings", "PUT /_cluster/settings", "POST /city/_delete_by_query", "DELETE /_all",
	} {
		method, path, _ := strings.Cut(c, " ")
		status, got := do(method, path, "{}")
		if status != 403 || !strings.Contains(got, `"type":"cluster_block_exception"`) || !strings.Contains(got, `"root_cause":[{`) {
			t.Errorf("%s: %d %s, want 403 cluster_block_exception", c, status, got)
		}
	}
	status, got := do("GET", "/city/_count", "")
	testenv.Check(t, status == 200 && strings.Contains(got, `"count":2,`), "after it: %d %s", status, got)
}

// TestHost: a page whose name resolves to this machine cannot reach the store.
func TestHost(t *testing.T) {
	s := testenv.Must(embedded.New(embedded.Options{}))(t)
	defer s.Close()
	l := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	base := testenv.Must(s.Serve(l, "host.docker.internal"))(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for host, want := range map[string]int{
		"127.0.0.1:" + port: 200, "127.0.0.1": 200, "127.8.9.1:80": 200, "[::1]:" + port: 200, "localhost:" + port: 200, "LOCALHOST": 200,
		"host.docker.internal:" + port: 200,
		"evil.example:" + port:         403, "127.0.0.1.evil.example": 403, "localhost.evil.example": 403, "10.0.0.5": 403,
		"0.0.0.0:" + port: 403, "evil.localhost:" + port: 403, "2130706433": 403,
	} {
		req := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/", nil))(t)
		req.Host = host
		resp := testenv.Must(http.DefaultClient.Do(req))(t)
		resp.Body.Close()
		testenv.Equal(t, resp.StatusCode, want, host)
	}
}
