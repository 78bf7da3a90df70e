package embedded_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

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
