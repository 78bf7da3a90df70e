package embedded

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// request is a parsed search.
type request struct {
	query      node
	from, size int
	sort       []sortKey // empty: by score
	source     *sourceFilter
	track      int // total hits are counted up to it; -1: not reported
	scores     bool
}

// sortKey is one criterion of an order.
type sortKey struct {
	by       string // "field", "distance", "_score", "_doc"
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

func (s *Server) search(w http.ResponseWriter, r *http.Request, name string) error {
	start := time.Now()
	body, err := readBody(r, maxSearchBody)
	if err != nil {
		return err
	}
	ix, err := s.cluster.resolve(name)
	if err != nil {
		return err
	}
	req, err := parseSearch(ix.mapping, body, r.URL.Query())
	if err != nil {
		return err
	}
	if err := ix.refresh(); err != nil {
		return err
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ix.closed {
		return noSuchIndex(name)
	}
	out, err := req.run(&searcher{ctx: r.Context(), ix: ix, size: ix.view.size}, start)
	if err != nil {
		return err
	}
	writeBody(w, http.StatusOK, out)
	return nil
}

func parseSearch(m *mapping, body []byte, q url.Values) (*request, error) {
	req := &request{query: matchAll{1}, size: 10, track: defaultTrack}
	if strings.TrimSpace(string(body)) != "" {
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
		return nil, badRequest("illegal_argument_exception", "Result window is too large, from + size must be less than or equal to: [%d]", maxWindow)
	}
	return req, nil
}

func (req *request) parseBody(m *mapping, body []byte) error {
	o, err := parseObject("the search", body)
	if err != nil {
		return err
	}
	if raw := o.take("query"); raw != nil {
		if req.query, err = (&parser{mapping: m}).query("query", raw); err != nil {
			return err
		}
	}
	if raw := o.take("sort"); raw != nil {
		if req.sort, err = parseSort(m, raw); err != nil {
			return err
		}
	}
	if raw := o.take("_source"); raw != nil {
		if req.source, err = sourceBody(raw); err != nil {
			return err
		}
	}
	if raw := o.take("track_total_hits"); raw != nil {
		if err := req.trackHits(strings.Trim(string(raw), `"`)); err != nil {
			return err
		}
	}
	if err := errOr(o.decode("from", &req.from), o.decode("size", &req.size), o.decode("track_scores", &req.scores)); err != nil {
		return err
	}
	o.ignore("timeout")
	return errOr(o.expect("explain", "false"), o.expect("version", "false"), o.expect("seq_no_primary_term", "false"), o.expect("profile", "false"), o.rest())
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
				return badRequest("illegal_argument_exception", "Failed to parse int parameter [%s] with value [%s]", key, shorten(v))
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
	if filter != nil {
		req.source = filter
	}
	if t := q.Get("search_type"); t != "" && t != "query_then_fetch" && t != "dfs_query_then_fetch" {
		return unsupported("the search_type %s", shorten(t))
	}
	return onlyNeutral(q, "from", "size", "track_total_hits", "_source", "_source_includes", "_source_include", "_source_excludes", "_source_exclude")
}

// parseSort reads a criterion or a list of them, keeping the order of an object's keys.
func parseSort(m *mapping, raw json.RawMessage) ([]sortKey, error) {
	var keys []sortKey
	add := func(name string, options json.RawMessage) error {
		k, err := parseSortKey(m, name, options)
		keys = append(keys, k)
		if len(keys) > maxSortKeys {
			return unsupported("more than %d sort keys", maxSortKeys)
		}
		return err
	}
	one := func(v span) error {
		switch raw[v.start] {
		case '"':
			return add(keyText(raw[v.start+1:v.end-1]), nil)
		case '{':
			return eachMember(raw, v.start, func(key, value span) error {
				return add(keyText(key.of(raw)), json.RawMessage(value.of(raw)))
			})
		}
		return badRequest("parsing_exception", "malformed sort")
	}
	at := skipSpace(raw, 0)
	if raw[at] == '[' {
		return keys, eachElement(raw, at, one)
	}
	return keys, one(span{at, skipValue(raw, at)})
}

func parseSortKey(m *mapping, name string, raw json.RawMessage) (sortKey, error) {
	k := sortKey{by: "field", desc: name == "_score"}
	var o object
	switch {
	case raw == nil:
	case raw[0] == '"':
		o.keys = map[string]json.RawMessage{"order": raw}
	default:
		var err error
		if o, err = parseObject("sort."+name, raw); err != nil {
			return k, err
		}
	}
	if order := o.take("order"); order != nil {
		switch strings.ToLower(strings.Trim(string(order), `"`)) {
		case "asc":
			k.desc = false
		case "desc":
			k.desc = true
		default:
			return k, badRequest("illegal_argument_exception", "Illegal sort order: %s", shorten(string(order)))
		}
	}
	switch name {
	case "_score", "_doc":
		k.by = name
		return k, o.rest()
	case "_geo_distance":
		return parseDistance(m, k, o)
	}
	o.ignore("unmapped_type")
	if err := errOr(o.expect("missing", "_last"), o.expect("mode", "min", "max"), o.rest()); err != nil {
		return k, err
	}
	k.field = m.fields[name]
	switch {
	case k.field == nil:
		return k, badRequest("query_shard_exception", "No mapping found for [%s] in order to sort on", shorten(name))
	case k.field.kind == kindKeyword, k.field.kind == kindBoolean, k.field.kind == kindLong:
		return k, nil
	case k.field.kind == kindText, k.field.kind == kindSuggest:
		return k, badRequest("illegal_argument_exception", "Text fields are not optimised for operations that require per-document field data like aggregations and sorting: [%s]", shorten(name))
	}
	return k, unsupported("sorting by %q", shorten(name))
}

// parseDistance reads the options of _geo_distance, of which one key is the field.
func parseDistance(m *mapping, k sortKey, o object) (sortKey, error) {
	k.by, k.unit = "distance", 1
	unit := "m"
	if err := o.decode("unit", &unit); err != nil {
		return k, err
	}
	switch unit {
	case "m", "meters":
	case "km", "kilometers":
		k.unit = 1000
	default:
		return k, unsupported("the unit %s of _geo_distance", shorten(unit))
	}
	if err := errOr(o.expect("distance_type", "arc"), o.expect("mode", "min"), o.expect("ignore_unmapped", "false"), o.expect("validation_method", "strict")); err != nil {
		return k, err
	}
	if len(o.keys) != 1 {
		return k, unsupported("_geo_distance with other than one field")
	}
	for name, raw := range o.keys {
		k.field = m.fields[name]
		if k.field == nil || k.field.kind != kindPoint {
			return k, badRequest("query_shard_exception", "failed to find geo_point field [%s] for geo distance based sort", shorten(name))
		}
		at := skipSpace(raw, 0)
		v := span{at, skipValue(raw, at)}
		if raw[at] == '[' && !isNumberPair(raw, v) { // a list of one point
			n := 0
			if err := eachElement(raw, at, func(e span) error { v = e; n++; return nil }); err != nil || n != 1 {
				return k, unsupported("_geo_distance from other than one point")
			}
		}
		var err error
		if k.lat, k.lon, err = parseLatLon(raw, v); err == nil {
			_, err = encodePlace(k.lat, k.lon)
		}
		if err != nil {
			return k, badRequest("parsing_exception", "malformed point of _geo_distance: %v", err)
		}
	}
	return k, nil
}

// run finds, orders and renders the hits.
func (req *request) run(s *searcher, start time.Time) ([]byte, error) {
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

// top returns the ordinals of the wanted window. Ordinals come in ascending order, so that of
// equals the first stays first.
func (req *request) top(m *matches, compare func(a, b uint32) int) []uint32 {
	want := req.from + req.size
	var best []uint32
	m.each(func(ordinal uint32) {
		if len(best) == want && (want == 0 || compare(ordinal, best[want-1]) >= 0) {
			return
		}
		at, _ := slices.BinarySearchFunc(best, ordinal, func(have, o uint32) int {
			if compare(have, o) <= 0 {
				return -1
			}
			return 1
		})
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
	case "_doc":
		c = cmp.Compare(a, b)
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

func (c *column) present(ordinal uint32) bool {
	return c != nil && int(ordinal) < len(c.has) && c.has[ordinal]
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}
