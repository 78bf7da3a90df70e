package embedded

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	maxBulkBody   = 100 << 20 // Elasticsearch's http.max_content_length
	maxSearchBody = 1 << 20
	maxOtherBody  = 8 << 20
)

// ServeHTTP answers one call, after the injected latency.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	defer func() {
		s.calls.Add(1)
		s.busy.Add(int64(time.Since(began)))
	}()
	s.delays.wait(r.Context())
	if v, err := s.route(r); err != nil {
		writeError(w, err)
	} else {
		write(w, v)
	}
}

// Work is how many calls have been answered, and the time that they took together: from the head of
// a call to the last byte of its answer handed over, injected latency included. Calls under way are
// not in it.
func (s *Server) Work() (calls int64, busy time.Duration) {
	return s.calls.Load(), time.Duration(s.busy.Load())
}

// call is a request, with what its path names and, where the route wants it, its body.
type call struct {
	*http.Request
	index, name, id string // the parts of the path; "" where it has none
	body            []byte
}

type route struct {
	method string // "": any; HEAD counts as GET
	parts  int    // of the path: 1 to 3 with an index, 0 without
	name   string // of the call: the second part, or the whole path without an index
}

// handler answers a call: what it returns goes to write. It gets a body of at most limit bytes. One
// that changes something is refused by a sealed store.
type handler struct {
	limit   int64
	changes bool
	do      func(*Server, call) (any, error)
}

var routes = func() map[route]handler {
	const read, write, both = "GET", "POST PUT", "GET POST"
	all := map[route]handler{}
	for _, row := range []struct {
		methods string
		parts   int
		names   string
		limit   int64
		changes bool
		do      func(*Server, call) (any, error)
	}{
		{read, 0, "", 0, false, fixed(rootAnswer)},
		{read, 0, "_cluster/health", 0, false, fixed(healthAnswer)},
		{"PUT", 0, "_cluster/settings", maxOtherBody, true, (*Server).putClusterSettings},
		{read, 0, "_nodes/http _nodes/_all/http", 0, false, (*Server).nodes},
		{read, 0, "_alias _aliases", 0, false, (*Server).getAliases},
		{"POST", 0, "_aliases", maxOtherBody, true, (*Server).changeAliases},
		{write, 0, "_bulk", 0, true, (*Server).bulk},
		{"", 0, "_refresh _flush", 0, false, (*Server).refresh},
		{"", 0, "_count", maxSearchBody, false, (*Server).count},
		{read, 0, "_mapping _mappings", 0, false, (*Server).getMapping},
		{read, 1, "", 0, false, (*Server).describe},
		{"PUT", 1, "", maxOtherBody, true, (*Server).create},
		{"DELETE", 1, "", 0, true, (*Server).remove},
		{both, 2, "_search", maxSearchBody, false, (*Server).search},
		{both, 2, "_count", maxSearchBody, false, (*Server).count},
		{write, 2, "_bulk", 0, true, (*Server).bulk},
		{both, 2, "_refresh _flush _forcemerge", 0, false, (*Server).refresh},
		{read, 2, "_mapping _mappings", 0, false, (*Server).getMapping},
		{read, 2, "_alias _aliases", 0, false, (*Server).getAliases},
		{read, 2, "_settings", 0, false, (*Server).describe},
		{"PUT", 2, "_settings", maxOtherBody, true, (*Server).putSettings},
		{read, 3, "_source _doc", 0, false, (*Server).get},
		{write, 3, "_doc _create", maxBulkBody, true, (*Server).putDocument},
		{"DELETE", 3, "_doc", 0, true, (*Server).deleteDocument},
	} {
		for method := range strings.SplitSeq(row.methods, " ") {
			for name := range strings.SplitSeq(row.names, " ") {
				all[route{method, row.parts, name}] = handler{row.limit, row.changes, row.do}
			}
		}
	}
	return all
}()

func fixed(text string) func(*Server, call) (any, error) {
	raw := json.RawMessage(text)
	return func(*Server, call) (any, error) { return raw, nil }
}

// route finds the call by method and path; what it does not know becomes a 501.
func (s *Server) route(r *http.Request) (any, error) {
	parts, err := splitPath(r.URL)
	if err != nil {
		return nil, err
	}
	c, key := call{Request: r}, route{method: r.Method}
	if r.Method == http.MethodHead {
		key.method = http.MethodGet
	}
	switch first := parts[0]; {
	case first == "_cluster" && len(parts) > 1:
		key.name = first + "/" + parts[1]
	case first == "" || strings.HasPrefix(first, "_") && first != "_all":
		key.name = strings.Join(parts, "/")
	default:
		key.parts = len(parts)
		parts = append(parts, "", "")
		c.index, c.name, c.id, key.name = parts[0], parts[1], parts[2], parts[1]
	}
	h := routes[key]
	if h.do == nil {
		h = routes[route{"", key.parts, key.name}]
	}
	if h.do == nil {
		return nil, unsupported("the call %s %s", r.Method, shorten(r.URL.Path))
	}
	if h.changes && s.sealed.Load() {
		return nil, errSealed()
	}
	if h.limit > 0 {
		if c.body, err = readBody(r, h.limit); err != nil {
			return nil, err
		}
	}
	return h.do(s, c)
}

// splitPath returns the decoded segments of the path; at least one, which may be empty.
func splitPath(u *url.URL) ([]string, error) {
	parts := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	for i, p := range parts {
		decoded, err := url.PathUnescape(p)
		if err != nil {
			return nil, badRequest("illegal_argument_exception", "malformed path")
		}
		parts[i] = decoded
	}
	return parts, nil
}

// readBody reads a body of at most limit bytes, unpacking gzip.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	var in io.Reader = r.Body
	switch enc := r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, badRequest("parse_exception", "malformed gzip: %v", err)
		}
		in = z
	default:
		return nil, unsupported("the content encoding %s", shorten(enc))
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(min(r.ContentLength, 1<<20)) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, badRequest("parse_exception", "read body: %v", err)
	}
	if n > limit {
		return nil, tooLarge(limit)
	}
	return buf.Bytes(), nil
}

func tooLarge(limit int64) error {
	return &apiError{status: http.StatusRequestEntityTooLarge, kind: "content_too_long_exception", reason: fmt.Sprintf("the body is larger than %d MiB", limit>>20)}
}

// neutral are query parameters that change nothing: fuller than filter_path asks for is right.
var neutral = []string{
	"pretty", "human", "error_trace", "filter_path", "timeout", "master_timeout", "wait_for_active_shards", "routing",
	"preference", "realtime", "refresh", "ignore_unavailable", "allow_no_indices", "expand_wildcards",
	"ignore_throttled", "include_type_name", "typed_keys", "max_concurrent_shard_requests", "batched_reduce_size",
	"ccs_minimize_roundtrips", "pre_filter_shard_size", "request_cache", "search_type",
	"allow_partial_search_results", "flat_settings", "local", "include_defaults",
}

// onlyNeutral fails with the name of a query parameter that is neither neutral nor one of known.
func onlyNeutral(q url.Values, known ...string) error {
	for key := range q {
		if !slices.Contains(neutral, key) && !slices.Contains(known, key) {
			return unsupported("the query parameter %q", shorten(key))
		}
	}
	return nil
}
