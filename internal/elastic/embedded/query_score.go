package embedded

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// This file parses the queries whose scores matter: function_score and multi_match.

func (p *parser) functionScore(o object) (node, error) {
	err := errOr(o.expect("score_mode", "multiply"), o.expect("boost_mode", "multiply"), o.expect("max_boost", "3.4028235E38", "3.4028235e+38"), o.noBoost())
	if err != nil {
		return nil, err
	}
	q := scoreQuery{query: matchAll{1}}
	if raw := o.take("query"); raw != nil {
		if q.query, err = p.query(o.path+".query", raw); err != nil {
			return nil, err
		}
	}
	factor := o.take("field_value_factor")
	if raw := o.take("functions"); raw != nil {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) != 1 || factor != nil {
			return nil, unsupported("%s with other than one function", o.path)
		}
		function, err := parseObject(o.path+".functions", list[0])
		if err != nil {
			return nil, err
		}
		factor = function.take("field_value_factor")
		if raw := function.take("filter"); raw != nil {
			n, err := p.query(function.path+".filter", raw)
			if err != nil {
				return nil, err
			}
			if _, ok := n.(matchAll); !ok {
				return nil, unsupported("a filter in %s", function.path)
			}
		}
		if err := function.rest(); err != nil {
			return nil, err
		}
	}
	if factor == nil {
		return nil, unsupported("%s without field_value_factor", o.path)
	}
	return p.valueFactor(o, q, factor)
}

func (p *parser) valueFactor(o object, q scoreQuery, raw json.RawMessage) (node, error) {
	f, err := parseObject(o.path+".field_value_factor", raw)
	if err != nil {
		return nil, err
	}
	q.factor = 1
	var path string
	if err := errOr(f.decode("field", &path), f.decode("factor", &q.factor), f.decode("missing", &q.missing), f.decode("modifier", &q.name)); err != nil {
		return nil, err
	}
	q.name = strings.ToLower(q.name)
	if q.apply = modifier(q.name); q.apply == nil {
		return nil, badRequest("illegal_argument_exception", "unknown modifier %s", shorten(q.name))
	}
	if q.field, err = p.field(path); err != nil {
		return nil, err
	}
	if q.field == nil && q.missing == nil {
		return nil, badRequest("query_shard_exception", "Unable to find a field mapper for field [%s]. No 'missing' value defined.", shorten(path))
	}
	if q.field != nil && q.field.kind != kindLong {
		return nil, unsupported("field_value_factor on %q (only on a long)", shorten(path))
	}
	return q, errOr(f.rest(), o.rest())
}

func (p *parser) multiMatch(o object) (node, error) {
	var q prefixQuery
	raw := o.take("query")
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null" {
		return nil, badRequest("parsing_exception", "No text specified for multi_match query")
	}
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &q.text); err != nil {
			return nil, badRequest("parsing_exception", "malformed text of multi_match")
		}
	} else {
		q.text = string(raw)
	}
	var kind string
	if err := o.decode("type", &kind); err != nil {
		return nil, err
	}
	if kind != "bool_prefix" {
		return nil, unsupported("multi_match of type %q (only bool_prefix)", shorten(kind))
	}
	// What clients write out though it is the default, or has no meaning for such a query.
	err := errOr(o.expect("operator", "or"), o.expect("slop", "0"), o.expect("prefix_length", "0"), o.expect("max_expansions", "50"),
		o.expect("zero_terms_query", "none"), o.expect("tie_breaker", "1", "1.0"), o.expect("lenient", "false"), o.noBoost())
	if err != nil {
		return nil, err
	}
	o.ignore("fuzzy_transpositions", "auto_generate_synonyms_phrase_query")
	var names []string
	if raw := o.take("fields"); raw != nil {
		if names, err = stringOrList("fields", raw); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 || len(names) > maxClauses {
		return nil, unsupported("multi_match without fields, or with more than %d", maxClauses)
	}
	var seen []string
	for _, name := range names {
		b, path, err := p.boostedField(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(seen, path) {
			return nil, unsupported("multi_match with the field %q twice", shorten(path))
		}
		seen = append(seen, path)
		if b.field != nil {
			q.fields = append(q.fields, b)
		}
	}
	return q, o.rest()
}

// boostedField reads "name.cs.autocomplete._2gram^8". A field that is not mapped is nil:
// Elasticsearch leaves it out.
func (p *parser) boostedField(name string) (b boosted, path string, err error) {
	b = boosted{n: 1, boost: 1}
	path, boost, ok := strings.Cut(name, "^")
	if ok {
		v, err := strconv.ParseFloat(boost, 32)
		if err != nil || !(v >= 0 && v <= math.MaxFloat32) {
			return b, path, badRequest("parsing_exception", "malformed boost in %s", shorten(name))
		}
		b.boost = float32(v)
	}
	if strings.Contains(path, "*") {
		return b, path, unsupported("a pattern of field names (%s)", shorten(path))
	}
	base := path
	for n := 2; n < len(shingleSuffix); n++ {
		if s, ok := strings.CutSuffix(path, shingleSuffix[n]); ok {
			base, b.n = s, n
		}
	}
	f, err := p.field(base)
	switch {
	case err != nil || f == nil:
		return b, path, err
	case f.kind != kindSuggest:
		return b, path, unsupported("multi_match on %q (only on search_as_you_type)", shorten(path))
	case b.n > f.shingles:
		return b, path, unsupported("the field %q: its longest shingle is %s", shorten(path), fmt.Sprint(f.shingles))
	}
	b.field = f
	return b, path, nil
}
