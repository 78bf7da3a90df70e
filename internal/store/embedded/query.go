package embedded

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// node is a parsed query. Its eval is in eval.go.
type node interface {
	eval(s *searcher) (*matches, error)
}

type (
	matchAll  struct{ boost float32 }
	matchNone struct{}
	termQuery struct {
		field *field
		term  string
		boost float32
	}
	boolQuery struct {
		must, filter []node
		boost        float32
	}
	shapeQuery struct {
		field *field
		place place
	}
	scoreQuery struct { // function_score with one field_value_factor
		query   node
		field   *field
		factor  float64
		apply   func(float64) float64
		name    string // of the modifier
		missing *float64
	}
	prefixQuery struct { // multi_match of type bool_prefix
		text   string
		fields []boosted
	}
	boosted struct {
		field *field
		n     int // tokens to a term: 1, or 2 and more for _2gram and so on
		boost float32
	}
)

// parser turns JSON into nodes, for the mapping of one index.
type parser struct {
	mapping *mapping
	clauses int
}

const maxClauses = 1024 // as Elasticsearch's indices.query.bool.max_clause_count

func (p *parser) query(path string, raw json.RawMessage) (node, error) {
	if p.clauses++; p.clauses > maxClauses {
		return nil, badRequest("too_many_clauses", "maxClauseCount is set to %d", maxClauses)
	}
	o, err := parseObject(path, raw)
	if err != nil {
		return nil, err
	}
	if len(o.keys) != 1 {
		return nil, badRequest("parsing_exception", "[%s] must hold exactly one query", path)
	}
	for name, body := range o.keys {
		inner, err := parseObject(path+"."+name, body)
		if err != nil {
			return nil, err
		}
		switch name {
		case "match_all":
			boost, err := inner.boost()
			return matchAll{boost}, errOr(err, inner.rest())
		case "match_none":
			inner.ignore("boost")
			return matchNone{}, inner.rest()
		case "term":
			return p.term(inner)
		case "bool":
			return p.boolean(inner)
		case "geo_shape":
			return p.shape(inner)
		case "function_score":
			return p.functionScore(inner)
		case "multi_match":
			return p.multiMatch(inner)
		}
		return nil, unsupported("the query %q in %s", shorten(name), path)
	}
	return nil, nil // not reached: there is one key
}

// boost reads the key boost.
func (o object) boost() (float32, error) {
	b := float64(1)
	if err := o.decode("boost", &b); err != nil {
		return 0, err
	}
	if !(b >= 0 && b <= math.MaxFloat32) {
		return 0, badRequest("parsing_exception", "negative or infinite boost in %s", o.path)
	}
	return float32(b), nil
}

// noBoost accepts a boost of 1 alone.
func (o object) noBoost() error { return o.expect("boost", "1", "1.0") }

// field finds a mapped field. It is nil without an error where the query can match nothing.
func (p *parser) field(path string) (*field, error) {
	f := p.mapping.fields[path]
	if f == nil {
		if p.mapping.dynamic == "true" {
			return nil, unsupported("the field %q, which is not mapped (and it maps nothing by itself)", shorten(path))
		}
		return nil, nil
	}
	if f.kind == kindOther {
		return nil, unsupported("%s, so the field %q cannot be queried", f.why, shorten(path))
	}
	return f, nil
}

func (p *parser) term(o object) (node, error) {
	if len(o.keys) != 1 {
		return nil, unsupported("%s on other than one field", o.path)
	}
	for path, raw := range o.keys {
		q := termQuery{boost: 1}
		if len(raw) > 0 && raw[0] == '{' {
			inner, err := parseObject(o.path+"."+path, raw)
			if err != nil {
				return nil, err
			}
			raw = inner.take("value")
			if q.boost, err = inner.boost(); err != nil {
				return nil, err
			}
			if err := inner.rest(); err != nil {
				return nil, err
			}
		}
		f, err := p.field(path)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return matchNone{}, nil
		}
		q.field = f
		q.term, err = termText(f, raw)
		if err != nil {
			return nil, err
		}
		return q, nil
	}
	return nil, nil
}

// termText is how a value stands in the index.
func termText(f *field, raw json.RawMessage) (string, error) {
	text := strings.TrimSpace(string(raw))
	if text == "" || text[0] == '[' || text[0] == '{' || text == "null" {
		return "", badRequest("parsing_exception", "[term] query needs a value for [%s]", shorten(f.path))
	}
	if text[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", badRequest("parsing_exception", "malformed value for [%s]", shorten(f.path))
		}
	}
	switch f.kind {
	case kindKeyword:
		return text, nil
	case kindBoolean:
		if text != "true" && text != "false" {
			return "", badRequest("query_shard_exception", "Can't parse boolean value [%s], expected [true] or [false]", shorten(text))
		}
		return text, nil
	case kindLong:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.FormatInt(n, 10), nil
		}
		return "", unsupported("the term %s for the long %q", shorten(text), shorten(f.path))
	}
	return "", unsupported("a term query on the field %q (only on keyword, boolean and long)", shorten(f.path))
}

func (p *parser) boolean(o object) (node, error) {
	var q boolQuery
	var err error
	if q.boost, err = o.boost(); err != nil {
		return nil, err
	}
	if q.must, err = p.list(o, "must"); err != nil {
		return nil, err
	}
	if q.filter, err = p.list(o, "filter"); err != nil {
		return nil, err
	}
	for _, empty := range []string{"should", "must_not"} { // clients write them even where they are empty
		if raw := o.take(empty); raw != nil && strings.Join(strings.Fields(string(raw)), "") != "[]" {
			return nil, unsupported("%q in %s", empty, o.path)
		}
	}
	o.ignore("adjust_pure_negative")
	if q.boost != 1 && len(q.must) > 0 {
		return nil, unsupported("a boost of %s", o.path)
	}
	return q, o.rest()
}

// list reads a query, or a list of them.
func (p *parser) list(o object, key string) ([]node, error) {
	raw := o.take(key)
	if raw == nil {
		return nil, nil
	}
	parts := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return nil, badRequest("parsing_exception", "malformed %s.%s", o.path, key)
		}
	}
	var nodes []node
	for _, part := range parts {
		n, err := p.query(o.path+"."+key, part)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

func (p *parser) shape(o object) (node, error) {
	if err := errOr(o.noBoost(), o.expect("ignore_unmapped", "false")); err != nil {
		return nil, err
	}
	if len(o.keys) != 1 {
		return nil, unsupported("%s on other than one field", o.path)
	}
	for path, raw := range o.keys {
		inner, err := parseObject(o.path+"."+path, raw)
		if err != nil {
			return nil, err
		}
		if err := inner.expect("relation", "intersects"); err != nil {
			return nil, err
		}
		shapeRaw := inner.take("shape")
		if err := inner.rest(); err != nil {
			return nil, err
		}
		if shapeRaw == nil {
			return nil, badRequest("parsing_exception", "No shape defined in %s", inner.path)
		}
		f, err := p.field(path)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return nil, badRequest("query_shard_exception", "failed to find geo_shape field [%s]", shorten(path))
		}
		if f.kind != kindShape {
			return nil, badRequest("query_shard_exception", "Field [%s] is not of type geo_shape", shorten(path))
		}
		s, err := parseShape(shapeRaw, span{skipSpace(shapeRaw, 0), len(shapeRaw)})
		if err != nil {
			return nil, badRequest("parsing_exception", "%s: %v", inner.path, err)
		}
		if len(s.points) != 1 || len(s.polygons) != 0 {
			return nil, unsupported("a geo_shape query by other than one point")
		}
		return shapeQuery{f, s.points[0]}, nil
	}
	return nil, nil
}

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

// boostedField reads "name.cs.autocomplete._2gram^8". A field that is not mapped is nil: Elasticsearch leaves it out.
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
