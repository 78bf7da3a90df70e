package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// apiError is an error answer in the shape of Elasticsearch's.
type apiError struct {
	status int
	kind   string // "index_not_found_exception"
	reason string
	index  string // where it concerns one
}

func (e *apiError) Error() string { return e.kind + ": " + e.reason }

// unsupportedKind marks what Elasticsearch could do and this store cannot: it must never be
// mistaken for an answer.
const unsupportedKind = "not_supported_by_embedded_store"

func unsupported(format string, args ...any) *apiError {
	return &apiError{status: http.StatusNotImplemented, kind: unsupportedKind, reason: "the embedded store of locbench does not know " + fmt.Sprintf(format, args...)}
}

func badRequest(kind, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: kind, reason: fmt.Sprintf(format, args...)}
}

func noSuchIndex(name string) *apiError {
	return &apiError{status: http.StatusNotFound, kind: "index_not_found_exception", reason: "no such index [" + name + "]", index: name}
}

type errorCause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
	Index  string `json:"index,omitempty"`
}

// body is the error object alone, as items of a bulk answer carry it.
func (e *apiError) cause() errorCause { return errorCause{e.kind, e.reason, e.index} }

func writeError(w http.ResponseWriter, err error) {
	var api *apiError
	if !errors.As(err, &api) {
		api = &apiError{status: http.StatusInternalServerError, kind: "exception", reason: err.Error()}
	}
	type errorBody struct {
		RootCause []errorCause `json:"root_cause"`
		errorCause
	}
	writeJSON(w, api.status, struct {
		Error  errorBody `json:"error"`
		Status int       `json:"status"`
	}{errorBody{[]errorCause{api.cause()}, api.cause()}, api.status})
}

var (
	jsonHeader    = []string{"application/json; charset=UTF-8"}
	productHeader = []string{"Elasticsearch"} // newer clients refuse to talk without it
)

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"cannot render the answer"}`)
	}
	writeBody(w, status, body)
}

func writeBody(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonHeader
	h["X-Elastic-Product"] = productHeader
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has gone
}

// object is a JSON object that is read key by key, so that what was not understood can be named.
type object struct {
	path string // where it stands, for messages: "query.bool"
	keys map[string]json.RawMessage
}

func parseObject(path string, raw json.RawMessage) (object, error) {
	o := object{path: path}
	if err := json.Unmarshal(raw, &o.keys); err != nil || o.keys == nil {
		return o, badRequest("parsing_exception", "%s must be an object", path)
	}
	return o, nil
}

// take returns the value of a key and marks it as understood; nil when it is not there.
func (o object) take(key string) json.RawMessage {
	v, ok := o.keys[key]
	if !ok {
		return nil
	}
	delete(o.keys, key)
	return v
}

// ignore marks keys as understood that change nothing here.
func (o object) ignore(keys ...string) {
	for _, k := range keys {
		delete(o.keys, k)
	}
}

// expect marks a key as understood if its value is one of these; strings are compared without
// regard to case.
func (o object) expect(key string, values ...string) error {
	raw := o.take(key)
	if raw == nil {
		return nil
	}
	got := strings.Trim(string(raw), `"`)
	for _, v := range values {
		if strings.EqualFold(got, v) {
			return nil
		}
	}
	return unsupported("%s.%s: %s", o.path, key, shorten(string(raw)))
}

// rest fails if there are keys left that nobody has understood.
func (o object) rest() error {
	for k := range o.keys {
		return unsupported("%q in %s", shorten(k), o.path)
	}
	return nil
}

func shorten(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
