package embedded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

type request struct {
	query      node
	from, size int
	sort       []sortKey // empty: by score
	source     *sourceFilter
	track      int // total hits are counted up to it; -1: not reported
}

type sortKey struct {
	by       string // "field", "distance", "_score"
	field    *field
	desc     bool
	lat, lon float64
	unit     float64 // metres to one

	distances []float64 // by ordinal, for the documents found
}

const (
	maxWindow    = 10_000 // as Elasticsearch's index.max_result_window
	defaultTrack = 10_000
	maxSortKeys  = 16
)

func (s *Server) search(c call) (any, error) {
	start := time.Now()
	body, err := readBody(c.Request)
	if err != nil {
		return nil, err
	}
	ix, err := s.resolve(c.index)
	if err != nil {
		return nil, err
	}
	req, err := parseSearch(ix.mapping, body, c.URL.Query())
	if err != nil {
		return nil, err
	}
	return req.run(&searcher{ix: ix, size: len(ix.docs)}, start)
}

func parseSearch(m *mapping, body []byte, q url.Values) (*request, error) {
	req := &request{query: matchAll{1}, size: 10, track: defaultTrack}
	if len(bytes.TrimSpace(body)) > 0 {
		if err := req.parseBody(m, body); err != nil {
			return nil, err
		}
	}
	if err := req.parseParams(q); err != nil {
		return nil, err
	}
	if req.from < 0 || req.size < 0 {
		return nil, badRequest("illegal_argument_exception", "[from] and [size] parameters cannot be negative")
	}
	if req.from > maxWindow || req.size > maxWindow || req.from+req.size > maxWindow {
		return nil, badRequest("illegal_argument_exception",
			"Result window is too large, from + size must be less than or equal to: [%d]", maxWindow)
	}
	return req, nil
}

func (req *request) parseBody(m *mapping, body []byte) error {
	o := new(mistake).object("the search", body)
	if raw := o.take("query"); raw != nil {
		req.query = (&parser{mistake: o.mistake, mapping: m}).query("query", raw)
	}
	if raw := o.take("sort"); raw != nil {
		req.sort = parseSort(m, o, raw)
	}
	if raw := o.take("_source"); raw != nil {
		req.source = sourceBody(o, raw)
	}
	if raw := o.take("track_total_hits"); raw != nil {
		o.fail(req.trackHits(strings.Trim(string(raw), `"`)))
	}
	o.decode("from", &req.from)
	o.decode("size", &req.size)
	o.ignore("timeout")
	for _, key := range []string{"explain", "version", "seq_no_primary_term", "profile"} {
		o.expect(key, "false")
	}
	return o.rest()
}

func (req *request) trackHits(v string) error {
	switch v {
	case "true":
		req.track = math.MaxInt
	case "false":
		req.track = -1
	default:
		n, err := strconv.Atoi(v)
		if err != nil || n < -1 {
			return badRequest("illegal_argument_exception", "malformed track_total_hits: %s", shorten(v))
		}
		req.track = n
	}
	return nil
}

func (req *request) parseParams(q url.Values) error {
	for key, to := range map[string]*int{"from": &req.from, "size": &req.size} {
		if v := q.Get(key); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil {
				return badRequest("illegal_argument_exception",
					"Failed to parse int parameter [%s] with value [%s]", key, shorten(v))
			}
			if n != -1 { // Elasticsearch takes it for "not given"
				*to = n
			}
		}
	}
	if v := q.Get("track_total_hits"); v != "" {
		if err := req.trackHits(v); err != nil {
			return err
		}
	}
	filter, err := sourceParams(q)
	if err != nil {
		return err
	}
	req.source = cmp.Or(filter, req.source)
	if t := q.Get("search_type"); t != "" && t != "query_then_fetch" && t != "dfs_query_then_fetch" {
		return unsupported("the search_type %s", shorten(t))
	}
	return onlyNeutral(q, searchKeys...)
}

// parseSort reads a criterion or a list of them, keeping the order of an object's keys.
func parseSort(m *mapping, in object, raw json.RawMessage) (keys []sortKey) {
	add := func(name string, options json.RawMessage) {
		if len(keys) == maxSortKeys {
			in.fail(unsupported("more than %d sort keys", maxSortKeys))
		}
		if in.err == nil {
			keys = append(keys, parseSortKey(m, in, name, options))
		}
	}
	one := func(v span) {
		switch raw[v.start] {
		case '"':
			add(keyText(raw[v.start+1:v.end-1]), nil)
		case '{':
			for key, value := range members(raw, v.start) {
				add(keyText(key.of(raw)), json.RawMessage(value.of(raw)))
			}
		default:
			in.fail(badRequest("parsing_exception", "malformed sort"))
		}
	}
	if raw[0] != '[' {
		one(span{0, len(raw)})
		return keys
	}
	for _, v := range members(raw, 0) {
		one(v)
	}
	return keys
}

func parseSortKey(m *mapping, in object, name string, raw json.RawMessage) sortKey {
	k := sortKey{by: "field", desc: name == "_score"}
	o := object{mistake: in.mistake}
	switch {
	case raw == nil:
	case raw[0] == '"':
		o.keys = map[string]json.RawMessage{"order": raw}
	default:
		o = in.object("sort."+name, raw)
	}
	if order := o.take("order"); order != nil {
		switch strings.ToLower(strings.Trim(string(order), `"`)) {
		case "asc":
			k.desc = false
		case "desc":
			k.desc = true
		default:
			o.fail(badRequest("illegal_argument_exception", "Illegal sort order: %s", shorten(string(order))))
		}
	}
	switch name {
	case "_score":
		k.by = name
		o.rest()
		return k
	case "_geo_distance":
		k.parseDistance(m, o)
		return k
	case "_doc":
		o.fail(unsupported("sorting by _doc"))
		return k
	}
	o.ignore("unmapped_type")
	o.expect("missing", "_last")
	o.expect("mode", "min", "max")
	o.rest()
	if k.field = m.fields[name]; k.field == nil {
		o.fail(badRequest("query_shard_exception", "No mapping found for [%s] in order to sort on", shorten(name)))
		return k
	}
	switch k.field.kind {
	case kindKeyword, kindBoolean, kindLong:
	case kindText, kindSuggest:
		o.fail(badRequest("illegal_argument_exception", "Text fields are not optimised for operations that require "+
			"per-document field data like aggregations and sorting: [%s]", shorten(name)))
	default:
		o.fail(unsupported("sorting by %q", shorten(name)))
	}
	return k
}

// parseDistance reads the options of _geo_distance, of which one key is the field.
func (k *sortKey) parseDistance(m *mapping, o object) {
	k.by, k.unit = "distance", 1
	unit := "m"
	o.decode("unit", &unit)
	switch unit {
	case "m", "meters":
	case "km", "kilometers":
		k.unit = 1000
	default:
		o.fail(unsupported("the unit %s of _geo_distance", shorten(unit)))
	}
	o.expect("distance_type", "arc")
	o.expect("mode", "min")
	o.expect("ignore_unmapped", "false")
	o.expect("validation_method", "strict")
	name, raw := o.single("_geo_distance with other than one field")
	if o.err != nil {
		return
	}
	if k.field = m.fields[name]; k.field == nil || k.field.kind != kindPoint {
		o.fail(badRequest("query_shard_exception",
			"failed to find geo_point field [%s] for geo distance based sort", shorten(name)))
	}
	v := span{0, len(raw)}
	if raw[0] == '[' && !isNumberPair(raw, v) { // a list of one point
		n := 0
		for _, v = range members(raw, 0) {
			n++
		}
		if n != 1 {
			o.fail(unsupported("_geo_distance from other than one point"))
		}
	}
	var err error
	if k.lat, k.lon, err = parseLatLon(raw, v); err == nil {
		_, err = encodePlace(k.lat, k.lon)
	}
	if err != nil {
		o.fail(badRequest("parsing_exception", "malformed point of _geo_distance: %v", err))
	}
}

// run finds, orders and renders the hits.
func (req *request) run(s *searcher, start time.Time) (json.RawMessage, error) {
	m, err := req.query.eval(s)
	if err != nil {
		return nil, err
	}
	order := req.sort
	byScore := len(order) == 0
	if byScore {
		order = []sortKey{{by: "_score", desc: true}}
	}
	order = slices.Clone(order)
	for i := range order {
		wanted := s.size
		if i == 0 && !order[i].desc {
			wanted = req.from + req.size // what is farther off can be left out
		}
		order[i].prepare(s, m, wanted)
	}
	top := req.top(m, func(a, b uint32) int {
		for i := range order {
			if c := order[i].compare(s, m, a, b); c != 0 {
				return c
			}
		}
		return 0
	})
	return req.render(s, m, order, byScore, top, start), nil
}

// top returns the ordinals of the wanted window; of equals the first, so smallest, stays first.
func (req *request) top(m *matches, compare func(a, b uint32) int) []uint32 {
	want := req.from + req.size
	var best []uint32
	m.each(func(ordinal uint32) {
		if len(best) == want && (want == 0 || compare(ordinal, best[want-1]) >= 0) {
			return
		}
		at := sort.Search(len(best), func(i int) bool { return compare(best[i], ordinal) > 0 })
		if len(best) == want {
			best = best[:want-1]
		}
		best = slices.Insert(best, at, ordinal)
	})
	return best[min(req.from, len(best)):]
}

func (k *sortKey) compare(s *searcher, m *matches, a, b uint32) int {
	c := 0
	switch k.by {
	case "_score":
		c = cmp.Compare(m.scoreOf(a), m.scoreOf(b))
	case "distance":
		c = cmp.Compare(k.distances[a], k.distances[b])
	default:
		col := s.ix.columns[k.field]
		hasA, hasB := col.present(a), col.present(b)
		if !hasA || !hasB { // what has no value stands last in both directions
			return boolOrder(hasB) - boolOrder(hasA)
		}
		if k.field.kind == kindLong {
			c = cmp.Compare(col.longs[a], col.longs[b])
		} else {
			c = cmp.Compare(col.keywords[a], col.keywords[b])
		}
	}
	if k.desc {
		return -c
	}
	return c
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}
