package embedded_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// questions are requests over the bundled data, in the forms in which the contenders send them.
func questions(cities []city) (list []question) {
	r := rand.New(rand.NewPCG(1, 2))
	drawn := func() city { return cities[r.IntN(len(cities))] }
	byID := func(kind, index string, id any, query string) {
		list = append(list, question{kind, fmt.Sprintf("/%s/_source/%v%s", index, id, query), ""})
	}
	add := func(kind, format string, args ...any) {
		list = append(list, question{kind, "/city/_search" + excludes, fmt.Sprintf(format, args...)})
	}
	for range 120 {
		byID("by id", "city", drawn().ID, excludes)
	}
	for _, c := range cities[:6] {
		byID("by id, whole", "city", c.ID, "")
	}
	for _, id := range []string{"1", "0", "-5", "abc", "99999999999999999999", "%20", "a%2Fb", "20352"} {
		byID("by id, missing", "city", id, excludes)
	}
	byID("by id", "region", 20352, excludes)
	byID("by id, missing", "nothing", 1, excludes)
	add("featured", `{"query":%s,"sort":["countryIso",{"population":"desc"}],"size":1000}`, featured)

	shape := func(kind, filter string, lon, lat float64, size int) {
		add(kind, `{"query":{"bool":{"filter":[{"geo_shape":{"geometry":{"shape":{"type":"point","coordinates":[%v,%v]},`+
			`"relation":"intersects"}}}%s]}},"size":%d}`, lon, lat, filter, size)
	}
	nearest := func(kind, filter string, lon, lat float64, size int) {
		add(kind, `{"query":%s,"sort":[{"_geo_distance":{"centroid":{"lat":%v,"lon":%v},"order":"asc"}}],"size":%d}`,
			filter, lat, lon, size)
	}
	for range 150 {
		c := drawn()
		shape("in a shape", "", c.Centroid.Lon+(r.Float64()-0.5)*0.05, c.Centroid.Lat+(r.Float64()-0.5)*0.05, 1+r.IntN(2)*49)
		ring := c.Geometry.Coordinates[0]
		v := ring[r.IntN(len(ring))]
		shape("at a vertex", "", v[0], v[1], 50)
		shape("anywhere", "", 5+r.Float64()*20, 45+r.Float64()*11, 10)
	}
	for range 60 {
		lon, lat := 5+r.Float64()*20, 45+r.Float64()*11
		nearest("nearest", all, lon, lat, 1)
		nearest("nearest", all, r.Float64()*360-180, r.Float64()*180-90, 5)
		nearest("nearest featured", featured, lon, lat, 20)
		shape("in a shape, featured", ","+featured, lon, lat, 1)
	}
	nearest("nearest", all, 180, 90, 3)
	nearest("nearest", all, -180, -90, 3)

	for _, s := range searches(cities, r) {
		add(s.kind, "%s", s.body)
	}
	for i := range 40 { // the first hits of one order, with its ties
		add("page", "%s", searchBody("nov", "cs", "", i*7))
		nearest("page", all, 16.6, 49.2, i*7)
	}
	return list
}

const (
	excludes = "?_source_excludes=geometry,population"
	all      = `{"match_all":{}}`
	featured = `{"term":{"isFeatured":true}}`
)

// searches returns texts as users type them: full names and parts, with and without diacritics,
// several words in any order.
func searches(cities []city, r *rand.Rand) (list []question) {
	languages := []string{"cs", "de", "en", "pl", "sk"}
	add := func(kind, text string) {
		language := languages[r.IntN(len(languages))]
		list = append(list, question{kind: kind, body: searchBody(text, language, "", 10)})
		if r.IntN(3) == 0 {
			country := []string{"CZ", "DE", "AT", "PL", "SK", "XX"}[r.IntN(6)]
			list = append(list, question{kind: kind + ", in a country", body: searchBody(text, language, country, 10)})
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
			list = append(list, question{kind: "search odd", body: searchBody(text, language, "", 10)})
		}
	}
	for _, text := range []string{ // of other languages and scripts, and signs
		"Москва", "москва река", "Αθήνα", "ΑΘΗΝΑ ΟΔΟΣ", "ירושלים", "القاهرة", "กรุงเทพ", "서울 시", "とうきょう", "トーキョー", "東京 都", "🙂", "🙂 praha", "praha 🙂", "Praha\u0301", "Ｐｒａｈａ",
		"ﬁn", "Œuvre", "Þing", "Đakovo", "ıİ", "1.5 2,000 3'4", "1.5.", "a.b.c", "foo_bar", "_", "__x", "x:y", "l·l", "don’t", "„Berlin“", "Wien\u00a0", "Wien\u00ad", "Wi\u00aden", "a\u200bb", "a\u200db", "praha\n", "\tpraha", "PRAHA-VÝCHOD",
		"Å Å Ω", "ǅungla", "½ kg", "2²", "ª º", "№ 5", "bad/halle", "bad (sachsen)", "c++", "a&b", "12a", "a12", "1a2b", "x.", ".x", "é́", "ffl ﬄ", "🇨🇿 praha", "👨‍👩‍👧", "#1", "©", "ß", "ẞ", "ŉ", "ᵃ", "ⓐⓑ", "(1)", "⑴",
		"\xff\xfe", "a\xffb", "nad ", "nad", "u", "ú", "Ú", "st", "sta", "star", "stará", "New", "new york", "frankfurt", "Frankfurt am Main", "Sankt Pölten", "sankt polten land", "mün", "mun", "Żory", "zory", "ž", "z", "Z",
	} {
		for _, language := range []string{"cs", "de"} {
			list = append(list, question{kind: "text", body: searchBody(text, language, "", 10)})
		}
		list = append(list, question{kind: "text, in a country", body: searchBody(text, "pl", "PL", 10)})
	}
	return list
}

// plain removes the diacritics, like a user without the keyboard.
func plain(s string) string {
	return strings.NewReplacer("á", "a", "č", "c", "ď", "d", "é", "e", "ě", "e", "í", "i", "ň", "n", "ó", "o", "ř", "r", "š", "s", "ť", "t", "ú", "u", "ů", "u", "ý", "y", "ž", "z",
		"ä", "a", "ö", "o", "ü", "u", "ß", "ss", "ł", "l", "ą", "a", "ę", "e", "ś", "s", "ć", "c", "ź", "z", "ż", "z", "ń", "n", "ľ", "l", "ĺ", "l", "ŕ", "r", "ô", "o",
		"Č", "C", "Ď", "D", "Ř", "R", "Š", "S", "Ť", "T", "Ú", "U", "Ž", "Z", "Ł", "L", "Ś", "S", "Ź", "Z", "Ż", "Z", "Ö", "O", "Ü", "U", "Ľ", "L").Replace(s)
}

// question is one request. Those without a body are GET.
type question struct {
	kind, path, body string
}

// searchBody returns the query of the specification.
func searchBody(text, language, country string, size int) string {
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
		`"functions":[{"field_value_factor":{"field":"population","modifier":"ln2p","missing":500}}]}},"size":%d}`, quoted, strings.Join(fields, ","), filter, size)
}
