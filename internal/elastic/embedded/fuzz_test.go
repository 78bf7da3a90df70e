package embedded_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"locbench/internal/elastic/embedded"
	"locbench/internal/locations/dataset"
)

// filled is a store with two documents, for the fuzz tests of what reads only.
func filled(f *testing.F) *embedded.Server {
	f.Helper()
	s, do := open(f)
	if status, got := do("PUT", "/city", string(dataset.CityMapping())); status != 200 {
		f.Fatal(got)
	}
	body := `{"index":{"_id":"1"}}` + "\n" + doc1 + "\n" + `{"index":{"_id":"2"}}` + "\n" + doc2 + "\n"
	if status, got := do("POST", "/city/_bulk", body); status != 200 || strings.Contains(got, `"errors":true`) {
		f.Fatal(got)
	}
	return s
}

// mustAnswer calls the store and fails unless a JSON answer comes with a status that tells whose
// fault it was.
func mustAnswer(t *testing.T, s *embedded.Server, method, path, body string) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	switch w.Code {
	case 200, 201, 400, 404, 409, 413, 501:
	default:
		t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body.String())
	}
	if w.Body.Len() > 0 && !json.Valid(w.Body.Bytes()) {
		t.Errorf("%s %s: no JSON: %s", method, path, w.Body.String())
	}
	return w.Body.String()
}

func FuzzSearch(f *testing.F) {
	s := filled(f)
	for _, body := range []string{
		``, `{}`, searchBody("praha", "cs", "CZ"), searchBody("Berlin  ", "en", ""),
		`{"query":{"term":{"isFeatured":true}},"sort":["countryIso",{"population":"desc"}],"size":5,"from":1}`,
		`{"query":{"bool":{"filter":{"geo_shape":{"geometry":{"shape":{"type":"Point","coordinates":[14,50]}}}}}}}`,
		`{"query":{"bool":{"must":{"match_all":{}},"filter":[{"term":{"countryIso":{"value":"CZ","boost":2}}}]}},"sort":{"_geo_distance":{"centroid":[14,50],"unit":"km","order":"desc"}}}`,
		`{"query":{"function_score":{"field_value_factor":{"field":"population","modifier":"reciprocal","factor":-1}}},"track_total_hits":false,"_source":{"includes":["name.*"],"excludes":"name.en"}}`,
		`{"sort":["_score","_doc",{"isFeatured":{"order":"desc"}}],"track_scores":true,"_source":["id"]}`,
		`{"sort":{"_geo_distance":{"centroid":"50,14"}}}`, `{"sort":{"_geo_distance":{"centroid":[{"lat":50,"lon":14}]}}}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		mustAnswer(t, s, http.MethodPost, "/city/_search", body)
	})
}

func FuzzBulk(f *testing.F) {
	s, do := open(f)
	if status, got := do("PUT", "/city", string(dataset.CityMapping())); status != 200 {
		f.Fatal(got)
	}
	f.Add(`{"index":{"_id":"1"}}` + "\n" + doc1 + "\n")
	f.Add(`{"create":{"_id":"2","routing":"x"}}` + "\n" + `{"name":{"cs":["a","b"]},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}` + "\n")
	f.Add(`{"delete":{"_index":"city","_id":"2"}}` + "\n" + `{"index":{}}` + "\n" + `{"centroid":"1,2","population":"3.5","isFeatured":""}` + "\r\n\n")
	f.Add(`{"index":{"_id":5}}` + "\n" + `{"centroid":[[1,2],[3,4]],"geometry":[{"type":"MultiPoint","coordinates":[[0,0]]},null]}` + "\n")
	f.Fuzz(func(t *testing.T, body string) {
		mustAnswer(t, s, http.MethodPost, "/city/_bulk", body)
		mustAnswer(t, s, http.MethodPost, "/city/_search", `{"query":{"bool":{"filter":{"geo_shape":{"geometry":{"shape":{"type":"Point","coordinates":[0.5,0.5]}}}}}}}`)
		mustAnswer(t, s, http.MethodGet, "/city/_source/1?_source_includes=name.*,id&_source_excludes=*.en", "")
	})
}

// FuzzDocument puts one document and asks for it: what was accepted must come back as it was, and
// filtered as valid JSON.
func FuzzDocument(f *testing.F) {
	s, do := open(f)
	if status, got := do("PUT", "/city", `{"mappings":{"dynamic":"false","properties":{"a":{"type":"search_as_you_type"},"b":{"properties":{"c":{"type":"geo_shape"}}},"d":{"type":"long"}}}}`); status != 200 {
		f.Fatal(got)
	}
	f.Add(`{"a":"x y","b":{"c":{"type":"Point","coordinates":[1,2]}},"d":1}`, "a", "b.c")
	f.Add(` { "a" : [ "x" , 1.5e3 , null ] , "b" : { "c" : null , "e\"" : {} } } `, "b", "*")
	f.Add(`{"\u0061":"x","b.c":{"coordinates":[[[0,0],[1,0],[1,1],[0,0]]],"type":"polygon"}}`, "", "a*")
	f.Fuzz(func(t *testing.T, doc, includes, excludes string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/city/_doc/1", strings.NewReader(doc)))
		if w.Code != 200 && w.Code != 201 {
			return
		}
		if got := mustAnswer(t, s, http.MethodGet, "/city/_source/1", ""); got != doc {
			t.Errorf("%q came back as %q", doc, got)
		}
		q := url.Values{"_source_includes": {includes}, "_source_excludes": {excludes}}
		mustAnswer(t, s, http.MethodGet, "/city/_source/1?"+q.Encode(), "")
	})
}

func FuzzDefinition(f *testing.F) {
	f.Add(string(dataset.CityMapping()))
	f.Add(`{"aliases":{"x":{}},"settings":{"index.analysis.analyzer.a.type":"custom","analysis":{"analyzer":{"a":{"tokenizer":"standard","filter":"lowercase"}}}}}`)
	f.Add(`{"mappings":{"_meta":{"a":[1]},"dynamic":false,"properties":{"t":{"type":"text","copy_to":["u"],"fields":{"k":{"type":"keyword","ignore_above":3}}},"u":{"type":"date"}}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s, err := embedded.New(embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		mustAnswer(t, s, http.MethodPut, "/x", body)
		mustAnswer(t, s, http.MethodGet, "/x", "")
		mustAnswer(t, s, http.MethodPut, "/x/_doc/1", doc1)
		mustAnswer(t, s, http.MethodPost, "/x/_search", `{}`)
		mustAnswer(t, s, http.MethodPut, "/x/_settings", body)
		mustAnswer(t, s, http.MethodPost, "/_aliases", body)
	})
}
