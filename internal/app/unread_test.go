package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
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
		l, err := newTraffic(&record{plan: Plan{Run: bench.Run{Profile: p}}, env: noEnv, stream: event.New(time.Now)}, nil)
		testenv.OK(t, err)
		l.stream.Subscribe(func(r bench.Record) {
			n, _ := r.Event.(bench.Notice)
			got.Add(bench.Warning{Text: n.Text})
		})
		err = l.SetUp(t.Context(), runner.Place{BaseURL: server.URL})
		l.stream.Close()
		testenv.Check(t, err == nil && got.Join("|") == want, "%v, %q, want %q", err, got, want)
	}
}
