package embedded_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

func questions(cities []city) (list []question) {
	r := rand.New(rand.NewPCG(1, 2))
	any := func() city { return cities[r.IntN(len(cities))] }
	add := func(kind, path, body string) { list = append(list, question{kind, path, body}) }
	const excludes = "_source_excludes=geometry,population"

	for range 120 {
		add("by id", fmt.Sprintf("/{index}/_source/%d?%s", any().ID, excludes), "")
	}
	for i, filter := range []string{"", "?_source_excludes=geometry", "?_source_includes=id,name", "?_source=name.cs,regionId", "?_source_includes=name&_source_excludes=name.de",
		"?_source_excludes=name"} {
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
	add("featured", "/{index}/_search?size=20", `{"query":{"bool":{"filter":[{"term":{"isFeatured":false}},{"term":{"countryIso":"SK"}}]}},"sort":["timezone",{"id":"asc"}],"_source":["id"]}`)

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
	add("refused", "/{index}/_search?size=10001", `{}`)
	add("refused", "/{index}/_search?size=-2", `{}`)
	add("refused", "/{index}/_search", `{"size":-2}`)
	add("odd size", "/{index}/_search?size=0", `{"query":{"term":{"isFeatured":true}}}`)
	add("refused", "/locbench-store-test-nothing/_search", `{}`)
	return list
}

// searches returns texts as users type them: full names and parts, with and without diacritics,
// several words in any order.
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

// plain removes the diacritics, like a user without the keyboard.
func plain(s string) string {
	return strings.NewReplacer("á", "a", "č", "c", "ď", "d", "é", "e", "ě", "e", "í", "i", "ň", "n", "ó", "o", "ř", "r", "š", "s", "ť", "t", "ú", "u", "ů", "u", "ý", "y", "ž", "z",
		"ä", "a", "ö", "o", "ü", "u", "ß", "ss", "ł", "l", "ą", "a", "ę", "e", "ś", "s", "ć", "c", "ź", "z", "ż", "z", "ń", "n", "ľ", "l", "ĺ", "l", "ŕ", "r", "ô", "o",
		"Č", "C", "Ď", "D", "Ř", "R", "Š", "S", "Ť", "T", "Ú", "U", "Ž", "Z", "Ł", "L", "Ś", "S", "Ź", "Z", "Ż", "Z", "Ö", "O", "Ü", "U", "Ľ", "L").Replace(s)
}

// question is one query that is sent to both stores.
type question struct {
	kind, path, body string
}

// searchBody returns the query of the specification.
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

// oddMapping and oddDocs are what a user's dump may contain: fields in any form, several values,
// types that are only kept in the source.
const oddMapping = `{"settings":{"index":{"number_of_shards":1,"number_of_replicas":0,
 "analysis":{"analyzer":{"fold":{"type":"custom","tokenizer":"standard","filter":["lowercase","asciifolding"]},"std":{"type":"standard"},"bare":{"tokenizer":"standard"},"stem":{"tokenizer":"standard","filter":["lowercase","stemmer"]}}}}},
"mappings":{"_meta":{"a":[1]},"dynamic":"false","properties":{
 "name":{"type":"text","copy_to":["all"],"fields":{"s":{"type":"search_as_you_type"},
  "f":{"type":"search_as_you_type","analyzer":"fold"},"b":{"type":"search_as_you_type","analyzer":"bare","max_shingle_size":2},
  "k":{"type":"keyword","ignore_above":12},"stem":{"type":"search_as_you_type","analyzer":"stem"}}},
 "all":{"type":"search_as_you_type","analyzer":"std"},
 "tags":{"type":"keyword"},"norm":{"type":"keyword","normalizer":"x"},"flag":{"type":"boolean"},"n":{"type":"long"},"i":{"type":"integer"},
 "when":{"type":"date"},"at":{"type":"geo_point"},"area":{"type":"geo_shape"},
 "deep":{"properties":{"er":{"type":"keyword"},"n":{"type":"short"}}}}}}`

var oddDocs = []string{
	`{"name":"Nová Ves","tags":["a","b","a"],"flag":true,"n":5,"i":"7","at":{"lat":50,"lon":14},"area":{"type":"Point","coordinates":[14,50]},"deep":{"er":"x","n":3}}`,
	` { "name" : ["Nová Ves nad Nisou", "Nova Ves", null, 12, true] , "tags" : "b" , "flag" : "false" , "n" : 5.9 , "at" : [14.5, 50.5], "unmapped" : {"a":[1,{"b":2}]} } `,
	`{"name":"STRASSE Straße ẞ Łódź","tags":[],"flag":"","n":-3,"at":{"lon":13.5,"lat":49.5},"area":{"type":"polygon","coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]]}}`,
	`{"name":"a much too long keyword","tags":[["x",["y"]],null],"n":[9,1],"at":[1,2],"area":[{"type":"MultiPoint","coordinates":[[1,1],[2,2]]},null,{"type":"MultiPolygon","coordinates":[[[[20,20],[30,20],[30,30],[20,30],[20,20]]],[[[5,5],[20,5],[20,6],[5,6],[5,5]]]]}]}`,
	`{"name":"","tags":"ž","deep.er":"y","deep":{"er":["z"],"n":70},"when":"2020-01-01","norm":"N"}`,
	`{"\u006eame":"Nov\u00e1 Ves","a\"b":{"c.d":1,"e":{}},"at":{"lat":50.1,"lon":14.1},"n":null}`,
	`{}`,
	`{"name":"Nová Ves Nová Ves u lesa","all":"něco jiného","n":9007199254740993,"i":1e2}`,
}

// oddQuestions are queries of /odd.
var oddQuestions = []string{
	`{}`, `{"query":{"match_all":{"boost":2.5}}}`, `{"query":{"match_none":{}}}`, `{"query":{"match_none":{"boost":1}}}`,
	`{"query":{"term":{"tags":"a"}}}`, `{"query":{"term":{"tags":"b"}}}`, `{"query":{"term":{"tags":{"value":"y","boost":3}}}}`,
	`{"query":{"term":{"tags":"ž"}}}`, `{"query":{"term":{"tags":"none"}}}`, `{"query":{"term":{"flag":true}}}`, `{"query":{"term":{"flag":"false"}}}`,
	`{"query":{"term":{"flag":{"value":false}}}}`, `{"query":{"term":{"n":5}}}`, `{"query":{"term":{"n":"9"}}}`, `{"query":{"term":{"n":9007199254740993}}}`,
	`{"query":{"term":{"n":5.5}}}`, `{"query":{"term":{"i":100}}}`, `{"query":{"term":{"i":{"value":7,"boost":2}}}}`, `{"query":{"term":{"deep.er":"x"}}}`,
	`{"query":{"term":{"deep.er":"y"}}}`, `{"query":{"term":{"deep.n":70}}}`, `{"query":{"term":{"name.k":"Nová Ves"}}}`,
	`{"query":{"term":{"name.k":"a much too long keyword"}}}`, `{"query":{"term":{"name.k":"12"}}}`, `{"query":{"term":{"name.k":"true"}}}`,
	`{"query":{"term":{"unmapped":"a"}}}`, `{"query":{"term":{"when":"2020-01-01"}}}`, `{"query":{"term":{"norm":"N"}}}`, `{"query":{"term":{"name":"x"}}}`,
	`{"query":{"bool":{}}}`, `{"query":{"bool":{"boost":2}}}`, `{"query":{"bool":{"must":{"term":{"tags":"b"}},"should":[],"must_not":[ ],"adjust_pure_negative":true}}}`,
	`{"query":{"bool":{"must":[{"term":{"tags":"a"}},{"term":{"flag":true}}],"filter":[{"term":{"n":5}}]}}}`,
	`{"query":{"bool":{"filter":[{"term":{"n":5}},{"bool":{"must":[{"match_all":{}}]}}]}}}`, `{"query":{"bool":{"must":[{"match_all":{}}],"boost":2}}}`,
	`{"query":{"bool":{"filter":[]}}}`, `{"query":{"bool":{"should":[{"match_all":{}}]}}}`,
	`{"query":{"geo_shape":{"area":{"shape":{"type":"Point","coordinates":[14,50]}}}}}`, `{"query":{"geo_shape":{"area":{"shape":{"type":"point","coordinates":[1,1]},"relation":"INTERSECTS"}}}}`,
	`{"query":{"geo_shape":{"area":{"shape":{"type":"Point","coordinates":[5,5]}}}}}`, `{"query":{"geo_shape":{"area":{"shape":{"type":"Point","coordinates":[4,5,3]}}}}}`,
	`{"query":{"geo_shape":{"area":{"shape":{"type":"Point","coordinates":[25,25]}},"ignore_unmapped":false,"boost":1.0}}}`,
	`{"query":{"geo_shape":{"area":{"shape":{"type":"MultiPoint","coordinates":[[25,25]]}}}}}`, `{"query":{"geo_shape":{"area":{"shape":{"type":"Point","coordinates":[181,0]}}}}}`,
	`{"query":{"geo_shape":{"at":{"shape":{"type":"Point","coordinates":[14,50]}}}}}`, `{"query":{"geo_shape":{"nothing":{"shape":{"type":"Point","coordinates":[14,50]}}}}}`,
	`{"query":{"geo_shape":{"area":{}}}}`, `{"query":{"geo_shape":{"area":{"shape":{"type":"Point"}}}}}`, `{"query":{"geo_shape":{"area":{"shape":7}}}}`,
	`{"query":{"geo_shape":{"area":{"relation":"within","shape":{"type":"Point","coordinates":[14,50]}}}}}`,
	`{"query":{"function_score":{"field_value_factor":{"field":"n","missing":1}}}}`, `{"query":{"function_score":{"field_value_factor":{"field":"i","modifier":"log1p","missing":3,"factor":1.5}}}}`,
	`{"query":{"function_score":{"query":{"term":{"tags":"a"}},"field_value_factor":{"field":"n","modifier":"SQRT"}}}}`, `{"query":{"function_score":{"field_value_factor":{"field":"n"}}}}`,
	`{"query":{"function_score":{"query":{"term":{"flag":true}},"functions":[{"filter":{"match_all":{"boost":1}},"field_value_factor":{"field":"n","factor":1,"modifier":"square"}}],"score_mode":"multiply","boost_mode":"multiply","max_boost":3.4028235E38,"boost":1}}}`,
	`{"query":{"function_score":{"query":{"term":{"flag":true}},"field_value_factor":{"field":"n","modifier":"reciprocal"}}}}`,
	`{"query":{"function_score":{"query":{"term":{"flag":true}},"field_value_factor":{"field":"n","modifier":"ln"}}}}`,
	`{"query":{"function_score":{"query":{"term":{"flag":true}},"field_value_factor":{"field":"n","modifier":"ln1p"}}}}`,
	`{"query":{"function_score":{"query":{"term":{"flag":true}},"field_value_factor":{"field":"n","modifier":"log2p"}}}}`,
	`{"query":{"function_score":{"query":{"term":{"flag":true}},"field_value_factor":{"field":"n","modifier":"log"}}}}`,
	`{"query":{"function_score":{"query":{"term":{"flag":true}},"field_value_factor":{"field":"n","modifier":"none"}}}}`,
	`{"query":{"function_score":{"field_value_factor":{"field":"n","modifier":"ln","missing":0.5}}}}`, `{"query":{"function_score":{"field_value_factor":{"field":"n","modifier":"cube"}}}}`,
	`{"query":{"function_score":{"field_value_factor":{"field":"unmapped","missing":2}}}}`, `{"query":{"function_score":{"field_value_factor":{"field":"unmapped"}}}}`,
	`{"query":{"function_score":{"field_value_factor":{"field":"tags","missing":2}}}}`, `{"query":{"function_score":{}}}`, `{"query":{"function_score":{"functions":[]}}}`,
	`{"query":{"function_score":{"boost_mode":"sum","field_value_factor":{"field":"n","missing":1}}}}`, `{"query":{"function_score":{"functions":[{"filter":{"term":{"n":1}},"field_value_factor":{"field":"n","missing":1}}]}}}`,
	`{"query":{"multi_match":{"query":"nová v","type":"bool_prefix","fields":["name.s","name.s._2gram^2","name.s._3gram","name.s._4gram^0.5"]}}}`,
	`{"query":{"multi_match":{"query":"nova ves","type":"bool_prefix","fields":"name.f"}}}`, `{"query":{"multi_match":{"query":"Nov","type":"bool_prefix","fields":["name.b"]}}}`,
	`{"query":{"multi_match":{"query":"nov","type":"bool_prefix","fields":["name.b"]}}}`, `{"query":{"multi_match":{"query":"Nová Ves","type":"bool_prefix","fields":["name.b._2gram"]}}}`,
	`{"query":{"multi_match":{"query":"ves nová ves","type":"bool_prefix","fields":["all","all._2gram","all._3gram"]}}}`, `{"query":{"multi_match":{"query":"jiného ","type":"bool_prefix","fields":["all^3"]}}}`,
	`{"query":{"multi_match":{"query":12,"type":"bool_prefix","fields":["name.s"]}}}`, `{"query":{"multi_match":{"query":true,"type":"bool_prefix","fields":["name.s"]}}}`,
	`{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["name.stem"]}}}`, `{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["name.b._3gram"]}}}`,
	`{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["nothing","name.s"]}}}`, `{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["tags"]}}}`,
	`{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["name.s","name.s"]}}}`, `{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["name.*"]}}}`,
	`{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["name.s^x"]}}}`, `{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":[]}}}`,
	`{"query":{"multi_match":{"query":null,"type":"bool_prefix","fields":["name.s"]}}}`, `{"query":{"multi_match":{"query":"n","fields":["name.s"]}}}`,
	`{"query":{"multi_match":{"query":"ves n","type":"bool_prefix","fields":["name.s"],"operator":"OR","slop":0,"prefix_length":0,"max_expansions":50,"zero_terms_query":"NONE","tie_breaker":1.0,"lenient":false,"boost":1.0,"fuzzy_transpositions":true,"auto_generate_synonyms_phrase_query":true}}}`,
	`{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["name.s"],"operator":"and"}}}`, `{"query":{"multi_match":{"query":"n","type":"bool_prefix","fields":["name.s"],"fuzziness":1}}}`,
	`{"sort":["tags"]}`, `{"sort":[{"tags":"desc"},"_doc"]}`, `{"sort":{"n":"asc"}}`, `{"sort":{"n":{"order":"desc"}}}`, `{"sort":{"flag":"asc","n":"desc"}}`, `{"sort":"deep.er"}`, `{"sort":[{"i":{"order":"ASC","missing":"_last","unmapped_type":"long","mode":"min"}}]}`,
	`{"sort":["_score","_doc"],"query":{"term":{"tags":"b"}}}`, `{"sort":[{"_score":"asc"},{"n":"asc"}],"query":{"term":{"tags":"b"}}}`, `{"sort":["_doc"],"track_scores":true}`, `{"sort":[{"_doc":"desc"}]}`,
	`{"sort":["name"]}`, `{"sort":["name.s"]}`, `{"sort":["when"]}`, `{"sort":["nothing"]}`, `{"sort":[{"n":{"missing":"_first"}}]}`, `{"sort":[{"n":{"order":"up"}}]}`, `{"sort":[7]}`, `{"sort":[]}`,
	`{"sort":{"_geo_distance":{"at":{"lat":50,"lon":14}}}}`, `{"sort":{"_geo_distance":{"at":[14,50],"unit":"km","order":"desc"}}}`, `{"sort":[{"_geo_distance":{"at":"50,14","unit":"m","distance_type":"arc","mode":"min","ignore_unmapped":false,"validation_method":"STRICT"}},"_doc"]}`,
	`{"sort":{"_geo_distance":{"at":[{"lat":50,"lon":14}]}},"size":3}`, `{"sort":{"_geo_distance":{"at":[[14,50],[15,50]]}}}`, `{"sort":{"_geo_distance":{"at":{"lat":95,"lon":14}}}}`, `{"sort":{"_geo_distance":{"at":{"lat":50}}}}`, `{"sort":{"_geo_distance":{"n":{"lat":50,"lon":14}}}}`,
	`{"sort":{"_geo_distance":{"at":{"lat":50,"lon":14},"unit":"mi"}}}`, `{"sort":{"_geo_distance":{}}}`, `{"sort":[{"_geo_distance":{"at":[14,50]}},{"n":"asc"}],"from":2,"size":3}`,
	`{"_source":false}`, `{"_source":true}`, `{"_source":"name"}`, `{"_source":["name","deep.er"]}`, `{"_source":{"includes":["deep.*","n*"],"excludes":"*.er"}}`, `{"_source":{"excludes":["at","unmapped.a"]}}`, `{"_source":[]}`, `{"_source":7}`, `{"_source":{"x":1}}`, `{"_source":["*"]}`, `{"_source":"a\"b.e"}`,
	`{"track_total_hits":false}`, `{"track_total_hits":3}`, `{"track_total_hits":true}`, `{"track_total_hits":-1}`, `{"track_total_hits":-2}`, `{"track_total_hits":"x"}`, `{"size":0}`, `{"from":6}`, `{"from":60,"size":10}`, `{"from":-1}`, `{"from":5000,"size":5001}`, `{"size":"x"}`,
	`{"timeout":"1s","explain":false,"version":false,"seq_no_primary_term":false,"profile":false}`, `{"explain":true}`, `{"aggs":{}}`, `{"query":{"term":{}}}`, `{"query":{"term":{"a":1,"b":2}}}`, `{"query":{"term":{"tags":["a"]}}}`, `{"query":{"term":{"tags":null}}}`,
	`{"query":{"term":{"flag":"maybe"}}}`, `{"query":{}}`, `{"query":[]}`, `{"query":{"a":{},"b":{}}}`, `{"query":{"match":{"name":"x"}}}`, `{"query":{"term":{"tags":{"value":"a","boost":-1}}}}`, `[]`, `x`, `{"query":`, `"a"`, ``,
}
