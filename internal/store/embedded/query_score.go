package embedded

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// This file parses the queries whose scores matter: function_score and multi_match.

func (p *parser) functionScore(o object) node {
	o.expect("score_mode", "multiply")
	o.expect("boost_mode", "multiply")
	o.expect("max_boost", "3.4028235E38", "3.4028235e+38")
	o.noBoost()
	q := scoreQuery{query: matchAll{1}, factor: 1}
	if raw := o.take("query"); raw != nil {
		q.query = p.query(o.path+".query", raw)
	}
	factor := o.take("field_value_factor")
	if raw := o.take("functions"); raw != nil {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) != 1 || factor != nil {
			p.fail(unsupported("%s with other than one function", o.path))
			return nil
		}
		function := o.object(o.path+".functions", list[0])
		factor = function.take("field_value_factor")
		if raw := function.take("filter"); raw != nil {
			if _, ok := p.query(function.path+".filter", raw).(matchAll); !ok {
				p.fail(unsupported("a filter in %s", function.path))
			}
		}
		function.rest()
	}
	if factor == nil {
		p.fail(unsupported("%s without field_value_factor", o.path))
	}
	f := o.object(o.path+".field_value_factor", factor)
	var path, name string
	f.decode("field", &path)
	f.decode("factor", &q.factor)
	f.decode("missing", &q.missing)
	f.decode("modifier", &name)
	name = strings.ToLower(name)
	if q.apply = modifiers[name]; q.apply == nil {
		p.fail(badRequest("illegal_argument_exception", "unknown modifier %s", shorten(name)))
	}
	q.field = p.field(path)
	if q.field == nil && q.missing == nil {
		p.fail(badRequest("query_shard_exception",
			"Unable to find a field mapper for field [%s]. No 'missing' value defined.", shorten(path)))
	}
	if q.field != nil && q.field.kind != kindLong {
		p.fail(unsupported("field_value_factor on %q (only on a long)", shorten(path)))
	}
	f.rest()
	return q
}

func (p *parser) multiMatch(o object) node {
	var q prefixQuery
	raw := o.take("query")
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null" {
		p.fail(badRequest("parsing_exception", "No text specified for multi_match query"))
	} else if raw[0] != '"' {
		q.text = string(raw)
	} else if json.Unmarshal(raw, &q.text) != nil {
		p.fail(badRequest("parsing_exception", "malformed text of multi_match"))
	}
	var kind string
	if o.decode("type", &kind); kind != "bool_prefix" {
		p.fail(unsupported("multi_match of type %q (only bool_prefix)", shorten(kind)))
	}
	// What clients write out though it is the default, or has no meaning for such a query.
	for _, d := range [...][]string{{"operator", "or"}, {"slop", "0"}, {"prefix_length", "0"}, {"max_expansions", "50"},
		{"zero_terms_query", "none"}, {"tie_breaker", "1", "1.0"}, {"lenient", "false"}} {
		o.expect(d[0], d[1:]...)
	}
	o.noBoost()
	o.ignore("fuzzy_transpositions", "auto_generate_synonyms_phrase_query")
	names := o.list("fields", "fields")
	if len(names) == 0 || len(names) > maxClauses {
		p.fail(unsupported("multi_match without fields, or with more than %d", maxClauses))
	}
	var seen []string
	for _, name := range names {
		b, path := p.boostedField(name)
		if slices.Contains(seen, path) {
			p.fail(unsupported("multi_match with the field %q twice", shorten(path)))
		}
		seen = append(seen, path)
		if b.field != nil {
			q.fields = append(q.fields, b)
		}
	}
	return q
}

// boostedField reads "name.cs.autocomplete._2gram^8"; nil if not mapped, which is left out.
func (p *parser) boostedField(name string) (b boosted, path string) {
	b = boosted{n: 1, boost: 1}
	path, boost, ok := strings.Cut(name, "^")
	if ok {
		v, err := strconv.ParseFloat(boost, 32)
		if err != nil || !(v >= 0 && v <= math.MaxFloat32) {
			p.fail(badRequest("parsing_exception", "malformed boost in %s", shorten(name)))
		}
		b.boost = float32(v)
	}
	if strings.Contains(path, "*") {
		p.fail(unsupported("a pattern of field names (%s)", shorten(path)))
	}
	base := path
	for n := 2; n < len(shingleSuffix); n++ {
		if s, ok := strings.CutSuffix(path, shingleSuffix[n]); ok {
			base, b.n = s, n
		}
	}
	b.field = p.field(base)
	switch {
	case b.field == nil:
	case b.field.kind != kindSuggest:
		p.fail(unsupported("multi_match on %q (only on search_as_you_type)", shorten(path)))
	}
	return b, path
}
