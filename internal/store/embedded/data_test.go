package embedded_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
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

// texts are the documents of the index city, with the ids d0, d1 and so on.
type texts []string

func (t texts) Info() bench.DataInfo                 { return bench.DataInfo{} }
func (t texts) IDs(context.Context) ([]int64, error) { return nil, nil }

func (t texts) Indices() []bench.Index {
	return []bench.Index{{Name: "city", Mapping: []byte(`{}`), Count: int64(len(t))}}
}

func (t texts) Documents(string) iter.Seq2[bench.Document, error] {
	return func(yield func(bench.Document, error) bool) {
		for i, doc := range t {
			if !yield(bench.Document{ID: "d" + strconv.Itoa(i), Source: []byte(doc)}, nil) {
				return
			}
		}
	}
}

// open returns a store with this data, and a function to call it.
func open(t testing.TB, set bench.DataSet) (*embedded.Server, func(method, path, body string) (int, string)) {
	t.Helper()
	s := embedded.New(embedded.Options{})
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

func two() texts { return texts{doc1, doc2} }

// TestFill: an error names what was not accepted, and the store keeps its old data.
func TestFill(t *testing.T) {
	s, do := open(t, two())
	failing := errors.New("line 7 is broken")
	for what, c := range map[string]struct {
		set  bench.DataSet
		want string
	}{
		"too few":      {altered{two(), 3, nil, ""}, "2 documents read, 3 expected"},
		"read error":   {altered{two(), 2, failing, ""}, "line 7 is broken"},
		"one id twice": {altered{two(), 2, nil, "d0"}, "fill index city: document d0: duplicate id"},
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
	testenv.OK(t, s.Fill(t.Context(), texts{doc2}, nil))
	_, got = do(http.MethodGet, "/city/_count", "")
	testenv.Check(t, strings.Contains(got, `"count":1,`), "filled again: %s", got)
}

// TestForms fills documents that Elasticsearch may accept and queries cannot read: they are served
// by id, and a query is refused by the document and field.
func TestForms(t *testing.T) {
	for doc, want := range map[string]string{
		`{"population":"many"}`: "document d1: population", `{"population":-1}`: "population",
		`{"centroid":[1,2]}`: "centroid: expected", `{"centroid":{"lat":91,"lon":0}}`: "latitude 91",
		`{"countryIso":["CZ"]}`: "countryIso", `{"isFeatured":"true"}`: "isFeatured",
		`{"name":{"cs":"Praha"}}`: "name: expected a key for each language", `{"name.cs":["a","b"]}`: "name.cs",
		`{"geometry":"POINT (1 2)"}`: "geometry",
	} {
		_, do := open(t, texts{doc1, doc})
		status, got := do(http.MethodGet, "/city/_source/d1", "")
		testenv.Check(t, status == 200 && got == doc, "%s by id: %d %s", doc, status, got)
		status, got = do(http.MethodPost, "/city/_search", `{"query":{"match_all":{}}}`)
		testenv.Check(t, status == 400 && strings.Contains(got, "queries of city: document d1: ") &&
			strings.Contains(got, want), "%s: %d %s", doc, status, got)
	}
	_, do := open(t, texts{`{"population":null,"other":[{"a":1}],"name.cs":"Ústí"}`, `{ "name.cs" : "Ústí" , "population" : 501 }`, `{}`})
	_, got := do(http.MethodPost, "/city/_search?_source_excludes=geometry,population", searchBody("usti", "cs", "", 10))
	testenv.Check(t, strings.HasSuffix(got, `"hits":[{"_index":"city","_type":"_doc","_id":"d1","_score":null,"_source":{"name.cs":"Ústí"}},`+
		`{"_index":"city","_type":"_doc","_id":"d0","_score":null,"_source":{"other":[{"a":1}],"name.cs":"Ústí"}}]}}`), "hits: %s", got)
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

// TestMissing: in every order, documents without a value come last.
func TestMissing(t *testing.T) {
	_, do := open(t, texts{`{"isFeatured":true}`, `{"isFeatured":true,"countryIso":"CZ"}`, doc1})
	for _, body := range []string{featuredSearch, strings.Replace(nearestSearch, `"size":1`, `"size":3`, 1)} {
		_, got := do(http.MethodPost, "/city/_search", body)
		last, first := strings.Index(got, `"d0"`), strings.Index(got, `"d2"`)
		testenv.Check(t, first >= 0 && first < last && first < strings.Index(got, `"d1"`), "%s: %s", body, got)
	}
	_, got := do(http.MethodPost, "/city/_search", featuredSearch)
	testenv.Check(t, strings.Index(got, `"d1"`) < strings.Index(got, `"d0"`), "without a country: %s", got)
}

// mustResponse calls the store and fails unless the response is JSON with status 200 or 400.
func mustResponse(t *testing.T, s *embedded.Server, method, path, body string) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	testenv.Check(t, w.Code == 200 || w.Code == 400, "%s %s: %d %s", method, path, w.Code, w.Body.String())
	testenv.Check(t, json.Valid(w.Body.Bytes()), "%s %s: not JSON: %s", method, path, w.Body.String())
	return w.Body.String()
}

func FuzzSearch(f *testing.F) {
	s, _ := open(f, two())
	for _, body := range []string{``, `{}`, searchBody("praha", "cs", "CZ", 10), searchBody("Berlin  ", "en", "", 1),
		featuredSearch, containingSearch, nearestSearch, `{"query":{"match_all":{}},"sort":[{"_geo_distance":null}],"size":1e9}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) { mustResponse(t, s, http.MethodPost, "/city/_search", body) })
}

// FuzzDocument fills a store with one document and requests it: it must come back unchanged,
// without the fields left out as valid JSON, and no query may fail.
func FuzzDocument(f *testing.F) {
	f.Add(doc1)
	f.Add(` { "name.cs" : "x y" , "geometry" : { "type" : "MultiPolygon", "coordinates" : [[[[0,0],[1,0],[1,1],[0,0]]]] } } `)
	f.Add(`{"geometry":{"coordinates":[1e9,[[]],{}],"type":"point"},"\u0061":"\"}","population":9e99}`)
	f.Add(`{"geometry":{"coordinates":[-180,90,3],"type":"point"},"centroid":{"lat":0,"lon":null}}`)
	f.Fuzz(func(t *testing.T, doc string) {
		if !json.Valid([]byte(doc)) || strings.TrimLeft(doc, " \t\r\n")[0] != '{' { // a data set has only valid objects
			return
		}
		s := embedded.New(embedded.Options{})
		defer s.Close()
		testenv.OK(t, s.Fill(t.Context(), texts{doc}, nil))
		testenv.Equal(t, mustResponse(t, s, http.MethodGet, "/city/_source/d0", ""), doc)
		mustResponse(t, s, http.MethodGet, "/city/_source/d0?_source_excludes=geometry,population", "")
		for _, body := range []string{featuredSearch, containingSearch, nearestSearch, searchBody("x", "cs", "", 10)} {
			mustResponse(t, s, http.MethodPost, "/city/_search", body)
		}
	})
}
