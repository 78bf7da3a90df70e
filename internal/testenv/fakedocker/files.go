package fakedocker

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// archive describes or reads a path of the container, or accepts files for it.
func (e *Engine) archive(r *http.Request) *http.Response {
	if r.Method == http.MethodPut {
		return e.response(200, nil)
	}
	path := r.URL.Query().Get("path")
	mode, known := e.Modes[path]
	if r.Method == http.MethodHead && !known {
		return e.response(404, nil)
	}
	stat, _ := json.Marshal(map[string]any{"name": path, "mode": mode}) // never fails
	resp := e.response(200, nil)
	if r.Method == http.MethodGet {
		resp = e.response(200, string(e.Archive))
	}
	resp.Header.Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString(stat))
	return resp
}

// exec starts or describes the command.
func (e *Engine) exec(path string) *http.Response {
	if strings.HasSuffix(path, "/start") {
		return e.response(http.StatusSwitchingProtocols, nil)
	}
	return e.response(200, map[string]any{"ID": "e1", "ExitCode": e.Ends})
}
