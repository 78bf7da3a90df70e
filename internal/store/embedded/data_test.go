package embedded_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
)

// city is the part of a document that the queries need.
type city struct {
	ID         int64  `json:"id"`
	CountryISO string `json:"countryIso"`
	Centroid   struct{ Lat, Lon float64 }
	NameCs     string `json:"name.cs"`
	NameDe     string `json:"name.de"`
	NamePl     string `json:"name.pl"`
	Geometry   struct{ Coordinates [][][2]float64 }
}

// sets are data sets one after another.
type sets []embedded.Source

func (s sets) Indices() (all []bench.Index) {
	for _, one := range s {
		all = append(all, one.Indices()...)
	}
	return all
}

func (s sets) Documents(index string) iter.Seq2[bench.Document, error] {
	for _, one := range s {
		for _, i := range one.Indices() {
			if i.Name == index {
				return one.Documents(index)
			}
		}
	}
	return nil
}

// texts are the documents of one index, with the ids d0, d1 and so on, except for the last one
// if its id is given.
type texts struct {
	name, mapping string
	docs          []string
	last          string
}

func (t texts) Indices() []bench.Index {
	return []bench.Index{{Name: t.name, Mapping: []byte(t.mapping), Count: int64(len(t.docs))}}
}

func (t texts) Documents(string) iter.Seq2[bench.Document, error] {
	return func(yield func(bench.Document, error) bool) {
		for i, doc := range t.docs {
			id := "d" + strconv.Itoa(i)
			if t.last != "" && i == len(t.docs)-1 {
				id = t.last
			}
			if !yield(bench.Document{ID: id, Source: []byte(doc)}, nil) {
				return
			}
		}
	}
}

// open returns a store with this data, and a function to call it.
func open(t testing.TB, set embedded.Source) (*embedded.Server, func(method, path, body string) (int, string)) {
	t.Helper()
	s := testenv.Must(embedded.New(embedded.Options{}))(t)
	t.Cleanup(func() { testenv.OK(t, s.Close()) })
	testenv.OK(t, s.Fill(t.Context(), set, nil))
	return s, func(method, path, body string) (int, string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
}

func bundled(t testing.TB) (set dataset.Set, cities []city) {
	t.Helper()
	set, err := dataset.Bundled()
	testenv.OK(t, err)
	for doc, err := range set.Documents(dataset.CityIndex) {
		testenv.OK(t, err)
		var c city
		testenv.OK(t, json.Unmarshal(doc.Source, &c))
		cities = append(cities, c)
	}
	return set, cities
}

const doc1 = `{"id":1,"countryIso":"CZ","name.cs":"Praha","name.en":"Prague","isFeatured":true,"population":1000,` +
	`"centroid":{"lat":50,"lon":14}}`
const doc2 = `{"id":2,"countryIso":"DE","name.cs":"Berlín","name.en":"Berlin","isFeatured":true,"population":2000,` +
	`"centroid":{"lat":52,"lon":13}}`

func two() texts {
	return texts{name: "city", mapping: string(dataset.CityMapping()), docs: []string{doc1, doc2}}
}

// TestFill: an error names what was not accepted, and the store keeps its old data.
func TestFill(t *testing.T) {
	s, do := open(t, two())
	mapping := string(dataset.CityMapping())
	failing := errors.New("line 7 is broken")
	for what, c := range map[string]struct {
		set  embedded.Source
		want string
	}{
		"unknown field":   {texts{name: "city", mapping: mapping, docs: []string{doc1, `{"nonsense":1}`}}, "fill index city: document d1: no field nonsense in the mapping, which is strict"},
		"wrong value":     {texts{name: "city", mapping: mapping, docs: []string{`{"population":"many"}`}}, "document d0: field population: not a long"},
		"no object":       {texts{name: "city", mapping: mapping, docs: []string{`[]`}}, "expected an object"},
		"unknown setting": {texts{name: "city", mapping: `{"mappings":{"runtime":{}}}`, docs: nil}, "mapping of index city: "},
		"too few":         {altered{two(), 3, nil, ""}, "2 documents read, 3 expected"},
		"read error":      {altered{two(), 2, failing, ""}, "line 7 is broken"},
		"one id twice":    {altered{two(), 2, nil, "d0"}, "document d0: duplicate id"},
	} {
		t.Run(what, func(t *testing.T) { testenv.Fails(t, s.Fill(t.Context(), c.set, nil), c.want) })
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	set, _ := bundled(t)
	err := s.Fill(ctx, set, nil)
	testenv.Check(t, errors.Is(err, context.Canceled), "canceled: %v", err)
	status, got := do(http.MethodGet, "/city/_source/d1", "")
	testenv.Check(t, status == 200 && got == doc2, "after it: %d %s", status, got)
	testenv.OK(t, s.Fill(t.Context(), texts{name: "city", mapping: mapping, docs: []string{doc2}}, nil))
	_, got = do(http.MethodGet, "/city/_count", "")
	testenv.Check(t, strings.Contains(got, `"count":1,`), "filled again: %s", got)
}

// altered is a set with another number of documents, one id for all, or an error at the end.
type altered struct {
	texts
	count int64
	err   error
	id    string
}

func (a altered) Indices() []bench.Index {
	all := a.texts.Indices()
	all[0].Count = a.count
	return all
}

func (a altered) Documents(index string) iter.Seq2[bench.Document, error] {
	return func(yield func(bench.Document, error) bool) {
		for doc := range a.texts.Documents(index) {
			doc.ID = cmp.Or(a.id, doc.ID)
			if !yield(doc, nil) {
				return
			}
		}
		if a.err != nil {
			yield(bench.Document{}, a.err)
		}
	}
}

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
