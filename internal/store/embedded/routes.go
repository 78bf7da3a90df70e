package embedded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const maxBody = 1 << 20 // of a search

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

// call is a request, with the parts of its path: an index, the name of the call, an id; "" where it
// lacks one.
type call struct {
	*http.Request
	index, name, id string
}

// route finds the call by method and path. What would change the store is refused as by an
// Elasticsearch whose cluster is read-only; what it does not know becomes a 501.
func (s *Server) route(r *http.Request) (any, error) {
	parts, err := splitPath(r.URL)
	if err != nil {
		return nil, err
	}
	c := call{Request: r}
	switch first := parts[0]; {
	case first == "_cluster" && len(parts) > 1:
		c.name = first + "/" + parts[1]
	case first == "" || strings.HasPrefix(first, "_") && first != "_all":
		c.name = strings.Join(parts, "/")
	default:
		all := append(parts, "", "")
		c.index, c.name, c.id = all[0], all[1], all[2]
	}
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	post := get || r.Method == http.MethodPost
	switch n := len(parts); {
	case c.index == "" && get && c.name == "":
		return json.RawMessage(rootAnswer), nil
	case c.index == "" && get && c.name == "_cluster/health":
		return json.RawMessage(healthAnswer), nil
	case c.index == "" && get && (c.name == "_nodes/http" || c.name == "_nodes/_all/http"):
		return nodes(c), nil
	case c.index != "" && n == 1 && r.Method == http.MethodHead:
		_, err := s.resolve(c.index)
		return nil, err
	case c.index != "" && n == 3 && get && (c.name == "_source" || c.name == "_doc"):
		return s.get(c)
	case c.index != "" && n == 2 && post && c.name == "_search":
		return s.search(c)
	case c.index != "" && n == 2 && post && c.name == "_count":
		return s.count(c)
	case c.index != "" && n == 2 && post && c.name == "_refresh":
		_, err := s.resolve(c.index)
		return json.RawMessage(`{"_shards":` + oneShard + `}`), err
	case r.Method == http.MethodPut || r.Method == http.MethodDelete || !get && slices.Contains(writing, c.name):
		return nil, &apiError{status: http.StatusForbidden, kind: "cluster_block_exception",
			reason: "blocked by: [FORBIDDEN/6/cluster read-only (api)];"}
	}
	return nil, unsupported("the call %s %s", r.Method, shorten(r.URL.Path))
}

// writing are the names of calls that POST may change a store by.
var writing = []string{
	"_bulk", "_doc", "_create", "_update", "_aliases", "_delete_by_query", "_update_by_query", "_reindex",
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

// readBody reads a body, which must not be longer than maxBody or packed.
func readBody(r *http.Request) ([]byte, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, unsupported("the content encoding %s", shorten(enc))
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(min(r.ContentLength, maxBody)) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, badRequest("parse_exception", "read body: %v", err)
	}
	if n > maxBody {
		return nil, &apiError{status: http.StatusRequestEntityTooLarge, kind: "content_too_long_exception",
			reason: fmt.Sprintf("the body is larger than %d MiB", maxBody>>20)}
	}
	return buf.Bytes(), nil
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
