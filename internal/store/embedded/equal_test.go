package embedded_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"locbench/internal/dataset"
	"locbench/internal/store/embedded"
	"locbench/internal/testenv"
)

// city is what the test has to know of a document to ask for it.
type city struct {
	ID         int64  `json:"id"`
	CountryISO string `json:"countryIso"`
	Centroid   struct{ Lat, Lon float64 }
	NameCs     string `json:"name.cs"`
	NameDe     string `json:"name.de"`
	NamePl     string `json:"name.pl"`
	Geometry   struct{ Coordinates [][][2]float64 }
}

// question is one request that both stores are asked.
type question struct {
	kind, path, body string
}

// TestSameAnswersAsElasticsearch fills a real Elasticsearch 7.10.2 and the embedded store with the bundled data and asks both
// the same questions: all answers must have the same status and the same documents in the same order.
func TestSameAnswersAsElasticsearch(t *testing.T) {
	if testing.Short() {
		t.Skip("fills two stores with the bundled data")
	}
	real := testenv.Elasticsearch(t)
	set, err := dataset.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	server, err := embedded.New(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	fake, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	index := fmt.Sprintf("locbench-store-test-%d", os.Getpid())
	defer call(t, http.MethodDelete, real+"/"+index, "")
	var cities []city
	for _, base := range []string{real, fake} {
		start := time.Now()
		cities = fill(t, base, index, set)
		t.Logf("%d cities in %s after %s", len(cities), base, time.Since(start).Round(time.Millisecond))
	}

	questions := questions(cities)
	asked, wrong := map[string]int{}, map[string]int{}
	for _, q := range questions {
		asked[q.kind]++
		path := strings.ReplaceAll(q.path, "{index}", index)
		wantStatus, want := call(t, method(q), real+path, q.body)
		gotStatus, got := call(t, method(q), fake+path, q.body)
		if diff := compare(wantStatus, want, gotStatus, got); diff != "" {
			wrong[q.kind]++
			if wrong[q.kind] <= 3 {
				t.Errorf("%s: %s %s\n%s", q.kind, q.path, q.body, diff)
			}
		}
	}
	t.Logf("%d questions: %v; of these different: %v", len(questions), asked, wrong)
	if len(questions) < 500 {
		t.Errorf("only %d questions", len(questions))
	}
}

func method(q question) string {
	if q.body != "" {
		return http.MethodPost
	}
	return http.MethodGet
}

// fill makes the index and loads all cities by a single worker, since ties are broken by the order of coming.
func fill(t testing.TB, base, index string, set dataset.Set) (cities []city) {
	t.Helper()
	mapping := bytes.Replace(dataset.CityMapping(), []byte(`"number_of_replicas":0`), []byte(`"number_of_replicas":0,"refresh_interval":"-1"`), 1)
	mustCall(t, http.MethodPut, base+"/"+index, string(mapping))
	var body bytes.Buffer
	flush := func() {
		answer := mustCall(t, http.MethodPost, base+"/"+index+"/_bulk?filter_path=errors", body.String())
		if !strings.Contains(answer, `"errors":false`) {
			t.Fatalf("bulk: %.500s", answer)
		}
		body.Reset()
	}
	for doc, err := range set.Documents(dataset.CityIndex) {
		if err != nil {
			t.Fatal(err)
		}
		var c city
		if err := json.Unmarshal(doc.Source, &c); err != nil {
			t.Fatal(err)
		}
		cities = append(cities, c)
		fmt.Fprintf(&body, `{"create":{"_id":%q}}`+"\n%s\n", doc.ID, doc.Source)
		if body.Len() > 4<<20 {
			flush()
		}
	}
	flush()
	mustCall(t, http.MethodPost, base+"/"+index+"/_refresh", "")
	return cities
}

func call(t testing.TB, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.Contains(url, "_bulk") {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func mustCall(t testing.TB, method, url, body string) string {
	t.Helper()
	status, answer := call(t, method, url, body)
	if status/100 != 2 {
		t.Fatalf("%s %s: %d %.500s", method, url, status, answer)
	}
	return answer
}

func questions(cities []city) (list []question) {
	r := rand.New(rand.NewPCG(1, 2))
	any := func() city { return cities[r.IntN(len(cities))] }
	add := func(kind, path, body string) { list = append(list, question{kind, path, body}) }
	const excludes = "_source_excludes=geometry,population"

	for range 120 {
		add("by id", fmt.Sprintf("/{index}/_source/%d?%s", any().ID, excludes), "")
	}
	for i, filter := range []string{"", "?_source_excludes=geometry", "?_source_includes=id,name", "?_source=name.cs,regionId", "?_source_includes=name.*&_source_excludes=name.de",
		"?_source_excludes=centroid.lat", "?_source_includes=centroid.lat,id", "?_source_excludes=name", "?_source_includes=geometry.type"} {
		add("by id, filtered", fmt.Sprintf("/{index}/_source/%d%s", cities[i].ID, filter), "")
		add("by id, filtered", fmt.Sprintf("/{index}/_doc/%d%s", cities[i].ID, filter), "")
	}
	for _, id := range []string{"1", "0", "-5", "abc", "99999999999999999999", "%20", "a%2Fb"} {
		add("by id, missing", "/{index}/_source/"+id+"?"+excludes, "")
		add("by id, missing", "/{index}/_doc/"+id, "")
	}
	add("by id, missing", "/locbench-store-test-nothing/_source/1", "")

	for _, order := range []string{`["countryIso",{"population":"desc"}]`, `[{"countryIso":"desc"},{"population":{"order":"asc"}}]`, `[{"population":"desc"}]`} {
		add("featured", "/{index}/_search?size=1000&"+excludes, `{"query":{"term":{"isFeatured":true}},"sort":`+order+`}`)
	}
	add("featured", "/{index}/_search?size=20&from=5", `{"query":{"bool":{"filter":[{"term":{"isFeatured":false}},{"term":{"countryIso":"SK"}}]}},"sort":["timezone",{"id":"asc"}],"_source":["id"]}`)

	point := func(lon, lat float64) string {
		return fmt.Sprintf(`{"geo_shape":{"geometry":{"shape":{"type":"Point","coordinates":[%v,%v]}}}}`, lon, lat)
	}
	shape := func(kind string, lon, lat float64, size int) {
		add(kind, fmt.Sprintf("/{index}/_search?size=%d&%s", size, excludes), `{"query":{"bool":{"filter":`+point(lon, lat)+`}}}`)
	}
	nearest := func(kind, filter string, lon, lat float64, size int) {
		add(kind, fmt.Sprintf("/{index}/_search?size=%d&%s", size, excludes),
			fmt.Sprintf(`{"query":%s,"sort":{"_geo_distance":{"centroid":{"lat":%v,"lon":%v}}}}`, filter, lat, lon))
	}
	for range 150 {
		c := any()
		shape("in a shape", c.Centroid.Lon+(r.Float64()-0.5)*0.05, c.Centroid.Lat+(r.Float64()-0.5)*0.05, 1+r.IntN(2)*49)
		ring := c.Geometry.Coordinates[0]
		v := ring[r.IntN(len(ring))]
		shape("at a vertex", v[0], v[1], 50)
		shape("anywhere", 5+r.Float64()*20, 45+r.Float64()*11, 10)
	}
	const featured = `{"term":{"isFeatured":true}}`
	for range 60 {
		lon, lat := 5+r.Float64()*20, 45+r.Float64()*11
		nearest("nearest", `{"match_all":{}}`, lon, lat, 1)
		nearest("nearest", `{"match_all":{}}`, r.Float64()*360-180, r.Float64()*180-90, 5)
		nearest("nearest featured", featured, lon, lat, 20)
		add("in a shape, featured", "/{index}/_search?size=1", `{"query":{"bool":{"filter":[`+point(lon, lat)+`,`+featured+`]}}}`)
	}
	nearest("nearest", `{"match_all":{}}`, 180, 90, 3)
	nearest("nearest", `{"match_all":{}}`, -180, -90, 3)

	for _, s := range searches(cities, r) {
		add(s.kind, "/{index}/_search?size=10&"+excludes, s.body)
	}
	add("refused", "/{index}/_search", `{"query":{"term":{}}`)
	add("refused", "/{index}/_search", `{"query":{"term":{"isFeatured":"maybe"}}}`)
	add("refused", "/{index}/_search", `{"sort":["nothing"]}`)
	add("refused", "/{index}/_search?size=10001", `{}`)
	add("refused", "/{index}/_search?size=-2", `{}`)
	add("refused", "/{index}/_search", `{"size":-2}`)
	add("odd size", "/{index}/_search?size=-1", `{"query":{"term":{"isFeatured":true}}}`)
	add("odd size", "/{index}/_search?size=0", `{"query":{"term":{"isFeatured":true}}}`)
	add("refused", "/locbench-store-test-nothing/_search", `{}`)
	return list
}

// searches are texts as users type them: whole names and parts, with and without diacritics, several words in any order.
func searches(cities []city, r *rand.Rand) (list []question) {
	languages := []string{"cs", "de", "en", "pl", "sk"}
	add := func(kind, text string) {
		language := languages[r.IntN(len(languages))]
		list = append(list, question{kind: kind, body: searchBody(text, language, "")})
		if r.IntN(3) == 0 {
			country := []string{"CZ", "DE", "AT", "PL", "SK", "XX"}[r.IntN(6)]
			list = append(list, question{kind: kind + ", in a country", body: searchBody(text, language, country)})
		}
	}
	name := func() string {
		c := cities[r.IntN(len(cities))]
		return []string{c.NameCs, c.NameDe, c.NamePl}[r.IntN(3)]
	}
	multi := func() string {
		for {
			if n := name(); len(strings.Fields(n)) > 1 {
				return n
			}
		}
	}
	for range 120 {
		n := []rune(name())
		add("search name", string(n))
		add("search ascii", plain(string(n)))
		add("search prefix", string(n[:1+r.IntN(len(n))]))
	}
	for range 120 {
		n := multi()
		words := strings.Fields(n)
		add("search words", n)
		add("search words", plain(n)+" ")
		add("search words", strings.ToUpper(n))
		last := []rune(words[len(words)-1])
		words[len(words)-1] = string(last[:1+r.IntN(len(last))])
		add("search words, prefix", strings.Join(words, " "))
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		add("search words, shuffled", strings.Join(words, " "))
		add("search words, mixed", words[0]+" "+name())
	}
	for _, text := range []string{"a", "p", "š", "Ž", "bad", "nad", "Frankfurt am", "frankfurt (oder)", "st.", "St. Pölten", "bad b", "nova ves", "Nová Ves", "ústí nad",
		"qqqq", "...", " ", "praha 1", "praha,", "praha ", "München", "munchen", "MUENCHEN", "łódź", "lodz", "Wrocław", "wien", "Vídeň", "viden", "Bratislava-Petržalka",
		"o'neil", "x_y", "日本", "straße", "STRASSE", "a b c d e f g h", "nad nad nad", strings.Repeat("x", 300), strings.Repeat("bad ", 40)} {
		for _, language := range languages {
			list = append(list, question{kind: "search odd", body: searchBody(text, language, "")})
		}
	}
	return list
}

// searchBody is the query of the specification.
func searchBody(text, language, country string) string {
	quoted, _ := json.Marshal(text)
	filter := ""
	if country != "" {
		filter = fmt.Sprintf(`{"term":{"countryIso":%q}}`, country)
	}
	var fields []string
	for _, f := range []struct {
		path  string
		boost int
	}{{"name." + language + ".autocomplete", 8}, {"name." + language + ".autocomplete_ascii", 4}, {"name.all.autocomplete", 2}, {"name.all.autocomplete_ascii", 1}} {
		for _, sub := range []string{"", "._2gram", "._3gram"} {
			fields = append(fields, fmt.Sprintf(`"%s%s^%d"`, f.path, sub, f.boost))
		}
	}
	return fmt.Sprintf(`{"query":{"function_score":{"query":{"bool":{"must":[{"multi_match":{"query":%s,"type":"bool_prefix","fields":[%s]}}],"filter":[%s]}},`+
		`"functions":[{"field_value_factor":{"field":"population","modifier":"ln2p","missing":500}}]}}}`, quoted, strings.Join(fields, ","), filter)
}

// plain takes the diacritics off, as somebody without the keyboard would.
func plain(s string) string {
	return strings.NewReplacer("á", "a", "č", "c", "ď", "d", "é", "e", "ě", "e", "í", "i", "ň", "n", "ó", "o", "ř", "r", "š", "s", "ť", "t", "ú", "u", "ů", "u", "ý", "y", "ž", "z",
		"ä", "a", "ö", "o", "ü", "u", "ß", "ss", "ł", "l", "ą", "a", "ę", "e", "ś", "s", "ć", "c", "ź", "z", "ż", "z", "ń", "n", "ľ", "l", "ĺ", "l", "ŕ", "r", "ô", "o",
		"Č", "C", "Ď", "D", "Ř", "R", "Š", "S", "Ť", "T", "Ú", "U", "Ž", "Z", "Ł", "L", "Ś", "S", "Ź", "Z", "Ż", "Z", "Ö", "O", "Ü", "U", "Ľ", "L").Replace(s)
}

type answer struct {
	Error *struct{ Type string }
	Hits  *struct {
		Total    struct{ Value int }
		MaxScore *float64 `json:"max_score"`
		Hits     []struct {
			ID     string   `json:"_id"`
			Score  *float64 `json:"_score"`
			Sort   []any
			Source json.RawMessage `json:"_source"`
		}
	}
}

// compare describes how got differs from want; "" if it does not.
func compare(wantStatus int, want string, gotStatus int, got string) string {
	if wantStatus != gotStatus {
		return fmt.Sprintf("status %d, Elasticsearch %d\n got: %.300s\nwant: %.300s", gotStatus, wantStatus, got, want)
	}
	var w, g answer
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return "Elasticsearch: " + err.Error()
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		return err.Error() + ": " + got
	}
	if w.Error != nil {
		if g.Error == nil {
			return "no error: " + got
		}
		return ""
	}
	if w.Hits == nil {
		return sameJSON(want, got)
	}
	if g.Hits == nil {
		return "no hits: " + got
	}
	if w.Hits.Total.Value != g.Hits.Total.Value || !near(w.Hits.MaxScore, g.Hits.MaxScore) {
		return fmt.Sprintf("total %d, Elasticsearch %d", g.Hits.Total.Value, w.Hits.Total.Value) + lists(w, g)
	}
	if len(w.Hits.Hits) != len(g.Hits.Hits) {
		return "number of hits" + lists(w, g)
	}
	for i, h := range w.Hits.Hits {
		o := g.Hits.Hits[i]
		if h.ID != o.ID || !near(h.Score, o.Score) || len(h.Sort) != len(o.Sort) {
			return fmt.Sprintf("hit %d", i) + lists(w, g)
		}
		for j := range h.Sort {
			a, isNumber := h.Sort[j].(float64)
			b, both := o.Sort[j].(float64)
			if (isNumber && both && !near(&a, &b)) || (!isNumber && h.Sort[j] != o.Sort[j]) {
				return fmt.Sprintf("hit %d: sort %v, Elasticsearch %v", i, o.Sort, h.Sort)
			}
		}
		if diff := sameJSON(string(h.Source), string(o.Source)); diff != "" {
			return diff
		}
	}
	return ""
}

func near(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) <= 1e-6*math.Abs(*a)+1e-9
}

// sameJSON ignores spaces, the spelling of numbers and what tells how often a document was written.
func sameJSON(want, got string) string {
	var w, g any
	if json.Unmarshal([]byte(want), &w) != nil || json.Unmarshal([]byte(got), &g) != nil {
		if want == got {
			return ""
		}
		return "no JSON: " + got
	}
	for _, v := range []any{w, g} {
		if m, ok := v.(map[string]any); ok && m["_index"] != nil {
			delete(m, "_seq_no")
		}
	}
	a, _ := json.Marshal(w)
	b, _ := json.Marshal(g)
	if !bytes.Equal(a, b) {
		return fmt.Sprintf(" got: %.400s\nwant: %.400s", b, a)
	}
	return ""
}

func lists(w, g answer) string {
	var b strings.Builder
	for _, a := range []struct {
		who string
		answer
	}{{"Elasticsearch", w}, {"embedded     ", g}} {
		fmt.Fprintf(&b, "\n%s", a.who)
		for i, h := range a.Hits.Hits {
			if i == 10 {
				break
			}
			fmt.Fprintf(&b, " %s", h.ID)
			if h.Score != nil {
				fmt.Fprintf(&b, "(%v)", *h.Score)
			}
		}
	}
	return b.String()
}

// first is the beginning of a data set.
type first struct {
	dataset.Set
	n int
}

func (f first) Documents(index string) iter.Seq2[dataset.Doc, error] {
	return func(yield func(dataset.Doc, error) bool) {
		left := f.n
		for doc, err := range f.Set.Documents(index) {
			if left--; left < 0 || !yield(doc, err) {
				return
			}
		}
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
