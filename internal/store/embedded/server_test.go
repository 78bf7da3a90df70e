package embedded_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
)

// TestCalls makes the calls of contenders and locbench.
func TestCalls(t *testing.T) {
	_, do := open(t, two())
	for _, s := range []struct {
		method, path, body string
		status             int
		want               string // part of the response
	}{
		{"GET", "/", "", 200, `"number":"7.10.2"`},
		{"HEAD", "/", "", 200, ""},
		{"GET", "/nothing/_source/1", "", 404, "index_not_found_exception"},
		{"GET", "/city/_count", "", 200, `"count":2`},
		{"GET", "/city/_source/d0?_source_excludes=geometry,population", "", 200,
			`"isFeatured":true,"centroid":{"lat":50,"lon":14}}`},
		{"GET", "/city/_source/d0?_source_excludes=geometry%2Cpopulation", "", 200, `"lon":14}}`},
		{"GET", "/city/_source/d0", "", 200, doc1},
		{"GET", "/city/_source/7", "", 404, "resource_not_found_exception"},
		{"POST", "/city/_search", featuredSearch, 200, `"hits":[{"_index":"city","_type":"_doc","_id":"d0",`},
		{"POST", "/city/_search", nearestSearch, 200, `"_id":"d1"`},
		{"POST", "/city/_search", containingSearch, 200, `"hits":[]`},
		{"POST", "/city/_search", strings.Repeat(" ", 1<<20-2) + "{}", 400, "without search.query"},
		{"POST", "/city/_search", strings.Repeat(" ", 1<<20-1) + "{}", 400, "too large"},
	} {
		status, got := do(s.method, s.path, s.body)
		testenv.Check(t, status == s.status && strings.Contains(got, s.want),
			"%s %s %.200s: %d %s\nwant %d with %s", s.method, s.path, s.body, status, got, s.status, s.want)
		testenv.Check(t, json.Valid([]byte(got)), "%s %s: not JSON: %s", s.method, s.path, got)
	}
}

const (
	featuredSearch   = `{"query":{"term":{"isFeatured":true}},"sort":["countryIso",{"population":"desc"}],"size":1000}`
	containingSearch = `{"query":{"bool":{"filter":{"geo_shape":{"geometry":{"shape":{"type":"Point","coordinates":[14,50]}}}}}},"size":1}`
	nearestSearch    = `{"query":{"match_all":{}},"sort":{"_geo_distance":{"centroid":{"lat":52,"lon":13}}},"size":1}`
)

// TestUnknown sends what only Elasticsearch supports. Each refusal must name the unsupported part
// and where it is.
func TestUnknown(t *testing.T) {
	_, do := open(t, two())
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/_cat/indices", "", "the call GET /_cat/indices"},
		{"GET", "/city/_doc/1", "", "/city/_doc/1"},
		{"HEAD", "/city", "", "HEAD"},
		{"PATCH", "/city", "", "PATCH"},
		{"GET", "/city/_source/d0?_source_excludes=name", "", "_source_excludes=name"},
		{"GET", "/city/_source/d0?stored_fields=id", "", "stored_fields"},
		{"POST", "/city/_search?size=3", "{}", "size=3"},
		{"GET", "/city/_count?q=x", "", "_count with a query"},
		{"POST", "/city/_count", `{"query":{"match_all":{}}}`, "POST /city/_count"},
	} {
		status, got := do(tt.method, tt.path, tt.body)
		testenv.Check(t, status == 400 && strings.Contains(got, tt.want) && strings.Contains(got, "not_supported_by_embedded_store"),
			"%s %s %s: %d %s", tt.method, tt.path, tt.body, status, got)
	}
	search := searchBody("x", "cs", "CZ", 10)
	for _, tt := range []struct{ body, old, new, want string }{
		{featuredSearch, `"size"`, `"from":5,"size"`, "search.from: 5"},
		{featuredSearch, `"query":{"term":{"isFeatured":true}},`, ``, "a search without search.query"},
		{featuredSearch, `{"isFeatured":true}`, `{"isFeatured":false}`, "search.query.term.isFeatured: false"},
		{featuredSearch, `{"isFeatured":true}`, `{"id":1}`, "search.query.term.id: 1"},
		{featuredSearch, `{"term":{"isFeatured":true}}`, `{"match":{"name.cs":"x"}}`, "search.query.match: "},
		{featuredSearch, `{"term":{"isFeatured":true}}`, `{"term":{},"bool":{}}`, "search.query.bool: {}"},
		{featuredSearch, `"desc"`, `"asc"`, "search.sort[1].population: "},
		{featuredSearch, `"countryIso"`, `"timezone"`, "search.sort[0]: "},
		{featuredSearch, `["countryIso",{"population":"desc"}]`, `["countryIso"]`, "search.sort: "},
		{featuredSearch, `1000`, `10001`, "search.size of 10001"},
		{featuredSearch, `1000`, `1.5`, "search.size of 1.5"},
		{featuredSearch, `1000`, `-1`, "search.size of -1"},
		{nearestSearch, `"centroid"`, `"unit":"km","centroid"`, "search.sort[0]._geo_distance.unit: "},
		{nearestSearch, `{"lat":52,"lon":13}`, `[13,52]`, "search.sort[0]._geo_distance.centroid: [13,52]"},
		{nearestSearch, `52`, `95`, "search.sort[0]._geo_distance.centroid: latitude 95"},
		{nearestSearch, `"lon"`, `"x":1,"lon"`, "_geo_distance.centroid.x: 1"},
		{containingSearch, `"filter"`, `"should":[],"filter"`, "search.query.bool.should: []"},
		{containingSearch, `"filter"`, `"must":{"match_all":{}},"filter"`, "search.query.bool.must: "},
		{containingSearch, `"shape"`, `"relation":"within","shape"`, "bool.filter[0].geo_shape.geometry.relation: "},
		{containingSearch, `"Point"`, `"Polygon"`, "geometry.shape.type: "},
		{containingSearch, `[14,50]`, `[14,50,3]`, "geometry.shape.coordinates: "},
		{containingSearch, `[14,50]`, `[14,"50"]`, "geometry.shape.coordinates[1]: "},
		{search, `"bool_prefix"`, `"phrase"`, "must[0].multi_match.type: "},
		{search, `"type":"bool_prefix",`, ``, "multi_match.type"},
		{search, `"query":"x"`, `"operator":"and","query":"x"`, "multi_match.operator: "},
		{search, `"query":"x"`, `"query":7`, "multi_match.query: 7"},
		{search, `"query":"x"`, `"query":"` + strings.Repeat("x", 2049) + `"`, "multi_match.query: "},
		{search, `name.cs.autocomplete^8`, `name.all.autocomplete^8`, "multi_match.fields[0]: "},
		{search, `name.cs.autocomplete_ascii^4`, `name.de.autocomplete_ascii^4`, "multi_match.fields[3]: "},
		{search, `"name.all.autocomplete^2",`, ``, "multi_match.fields: "},
		{search, `"ln2p"`, `"log1p"`, "functions[0].field_value_factor.modifier: "},
		{search, `,"missing":500`, ``, "functions[0].field_value_factor.missing"},
		{search, `"functions"`, `"boost_mode":"sum","functions"`, "function_score.boost_mode: "},
		{search, `{"term":{"countryIso":"CZ"}}`, `{"term":{"countryIso":"CZ"}},{"term":{"countryIso":"DE"}}`, "bool.filter: "},
		{search, `"size"`, `"sort":["countryIso",{"population":"desc"}],"size"`, "search.sort: "},
		{search, `{"query"`, `{"query"]`, "not JSON"},
	} {
		body := strings.Replace(tt.body, tt.old, tt.new, 1)
		testenv.Check(t, body != tt.body, "%s is not in %s", tt.old, tt.body)
		status, got := do("POST", "/city/_search", body)
		testenv.Check(t, status == 400 && strings.Contains(got, tt.want) && strings.Contains(got, `{"error":{"root_cause":[{"type":"`),
			"%s: %d %s\nwant %s", body, status, got, tt.want)
	}
}

func TestListenAndClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := embedded.New(embedded.Options{Latency: time.Millisecond})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for range 2 {
		base := testenv.Must(s.Listen("127.0.0.1:0"))(t)
		resp := testenv.Must(client.Get(base))(t)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		testenv.Check(t, resp.StatusCode == 200 && resp.Header.Get("X-Elastic-Product") == "Elasticsearch", "%d %v",
			resp.StatusCode, resp.Header)
	}
	testenv.Check(t, testenv.Err(s.Listen("256.0.0.1:1")) != nil, "an impossible address was accepted")
	for range 2 {
		testenv.OK(t, s.Close())
	}
	testenv.Check(t, testenv.Err(s.Listen("127.0.0.1:0")) != nil, "a closed store listens")
}

// TestLatencyEnds checks that a call ends when its client disconnects.
func TestLatencyEnds(t *testing.T) {
	s := embedded.New(embedded.Options{Latency: time.Hour})
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
}

// TestWrites: no call changes the store.
func TestWrites(t *testing.T) {
	_, do := open(t, two())
	for _, c := range []string{"DELETE /city", "PUT /other", "POST /_bulk", "PUT /city/_bulk", "PUT /city/_doc/1",
		"POST /city/_update/d0", "POST /_aliases", "PUT /_cluster/settings", "POST /city/_delete_by_query", "DELETE /_all",
	} {
		method, path, _ := strings.Cut(c, " ")
		status, got := do(method, path, "{}")
		testenv.Check(t, status == 400 && strings.Contains(got, "the call "+c), "%s: %d %s", c, status, got)
	}
	status, got := do("GET", "/city/_count", "")
	testenv.Check(t, status == 200 && strings.Contains(got, `"count":2,`), "after it: %d %s", status, got)
}

// TestHost: a page whose name resolves to this machine cannot reach the store.
func TestHost(t *testing.T) {
	s := embedded.New(embedded.Options{})
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
