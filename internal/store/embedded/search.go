package embedded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

type request struct {
	query  node
	size   int
	sort   []sortKey // empty: by score
	source sourceFilter
	track  int // limit for counting total hits; -1: not reported
}

// sortKey is a field to sort by, or its distance from a place.
type sortKey struct {
	field    *field
	desc     bool
	distance bool
	lat, lon float64

	distances []float64 // by ordinal, for the documents found
}

const (
	maxWindow    = 10_000 // like Elasticsearch's index.max_result_window
	defaultTrack = 10_000
	maxSortKeys  = 16
)

func (s *Server) search(r *http.Request) (any, error) {
	start := time.Now()
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	ix, err := s.resolve(r)
	if err != nil {
		return nil, err
	}
	req, err := parseSearch(ix, body, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return req.run(&searcher{ix: ix, size: len(ix.docs)}, start)
}

func parseSearch(ix *index, body []byte, q url.Values) (*request, error) {
	req := &request{query: matchAll{}, size: 10, track: defaultTrack}
	p := &parser{ix: ix}
	if len(bytes.TrimSpace(body)) > 0 {
		req.parseBody(p, body)
	}
	if v := q.Get("size"); v != "" {
		p.decode("size", json.RawMessage(v), &req.size)
	}
	if v := q.Get("track_total_hits"); v != "" {
		req.trackHits(p, v)
	}
	if slices.ContainsFunc(sourceKeys, q.Has) {
		var err error
		req.source, err = sourceParams(q)
		p.fail(err)
	}
	if req.size < 0 || req.size > maxWindow {
		p.fail(badRequest("illegal_argument_exception", "[size] must be from 0 to [%d]", maxWindow))
	}
	if t := cmp.Or(q.Get("search_type"), "query_then_fetch"); t != "query_then_fetch" {
		p.refuse("the search_type %s", shorten(t))
	}
	p.fail(onlyNeutral(q, "size", "track_total_hits", "search_type"))
	return req, p.err
}

func (req *request) parseBody(p *parser, body []byte) {
	o := p.object("the search", body)
	if raw := o.take("query"); raw != nil {
		req.query = p.query("query", raw)
	}
	if raw := o.take("sort"); raw != nil {
		req.parseSort(p, raw)
	}
	if raw := o.take("_source"); raw != nil {
		req.source = sourceBody(p, raw)
	}
	if raw := o.take("track_total_hits"); raw != nil {
		req.trackHits(p, string(raw))
	}
	o.decode("size", &req.size)
	o.end()
}

func (req *request) trackHits(p *parser, v string) {
	switch v {
	case "true":
		req.track = math.MaxInt
	case "false":
		req.track = -1
	default:
		if p.decode("track_total_hits", json.RawMessage(v), &req.track); req.track < -1 {
			p.refuse("track_total_hits of %d", req.track)
		}
	}
}

// parseSort reads a sort key or a list of sort keys.
func (req *request) parseSort(p *parser, raw json.RawMessage) {
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		p.decode("sort", raw, &list)
	}
	if len(list) > maxSortKeys {
		p.refuse("more than %d sort keys", maxSortKeys)
	}
	for _, one := range list {
		var name string
		order := json.RawMessage(`{}`)
		if one[0] == '"' {
			p.decode("sort", one, &name)
		} else {
			name, order = p.object("sort", one).only("field in an object")
		}
		if p.err != nil {
			return
		}
		req.sort = append(req.sort, p.sortKey(name, order))
	}
}

func (p *parser) sortKey(name string, raw json.RawMessage) (k sortKey) {
	order := "asc"
	o := object{parser: p, path: "sort." + name}
	if raw[0] == '"' {
		p.decode(o.path, raw, &order)
	} else {
		o = p.object(o.path, raw)
		o.decode("order", &order)
	}
	switch k.desc = strings.EqualFold(order, "desc"); {
	case !k.desc && !strings.EqualFold(order, "asc"):
		p.fail(badRequest("illegal_argument_exception", "Illegal sort order: %s", shorten(order)))
	case name == "_geo_distance":
		k.parseDistance(p, o)
	default:
		o.end()
		k.field = p.single(name, "sorting by", kindKeyword, kindBoolean, kindLong)
	}
	return k
}

// parseDistance reads the options of _geo_distance. One of its keys is the field.
func (k *sortKey) parseDistance(p *parser, o object) {
	name, raw := o.only("field")
	k.distance, k.field = true, p.single(name, "sorting by the distance of", kindPoint)
	if p.err != nil {
		return
	}
	if list := []json.RawMessage(nil); json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		raw = list[0] // a list of one point
	}
	var err error
	if k.lat, k.lon, err = parseLatLon(raw, span{0, len(raw)}); err == nil {
		_, err = encodePlace(k.lat, k.lon)
	}
	if err != nil {
		p.fail(badRequest("parsing_exception", "malformed point of _geo_distance: %v", err))
	}
}

// run finds, orders and renders the hits.
func (req *request) run(s *searcher, start time.Time) (json.RawMessage, error) {
	m := req.query.eval(s)
	for i := range req.sort {
		count := s.size
		if i == 0 && !req.sort[i].desc {
			count = req.size // farther documents can be left out
		}
		req.sort[i].prepare(s, m, count)
	}
	top := req.top(m, func(a, b uint32) int {
		if len(req.sort) == 0 {
			return cmp.Compare(m.scoreOf(b), m.scoreOf(a))
		}
		for i := range req.sort {
			if c := req.sort[i].compare(s, a, b); c != 0 {
				return c
			}
		}
		return 0
	})
	return req.render(s, m, top, start)
}

// top returns the ordinals of the first hits. Equal hits are in ascending order of their ordinals.
func (req *request) top(m *matches, compare func(a, b uint32) int) []uint32 {
	want := req.size
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
	return best
}

func (k *sortKey) compare(s *searcher, a, b uint32) int {
	c := 0
	if k.distance {
		c = cmp.Compare(k.distances[a], k.distances[b])
	} else {
		col := s.ix.columns[k.field]
		hasA, hasB := col.present(a), col.present(b)
		switch {
		case !hasA && !hasB:
			return 0
		case !hasA: // without a value a document is last in both directions
			return 1
		case !hasB:
			return -1
		case k.field.kind == kindLong:
			c = cmp.Compare(col.longs[a], col.longs[b])
		default:
			c = cmp.Compare(col.keywords[a], col.keywords[b])
		}
	}
	if k.desc {
		return -c
	}
	return c
}

// render writes the response of a search by hand, since sources are copied unchanged.
func (req *request) render(s *searcher, m *matches, top []uint32, start time.Time) (out []byte, err error) {
	scored := len(req.sort) == 0
	out = make([]byte, 0, 512+len(top)*512)
	out = strconv.AppendInt(append(out, `{"took":`...), time.Since(start).Milliseconds(), 10)
	out = append(out, `,"timed_out":false,"_shards":`+oneShard+`,"hits":{`...)
	if req.track >= 0 {
		total, relation := m.count(), "eq"
		if total > req.track {
			total, relation = req.track, "gte"
		}
		out = strconv.AppendInt(append(out, `"total":{"value":`...), int64(total), 10)
		out = append(append(out, `,"relation":"`...), relation...)
		out = append(out, `"},`...)
	}
	out = append(out, `"max_score":`...)
	if scored && len(top) > 0 {
		out = appendFloat(out, float64(m.scoreOf(top[0])), 32)
	} else {
		out = append(out, "null"...)
	}
	out = append(out, `,"hits":[`...)
	for i, ordinal := range top {
		if i > 0 {
			out = append(out, ',')
		}
		doc := &s.ix.docs[ordinal]
		out = append(append(out, `{"_index":`...), quote(s.ix.name)...)
		out = append(append(out, `,"_type":"_doc","_id":`...), quote(doc.id)...)
		out = append(out, `,"_score":`...)
		if scored {
			out = appendFloat(out, float64(m.scoreOf(ordinal)), 32)
		} else {
			out = append(out, "null"...)
		}
		if !req.source.off {
			if out, err = req.source.apply(append(out, `,"_source":`...), doc); err != nil {
				return nil, err
			}
		}
		if !scored {
			out = append(out, `,"sort":[`...)
			for j := range req.sort {
				if j > 0 {
					out = append(out, ',')
				}
				out = req.sort[j].appendValue(out, s, ordinal)
			}
			out = append(out, ']')
		}
		out = append(out, '}')
	}
	return append(out, "]}}"...), nil
}

func (k *sortKey) appendValue(out []byte, s *searcher, ordinal uint32) []byte {
	if k.distance {
		return appendFloat(out, distanceMeters(k.distances[ordinal]), 64)
	}
	col := s.ix.columns[k.field]
	switch has := col.present(ordinal); {
	case !has && k.field.kind == kindKeyword:
		return append(out, "null"...)
	case !has && k.desc:
		return strconv.AppendInt(out, math.MinInt64, 10)
	case !has:
		return strconv.AppendInt(out, math.MaxInt64, 10)
	case k.field.kind == kindLong:
		return strconv.AppendInt(out, col.longs[ordinal], 10)
	case k.field.kind == kindBoolean:
		if col.keywords[ordinal] == "true" {
			return append(out, '1')
		}
		return append(out, '0')
	}
	return append(out, quote(col.keywords[ordinal])...)
}

func appendFloat(out []byte, v float64, bits int) []byte {
	if math.IsInf(v, 0) {
		return append(out, `"Infinity"`...)
	}
	return strconv.AppendFloat(out, v, 'g', -1, bits)
}
