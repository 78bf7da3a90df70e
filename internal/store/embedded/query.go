package embedded

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// query is a search in one of the forms of read. Its zero value finds all documents.
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

// parseSearch reads a search. It must be, in each part, the one that has what was read of it.
func parseSearch(body []byte) (*query, error) {
	var search any
	if err := json.Unmarshal(body, &search); err != nil {
		return nil, badRequest("the search is not JSON: %v", err)
	}
	q := &query{size: 10}
	form := q.read(search)
	if size, ok := get(search, "size").(float64); ok {
		if size < 0 || size > maxSize || size != math.Trunc(size) {
			return nil, badRequest("search.size of %v: expected an integer from 0 to %d", size, maxSize)
		}
		q.size, form["size"] = int(size), size
	}
	if err := differs("search", form, search); err != nil {
		return nil, err
	}
	for at, p := range map[string]*point{"search.sort[0]._geo_distance.centroid": q.near, "geometry.shape.coordinates": q.at} {
		if p != nil {
			if err := p.check(); err != nil {
				return nil, badRequest("%s: %v", at, err)
			}
		}
	}
	return q, nil
}

// object and list are parts of a search, maybe one that may be missing.
type (
	object = map[string]any
	list   = []any
	maybe  struct{ of any }
)

// read fills in what a search says, and returns its whole form.
func (q *query) read(search any) object {
	featured := object{"term": object{"isFeatured": true}}
	form := object{"query": object{"match_all": object{}}}
	if get(search, "query", "term") != nil {
		q.featured, form["query"] = true, featured
	}
	sort, _ := get(search, "sort").([]any)
	switch {
	case get(search, "query", "function_score") != nil:
		form["query"] = object{"function_score": q.named(get(search, "query", "function_score"))}
	case len(sort) > 1:
		q.byCountry, form["sort"] = true, list{"countryIso", object{"population": "desc"}}
	case get(search, "sort", "_geo_distance") != nil:
		q.near = &point{}
		q.near.lon, _ = get(search, "sort", "_geo_distance", "centroid", "lon").(float64)
		q.near.lat, _ = get(search, "sort", "_geo_distance", "centroid", "lat").(float64)
		form["sort"] = list{object{"_geo_distance": object{
			"centroid": object{"lat": q.near.lat, "lon": q.near.lon}, "order": maybe{"asc"},
		}}}
	case get(search, "query", "bool") != nil:
		shape := get(search, "query", "bool", "filter", "geo_shape", "geometry", "shape")
		at, _ := get(shape, "coordinates").([]any)
		at = append(at, nil, nil)
		q.at = &point{}
		q.at.lon, _ = at[0].(float64)
		q.at.lat, _ = at[1].(float64)
		kind := get(shape, "type")
		if kind != "Point" {
			kind = "point"
		}
		filter := list{object{"geo_shape": object{"geometry": object{
			"shape":    object{"type": kind, "coordinates": list{q.at.lon, q.at.lat}},
			"relation": maybe{"intersects"},
		}}}}
		if all, _ := get(search, "query", "bool", "filter").([]any); len(all) > 1 {
			q.featured, filter = true, append(filter, featured)
		}
		form["query"] = object{"bool": object{"filter": filter}}
	}
	return form
}

// boosts belong to the exact and the folded names in the language of the query, then in all.
var boosts = [...]float64{8, 4, 2, 1}

// named reads a query by name. The first field names its language.
func (q *query) named(score any) object {
	match := get(score, "query", "bool", "must", "multi_match")
	if text, ok := get(match, "query").(string); ok && len(text) <= maxText {
		q.text = text
	}
	if fields, _ := get(match, "fields").([]any); len(fields) > 0 {
		first, _ := fields[0].(string)
		q.language, _ = strings.CutPrefix(strings.TrimSuffix(first, ".autocomplete^8"), "name.")
	}
	if q.language == "" || q.language == allNames {
		q.language = "*" // differs from what it has
	}
	var fields list
	for i, boost := range boosts {
		field := "name." + []string{q.language, allNames}[i/2] + ".autocomplete" + []string{"", "_ascii"}[i%2]
		for _, size := range []string{"", "._2gram", "._3gram"} {
			fields = append(fields, fmt.Sprintf("%s%s^%v", field, size, boost))
		}
	}
	filter := list{}
	if q.country, _ = get(score, "query", "bool", "filter", "term", "countryIso").(string); q.country != "" {
		filter = list{object{"term": object{"countryIso": q.country}}}
	}
	return object{
		"query": object{"bool": object{
			"must":   list{object{"multi_match": object{"query": q.text, "type": "bool_prefix", "fields": fields}}},
			"filter": maybe{filter},
		}},
		"functions": list{object{"field_value_factor": object{
			"field": "population", "modifier": "ln2p", "missing": float64(noPopulation),
		}}},
	}
}

// get returns a part of a search; of a list it looks into the first element. nil: it has none.
func get(v any, path ...string) any {
	for _, key := range path {
		if all, ok := v.([]any); ok && len(all) > 0 {
			v = all[0]
		}
		o, _ := v.(map[string]any)
		v = o[key]
	}
	return v
}

// differs returns an error that names the first part of a search that is not as in a form. A list of
// one element may be that element.
func differs(at string, form, v any) error {
	if m, ok := form.(maybe); ok {
		if v == nil {
			return nil
		}
		form = m.of
	}
	switch form := form.(type) {
	case object:
		o, ok := v.(map[string]any)
		if !ok {
			return refuse(at, v)
		}
		for _, key := range slices.Sorted(maps.Keys(o)) {
			if _, known := form[key]; !known {
				return refuse(at+"."+shorten(key), o[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(form)) {
			if err := differs(at+"."+key, form[key], o[key]); err != nil {
				return err
			}
		}
	case list:
		all, several := v.([]any)
		if !several {
			all = list{v}
		}
		if len(all) != len(form) {
			return refuse(at, v)
		}
		for i, e := range all {
			if err := differs(fmt.Sprintf("%s[%d]", at, i), form[i], e); err != nil {
				return err
			}
		}
	default:
		if form != v {
			return refuse(at, v)
		}
	}
	return nil
}

func refuse(at string, v any) error {
	if v == nil {
		return unsupported("a search without %s", at)
	}
	text, _ := json.Marshal(v) // it was JSON
	return unsupported("%s: %s", at, shorten(string(text)))
}
