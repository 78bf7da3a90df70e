package embedded_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
)

// mustResponse calls the store and fails unless the response is JSON and its status says whether
// the client or the store was at fault.
func mustResponse(t *testing.T, s *embedded.Server, method, path, body string) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	switch w.Code {
	case 200, 400, 404, 413, 501:
	default:
		t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body.String())
	}
	testenv.Check(t, w.Body.Len() <= 0 || json.Valid(w.Body.Bytes()), "%s %s: not JSON: %s", method, path,
		w.Body.String())
	return w.Body.String()
}

func FuzzSearch(f *testing.F) {
	s, _ := open(f, two())
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
		mustResponse(t, s, http.MethodPost, "/city/_search", body)
	})
}

// FuzzDocument fills a store with one document and requests it: an accepted document must come back
// unchanged, and filtered as valid JSON.
func FuzzDocument(f *testing.F) {
	const mapping = `{"mappings":{"dynamic":"false","properties":{"a":{"type":"search_as_you_type"},` +
		`"b":{"properties":{"c":{"type":"geo_shape"}}},"d":{"type":"long"},"e":{"type":"geo_point"},"f":{"type":"boolean"}}}}`
	f.Add(`{"a":"x y","b":{"c":{"type":"Point","coordinates":[1,2]}},"d":1}`, "a", "b.c")
	f.Add(` { "a" : [ "x" , 1.5e3 , null ] , "b" : { "c" : null , "e\"" : {} } } `, "b", "*")
	f.Add(`{"\u0061":"x","b.c":{"coordinates":[[[0,0],[1,0],[1,1],[0,0]]],"type":"polygon"}}`, "", "a*")
	f.Add(`{"e":[[1,2],[3,4]],"b":{"c":[{"type":"MultiPoint","coordinates":[[0,0]]},null]},"f":""}`, "e.*", "b")
	f.Fuzz(func(t *testing.T, doc, includes, excludes string) {
		if !json.Valid([]byte(doc)) { // a data set has only valid JSON
			return
		}
		s := testenv.Must(embedded.New(embedded.Options{}))(t)
		defer s.Close()
		if s.Fill(t.Context(), texts{name: "city", mapping: mapping, docs: []string{doc}}, nil) != nil {
			return
		}
		testenv.Equal(t, mustResponse(t, s, http.MethodGet, "/city/_source/d0", ""), doc)
		q := url.Values{"_source_includes": {includes}, "_source_excludes": {excludes}}
		mustResponse(t, s, http.MethodGet, "/city/_source/d0?"+q.Encode(), "")
		mustResponse(t, s, http.MethodPost, "/city/_search", `{"query":{"bool":{"filter":{"geo_shape":{"b.c":{"shape":`+
			`{"type":"Point","coordinates":[0.5,0.5]}}}}}}}`)
	})
}

func FuzzMapping(f *testing.F) {
	f.Add(string(dataset.CityMapping()))
	f.Add(oddMapping)
	f.Add(`{"mappings":{"_meta":{"a":[1]},"dynamic":false,"properties":{"t":{"type":"text","copy_to":["u"],` +
		`"fields":{"k":{"type":"keyword","ignore_above":3}}},"u":{"type":"date"}}}}`)
	f.Fuzz(func(t *testing.T, mapping string) {
		s := testenv.Must(embedded.New(embedded.Options{}))(t)
		defer s.Close()
		if s.Fill(t.Context(), texts{name: "x", mapping: mapping, docs: []string{doc1}}, nil) == nil {
			mustResponse(t, s, http.MethodPost, "/x/_search", `{}`)
		}
	})
}
