package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

type apiError struct {
	status int
	kind   string // "index_not_found_exception"
	reason string
	index  string // where it concerns one
}

func (e *apiError) Error() string { return e.kind + ": " + e.reason }

// unsupportedKind marks what Elasticsearch could do and this store cannot: it is not an answer.
const unsupportedKind = "not_supported_by_embedded_store"

func unsupported(format string, args ...any) *apiError {
	return &apiError{status: http.StatusNotImplemented, kind: unsupportedKind,
		reason: "the embedded store of locbench does not know " + fmt.Sprintf(format, args...)}
}

func badRequest(kind, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: kind, reason: fmt.Sprintf(format, args...)}
}

type errorCause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
	Index  string `json:"index,omitempty"`
}

// cause is the error object alone.
func (e *apiError) cause() errorCause { return errorCause{e.kind, e.reason, e.index} }

func asAPI(err error) *apiError {
	if api, ok := errors.AsType[*apiError](err); ok {
		return api
	}
	return &apiError{status: http.StatusInternalServerError, kind: "exception", reason: err.Error()}
}

func writeError(w http.ResponseWriter, err error) {
	api := asAPI(err)
	type errorBody struct {
		RootCause []errorCause `json:"root_cause"`
		errorCause
	}
	write(w, answer{api.status, struct {
		Error  errorBody `json:"error"`
		Status int       `json:"status"`
	}{errorBody{[]errorCause{api.cause()}, api.cause()}, api.status}})
}

var (
	jsonHeader    = []string{"application/json; charset=UTF-8"}
	productHeader = []string{"Elasticsearch"} // newer clients refuse to talk without it
)

// answer is what a call returns where the status is not 200.
type answer struct {
	status int
	body   any
}

// write writes what a call has returned: an answer, JSON as it is, nothing, or what becomes JSON.
func write(w http.ResponseWriter, v any) {
	a, ok := v.(answer)
	if !ok {
		a = answer{http.StatusOK, v}
	}
	body, ok := a.body.(json.RawMessage)
	if !ok && a.body != nil {
		var err error
		if body, err = json.Marshal(a.body); err != nil {
			a.status, body = http.StatusInternalServerError, []byte(`{"error":"cannot render the answer"}`)
		}
	}
	h := w.Header()
	h["Content-Type"] = jsonHeader
	h["X-Elastic-Product"] = productHeader
	w.WriteHeader(a.status)
	w.Write(body) // an error means that the client has gone
}

// mistake keeps the first error that is found in a body. After it everything reads as absent.
type mistake struct{ err error }

func (m *mistake) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// object is a JSON object that is read key by key, so that what was not understood can be named.
type object struct {
	*mistake
	path string // where it stands, for messages: "query.bool"
	keys map[string]json.RawMessage
}

func (m *mistake) object(path string, raw json.RawMessage) object {
	o := object{mistake: m, path: path}
	if m.err == nil && (json.Unmarshal(raw, &o.keys) != nil || o.keys == nil) {
		m.fail(badRequest("parsing_exception", "%s must be an object", path))
	}
	return o
}

// take returns the value of a key and marks it as understood; nil when it is not there.
func (o object) take(key string) json.RawMessage {
	if o.err != nil {
		return nil
	}
	v := o.keys[key]
	delete(o.keys, key)
	return v
}

// single is the only member; where there are none or several, problem is what is not supported.
func (o object) single(problem string) (key string, raw json.RawMessage) {
	if len(o.keys) != 1 {
		o.fail(unsupported("%s", problem))
	}
	for key, raw = range o.keys {
	}
	return key, raw
}

// ignore marks keys as understood that change nothing here.
func (o object) ignore(keys ...string) {
	for _, k := range keys {
		delete(o.keys, k)
	}
}

// expect marks a key as understood if its value is one of these, whatever the case of letters.
func (o object) expect(key string, values ...string) {
	raw := o.take(key)
	got := strings.Trim(string(raw), `"`)
	if raw != nil && !slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(got, v) }) {
		o.fail(unsupported("%s.%s: %s", o.path, key, shorten(string(raw))))
	}
}

func (o object) decode(key string, v any) {
	if raw := o.take(key); raw != nil && json.Unmarshal(raw, v) != nil {
		o.fail(badRequest("mapper_parsing_exception", "malformed %s of %s", key, o.path))
	}
}

// list reads a key whose value is a string or a list of them; what is its name in messages.
func (o object) list(key, what string) []string {
	raw := o.take(key)
	if raw == nil {
		return nil
	}
	list, err := stringOrList(what, raw)
	o.fail(err)
	return list
}

func stringOrList(what string, raw json.RawMessage) (list []string, err error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, badRequest("parsing_exception", "%s must be a string or a list of strings", what)
	}
	return list, nil
}

// rest fails if there are keys left that nobody has understood, and returns the first mistake.
func (o object) rest() error {
	for k := range o.keys {
		o.fail(unsupported("%q in %s", shorten(k), o.path))
	}
	return o.err
}

func shorten(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
