package embedded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// node is a parsed query. Its eval is in eval.go.
type node interface {
	eval(s *searcher) *matches
}

type (
	matchAll  struct{}
	termQuery struct {
		field *field
		term  string
	}
	boolQuery struct {
		must   node // nil: none
		filter []node
	}
	shapeQuery struct {
		field *field
		place place
	}
	scoreQuery struct { // function_score with one field_value_factor and modifier ln2p
		query   node
		field   *field
		missing float64
	}
	prefixQuery struct { // multi_match of type bool_prefix
		text   string
		fields []boosted
	}
	boosted struct {
		field *field
		n     int // tokens per term: 1, 2 for _2gram, 3 for _3gram
		boost float32
	}
)

// parser reads the body of a search of one index. After a mistake (err), its results are invalid.
type parser struct {
	ix      *index
	err     error
	clauses int
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *parser) refuse(format string, args ...any) { p.fail(unsupported(format, args...)) }

// decode reads raw into v; what names it in messages.
func (p *parser) decode(what string, raw json.RawMessage, v any) {
	if json.Unmarshal(raw, v) != nil {
		p.fail(badRequest("parsing_exception", "malformed %s: %s", what, shorten(string(raw))))
	}
}

// object is a JSON object that is read key by key, so keys that are not supported can be named.
type object struct {
	parser *parser
	path   string // its place, for messages: "query.bool"
	keys   map[string]json.RawMessage
}

func (p *parser) object(path string, raw json.RawMessage) object {
	o := object{parser: p, path: path}
	if p.decode(path, raw, &o.keys); o.keys == nil {
		p.fail(badRequest("parsing_exception", "%s must be an object", path))
	}
	return o
}

// take returns the value of a key and marks the key as read; nil if the key is missing.
func (o object) take(key string) json.RawMessage {
	v := o.keys[key]
	delete(o.keys, key)
	return v
}

func (o object) decode(key string, v any) {
	if raw := o.take(key); raw != nil {
		o.parser.decode(o.path+"."+key, raw, v)
	}
}

// defaults are options that clients write out with Elasticsearch's default value, or that have no
// meaning for these queries.
var defaults = map[string]string{
	"boost": "1", "adjust_pure_negative": "true", "should": "[]", "must_not": "[]", // bool and others
	"relation": "intersects", "ignore_unmapped": "false", // geo_shape
	"score_mode": "multiply", "boost_mode": "multiply", "max_boost": "3.4028235e38", "factor": "1", // function_score
	"operator": "or", "slop": "0", "prefix_length": "0", "max_expansions": "50", "zero_terms_query": "none",
	"lenient": "false", "fuzzy_transpositions": "true", "auto_generate_synonyms_phrase_query": "true", // multi_match
	"unit": "m", "distance_type": "arc", "mode": "min", "validation_method": "strict", // _geo_distance
	"missing": "_last", "from": "0", "timeout": "", "explain": "false", "version": "false", "profile": "false",
	"seq_no_primary_term": "false",
}

// isDefault reports whether a value changes nothing. "" among the defaults stands for any value.
func isDefault(key string, raw json.RawMessage) bool {
	want, ok := defaults[key]
	got := strings.ToLower(strings.Trim(strings.Join(strings.Fields(string(raw)), ""), `"`))
	number, err := strconv.ParseFloat(got, 64)
	other, _ := strconv.ParseFloat(want, 64)
	return ok && (want == "" || got == want || err == nil && number == other)
}

// only returns the only member that is not a default; what names it in messages.
func (o object) only(what string) (key string, raw json.RawMessage) {
	maps.DeleteFunc(o.keys, isDefault)
	if len(o.keys) != 1 {
		o.parser.refuse("%s with other than one %s: %s", o.path, what, shorten(fmt.Sprint(slices.Sorted(maps.Keys(o.keys)))))
	}
	for key, raw = range o.keys {
	}
	return key, raw
}

// end fails if keys are left that were not read and are not defaults.
func (o object) end() {
	for k, raw := range o.keys {
		if !isDefault(k, raw) {
			o.parser.refuse("%q in %s: %s", shorten(k), o.path, shorten(string(raw)))
		}
	}
}

const (
	maxClauses = 1024 // like Elasticsearch's indices.query.bool.max_clause_count
	maxText    = 2 * maxClauses
)

func (p *parser) query(path string, raw json.RawMessage) node {
	if p.clauses++; p.clauses > maxClauses {
		p.refuse("more than %d queries in one", maxClauses)
		return nil
	}
	name, body := p.object(path, raw).only("query")
	if p.err != nil {
		return nil
	}
	o := p.object(path+"."+name, body)
	switch name {
	case "match_all":
		o.end()
		return matchAll{}
	case "term":
		return p.term(o)
	case "bool":
		return p.boolean(o)
	case "geo_shape":
		return p.shape(o)
	case "function_score":
		return p.functionScore(o)
	case "multi_match":
		return p.multiMatch(o)
	}
	p.refuse("the query %q in %s", shorten(name), path)
	return nil
}

// field returns a mapped field of one of these kinds.
func (p *parser) field(path, use string, kinds ...kind) *field {
	f := p.ix.mapping.fields[path]
	switch {
	case f == nil:
		p.refuse("the field %q, which is not mapped", shorten(path))
	case f.kind == kindOther:
		p.refuse("%s, so the field %q cannot be queried", f.why, shorten(path))
	case !slices.Contains(kinds, f.kind):
		p.refuse("%s the field %q of such a type", use, shorten(path))
	}
	return f
}

// single returns a field with at most one value per document: of several, Elasticsearch picks one.
func (p *parser) single(path, use string, kinds ...kind) *field {
	f := p.field(path, use, kinds...)
	if c := p.ix.columns[f]; c != nil && c.several {
		p.refuse("%s the field %q, of which a document has several values", use, shorten(path))
	}
	return f
}

func (p *parser) term(o object) node {
	path, raw := o.only("field")
	if len(raw) > 0 && raw[0] == '{' {
		inner := p.object(o.path+"."+path, raw)
		raw = inner.take("value")
		inner.end()
	}
	f := p.field(path, "a term query on", kindKeyword, kindBoolean)
	text := strings.TrimSpace(string(raw))
	switch {
	case p.err != nil:
	case text == "" || text[0] == '[' || text[0] == '{' || text == "null":
		p.fail(badRequest("parsing_exception", "[term] query needs a value for [%s]", shorten(path)))
	case text[0] == '"':
		p.decode(o.path, raw, &text)
	}
	if p.err == nil && f.kind == kindBoolean && text != "true" && text != "false" {
		p.fail(badRequest("query_shard_exception",
			"Can't parse boolean value [%s], expected [true] or [false]", shorten(text)))
	}
	return termQuery{f, text}
}

func (p *parser) boolean(o object) node {
	must, filter := p.queries(o, "must"), p.queries(o, "filter")
	o.end()
	q := boolQuery{filter: filter}
	switch len(must) {
	case 0:
	case 1:
		q.must = must[0]
	default:
		p.refuse("%s.must with more than one query", o.path)
	}
	if len(must)+len(filter) == 0 {
		return matchAll{}
	}
	return q
}

// queries reads a query, or a list of them.
func (p *parser) queries(o object, key string) (nodes []node) {
	raw := o.take(key)
	if raw == nil {
		return nil
	}
	parts := []json.RawMessage{raw}
	if raw[0] == '[' {
		p.decode(o.path+"."+key, raw, &parts)
	}
	for _, part := range parts {
		nodes = append(nodes, p.query(o.path+"."+key, part))
	}
	return nodes
}

func (p *parser) shape(o object) node {
	path, raw := o.only("field")
	f := p.single(path, "geo_shape on", kindShape)
	if p.err != nil {
		return nil
	}
	inner := p.object(o.path+"."+path, raw)
	shapeRaw := inner.take("shape")
	inner.end()
	if p.err != nil || shapeRaw == nil {
		p.fail(badRequest("parsing_exception", "No shape defined in %s", inner.path))
		return nil
	}
	s, err := parseShape(shapeRaw, span{0, len(shapeRaw)})
	if err != nil {
		p.fail(badRequest("parsing_exception", "%s: %v", inner.path, err))
		return nil
	}
	if len(s.points) != 1 || len(s.polygons) != 0 {
		p.refuse("a geo_shape query by other than one point")
		return nil
	}
	return shapeQuery{f, s.points[0]}
}

func (p *parser) functionScore(o object) node {
	q := scoreQuery{query: matchAll{}}
	if raw := o.take("query"); raw != nil {
		q.query = p.query(o.path+".query", raw)
	}
	factor := o.take("field_value_factor")
	if raw := o.take("functions"); raw != nil {
		var list []json.RawMessage
		if p.decode(o.path+".functions", raw, &list); len(list) != 1 || factor != nil {
			p.refuse("%s with other than one function", o.path)
			return nil
		}
		function := p.object(o.path+".functions", list[0])
		factor = function.take("field_value_factor")
		if raw := function.take("filter"); raw != nil && p.query(function.path+".filter", raw) != node(matchAll{}) {
			p.refuse("a filter in %s", function.path)
		}
		function.end()
	}
	o.end()
	if p.err != nil || factor == nil {
		p.refuse("%s without field_value_factor", o.path)
		return nil
	}
	f := p.object(o.path+".field_value_factor", factor)
	var path, modifier string
	var missing *float64
	f.decode("field", &path)
	f.decode("modifier", &modifier)
	f.decode("missing", &missing)
	f.end()
	if !strings.EqualFold(modifier, "ln2p") || missing == nil || *missing < 0 {
		p.refuse("a field_value_factor without modifier ln2p or without a value for missing")
		return nil
	}
	q.missing = *missing
	q.field = p.single(path, "field_value_factor on", kindLong)
	if c := p.ix.columns[q.field]; c != nil && c.negative {
		p.refuse("field_value_factor on %q, which has negative values", shorten(path))
	}
	return q
}

func (p *parser) multiMatch(o object) node {
	var q prefixQuery
	var kind string
	var text *string
	var names texts
	o.decode("query", &text)
	o.decode("type", &kind)
	o.decode("fields", &names)
	o.end()
	switch {
	case text == nil:
		p.refuse("multi_match without a text")
		return nil
	case kind != "bool_prefix":
		p.refuse("multi_match of type %q (only bool_prefix)", shorten(kind))
	case len(*text) > maxText:
		p.refuse("multi_match with a text of more than %d bytes", maxText)
	case len(names) == 0 || len(names) > maxClauses:
		p.refuse("multi_match without fields, or with more than %d", maxClauses)
	}
	q.text = *text
	for _, name := range names {
		b := p.boostedField(name)
		same := func(a boosted) bool { return a.field == b.field && a.n == b.n }
		if slices.ContainsFunc(q.fields, same) {
			p.refuse("multi_match with the field %q twice", shorten(name))
		}
		q.fields = append(q.fields, b)
	}
	return q
}

// boostedField reads "name.cs.autocomplete._2gram^8".
func (p *parser) boostedField(name string) boosted {
	path, factor, _ := strings.Cut(name, "^")
	boost, err := strconv.ParseFloat(cmp.Or(factor, "1"), 32)
	if err != nil || !(boost >= 0 && boost <= math.MaxFloat32) {
		p.fail(badRequest("parsing_exception", "malformed boost in %s", shorten(name)))
	}
	b := boosted{n: 1, boost: float32(boost)}
	for n := 2; n < len(shingleSuffix); n++ {
		if s, ok := strings.CutSuffix(path, shingleSuffix[n]); ok {
			path, b.n = s, n
		}
	}
	b.field = p.field(path, "multi_match on", kindSuggest)
	return b
}
