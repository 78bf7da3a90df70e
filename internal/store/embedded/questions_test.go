package embedded_test

import (
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
