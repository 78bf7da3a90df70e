package embedded

import (
	"bytes"
	"compress/gzip"
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
	if err := s.route(w, r); err != nil {
		writeError(w, err)
	}
}

// Work is how many calls have been answered, and the time that they took together: from the head of
// a call to the last byte of its answer handed over, injected latency included. Calls under way are
// not in it.
func (s *Server) Work() (calls int64, busy time.Duration) {
	return s.calls.Load(), time.Duration(s.busy.Load())
}

// route finds the call by method and path; what it does not know becomes a 501.
func (s *Server) route(w http.ResponseWriter, r *http.Request) error {
	parts, err := splitPath(r.URL)
	if err != nil {
		return err
	}
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	first := parts[0]
	switch {
	case len(parts) == 1 && first == "":
		if read {
			writeBody(w, http.StatusOK, []byte(rootAnswer))
			return nil
		}
	case strings.HasPrefix(first, "_") && first != "_all":
		return s.routeCluster(w, r, parts, read)
	case len(parts) == 1:
		return s.routeIndex(w, r, first)
	case len(parts) == 3 && (parts[1] == "_source" || parts[1] == "_doc") && read:
		return s.get(w, r, first, parts[2], parts[1] == "_source")
	default:
		return s.routeData(w, r, parts, read)
	}
	return unknownCall(r)
}

func unknownCall(r *http.Request) error {
	return unsupported("the call %s %s", r.Method, shorten(r.URL.Path))
}

// splitPath returns the decoded segments of the path; at least one, which may be empty.
func splitPath(u *url.URL) ([]string, error) {
	path := strings.Trim(u.EscapedPath(), "/")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if !strings.Contains(p, "%") {
			continue
		}
		decoded, err := url.PathUnescape(p)
		if err != nil {
			return nil, badRequest("illegal_argument_exception", "malformed path")
		}
		parts[i] = decoded
	}
	return parts, nil
}

func (s *Server) routeCluster(w http.ResponseWriter, r *http.Request, parts []string, read bool) error {
	call := strings.Join(parts, "/")
	switch {
	case (call == "_alias" || call == "_aliases") && read:
		return s.getAliases(w, "")
	case call == "_aliases" && r.Method == http.MethodPost:
		return s.changeAliases(w, r)
	case call == "_bulk" && (r.Method == http.MethodPost || r.Method == http.MethodPut):
		return s.bulk(w, r, "")
	case call == "_refresh" || call == "_flush":
		return s.refresh(w, "")
	case call == "_count":
		return s.count(w, r, "")
	case (call == "_mapping" || call == "_mappings") && read:
		return s.getMapping(w, "")
	case parts[0] == "_cluster" && len(parts) >= 2 && parts[1] == "health" && read:
		writeBody(w, http.StatusOK, []byte(healthAnswer))
		return nil
	case parts[0] == "_nodes" && read && (call == "_nodes/http" || call == "_nodes/_all/http"):
		writeJSON(w, http.StatusOK, nodes(r.Host))
		return nil
	}
	return unknownCall(r)
}

// routeIndex is for /<index> alone.
func (s *Server) routeIndex(w http.ResponseWriter, r *http.Request, name string) error {
	switch r.Method {
	case http.MethodHead:
		_, err := s.cluster.resolve(name)
		if err != nil {
			return err
		}
		writeBody(w, http.StatusOK, nil)
		return nil
	case http.MethodGet:
		return s.describe(w, name)
	case http.MethodPut:
		body, err := readBody(r, maxOtherBody)
		if err != nil {
			return err
		}
		if err := s.cluster.create(name, body); err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, struct {
			Acknowledged bool   `json:"acknowledged"`
			Shards       bool   `json:"shards_acknowledged"`
			Index        string `json:"index"`
		}{true, true, name})
		return nil
	case http.MethodDelete:
		if err := s.cluster.remove(name); err != nil {
			return err
		}
		writeAcknowledged(w)
		return nil
	}
	return unknownCall(r)
}

// routeData is for calls below an index.
func (s *Server) routeData(w http.ResponseWriter, r *http.Request, parts []string, read bool) error {
	name, call := parts[0], parts[1]
	post, put := r.Method == http.MethodPost, r.Method == http.MethodPut
	if len(parts) == 3 && (call == "_doc" || call == "_create") {
		switch {
		case post || put:
			return s.putDocument(w, r, name, parts[2], call == "_create" || r.URL.Query().Get("op_type") == "create")
		case r.Method == http.MethodDelete && call == "_doc":
			return s.deleteDocument(w, r, name, parts[2])
		}
		return unknownCall(r)
	}
	if len(parts) != 2 {
		return unknownCall(r)
	}
	switch {
	case call == "_search" && (read || post):
		return s.search(w, r, name)
	case call == "_count" && (read || post):
		return s.count(w, r, name)
	case call == "_bulk" && (post || put):
		return s.bulk(w, r, name)
	case (call == "_refresh" || call == "_flush" || call == "_forcemerge") && (read || post):
		return s.refresh(w, name)
	case (call == "_mapping" || call == "_mappings") && read:
		return s.getMapping(w, name)
	case (call == "_alias" || call == "_aliases") && read:
		return s.getAliases(w, name)
	case call == "_settings" && read:
		return s.describe(w, name)
	case call == "_settings" && put:
		return s.putSettings(w, r, name)
	}
	return unknownCall(r)
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
	return &apiError{status: http.StatusRequestEntityTooLarge, kind: "content_too_long_exception", reason: "the body is larger than " + byteCount(limit)}
}

// neutral are the query parameters of any call that change nothing here. A fuller answer than
// filter_path asks for is right.
func neutral(key string) bool {
	return slices.Contains([]string{
		"pretty", "human", "error_trace", "filter_path", "timeout", "master_timeout", "wait_for_active_shards", "routing", "preference",
		"realtime", "refresh", "ignore_unavailable", "allow_no_indices", "expand_wildcards", "ignore_throttled", "include_type_name",
		"typed_keys", "max_concurrent_shard_requests", "batched_reduce_size", "ccs_minimize_roundtrips", "pre_filter_shard_size",
		"request_cache", "search_type", "allow_partial_search_results", "flat_settings", "local", "include_defaults",
	}, key)
}

// onlyNeutral fails with the name of a query parameter that is neither neutral nor one of known.
func onlyNeutral(q url.Values, known ...string) error {
	for key := range q {
		if !neutral(key) && !slices.Contains(known, key) {
			return unsupported("the query parameter %q", shorten(key))
		}
	}
	return nil
}

func (s *Server) changeAliases(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(r, maxOtherBody)
	if err != nil {
		return err
	}
	actions, err := parseAliasActions(body)
	if err != nil {
		return err
	}
	if err := s.cluster.change(actions); err != nil {
		return err
	}
	writeAcknowledged(w)
	return nil
}

func (s *Server) putSettings(w http.ResponseWriter, r *http.Request, name string) error {
	body, err := readBody(r, maxOtherBody)
	if err != nil {
		return err
	}
	ix, err := s.cluster.resolve(name)
	if err != nil {
		return err
	}
	if err := ix.changeSettings(body); err != nil {
		return err
	}
	writeAcknowledged(w)
	return nil
}

func writeAcknowledged(w http.ResponseWriter) {
	writeBody(w, http.StatusOK, []byte(`{"acknowledged":true}`))
}
