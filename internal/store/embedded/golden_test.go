package embedded_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

const goldenFile = "testdata/responses.golden"

// TestResponses sends about 3,400 queries over the bundled data and over documents of odd forms.
// Their responses were recorded from the store on bleve, which gave those of Elasticsearch 7.10.2.
// Queries refused since then have status 501 (most of the odd ones: the service does not send such
// queries). A line has the status; then the error type, or the number of hits,
// the first of them and a hash of the whole response, with all sources, scores, and sort values.
func TestResponses(t *testing.T) {
	set, cities := bundled(t)
	_, do := open(t, sets{set, texts{"odd", oddMapping, append(slices.Clone(oddDocs), `{"n":1}`), "a b/ž"}})
	var got strings.Builder
	asked := goldenQuestions(cities)
	for _, q := range asked {
		status, body := do(method(q), q.path, q.body)
		fmt.Fprintf(&got, "%d %s\n", status, digest(t, body))
	}
	if *testenv.Update {
		testenv.OK(t, os.WriteFile(goldenFile, []byte(got.String()), 0o644))
	}
	golden := testenv.Must(os.ReadFile(goldenFile))(t)
	want, wrong := strings.Split(string(golden), "\n"), 0
	for i, line := range strings.Split(got.String(), "\n") {
		if i < len(want) && line == want[i] {
			continue
		}
		if wrong++; wrong <= 10 && i < len(want) && i < len(asked) {
			_, body := do(method(asked[i]), asked[i].path, asked[i].body)
			t.Errorf("%s %s\n got: %s\nwant: %s\n%.600s", asked[i].path, asked[i].body, line, want[i], body)
		}
	}
	testenv.Check(t, wrong <= 0 && len(want) == len(asked)+1, "%d of %d responses differ; %d lines in %s", wrong,
		len(asked), len(want), goldenFile)
}

var took = regexp.MustCompile(`"took":\d+,`)

// digest returns the part of a response that the golden file keeps.
func digest(t *testing.T, body string) string {
	var a struct {
		Error *struct{ Type string }
		Hits  *struct {
			Total *struct{ Value int }
			Hits  []struct {
				ID string `json:"_id"`
			}
		}
	}
	testenv.Check(t, body == "" || json.Unmarshal([]byte(body), &a) == nil, "not JSON: %s", body)
	if a.Error != nil {
		return a.Error.Type
	}
	text := ""
	if a.Hits != nil {
		if a.Hits.Total != nil {
			text = fmt.Sprint(a.Hits.Total.Value, " ")
		}
		if len(a.Hits.Hits) > 0 {
			text += a.Hits.Hits[0].ID + " "
		}
	}
	sum := fnv.New32a()
	sum.Write([]byte(took.ReplaceAllString(body, "")))
	return fmt.Sprintf("%s%08x", text, sum.Sum32())
}

func goldenQuestions(cities []city) []question {
	list := questions(cities)
	for i := range list {
		list[i].path = strings.ReplaceAll(list[i].path, "{index}", "city")
	}
	add := func(kind, path, body string) { list = append(list, question{kind, path, body}) }
	for _, text := range []string{
		"Москва", "москва река", "Αθήνα", "ΑΘΗΝΑ ΟΔΟΣ", "ירושלים", "القاهرة", "กรุงเทพ", "서울 시", "とうきょう", "トーキョー", "東京 都", "🙂", "🙂 praha", "praha 🙂", "Praha\u0301", "Ｐｒａｈａ",
		"ﬁn", "Œuvre", "Þing", "Đakovo", "ıİ", "1.5 2,000 3'4", "1.5.", "a.b.c", "foo_bar", "_", "__x", "x:y", "l·l", "don’t", "„Berlin“", "Wien\u00a0", "Wien\u00ad", "Wi\u00aden", "a\u200bb", "a\u200db", "praha\n", "\tpraha", "PRAHA-VÝCHOD",
		"Å Å Ω", "ǅungla", "½ kg", "2²", "ª º", "№ 5", "bad/halle", "bad (sachsen)", "c++", "a&b", "12a", "a12", "1a2b", "x.", ".x", "é́", "ffl ﬄ", "🇨🇿 praha", "👨‍👩‍👧", "#1", "©", "ß", "ẞ", "ŉ", "ᵃ", "ⓐⓑ", "(1)", "⑴",
		"\xff\xfe", "a\xffb", "nad ", "nad", "u", "ú", "Ú", "st", "sta", "star", "stará", "New", "new york", "frankfurt", "Frankfurt am Main", "Sankt Pölten", "sankt polten land", "mün", "mun", "Żory", "zory", "ž", "z", "Z",
	} {
		for _, language := range []string{"cs", "de"} {
			add("text", "/city/_search?_source=id", searchBody(text, language, ""))
		}
		add("text, in a country", "/city/_search?_source=id", searchBody(text, "pl", "PL"))
	}
	for i := range 40 { // the first hits of one order, with its ties
		page := fmt.Sprintf("/city/_search?_source=false&size=%d", i*7)
		add("page", page, searchBody("nov", "cs", ""))
		add("page", page, `{"query":{"term":{"countryIso":"SK"}},"sort":[{"population":"desc"}]}`)
		add("page", page, `{"query":{"term":{"countryIso":"SK"}}}`)
		add("page", page+"&track_total_hits=100", `{"sort":["countryIso","timezone"]}`)
		add("page", page, `{"sort":[{"_geo_distance":{"centroid":[16.6,49.2]}}]}`)
	}
	for _, id := range []string{"3067696", "3068160"} {
		for _, filter := range []string{"name.*&_source_excludes=name.de", "centroid.lat,id", "geometry.type", "id&_source_excludes=centroid.lat"} {
			add("refused", "/city/_source/"+id+"?_source_includes="+filter, "")
		}
	}
	for _, body := range []string{`{"sort":["nothing"]}`, `{"from":5}`, `{"size":-1}`} {
		add("refused", "/city/_search", body)
	}
	for _, path := range []string{
		"/", "/_cluster/health", "/city/_count", "/_count", "/region/_count", "/nothing/_count", "/city_v1/_count", "/city_v1/_source/3067696", "/region/_doc/20352", "/city/_doc/3067696?_source=false", "/city/_source/3067696?_source=false",
		"/city/_source/3067696?_source=", "/city/_source/3067696?_source=*", "/city/_source/3067696?_source_includes=na*,id&_source_excludes=*.cs,*.de", "/city/_source/3067696?pretty&realtime=true&routing=x", "/city/_source/3067696?stored_fields=id",
		"/city/_source/", "/city/_source", "/_cat/indices", "/city/_msearch", "/*/_source/1", "/_all/_search", "/a,b/_search", "/city/_search?scroll=1m", "/city/_search?size=x", "/city/_search?size=2&from=1&_source=id&typed_keys=true&search_type=query_then_fetch",
		"/city/_search?search_type=scan", "/city/_search?track_total_hits=false&size=1&_source=id", "/city/_search?track_total_hits=x", "/city/_search?q=praha", "/city/_explain/1", "/city/_search?from=10000&size=0", "/city/_search?_source_includes=id&size=3",
	} {
		add("call", path, "")
	}
	for _, path := range []string{"/city/_count", "/_count"} {
		add("count", path, `{"query":{"match_all":{}}}`)
		add("count", path, `{"query":{"term":{"id":1}}}`)
		add("count", path, `{"x":1}`)
	}
	for _, body := range oddQuestions {
		add("odd", "/odd/_search?size=20", body)
		if !strings.Contains(body, "size") {
			add("odd", "/odd/_search", body)
		}
	}
	for id := range oddDocs {
		for _, query := range []string{"", "_source=name,deep", "_source_includes=deep.*,a%22b.*&_source_excludes=deep.n", "_source_excludes=name,un*", "_source=unmapped.a", "_source_includes=*.er", "_source=nothing"} {
			add("odd, by id", fmt.Sprintf("/odd/_source/d%d?%s", id, query), "")
		}
		add("odd, by id", fmt.Sprintf("/odd/_doc/d%d", id), "")
	}
	add("odd, by id", "/odd/_source/"+url.PathEscape("a b/ž"), "")
	return list
}

func method(q question) string {
	if q.body != "" {
		return http.MethodPost
	}
	return http.MethodGet
}
