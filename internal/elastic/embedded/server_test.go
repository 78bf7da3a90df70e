package embedded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locbench/internal/elastic/embedded"
	"locbench/internal/locations/dataset"
)

// open makes an empty store and a function to call it.
func open(t testing.TB) (*embedded.Server, func(method, path, body string) (int, string)) {
	t.Helper()
	s, err := embedded.New(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, func(method, path, body string) (int, string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
}

const doc1 = `{"id":1,"countryIso":"CZ","name.cs":"Praha","name.en":"Prague","isFeatured":true,"population":1000,"centroid":{"lat":50,"lon":14}}`
const doc2 = `{"id":2,"countryIso":"DE","name.cs":"Berlín","name.en":"Berlin","isFeatured":true,"population":2000,"centroid":{"lat":52,"lon":13}}`

// TestCalls walks through a life of indices as package seed and the contenders lead it.
func TestCalls(t *testing.T) {
	_, do := open(t)
	steps := []struct {
		method, path, body string
		status             int
		want               string // part of the answer
	}{
		{"GET", "/", "", 200, `"number":"7.10.2"`},
		{"HEAD", "/", "", 200, ""},
		{"GET", "/_alias", "", 200, `{}`},
		{"GET", "/city/_source/1", "", 404, "index_not_found_exception"},
		{"PUT", "/City", "", 400, "must be lowercase"},
		{"PUT", "/city_v1", string(dataset.CityMapping()), 200, `{"acknowledged":true,"shards_acknowledged":true,"index":"city_v1"}`},
		{"PUT", "/city_v1", "{}", 400, "resource_already_exists_exception"},
		{"HEAD", "/city_v1", "", 200, ""},
		{"HEAD", "/city", "", 404, ""},
		{"POST", "/city_v1/_bulk", `{"create":{"_id":"1"}}` + "\n" + doc1 + "\n" + `{"create":{"_id":"2"}}` + "\n" + doc2 + "\n", 200, `"errors":false`},
		{"POST", "/city_v1/_bulk", `{"create":{"_id":"1"}}` + "\n" + doc1 + "\n", 200, "version_conflict_engine_exception"},
		{"POST", "/city_v1/_bulk", `{"index":{"_id":"3"}}` + "\n" + `{"nonsense":1}` + "\n", 200, "strict_dynamic_mapping_exception"},
		{"POST", "/city_v1/_bulk", `{"index":{"_id":"3"}}` + "\n" + `{"id":` + "\n", 200, "mapper_parsing_exception"},
		{"POST", "/city_v1/_bulk", `{"index":{"_id":"3"}}` + "\n" + `{"population":"many"}` + "\n", 200, "failed to parse field [population]"},
		{"POST", "/city_v1/_bulk", `{"index":{"_id":"3"}}` + "\n" + `{"id":3}`, 400, "must be terminated by a newline"},
		{"POST", "/city_v1/_bulk", `{"update":{"_id":"3"}}` + "\n{}\n", 501, "update in a bulk body"},
		{"POST", "/city_v1/_bulk", "", 400, "no requests added"},
		{"POST", "/nothing/_bulk", `{"index":{"_id":"3"}}` + "\n{}\n", 501, "make it first"},
		{"POST", "/city_v1/_count", "", 200, `"count":2`},
		{"POST", "/city_v1/_refresh", "", 200, `"successful":1`},
		{"PUT", "/city_v1/_settings", `{"index":{"refresh_interval":"1s","number_of_replicas":null}}`, 200, `{"acknowledged":true}`},
		{"GET", "/city_v1/_settings", "", 200, `"refresh_interval":"1s"`},
		{"POST", "/_aliases", `{"actions":[{"add":{"index":"city_v1","alias":"city"}},{"add":{"index":"nothing","alias":"city"}}]}`, 404, "no such index [nothing]"},
		{"GET", "/_alias", "", 200, `{"city_v1":{"aliases":{}}}`},
		{"POST", "/_aliases", `{"actions":[{"add":{"index":"city_v1","alias":"city"}}]}`, 200, `{"acknowledged":true}`},
		{"GET", "/_alias", "", 200, `{"city_v1":{"aliases":{"city":{}}}}`},
		{"GET", "/city/_source/1?_source_excludes=geometry,population,name", "", 200, `{"id":1,"countryIso":"CZ","isFeatured":true,"centroid":{"lat":50,"lon":14}}`},
		{"GET", "/city/_source/1", "", 200, doc1},
		{"GET", "/city/_source/7", "", 404, "resource_not_found_exception"},
		{"GET", "/city/_doc/7", "", 404, `"found":false`},
		{"GET", "/city/_doc/1?_source=id", "", 200, `"_source":{"id":1}}`},
		{"DELETE", "/city", "", 400, "matches an alias"},
		{"POST", "/city/_search", `{"query":{"term":{"isFeatured":true}},"sort":["countryIso"],"_source":false}`, 200, `"hits":[{"_index":"city_v1","_type":"_doc","_id":"1","_score":null,"sort":["CZ"]},{`},
		{"GET", "/city/_search?size=1", `{"sort":{"_geo_distance":{"centroid":{"lat":52,"lon":13}}}}`, 200, `"_id":"2"`},
		{"PUT", "/city/_doc/2", `{"id":2,"countryIso":"AT"}`, 200, `"result":"updated"`},
		{"POST", "/city/_search", `{"query":{"term":{"countryIso":"DE"}}}`, 200, `"value":0`},
		{"POST", "/city/_search", `{"query":{"term":{"countryIso":"AT"}}}`, 200, `"value":1`},
		{"POST", "/_bulk", `{"delete":{"_index":"city","_id":"2"}}` + "\n" + `{"delete":{"_index":"city","_id":"2"}}` + "\n", 200, `"status":404`},
		{"GET", "/city/_count", "", 200, `"count":1`},
		{"PUT", "/city_v2", string(dataset.CityMapping()), 200, ""},
		{"POST", "/_aliases", `{"actions":[{"remove":{"index":"city_v1","alias":"city"}},{"add":{"index":"city_v2","alias":"city"}}]}`, 200, ""},
		{"GET", "/city/_source/1", "", 404, "Document not found"},
		{"GET", "/_mapping", "", 200, `"city_v2":{"mappings":{"dynamic":"strict"`},
		{"DELETE", "/city_v1", "", 200, `{"acknowledged":true}`},
		{"DELETE", "/city_v1", "", 404, "index_not_found_exception"},
		{"GET", "/_alias", "", 200, `{"city_v2":{"aliases":{"city":{}}}}`},
		{"GET", "/_cluster/health", "", 200, `"status":"green"`},
		{"GET", "/_nodes/_all/http", "", 200, `"publish_address":"example.com"`},
	}
	for _, s := range steps {
		t.Run(s.method, func(t *testing.T) {
			status, got := do(s.method, s.path, s.body)
			if status != s.status || !strings.Contains(got, s.want) {
				t.Fatalf("%s %s %.200s: %d %.500s\nwant %d with %s", s.method, s.path, s.body, status, got, s.status, s.want)
			}
			if got != "" && !json.Valid([]byte(got)) {
				t.Errorf("%s %s: no JSON: %s", s.method, s.path, got)
			}
		})
	}
}

// TestUnknown asks for what Elasticsearch could do: each must be refused by its name.
func TestUnknown(t *testing.T) {
	_, do := open(t)
	if status, got := do("PUT", "/city", string(dataset.CityMapping())); status != 200 {
		t.Fatal(got)
	}
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/_cat/indices", "", "/_cat/indices"},
		{"POST", "/city/_update/1", "{}", "/city/_update/1"},
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
		{"POST", "/city/_search", `{"query":{"multi_match":{"query":"x","type":"bool_prefix","fields":["name.*"]}}}`, "pattern"},
		{"POST", "/city/_search", `{"query":{"multi_match":{"query":"x","type":"bool_prefix","operator":"and","fields":["name.cs.autocomplete"]}}}`, "operator"},
		{"POST", "/city/_search", `{"query":{"multi_match":{"query":"x","type":"bool_prefix","fuzziness":1,"fields":["name.cs.autocomplete"]}}}`, "fuzziness"},
		{"POST", "/city/_search", `{"query":{"function_score":{"query":{"match_all":{}},"random_score":{}}}}`, "field_value_factor"},
		{"POST", "/city/_search", `{"query":{"function_score":{"boost_mode":"sum","field_value_factor":{"field":"population"}}}}`, "boost_mode"},
		{"POST", "/city/_search", `{"sort":{"_geo_distance":{"centroid":[1,2],"unit":"mi"}}}`, "unit"},
		{"POST", "/city/_search", `{"sort":{"population":{"order":"asc","missing":"_first"}}}`, "missing"},
		{"POST", "/city/_search?scroll=1m", "", "scroll"},
		{"PUT", "/other", `{"mappings":{"runtime":{}}}`, "runtime"},
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
	_, do := open(t)
	do("PUT", "/city", string(dataset.CityMapping()))
	do("POST", "/city/_bulk", `{"index":{"_id":"1"}}`+"\n"+doc1+"\n")
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
	s, err := embedded.New(embedded.Options{Latency: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for range 2 {
		base, err := s.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Get(base)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || resp.Header.Get("X-Elastic-Product") != "Elasticsearch" {
			t.Errorf("%d %v", resp.StatusCode, resp.Header)
		}
		req := httptest.NewRequest("PUT", "/city", strings.NewReader(string(dataset.CityMapping())))
		s.ServeHTTP(httptest.NewRecorder(), req)
	}
	if _, err := s.Listen("256.0.0.1:1"); err == nil {
		t.Error("an impossible address was accepted")
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Listen("127.0.0.1:0"); err == nil {
		t.Error("a closed store listens")
	}
}

// TestLatencyEnds sees that a client that goes away does not keep its call.
func TestLatencyEnds(t *testing.T) {
	s, err := embedded.New(embedded.Options{Latency: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
}

// TestManyAtOnce writes, reads, searches and swaps at the same time; the race detector watches.
func TestManyAtOnce(t *testing.T) {
	_, do := open(t)
	if status, got := do("PUT", "/city_v1", string(dataset.CityMapping())); status != 200 {
		t.Fatal(got)
	}
	do("POST", "/_aliases", `{"actions":[{"add":{"index":"city_v1","alias":"city"}}]}`)
	const workers, rounds = 4, 30
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := range rounds {
				id := worker*rounds + i
				body := fmt.Sprintf(`{"create":{"_id":"%d"}}`+"\n"+`{"id":%d,"countryIso":"CZ","name.cs":"Nová Ves %d","population":%d}`+"\n", id, id, id, id)
				if status, got := do("POST", "/city/_bulk", body); status != 200 || strings.Contains(got, `"errors":true`) {
					t.Errorf("bulk: %d %s", status, got)
				}
				if status, got := do("GET", fmt.Sprintf("/city/_source/%d", id), ""); status != 200 {
					t.Errorf("get: %d %s", status, got)
				}
				if status, got := do("POST", "/city/_search", searchBody("nova ves", "cs", "CZ")); status != 200 {
					t.Errorf("search: %d %s", status, got)
				}
				do("PUT", fmt.Sprintf("/city/_doc/%d", id), fmt.Sprintf(`{"id":%d,"name.cs":"Ves"}`, id))
				if i >= 5 {
					do("DELETE", fmt.Sprintf("/city/_doc/%d", id-5), "")
				}
				do("GET", "/_alias", "")
			}
		})
	}
	wg.Wait()
	_, counted := do("GET", "/city/_count", "")
	_, found := do("POST", "/city/_search?track_total_hits=true&size=0", `{"query":{"match_all":{}}}`)
	var a struct{ Count int }
	var b struct {
		Hits struct{ Total struct{ Value int } }
	}
	if json.Unmarshal([]byte(counted), &a) != nil || json.Unmarshal([]byte(found), &b) != nil || a.Count != b.Hits.Total.Value {
		t.Errorf("%s but %s", counted, found)
	}
}

// TestReplacedDocuments sees that a document that was replaced leaves no trace in the scores: the
// same documents, once put directly and once over others, must score the same.
func TestReplacedDocuments(t *testing.T) {
	_, do := open(t)
	for _, index := range []string{"plain", "changed"} {
		do("PUT", "/"+index, string(dataset.CityMapping()))
	}
	for i := range 20 {
		do("PUT", fmt.Sprintf("/changed/_doc/%d", i), fmt.Sprintf(`{"id":%d,"name.cs":"Dolní Nová Ves u lesa"}`, i))
	}
	do("POST", "/changed/_search", searchBody("ves", "cs", "")) // so that the first batch is indexed
	for i := range 20 {
		for _, index := range []string{"plain", "changed"} {
			do("PUT", fmt.Sprintf("/%s/_doc/%d", index, i), fmt.Sprintf(`{"id":%d,"name.cs":"Ves %c horní","population":%d}`, i, 'a'+i, i*100))
		}
	}
	hits := func(index string) string {
		_, got := do("POST", "/"+index+"/_search", searchBody("ves c horní ", "cs", ""))
		_, list, _ := strings.Cut(strings.ReplaceAll(got, `"`+index+`"`, `""`), `"hits":{`)
		return list
	}
	if a, b := hits("plain"), hits("changed"); a != b || !strings.Contains(a, `"_id":"2"`) {
		t.Errorf("plain:   %s\nchanged: %s", a, b)
	}
}
