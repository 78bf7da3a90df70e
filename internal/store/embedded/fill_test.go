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
	if _, got := do(http.MethodGet, "/city/_count", ""); !strings.Contains(got, `"count":1,`) {
		t.Errorf("filled again: %s", got)
	}
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
