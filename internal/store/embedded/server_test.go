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

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
)

// TestCalls makes the calls of contenders, clients and locbench.
func TestCalls(t *testing.T) {
	_, do := open(t, two())
	steps := []struct {
		method, path, body string
		status             int
		want               string // part of the response
	}{
		{"GET", "/", "", 200, `"number":"7.10.2"`},
		{"HEAD", "/", "", 200, ""},
		{"GET", "/nothing/_source/1", "", 404, "index_not_found_exception"},
		{"HEAD", "/city_v1", "", 200, ""},
		{"HEAD", "/nothing", "", 404, ""},
		{"POST", "/city_v1/_count", "", 200, `"count":2`},
		{"POST", "/city_v1/_refresh", "", 200, `"successful":1`},
		{"GET", "/city/_source/d0?_source_excludes=geometry,population,name", "", 200,
			`{"id":1,"countryIso":"CZ","isFeatured":true,"centroid":{"lat":50,"lon":14}}`},
		{"GET", "/city/_source/d0", "", 200, doc1},
		{"GET", "/city/_source/7", "", 404, "resource_not_found_exception"},
		{"GET", "/city/_doc/7", "", 404, `"found":false`},
		{"GET", "/city/_doc/d0?_source=id", "", 200, `"_source":{"id":1}}`},
		{"POST", "/city/_search", `{"query":{"term":{"isFeatured":true}},"sort":["countryIso"],"_source":false}`, 200,
			`"hits":[{"_index":"city_v1","_type":"_doc","_id":"d0","_score":null,"sort":["CZ"]},{`},
		{"GET", "/city/_search?size=1", `{"sort":{"_geo_distance":{"centroid":{"lat":52,"lon":13}}}}`, 200, `"_id":"d1"`},
		{"GET", "/_cluster/health", "", 200, `"status":"green"`},
		{"GET", "/_nodes/_all/http", "", 200, `"publish_address":"example.com"`},
	}
	for _, s := range steps {
		t.Run(s.method, func(t *testing.T) {
			status, got := do(s.method, s.path, s.body)
			testenv.Need(t, status == s.status && strings.Contains(got, s.want),
				"%s %s %.200s: %d %.500s\nwant %d with %s", s.method, s.path, s.body, status, got, s.status, s.want)
			testenv.Check(t, got == "" || json.Valid([]byte(got)), "%s %s: not JSON: %s", s.method, s.path, got)
		})
	}
}

// TestUnknown sends queries that only Elasticsearch supports. Each refusal must name the
// unsupported part.
func TestUnknown(t *testing.T) {
	_, do := open(t, two())
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/_cat/indices", "", "/_cat/indices"},
		{"GET", "/city/_mapping", "", "/city/_mapping"},
		{"POST", "/city/_msearch", "{}", "/city/_msearch"},
		{"PATCH", "/city", "", "PATCH"},
		{"GET", "/city/_source/1?stored_fields=id", "", "stored_fields"},
		{"GET", "/*/_source/1", "", "expression of index names"},
		{"POST", "/city/_search", `{"aggs":{}}`, `aggs`},
		{"POST", "/city/_search", `{"query":{"match":{"name.cs":"x"}}}`, `match`},
		{"POST", "/city/_search", `{"query":{"bool":{"should":[{"match_all":{}}]}}}`, "should"},
		{"POST", "/city/_search", `{"query":{"bool":{"minimum_should_match":1}}}`, "minimum_should_match"},
		{"POST", "/city/_search", `{"query":{"term":{"name.cs":"x"}}}`, "term query on the field"},
		{"POST", "/city/_search", `{"query":{"geo_shape":{"geometry":{"relation":"within","shape":{"type":"Point","coordinates":[1,2]}}}}}`, "relation"},
		{"POST", "/city/_search", `{"query":{"geo_shape":{"geometry":{"shape":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}}}}`, "one point"},
		{"POST", "/city/_search", `{"query":{"multi_match":{"query":"x","fields":["name.cs.autocomplete"]}}}`, "bool_prefix"},
		{"POST", "/city/_search", `{"query":{"multi_match":{"query":"x","type":"bool_prefix","fields":["name.*"]}}}`, "not mapped"},
		{"POST", "/city/_search", `{"query":{"multi_match":{"query":"x","type":"bool_prefix","operator":"and","fields":["name.cs.autocomplete"]}}}`, "operator"},
		{"POST", "/city/_search", `{"query":{"multi_match":{"query":"x","type":"bool_prefix","fuzziness":1,"fields":["name.cs.autocomplete"]}}}`, "fuzziness"},
		{"POST", "/city/_search", `{"query":{"function_score":{"query":{"match_all":{}},"random_score":{}}}}`, "random_score"},
		{"POST", "/city/_search", `{"query":{"function_score":{"boost_mode":"sum","field_value_factor":{"field":"population"}}}}`, "boost_mode"},
		{"POST", "/city/_search", `{"sort":{"_geo_distance":{"centroid":[1,2],"unit":"mi"}}}`, "unit"},
		{"POST", "/city/_search", `{"sort":{"population":{"order":"asc","missing":"_first"}}}`, "missing"},
		{"POST", "/city/_search?scroll=1m", "", "scroll"},
	} {
		t.Run(tt.method, func(t *testing.T) {
			status, got := do(tt.method, tt.path, tt.body)
			if status != 501 || !strings.Contains(got, tt.want) || !strings.Contains(got, "not_supported_by_embedded_store") {
				t.Errorf("%s %s %s: %d %s", tt.method, tt.path, tt.body, status, got)
			}
		})
	}
}

// TestClientsDefaults sends a search as the Java client writes it, with every default spelled out.
func TestClientsDefaults(t *testing.T) {
	_, do := open(t, texts{name: "city", mapping: string(dataset.CityMapping()), docs: []string{doc1}})
	const path = "/city/_search?typed_keys=true&max_concurrent_shard_requests=5&ignore_unavailable=false&expand_wildcards=open&allow_no_indices=true" +
		"&ignore_throttled=true&search_type=query_then_fetch&batched_reduce_size=512&ccs_minimize_roundtrips=true"
	const body = `{"from":0,"size":10,"timeout":"60s","query":{"function_score":{"query":{"bool":{"must":[{"multi_match":{"query":"pra","fields":["name.cs.autocomplete^8.0",
		"name.cs.autocomplete._2gram^8.0"],"type":"bool_prefix","operator":"OR","slop":0,"prefix_length":0,"max_expansions":50,"zero_terms_query":"NONE",
		"auto_generate_synonyms_phrase_query":true,"fuzzy_transpositions":true,"boost":1.0}}],"filter":[{"term":{"countryIso":{"value":"CZ","boost":1.0}}}],
		"adjust_pure_negative":true,"boost":1.0}},"functions":[{"filter":{"match_all":{"boost":1.0}},"field_value_factor":{"field":"population","factor":1.0,
		"missing":500.0,"modifier":"ln2p"}}],"score_mode":"multiply","boost_mode":"multiply","max_boost":3.4028235E38,"boost":1.0}},
		"_source":{"includes":[],"excludes":["geometry","population"]},"explain":false,"version":false,"track_total_hits":2147483647}`
	if status, got := do("POST", path, body); status != 200 || !strings.Contains(got, `"value":1,"relation":"eq"`) || strings.Contains(got, "population") {
		t.Errorf("%d %s", status, got)
	}
}

func TestListenAndClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := testenv.Must(embedded.New(embedded.Options{Latency: time.Millisecond}))(t)
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
	s := testenv.Must(embedded.New(embedded.Options{Latency: time.Hour}))(t)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
}

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
