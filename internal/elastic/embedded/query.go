package embedded

import (
	"encoding/json"
	"math"
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
