package locations

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// handler turns requests into answers.
type handler struct {
	cities    cities
	endpoints map[string]endpoint // by path
	requests  *lineLog            // nil: requests are not logged
	trouble   *lineLog
}

// endpoint answers a request with a value that becomes JSON (nil: an empty body), or with an error. An error that is no
// *problem is the store's.
type endpoint func(*http.Request) (any, error)

func newHandler(s *store, requests, trouble *lineLog) *handler {
	h := &handler{cities: cities{store: s}, requests: requests, trouble: trouble}
	h.endpoints = map[string]endpoint{
		"/":                           h.root,
		"/city/v1/get":                h.get,
		"/city/v1/closest":            h.closest,
		"/city/v1/associatedFeatured": h.associatedFeatured,
		"/city/v1/search":             h.search,
		"/city/v1/featured":           h.featured,
		"/api-docs":                   h.apiDocs,
		"/v1/benchmark":               h.delay,
	}
	return h
}

// ServeHTTP does what all endpoints have in common: finding it, the error, the JSON, the log line. The paths are few and
// fixed; http.ServeMux would answer some requests by itself (redirects, 405), neither in JSON nor in the log.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	value, err := h.answer(r)
	status := http.StatusOK
	if err != nil {
		p := h.problem(r, err)
		value, status = p, p.status
	}
	if status != statusGone {
		write(w, status, value)
	}
	if h.requests != nil {
		h.requests.request(r, status, start, time.Now())
	}
}

func (h *handler) answer(r *http.Request) (any, error) {
	e := h.endpoints[r.URL.Path]
	switch {
	case e == nil:
		return nil, errPath
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return nil, errMethod
	}
	return e(r)
}

// problem is what the client is told of err; what only the operator should know is logged.
func (h *handler) problem(r *http.Request, err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case r.Context().Err() != nil:
		return &problem{status: statusGone}
	}
	h.trouble.printf("error: %s: %v", r.URL.Path, err)
	return errStore
}

func write(w http.ResponseWriter, status int, value any) {
	var body []byte
	if value != nil {
		var ok bool
		if body, ok = value.([]byte); !ok {
			body, _ = json.Marshal(value) // only strings, numbers and booleans: it cannot fail
		}
		w.Header()["Content-Type"] = jsonType
	}
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	if status == http.StatusMethodNotAllowed {
		w.Header()["Allow"] = []string{"GET, HEAD"}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}

var jsonType = []string{"application/json"}
