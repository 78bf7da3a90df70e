package embedded

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// query is a search in one of the forms of rules. Its zero value finds all documents.
type query struct {
	featured  bool   // only featured cities
	country   string // only cities of this country; "": of all
	at        *point // only cities whose geometry contains it; nil: all
	near      *point // order by the distance from it; nil: none
	byCountry bool   // order by country, then by population, largest first
	text      string // order by how well names match it
	language  string // of text; "": no text
	size      int
}

const (
	maxSize = 10_000 // like Elasticsearch's index.max_result_window
	maxText = 2048   // bytes
)

func parseSearch(body []byte) (*query, error) {
	var search any
	if err := json.Unmarshal(body, &search); err != nil {
		return nil, badRequest("the search is not JSON: %v", err)
	}
	q := &query{size: 10}
	if err := q.rules()("search", search); err != nil {
		return nil, err
	}
	if q.language != "" && (q.near != nil || q.byCountry) {
		return nil, unsupported("search.sort of a function_score")
	}
	return q, nil
}

// rules are the forms of a search.
func (q *query) rules() rule {
	featured := func(at string, v any) error {
		q.featured = true
		return is(true)(at, v)
	}
	term := either(map[string]rule{"isFeatured": featured, "countryIso": text(&q.country)})
	containing := object(map[string]rule{"geometry": object(map[string]rule{
		"shape": object(map[string]rule{
			"type": is("point", "Point"), "coordinates": position(&q.at, func(p *point) rule {
				return list(decimal(&p.lon), decimal(&p.lat))
			})}),
		"relation": optional(is("intersects")),
	})})
	named := object(map[string]rule{
		"query": object(map[string]rule{"bool": object(map[string]rule{
			"must": list(object(map[string]rule{"multi_match": object(map[string]rule{
				"query": text(&q.text), "type": is("bool_prefix"), "fields": q.fields,
			})})),
			"filter": optional(each(either(map[string]rule{"term": term}))),
		})}),
		"functions": list(object(map[string]rule{"field_value_factor": object(map[string]rule{
			"field": is("population"), "modifier": is("ln2p"), "missing": is(float64(noPopulation)),
		})})),
	})
	return object(map[string]rule{
		"query": either(map[string]rule{
			"match_all": object(nil), "term": term, "function_score": named,
			"bool": object(map[string]rule{"filter": each(either(map[string]rule{"term": term, "geo_shape": containing}))}),
		}),
		"sort": optional(q.sort),
		"size": optional(q.count),
	})
}

func (q *query) sort(at string, v any) error {
	distance := object(map[string]rule{"_geo_distance": object(map[string]rule{
		"centroid": position(&q.near, func(p *point) rule {
			return object(map[string]rule{"lat": decimal(&p.lat), "lon": decimal(&p.lon)})
		}),
		"order": optional(is("asc")),
	})})
	if keys, several := v.([]any); several && len(keys) > 1 {
		q.byCountry = true
		return list(is("countryIso"), object(map[string]rule{"population": is("desc")}))(at, v)
	}
	return list(distance)(at, v)
}

func (q *query) count(at string, v any) error {
	var size float64
	if err := decimal(&size)(at, v); err != nil {
		return err
	}
	if size < 0 || size > maxSize || size != math.Trunc(size) {
		return badRequest("%s of %v: expected an integer from 0 to %d", at, v, maxSize)
	}
	q.size = int(size)
	return nil
}

// boosts belong to the exact and the folded names in the language of the query, then in all.
var boosts = [...]float64{8, 4, 2, 1}

// fields reads the fields of a query by name, which name its language.
func (q *query) fields(at string, v any) error {
	fields, _ := v.([]any)
	if len(fields) > 0 {
		first, _ := fields[0].(string)
		q.language, _ = strings.CutPrefix(strings.TrimSuffix(first, ".autocomplete^8"), "name.")
	}
	if q.language == "" || q.language == allNames {
		return unsupported("%s other than those of names in one language", at)
	}
	var want []rule
	for i, boost := range boosts {
		field := "name." + []string{q.language, allNames}[i/2] + ".autocomplete" + []string{"", "_ascii"}[i%2]
		for _, size := range []string{"", "._2gram", "._3gram"} {
			want = append(want, is(fmt.Sprintf("%s%s^%v", field, size, boost)))
		}
	}
	return list(want...)(at, v)
}

// rule compares a part of a search with the form that it must have. The error names the place of
// the part. A missing part is nil.
type rule func(at string, v any) error

func refuse(at string, v any) error {
	if v == nil {
		return unsupported("a search without %s", at)
	}
	text, _ := json.Marshal(v) // it was JSON
	return unsupported("%s: %s", at, shorten(string(text)))
}

// object wants an object with these keys.
func object(keys map[string]rule) rule {
	return func(at string, v any) error {
		o, ok := v.(map[string]any)
		if !ok {
			return refuse(at, v)
		}
		for _, key := range slices.Sorted(maps.Keys(o)) {
			if keys[key] == nil {
				return refuse(at+"."+shorten(key), o[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if err := keys[key](at+"."+key, o[key]); err != nil {
				return err
			}
		}
		return nil
	}
}

// either wants an object with one of these keys.
func either(keys map[string]rule) rule {
	return func(at string, v any) error {
		o, _ := v.(map[string]any)
		if len(o) != 1 {
			return refuse(at, v)
		}
		for key := range o {
			return object(map[string]rule{key: keys[key]})(at, v)
		}
		return nil
	}
}

// each wants a list, or one element without the list around it.
func each(element rule) rule {
	return func(at string, v any) error {
		for i, e := range elements(v) {
			if err := element(fmt.Sprintf("%s[%d]", at, i), e); err != nil {
				return err
			}
		}
		return nil
	}
}

// list wants a list with these elements, or the only one without the list around it.
func list(wanted ...rule) rule {
	return func(at string, v any) error {
		all := elements(v)
		if len(all) != len(wanted) {
			return refuse(at, v)
		}
		for i, e := range all {
			if err := wanted[i](fmt.Sprintf("%s[%d]", at, i), e); err != nil {
				return err
			}
		}
		return nil
	}
}

func elements(v any) []any {
	if all, ok := v.([]any); ok {
		return all
	}
	return []any{v}
}

func optional(r rule) rule {
	return func(at string, v any) error {
		if v == nil {
			return nil
		}
		return r(at, v)
	}
}

// is wants one of these values.
func is(values ...any) rule {
	return func(at string, v any) error {
		if slices.Contains(values, v) {
			return nil
		}
		return refuse(at, v)
	}
}

// text wants a text that is there once.
func text(to *string) rule {
	return func(at string, v any) error {
		s, ok := v.(string)
		if !ok || *to != "" || len(s) > maxText {
			return refuse(at, v)
		}
		*to = s
		return nil
	}
}

func decimal(to *float64) rule {
	return func(at string, v any) error {
		n, ok := v.(float64)
		if !ok {
			return refuse(at, v)
		}
		*to = n
		return nil
	}
}

// position wants a point that is there once, in the form of read.
func position(to **point, read func(*point) rule) rule {
	return func(at string, v any) error {
		if *to != nil {
			return refuse(at, v)
		}
		*to = &point{}
		if err := read(*to)(at, v); err != nil {
			return err
		}
		if err := (*to).check(); err != nil {
			return badRequest("%s: %v", at, err)
		}
		return nil
	}
}
