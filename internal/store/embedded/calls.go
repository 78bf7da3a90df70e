package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ServeHTTP responds to one call, after the injected latency.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	defer func() {
		s.calls.Add(1)
		s.busy.Add(int64(time.Since(began)))
	}()
	s.delays.wait(r.Context())
	s.routes.ServeHTTP(w, r)
}

// Work returns the number of answered calls and their total time: from the header of a call to the
// last byte of its response, injected latency included. Calls in progress are not counted.
func (s *Server) Work() (calls int64, busy time.Duration) {
	return s.calls.Load(), time.Duration(s.busy.Load())
}

// addRoutes fills s.routes. GET includes HEAD.
func (s *Server) addRoutes() {
	for pattern, response := range map[string]func(*http.Request) (any, error){
		"GET /{$}":                  func(*http.Request) (any, error) { return json.RawMessage(rootResponse), nil },
		"GET /_cluster/health":      func(*http.Request) (any, error) { return json.RawMessage(healthResponse), nil },
		"GET /_nodes/http":          nodes,
		"GET /_nodes/_all/http":     nodes,
		"HEAD /{index}":             s.exists,
		"GET /{index}/_source/{id}": s.source,
		"GET /{index}/_doc/{id}":    s.doc,
		"GET /{index}/_search":      s.search,
		"POST /{index}/_search":     s.search,
		"GET /{index}/_count":       s.count,
		"POST /{index}/_count":      s.count,
		"GET /{index}/_refresh":     s.refresh,
		"POST /{index}/_refresh":    s.refresh,
		"/":                         unknownCall,
	} {
		s.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if v, err := response(r); err != nil {
				writeError(w, err)
			} else {
				write(w, http.StatusOK, v)
			}
		})
	}
}

// writing are the names of calls that change a store by POST.
var writing = []string{
	"_bulk", "_doc", "_create", "_update", "_aliases", "_delete_by_query", "_update_by_query", "_reindex",
}

// unknownCall refuses a call that would change the store like an Elasticsearch whose cluster is
// read-only, and any other call as not supported.
func unknownCall(r *http.Request) (any, error) {
	names := func(part string) bool { return slices.Contains(writing, part) }
	if r.Method == http.MethodPut || r.Method == http.MethodDelete ||
		r.Method == http.MethodPost && slices.ContainsFunc(strings.Split(r.URL.Path, "/"), names) {
		return nil, &apiError{status: http.StatusForbidden, kind: "cluster_block_exception",
			reason: "blocked by: [FORBIDDEN/6/cluster read-only (api)];"}
	}
	return nil, unsupported("the call %s %s", r.Method, shorten(r.URL.Path))
}

// rootResponse says "default" and not "oss", since newer clients of version 7 look for it.
const rootResponse = `{"name":"locbench-embedded","cluster_name":"locbench-embedded",` +
	`"cluster_uuid":"bG9jYmVuY2gtZW1iZWRkZQ",` +
	`"version":{"number":"` + Version + `","build_flavor":"default","build_type":"embedded",` +
	`"build_hash":"747e1cc71def077253878a59143c1f785afa92b9",` +
	`"build_date":"2021-01-13T00:42:12.435326Z","build_snapshot":false,"lucene_version":"8.7.0",` +
	`"minimum_wire_compatibility_version":"6.8.0","minimum_index_compatibility_version":"6.0.0-beta1"},` +
	`"tagline":"You Know, for Search"}`

const healthResponse = `{"cluster_name":"locbench-embedded","status":"green","timed_out":false,"number_of_nodes":1,` +
	`"number_of_data_nodes":1,` +
	`"active_primary_shards":1,"active_shards":1,"relocating_shards":0,"initializing_shards":0,"unassigned_shards":0,` +
	`"delayed_unassigned_shards":0,"number_of_pending_tasks":0,"number_of_in_flight_fetch":0,` +
	`"task_max_waiting_in_queue_millis":0,` +
	`"active_shards_percent_as_number":100.0}`

type table = map[string]any

// nodes responds to a client that looks for the nodes of the cluster: there is only this one.
func nodes(r *http.Request) (any, error) {
	return table{"cluster_name": "locbench-embedded", "nodes": table{"embedded": table{
		"name": "locbench-embedded", "version": Version, "build_flavor": "default", "host": r.Host,
		"roles": []string{"data", "ingest", "master"},
		"http":  table{"publish_address": r.Host, "bound_address": []string{r.Host}},
	}}}, nil
}

// oneShard is the part of a response about the shards of an index.
const oneShard = `{"total":1,"successful":1,"skipped":0,"failed":0}`

// resolve finds the index of a call by its name or alias.
func (s *Server) resolve(r *http.Request) (*index, error) {
	name := r.PathValue("index")
	if ix := s.contents.Load().byName[name]; ix != nil {
		return ix, nil
	}
	if name == "_all" || strings.ContainsAny(name, "*,") {
		return nil, unsupported("an expression of index names (%s)", name)
	}
	return nil, &apiError{status: http.StatusNotFound, kind: "index_not_found_exception",
		reason: "no such index [" + name + "]", index: name}
}

func (s *Server) exists(r *http.Request) (any, error) {
	_, err := s.resolve(r)
	return nil, err
}

func (s *Server) refresh(r *http.Request) (any, error) {
	_, err := s.resolve(r)
	return json.RawMessage(`{"_shards":` + oneShard + `}`), err
}

// count returns the number of all documents of an index; locbench requests it.
func (s *Server) count(r *http.Request) (any, error) {
	ix, err := s.resolve(r)
	if err != nil {
		return nil, err
	}
	if body, err := readBody(r); err != nil || len(body) > 0 {
		return nil, unsupported("_count with a query")
	}
	return json.RawMessage(`{"count":` + strconv.Itoa(len(ix.docs)) + `,"_shards":` + oneShard + `}`), nil
}

// byID finds a document by its id, and the requested part of it.
func (s *Server) byID(r *http.Request) (ix *index, doc *stored, filter sourceFilter, err error) {
	query := r.URL.Query()
	if filter, err = sourceParams(query); err == nil {
		err = onlyNeutral(query)
	}
	if err != nil {
		return nil, nil, filter, err
	}
	if ix, err = s.resolve(r); err != nil {
		return nil, nil, filter, err
	}
	if ordinal, found := ix.byID[r.PathValue("id")]; found {
		doc = &ix.docs[ordinal]
	}
	return ix, doc, filter, nil
}

// source returns only the source of a document, by id.
func (s *Server) source(r *http.Request) (any, error) {
	_, doc, filter, err := s.byID(r)
	switch {
	case err != nil:
		return nil, err
	case doc == nil:
		return nil, &apiError{status: http.StatusNotFound, kind: "resource_not_found_exception",
			reason: "Document not found [" + r.PathValue("index") + "]/[_doc]/[" + shorten(r.PathValue("id")) + "]"}
	case filter.off:
		return nil, badRequest("action_request_validation_exception",
			"Validation Failed: 1: fetching source can not be disabled;")
	}
	out, err := filter.apply(make([]byte, 0, 512), doc)
	return json.RawMessage(out), err
}

// doc returns a document by id: its source and metadata.
func (s *Server) doc(r *http.Request) (any, error) {
	ix, doc, filter, err := s.byID(r)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, &apiError{status: http.StatusNotFound, body: table{
			"_index": ix.name, "_type": "_doc", "_id": r.PathValue("id"), "found": false}}
	}
	out := append([]byte(`{"_index":`), quote(ix.name)...)
	out = append(append(out, `,"_type":"_doc","_id":`...), quote(doc.id)...)
	out = append(out, `,"_version":1,"_seq_no":0,"_primary_term":1,"found":true`...)
	if !filter.off {
		out, err = filter.apply(append(out, `,"_source":`...), doc)
	}
	return json.RawMessage(append(out, '}')), err
}

func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string can always be written
	return b
}

const maxBody = 1 << 20 // bytes of a search

// readBody reads a body of at most maxBody bytes, which must not be compressed.
func readBody(r *http.Request) ([]byte, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, unsupported("the content encoding %s", shorten(enc))
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, &apiError{status: http.StatusRequestEntityTooLarge, kind: "content_too_long_exception",
			reason: fmt.Sprintf("body larger than the %d MiB allowed", maxBody>>20)}
	} else if err != nil {
		return nil, badRequest("parse_exception", "read body: %v", err)
	}
	return body, nil
}

// neutral are query parameters that change nothing or are read elsewhere. Without filter_path a
// response contains more, which is still right.
var neutral = append([]string{
	"pretty", "human", "error_trace", "filter_path", "timeout", "master_timeout", "wait_for_active_shards", "routing",
	"preference", "realtime", "refresh", "ignore_unavailable", "allow_no_indices", "expand_wildcards",
	"ignore_throttled", "include_type_name", "typed_keys", "max_concurrent_shard_requests", "batched_reduce_size",
	"ccs_minimize_roundtrips", "pre_filter_shard_size", "request_cache", "allow_partial_search_results",
}, sourceKeys...)

// onlyNeutral returns an error that names a query parameter which is neither neutral nor in known.
func onlyNeutral(q url.Values, known ...string) error {
	for key := range q {
		if !slices.Contains(neutral, key) && !slices.Contains(known, key) {
			return unsupported("the query parameter %q", shorten(key))
		}
	}
	return nil
}
