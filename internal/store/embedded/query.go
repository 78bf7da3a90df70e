package embedded

import (
	"encoding/json"
	"math"
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

// parser turns JSON into nodes, for the mapping of one index. After a mistake they are worth nothing.
type parser struct {
	*mistake
	mapping *mapping
	clauses int
}

const maxClauses = 1024 // as Elasticsearch's indices.query.bool.max_clause_count

func (p *parser) query(path string, raw json.RawMessage) node {
	if p.clauses++; p.clauses > maxClauses {
		p.fail(badRequest("too_many_clauses", "maxClauseCount is set to %d", maxClauses))
	}
	o := p.object(path, raw)
	if len(o.keys) != 1 {
		p.fail(badRequest("parsing_exception", "[%s] must hold exactly one query", path))
	}
	name, body := o.single("")
	inner := p.object(path+"."+name, body)
	var n node
	switch name {
	case "match_all":
		n = matchAll{inner.boost()}
	case "match_none":
		inner.ignore("boost")
		n = matchNone{}
	case "term":
		return p.term(inner)
	case "bool":
		n = p.boolean(inner)
	case "geo_shape":
		return p.shape(inner)
	case "function_score":
		n = p.functionScore(inner)
	case "multi_match":
		n = p.multiMatch(inner)
	default:
		p.fail(unsupported("the query %q in %s", shorten(name), path))
	}
	inner.rest()
	return n
}

func (o object) boost() float32 {
	b := float64(1)
	o.decode("boost", &b)
	if !(b >= 0 && b <= math.MaxFloat32) {
		o.fail(badRequest("parsing_exception", "negative or infinite boost in %s", o.path))
	}
	return float32(b)
}

// noBoost accepts a boost of 1 alone.
func (o object) noBoost() { o.expect("boost", "1", "1.0") }

// field finds a mapped field. It is nil without a mistake where the query can match nothing.
func (p *parser) field(path string) *field {
	f := p.mapping.fields[path]
	switch {
	case f == nil && p.mapping.dynamic == "true":
		p.fail(unsupported("the field %q, which is not mapped (and it maps nothing by itself)", shorten(path)))
	case f != nil && f.kind == kindOther:
		p.fail(unsupported("%s, so the field %q cannot be queried", f.why, shorten(path)))
	}
	return f
}

func (p *parser) term(o object) node {
	path, raw := o.single(o.path + " on other than one field")
	boost := float32(1)
	if len(raw) > 0 && raw[0] == '{' {
		inner := o.object(o.path+"."+path, raw)
		raw = inner.take("value")
		boost = inner.boost()
		inner.rest()
	}
	f := p.field(path)
	if f == nil {
		return matchNone{}
	}
	return termQuery{f, p.termText(f, raw), boost}
}

// termText is how a value stands in the index.
func (p *parser) termText(f *field, raw json.RawMessage) string {
	text := strings.TrimSpace(string(raw))
	if text == "" || text[0] == '[' || text[0] == '{' || text == "null" {
		p.fail(badRequest("parsing_exception", "[term] query needs a value for [%s]", shorten(f.path)))
	} else if text[0] == '"' && json.Unmarshal(raw, &text) != nil {
		p.fail(badRequest("parsing_exception", "malformed value for [%s]", shorten(f.path)))
	}
	switch f.kind {
	case kindKeyword:
	case kindBoolean:
		if text != "true" && text != "false" {
			p.fail(badRequest("query_shard_exception",
				"Can't parse boolean value [%s], expected [true] or [false]", shorten(text)))
		}
	default:
		p.fail(unsupported("a term query on the field %q (only on keyword and boolean)", shorten(f.path)))
	}
	return text
}

func (p *parser) boolean(o object) node {
	q := boolQuery{must: p.list(o, "must"), filter: p.list(o, "filter")}
	o.noBoost()
	for _, empty := range []string{"should", "must_not"} { // clients write them even where they are empty
		if raw := o.take(empty); raw != nil && strings.Join(strings.Fields(string(raw)), "") != "[]" {
			p.fail(unsupported("%q in %s", empty, o.path))
		}
	}
	o.ignore("adjust_pure_negative")
	return q
}

// list reads a query, or a list of them.
func (p *parser) list(o object, key string) (nodes []node) {
	raw := o.take(key)
	if raw == nil {
		return nil
	}
	parts := []json.RawMessage{raw}
	if raw[0] == '[' && json.Unmarshal(raw, &parts) != nil {
		p.fail(badRequest("parsing_exception", "malformed %s.%s", o.path, key))
	}
	for _, part := range parts {
		nodes = append(nodes, p.query(o.path+"."+key, part))
	}
	return nodes
}

func (p *parser) shape(o object) node {
	o.noBoost()
	o.expect("ignore_unmapped", "false")
	path, raw := o.single(o.path + " on other than one field")
	inner := o.object(o.path+"."+path, raw)
	inner.expect("relation", "intersects")
	shapeRaw := inner.take("shape")
	inner.rest()
	if shapeRaw == nil {
		p.fail(badRequest("parsing_exception", "No shape defined in %s", inner.path))
		return nil
	}
	f := p.field(path)
	if f == nil {
		p.fail(badRequest("query_shard_exception", "failed to find geo_shape field [%s]", shorten(path)))
	} else if f.kind != kindShape {
		p.fail(badRequest("query_shard_exception", "Field [%s] is not of type geo_shape", shorten(path)))
	}
	s, err := parseShape(shapeRaw, span{0, len(shapeRaw)})
	if err != nil {
		p.fail(badRequest("parsing_exception", "%s: %v", inner.path, err))
		return nil
	}
	if len(s.points) != 1 || len(s.polygons) != 0 {
		p.fail(unsupported("a geo_shape query by other than one point"))
		return nil
	}
	return shapeQuery{f, s.points[0]}
}
