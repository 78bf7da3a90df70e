package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// apiError is a response other than 200.
type apiError struct {
	status int
	kind   string // "index_not_found_exception"
	reason string
	index  string // the index, if it is about one
	body   any    // replaces an error in Elasticsearch's form
}

func (e *apiError) Error() string { return e.kind + ": " + e.reason }

// unsupported returns the error for something that Elasticsearch supports and this store does not.
func unsupported(format string, args ...any) *apiError {
	return &apiError{status: http.StatusNotImplemented, kind: "not_supported_by_embedded_store",
		reason: "the embedded store of locbench does not support " + fmt.Sprintf(format, args...)}
}

func badRequest(kind, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: kind, reason: fmt.Sprintf(format, args...)}
}

func writeError(w http.ResponseWriter, err error) {
	api, ok := errors.AsType[*apiError](err)
	if !ok {
		api = &apiError{status: http.StatusInternalServerError, kind: "exception", reason: err.Error()}
	}
	if api.body != nil {
		write(w, api.status, api.body)
		return
	}
	cause := table{"type": api.kind, "reason": api.reason}
	if api.index != "" {
		cause["index"] = api.index
	}
	whole := maps.Clone(cause)
	whole["root_cause"] = []table{cause}
	write(w, api.status, table{"status": api.status, "error": whole})
}

var (
	jsonHeader    = []string{"application/json; charset=UTF-8"}
	productHeader = []string{"Elasticsearch"} // newer clients refuse a response without it
)

// write writes the result of a call: JSON unchanged, nothing, or a value as JSON.
func write(w http.ResponseWriter, status int, v any) {
	body, ok := v.(json.RawMessage)
	if !ok && v != nil {
		body, _ = json.Marshal(v) // strings and numbers: no error
	}
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
