package dataset

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/testenv"
)

// TestElasticdump uses the names and forms of elasticdump's files, and those in which its users
// keep them.
func TestElasticdump(t *testing.T) {
	const (
		first   = `{"_index":"city","_type":"_doc","_id":"1","_score":1,"_source":{"id":1,"name":"Brno","centroid":[16.6,49.2]}}`
		second  = `{"_index":"city","_type":"_doc","_id":2,"_score":1,"_routing":"r","_version":3,"_source":{"id":2,"name":"P,}]\"raha"}}`
		lines   = first + "\n" + second + "\n"
		pretty  = "\n  {\n    \"_id\": \"1\",\n    \"_source\": {\n      \"id\": 1,\n      \"name\":\"Brno\",\n \"centroid\":[16.6,\n49.2]}\n  }\n" + second
		mapping = `{"city":{"mappings":{"properties":{"name":{"type":"text"}}}}}`
		want    = `{"mappings":{"properties":{"name":{"type":"text"}}}}`
	)
	for name, c := range map[string]struct {
		files   map[string]string
		mapping string
	}{
		"lines":         {map[string]string{"city.ndjson": lines, "city.mapping.json": mapping}, want},
		"json":          {map[string]string{"city.json": lines, "city_mapping.json": mapping}, want},
		"json, dots":    {map[string]string{"city.json": lines, "city.mapping.json": mapping}, want},
		"on many lines": {map[string]string{"city.json": pretty, "city_mapping.json": mapping}, want},
		"with others of multielasticdump's": {map[string]string{"city.json": lines, "city.mapping.json": mapping,
			"city.alias.json": `{"city":{"aliases":{"town":{}}}}`, "city.template.json": `{}`, "city_policy.json": `[]`}, want},
		"settings": {map[string]string{"city.json": lines,
			"city_mapping.json": `{"settings":{"index":{"creation_date":"1","uuid":"u","number_of_shards":"3"},"index.refresh_interval":"2s"},"mappings":{}}`,
		}, `{"mappings":{},"settings":{"index":{"number_of_shards":"3","refresh_interval":"2s"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testenv.Folder(t, c.files)
			set := mustOpen(t, Spec{Dir: dir})
			var got []string
			for doc, err := range set.Documents("city") {
				got = append(got, fmt.Sprintf("%s|%s|%s|%v", doc.ID, doc.Routing, doc.Source, err))
			}
			docs := []string{`1||{"id":1,"name":"Brno","centroid":[16.6,49.2]}|<nil>`, `2|r|{"id":2,"name":"P,}]\"raha"}|<nil>`}
			testenv.Equal(t, got, docs)
			index := set.Indices()[0]
			testenv.Check(t, len(set.Indices()) == 1 && index.Count == 2 && string(index.Mapping) == c.mapping,
				"%d documents, mapping %s, want %s", index.Count, index.Mapping, c.mapping)
		})
	}
}

func TestElasticdumpMistakes(t *testing.T) {
	const hit = `{"_id":"1","_source":{}}`
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no source":      {map[string]string{"city.ndjson": `{"_index":"a","_id":"1"}`}, `city.ndjson:1: hit: no "_source"`},
		"source null":    {map[string]string{"city.ndjson": `{"_id":"1","_source":null}`}, `city.ndjson:1: the document is not a JSON object`},
		"a parent":       {map[string]string{"city.ndjson": `{"_id":"1","_parent":"2","_source":{}}`}, `city.ndjson:1: hit: unexpected _parent`},
		"two indices":    {map[string]string{"city.ndjson": `{"_index":"a","_source":{}}` + "\n" + `{"_index":"b","_source":{}}`}, `city.ndjson:2: index "b" in this action`},
		"an id too long": {map[string]string{"city.ndjson": `{"_id":"` + strings.Repeat("x", 600) + `","_source":{}}`}, `city.ndjson:1: hit: _id of 600 bytes`},
		"an array":       {map[string]string{"city.ndjson": "[" + hit + "]"}, "city.ndjson:1: an array; write one document after the other, such as jq -c '.[]' does"},
		"unended":        {map[string]string{"city.ndjson": "\n" + hit + "\n{"}, "city.ndjson:3: unexpected EOF"},
		"broken":         {map[string]string{"city.ndjson": hit + "\n{\"a\"]}"}, "city.ndjson:2: invalid character"},
		"settings": {map[string]string{"city.ndjson": hit, "city.settings.json": `{}`},
			`city.settings.json: remove it; what the index needs of it belongs to city.mapping.json, as {"settings": …, "mappings": …}`},
		"analyzer": {map[string]string{"city.ndjson": hit, "city_analyzer.json": `{}`}, "city_analyzer.json: remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			c.files["city.mapping.json"] = anyMapping
			testenv.Fails(t, testenv.Err(Dump(testenv.Folder(t, c.files))), c.want)
		})
	}
	testenv.Fails(t, testenv.Err(Dump(testenv.Folder(t, map[string]string{"city.json": hit}))),
		"no data files: expected <index>.ndjson and <index>.mapping.json")
}

func responses(t *testing.T, requests ...bench.Request) *Responses {
	t.Helper()
	set := testenv.Must(Bundled())(t)
	a := testenv.Must(NewResponses(set, requests))(t)
	return a
}

// known is read once for all tests: the bundled data is large.
var known = sync.OnceValues(func() (*Responses, error) {
	set, err := Bundled()
	if err != nil {
		return nil, err
	}
	return NewResponses(set, []bench.Request{
		{Name: "get", Path: "/city/v1/get?id={id}&language={language}"},
		{Name: "one", Path: "/city/v1/get?language=de&id=3067696"},
		{Name: "wait", Path: "/v1/benchmark?delay=10"},
		{Name: "search", Path: "/city/v1/search?query=a&language=cs"},
		{Name: "missing", Path: "/city/v1/get?id={id}&language=cs", ExpectStatus: 404},
	})
})

func TestCheck(t *testing.T) {
	a := testenv.Must(known())(t)
	const prague = `{"countryIso":"CZ","id":3067696,"isFeatured":true,"name":"Praha","regionName":"Praha"}`
	for _, test := range []struct{ name, language, body, want string }{
		{"get", "cs", prague, ""},
		{"get", "cs", " " + strings.ReplaceAll(prague, ",", " ,\n") + "\n", ""},
		{"get", "en", prague, `name is "Praha": expected "Prague"`},
		{"get", "cs", strings.Replace(prague, "3067696", "1", 1), `id is "1"`},
		{"get", "cs", strings.Replace(prague, `"isFeatured":true,`, "", 1), "no isFeatured"},
		{"get", "cs", strings.Replace(prague, `{`, `{"more":1,`, 1), "unknown field"},
		{"get", "cs", prague + prague, "more than one object"},
		{"get", "cs", `{"countryIso":`, "unexpected EOF"},
		{"get", "cs", "", "EOF"},
		{"get", "cs", `[]`, "cannot unmarshal"},
		{"one", "", strings.ReplaceAll(prague, "Praha", "Prag"), ""},
		{"one", "", strings.Replace(prague, `"name":"Praha"`, `"name":"Prag"`, 1), `regionName is "Praha": expected "Prag"`},
		{"wait", "", "", ""},
		{"wait", "", "x", `body "x": expected an empty one`},
		{"search", "cs", "", "expected response not known"},
		{"missing", "cs", "", "expected response not known"},
		{"get", "fr", prague, "expected response not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			testenv.Fails(t, a.Check(test.name, 3067696, test.language, []byte(test.body)), test.want)
		})
	}
	err := a.Check("get", 1, "cs", []byte("x"))
	testenv.Check(t, errors.Is(err, needs.ErrUnknown), "missing city: %v", err)
	testenv.Check(t, len(a.cities) >= 10_000 && a.Any(), "%d cities", len(a.cities))
}

func TestNothingIsReadInVain(t *testing.T) {
	a := responses(t, bench.Request{Name: "wait", Path: "/v1/benchmark"})
	testenv.Check(t, a.cities == nil && a.Any(), "cities were read for a request without any")
	testenv.Check(t, !responses(t, bench.Request{Name: "featured", Path: "/city/v1/featured?language=cs"}).Any(),
		"a response of search is known")
}

// Of a large data set only a part of the cities is kept.
func TestLargeDataSet(t *testing.T) {
	set, err := Generated(120_000, 12, 1)
	testenv.OK(t, err)
	a, err := NewResponses(set, []bench.Request{{Name: "get", Path: "/city/v1/get?id={id}&language={language}"}})
	testenv.Check(t, err == nil && len(a.cities) >= 20_000 && len(a.cities) <= maxCities, "%d cities, %v",
		len(a.cities), err)
}

func FuzzCheck(f *testing.F) {
	a := testenv.Must(known())(f)
	f.Add([]byte(`{"countryIso":"CZ","id":3067696,"isFeatured":true,"name":"Praha","regionName":"Praha"}`))
	f.Add([]byte(`{"id":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if err := a.Check("get", 3067696, "cs", body); err != nil && len(err.Error()) > 2000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
