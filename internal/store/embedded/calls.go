package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	for pattern, response := range map[string]func(*http.Request) ([]byte, error){
		"GET /{$}":                  func(*http.Request) ([]byte, error) { return []byte(rootResponse), nil },
		"GET /{index}/_source/{id}": s.source,
		"GET /{index}/_count":       s.count,
		"POST /{index}/_search":     s.search,
		"/": func(r *http.Request) ([]byte, error) {
			return nil, unsupported("the call %s %s", r.Method, shorten(r.URL.Path))
		},
	} {
		s.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if body, err := response(r); err != nil {
				writeError(w, err)
			} else {
				write(w, http.StatusOK, body)
			}
		})
	}
}

// rootResponse says "default" and not "oss", since newer clients of version 7 look for it.
const rootResponse = `{"name":"locbench-embedded","cluster_name":"locbench-embedded",` +
	`"cluster_uuid":"bG9jYmVuY2gtZW1iZWRkZQ",` +
	`"version":{"number":"` + Version + `","build_flavor":"default","build_type":"embedded",` +
	`"build_hash":"747e1cc71def077253878a59143c1f785afa92b9",` +
	`"build_date":"2021-01-13T00:42:12.435326Z","build_snapshot":false,"lucene_version":"8.7.0",` +
	`"minimum_wire_compatibility_version":"6.8.0","minimum_index_compatibility_version":"6.0.0-beta1"},` +
	`"tagline":"You Know, for Search"}`

// oneShard is the part of a response about the shards of an index.
const oneShard = `{"total":1,"successful":1,"skipped":0,"failed":0}`

// of finds the index of a call.
func (s *Server) of(r *http.Request) (*index, error) {
	name := r.PathValue("index")
	if ix := s.contents.Load().byName[name]; ix != nil {
		return ix, nil
	}
	return nil, &apiError{http.StatusNotFound, "index_not_found_exception", "no such index [" + shorten(name) + "]"}
}

// brief reports whether a call wants documents without geometry and population, in the ways in
// which clients write it. It refuses other query parameters.
func brief(r *http.Request) (bool, error) {
	switch r.URL.RawQuery {
	case "_source_excludes=geometry,population", "_source_excludes=geometry%2Cpopulation":
		return true, nil
	case "":
		return false, nil
	}
	return false, unsupported("the query parameters %s (only _source_excludes=geometry,population)",
		shorten(r.URL.RawQuery))
}

// source returns a document by its id.
func (s *Server) source(r *http.Request) ([]byte, error) {
	short, err := brief(r)
	if err != nil {
		return nil, err
	}
	ix, err := s.of(r)
	if err != nil {
		return nil, err
	}
	ordinal, found := ix.byID[r.PathValue("id")]
	if !found {
		return nil, &apiError{http.StatusNotFound, "resource_not_found_exception",
			"Document not found [" + ix.name + "]/[_doc]/[" + shorten(r.PathValue("id")) + "]"}
	}
	return ix.docs[ordinal].body(short), nil
}

// count returns the number of all documents of an index; locbench requests it.
func (s *Server) count(r *http.Request) ([]byte, error) {
	ix, err := s.of(r)
	switch {
	case err != nil:
		return nil, err
	case r.URL.RawQuery != "" || r.ContentLength != 0:
		return nil, unsupported("_count with a query")
	}
	return []byte(`{"count":` + strconv.Itoa(len(ix.docs)) + `,"_shards":` + oneShard + `}`), nil
}

const maxBody = 1 << 20 // bytes of a search

// search returns the documents that a query finds, in its order.
func (s *Server) search(r *http.Request) ([]byte, error) {
	start := time.Now()
	short, err := brief(r)
	if err != nil {
		return nil, err
	}
	ix, err := s.of(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, badRequest("read the search: %v", err)
	}
	q, err := parseSearch(body)
	if err == nil && ix.unread != nil {
		err = unsupported("queries of %s: %v", ix.name, ix.unread)
	}
	if err != nil {
		return nil, err
	}
	return ix.render(ix.find(q), short, time.Since(start)), nil
}

// render writes hits without scores, since their order is all that they would say.
func (ix *index) render(hits []uint32, short bool, took time.Duration) []byte {
	out := make([]byte, 0, 512+len(hits)*512)
	out = fmt.Appendf(out, `{"took":%d,"timed_out":false,"_shards":`+oneShard+`,"hits":{"max_score":null,"hits":[`,
		took.Milliseconds())
	for i, ordinal := range hits {
		if i > 0 {
			out = append(out, ',')
		}
		doc := &ix.docs[ordinal]
		out = append(append(out, `{"_index":`...), quote(ix.name)...)
		out = append(append(out, `,"_type":"_doc","_id":`...), quote(doc.id)...)
		out = append(append(out, `,"_score":null,"_source":`...), doc.body(short)...)
		out = append(out, '}')
	}
	return append(out, "]}}"...)
}

func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string can always be written
	return b
}

// apiError is a response other than 200.
type apiError struct {
	status       int
	kind, reason string
}

func (e *apiError) Error() string { return e.kind + ": " + e.reason }

// unsupported returns the error for something that Elasticsearch supports and this store does not.
func unsupported(format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, "not_supported_by_embedded_store",
		"the embedded store of locbench does not support " + fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, "parsing_exception", fmt.Sprintf(format, args...)}
}

func writeError(w http.ResponseWriter, err error) {
	api, ok := errors.AsType[*apiError](err)
	if !ok {
		api = &apiError{http.StatusInternalServerError, "exception", err.Error()}
	}
	cause := `"type":"` + api.kind + `","reason":` + string(quote(api.reason))
	write(w, api.status, fmt.Appendf(nil, `{"error":{"root_cause":[{%s}],%s},"status":%d}`, cause, cause, api.status))
}

var (
	jsonHeader    = []string{"application/json; charset=UTF-8"}
	productHeader = []string{"Elasticsearch"} // newer clients refuse a response without it
)

func write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonHeader
	h["X-Elastic-Product"] = productHeader
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has gone
}

func shorten(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
