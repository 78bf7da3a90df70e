package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
)

func loaderOf(t *testing.T, text string) *traffic {
	t.Helper()
	p, err := profile.Parse("p.yaml", []byte("contenders: [a]\nsteps: [1]\n"+text))
	testenv.OK(t, err)
	return testenv.Must(newTraffic(&record{plan: Plan{Run: bench.Run{Profile: p}}, env: noEnv}, nil))(t)
}

// What the setup got, cookies and links, is with all that follows: requests, sessions, teardown.
func TestSetupIsRemembered(t *testing.T) {
	var mu sync.Mutex
	var journal []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		journal = append(journal, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+r.Header.Get("Cookie")))
		mu.Unlock()
		switch r.URL.Path {
		case "/login":
			w.Header().Add("Set-Cookie", "sid=1; Path=/")
			w.Header().Set("Location", "/welcome")
			w.WriteHeader(http.StatusFound)
		case "/logout":
			w.Header().Add("Set-Cookie", "sid=; Path=/; Max-Age=0")
		default:
			fmt.Fprint(w, `{"links":{"next":"more?page=2"}}`)
		}
	}))
	defer server.Close()
	l := loaderOf(t, `
setup: [{post: /login, follow: true, save: {next: links.next}}]
requests: [{get: "{next}"}]
sessions: [{name: s, requests: [{post: /logout}, {get: /gone}]}]
teardown: [{delete: /end}]
`)
	at := runner.Place{BaseURL: server.URL}
	for _, do := range []func() error{
		func() error { return l.SetUp(t.Context(), at) }, func() error { return l.Ask(t.Context(), at) },
		func() error { return l.Ask(t.Context(), at) }, func() error { return l.TearDown(t.Context(), at) },
	} {
		testenv.OK(t, do())
	}
	each := []string{"GET /more?page=2 sid=1", "POST /logout sid=1", "GET /gone"}
	want := slices.Concat([]string{"POST /login", "GET /welcome sid=1"}, each, each, []string{"DELETE /end sid=1"})
	testenv.Check(t, slices.Equal(journal, want), "got  %q\nwant %q", journal, want)
	l = loaderOf(t, "setup: [{post: /login}]\nrequests: [{get: /}]\n")
	testenv.Fails(t, l.SetUp(t.Context(), at), "got 302 Found (Location: /welcome; `follow: true` follows it)")
}
