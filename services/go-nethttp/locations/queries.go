package locations

// object is a JSON object of a query.
type object = map[string]any

const (
	maxFeatured = 1000 // far more than there are
	maxFound    = 10
)

var isFeatured = object{"term": object{"isFeatured": true}}

// featuredQuery finds all featured cities, by country code and within a country by population.
func featuredQuery() object {
	return object{
		"query": isFeatured,
		"sort":  []any{"countryIso", object{"population": "desc"}},
		"size":  maxFeatured,
	}
}

// containingQuery finds the city whose geometry contains the point.
func containingQuery(at point, featured bool) object {
	shape := object{"type": "point", "coordinates": []float64{at.Lon, at.Lat}} // GeoJSON: longitude first
	filter := []any{object{"geo_shape": object{"geometry": object{"shape": shape, "relation": "intersects"}}}}
	if featured {
		filter = append(filter, isFeatured)
	}
	return object{"query": object{"bool": object{"filter": filter}}, "size": 1}
}

// nearestQuery finds the city with the nearest centroid.
func nearestQuery(at point, featured bool) object {
	query := object{"match_all": object{}}
	if featured {
		query = isFeatured
	}
	sort := []any{object{"_geo_distance": object{"centroid": at, "order": "asc"}}}
	return object{"query": query, "sort": sort, "size": 1}
}

// searchQuery finds cities by the beginning of their names. The exact spelling in the language of the request counts most,
// then the same without diacritics, then names in any language; large cities come before small ones of the same name.
func searchQuery(text string, l language, countryISO string) object {
	name := "name." + l.code()
	var fields []string
	for _, f := range []struct{ field, boost string }{
		{name + ".autocomplete", "^8"},
		{name + ".autocomplete_ascii", "^4"},
		{"name.all.autocomplete", "^2"},
		{"name.all.autocomplete_ascii", "^1"},
	} {
		fields = append(fields, f.field+f.boost, f.field+"._2gram"+f.boost, f.field+"._3gram"+f.boost)
	}
	query := object{"must": []any{object{"multi_match": object{"query": text, "type": "bool_prefix", "fields": fields}}}}
	if countryISO != "" {
		query["filter"] = []any{object{"term": object{"countryIso": countryISO}}}
	}
	return object{
		"query": object{"function_score": object{
			"query":     object{"bool": query},
			"functions": []any{object{"field_value_factor": object{"field": "population", "modifier": "ln2p", "missing": 500}}},
		}},
		"size": maxFound,
	}
}
