package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
)

// A response of the setup that cannot be looked at is neither right nor wrong, and a warning.
func TestSetupThatIsNotLookedAt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "zip")
		w.Write([]byte("text"))
	}))
	defer server.Close()
	for expect, want := range map[string]string{
		"contains": `setup: the body of the response to "login" was not looked at, and is neither right nor wrong: ` +
			`encoding "zip" is not gzip, deflate, br or zstd`,
		"": "",
	} {
		login := bench.Request{Name: "login", Path: "/"}
		if expect != "" {
			login.Expect = map[string]any{expect: "x"}
		}
		var got bench.Warnings
		p := bench.Profile{Setup: []bench.Request{login}, Requests: []bench.Request{{Name: "get", Path: "/"}}}
		l, err := newLoader(&site{plan: &bench.Run{Profile: p}, requests: p.Requests, getenv: func(string) string { return "" }})
		testenv.OK(t, err)
		l.warn = func(w bench.Warning) { got.Add(w) }
		if err := l.setUp(t.Context(), runner.Place{BaseURL: server.URL}, func(load.Asked) {}); err != nil || got.Join("|") != want {
			t.Errorf("%v, %q, want %q", err, got, want)
		}
	}
}
