package embedded_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"locbench/internal/elastic/embedded"
)

// said sends a call to base and returns the status and what Elasticsearch would call the error.
func said(t *testing.T, method, url, host, body string) (status int, kind string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	if host != "" {
		req.Host = host
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Status int
		Error  struct {
			Type      string
			RootCause []struct{ Type string } `json:"root_cause"`
		}
	}
	_ = json.Unmarshal(raw, &answer)
	if kind = answer.Error.Type; kind != "" && (answer.Status != resp.StatusCode || len(answer.Error.RootCause) != 1) {
		t.Errorf("%s %s: %s is not how Elasticsearch tells an error", method, url, raw)
	}
	return resp.StatusCode, kind
}

// TestSealed: whatever changes the store is refused while it is sealed, what reads is answered, and
// no call lifts the seal.
func TestSealed(t *testing.T) {
	s, err := embedded.New(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	base, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const mapping = `{"mappings":{"properties":{"name":{"type":"keyword"}}},"aliases":{"city":{}}}`
	const bulk = "{\"index\":{\"_index\":\"city_v1\",\"_id\":\"1\"}}\n{\"name\":\"Brno\"}\n"
	fill := func() (statuses []int) {
		for _, c := range [][3]string{{"PUT", "/city_v1", mapping}, {"POST", "/_bulk?refresh=true", bulk}} {
			status, _ := said(t, c[0], base+c[1], "", c[2])
			statuses = append(statuses, status)
		}
		return statuses
	}
	if got := fill(); got[0] != 200 || got[1] != 200 {
		t.Fatal(got)
	}
	s.Seal()
	writes := [][3]string{
		{"DELETE", "/city_v1"}, {"DELETE", "/city_v1/_doc/1"}, {"PUT", "/other", mapping},
		{"POST", "/_bulk", bulk}, {"PUT", "/_bulk", bulk}, {"POST", "/city/_bulk", bulk}, {"PUT", "/city_v1/_bulk", bulk},
		{"PUT", "/city_v1/_doc/1", `{"name":"x"}`}, {"POST", "/city_v1/_doc/1", `{}`}, {"PUT", "/city_v1/_create/2", `{}`},
		{"POST", "/_aliases", `{"actions":[{"remove":{"index":"city_v1","alias":"city"}}]}`},
		{"PUT", "/city_v1/_settings", `{"index":{"refresh_interval":"1s"}}`},
		{"PUT", "/_cluster/settings", `{"persistent":{"cluster.blocks.read_only":false}}`},
	}
	for _, c := range writes {
		if status, kind := said(t, c[0], base+c[1], "", c[2]); status != 403 || kind != "cluster_block_exception" {
			t.Errorf("%s %s: %d %s, want 403 cluster_block_exception", c[0], c[1], status, kind)
		}
	}
	for _, c := range [][3]string{
		{"GET", "/"}, {"GET", "/_cluster/health"}, {"GET", "/_nodes/http"}, {"GET", "/_alias"}, {"HEAD", "/city"},
		{"GET", "/city/_mapping"}, {"GET", "/city/_settings"}, {"GET", "/city/_source/1"}, {"GET", "/city/_doc/1"},
		{"POST", "/city/_search", `{"query":{"match_all":{}}}`}, {"GET", "/city/_count"}, {"POST", "/_refresh"},
	} {
		if status, kind := said(t, c[0], base+c[1], "", c[2]); status != 200 {
			t.Errorf("%s %s: %d %s, want 200", c[0], c[1], status, kind)
		}
	}
	s.Unseal()
	if status, kind := said(t, "DELETE", base+"/city_v1", "", ""); status != 200 {
		t.Errorf("unsealed: %d %s", status, kind)
	}
	if got := fill(); got[0] != 200 || got[1] != 200 {
		t.Errorf("filled again: %v", got)
	}
	if status, _ := said(t, "PUT", base+"/_cluster/settings", "", `{"persistent":{"cluster.blocks.read_only":true}}`); status != 200 {
		t.Errorf("sealed by a call: %d", status)
	}
	if status, _ := said(t, "DELETE", base+"/city_v1", "", ""); status != 403 {
		t.Errorf("after it: %d, want 403", status)
	}
}

// TestHost: a page whose name resolves to this machine does not get at the store.
func TestHost(t *testing.T) {
	s, err := embedded.New(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.Serve(l, "host.docker.internal")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for host, want := range map[string]int{
		"127.0.0.1:" + port: 200, "127.0.0.1": 200, "127.8.9.1:80": 200, "[::1]:" + port: 200, "localhost:" + port: 200, "LOCALHOST": 200,
		"host.docker.internal:" + port: 200,
		"evil.example:" + port:         403, "127.0.0.1.evil.example": 403, "localhost.evil.example": 403, "10.0.0.5": 403, "0.0.0.0:" + port: 403,
		"evil.localhost:" + port: 403, "2130706433": 403,
	} {
		status, kind := said(t, "GET", base+"/", host, "")
		if status != want || want == 403 && kind != "security_exception" {
			t.Errorf("Host %s: %d %s, want %d", host, status, kind, want)
		}
	}
}
