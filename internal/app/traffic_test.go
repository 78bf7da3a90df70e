package app

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
)

func trafficOf(t *testing.T, run bench.Run) *traffic {
	return testenv.Must(newTraffic(&record{plan: Plan{Run: run}, env: noEnv}, nil))(t)
}

// What is compared follows compare_bodies: 300 bodies of each kind in each step and a share, which
// the default bounds by a budget; with 0 nothing is compared under load.
func TestComparingFollowsTheProfile(t *testing.T) {
	expect, err := check.ParseExpect(map[string]any{"contains": "a"})
	testenv.OK(t, err)
	for name, test := range map[string]struct {
		share        float64
		bounded      bool
		every, quota int
		budget       float64
	}{
		"the default": {.01, true, 100, 300, .01},
		"a share":     {.05, false, 20, 300, 0},
		"all":         {1, false, 1, 300, 0},
		"none":        {0, false, math.MaxInt, 0, 0},
	} {
		l := trafficOf(t, bench.Run{Profile: bench.Profile{CompareBodies: test.share, CompareBounded: test.bounded}})
		l.expect["get"] = expect
		p := l.loadPlan(runner.Place{BaseURL: "http://a"}, bench.Step{})
		testenv.Check(t, p.CheckEvery == test.every && p.CheckQuota == test.quota && p.CheckBudget == test.budget,
			"%s: one in %d, %d of each, budget %g", name, p.CheckEvery, p.CheckQuota, p.CheckBudget)
		testenv.Check(t, p.Checks("get") && !p.Checks("other"),
			"%s: a kind without an expectation is compared, or one with it is not", name)
	}
}

// A response is compared if its request has an expectation, or if it is known.
func TestComparedResponses(t *testing.T) {
	expect, err := check.ParseExpect(map[string]any{"contains": "right"})
	testenv.OK(t, err)
	l := trafficOf(t, bench.Run{})
	l.expect["get"] = expect
	if err := l.check(load.Response{Request: "get", Status: 200, Body: []byte("wrong")}); err == nil || errors.Is(err, load.ErrNotKnown) {
		t.Errorf("an unexpected body: %v", err)
	}
	if err := l.check(load.Response{Request: "get", Status: 200, Body: []byte("right")}); err != nil {
		t.Errorf("an expected body: %v", err)
	}
	unread := errors.New("not there")
	if err := l.check(load.Response{Request: "get", Status: 200, Unread: unread}); !errors.Is(err, unread) {
		t.Errorf("a body that is not there: %v", err)
	}
	known, err := dataset.NewResponses(nil, []bench.Request{{Name: "wait", Path: "/v1/benchmark"}})
	testenv.OK(t, err)
	l.known = known
	for request, want := range map[string]error{"wait": unread, "get": unread, "other": load.ErrNotKnown} {
		if err := l.check(load.Response{Request: request, Status: 200, Unread: unread}); !errors.Is(err, want) {
			t.Errorf("a known body of %q that is not there: %v", request, err)
		}
	}
	l.known = nil
	l.expect, l.plan.Run.Profile.CompareBodies = nil, .01
	testenv.Check(t, l.loadPlan(runner.Place{BaseURL: "http://a"}, bench.Step{}).Check == nil,
		"a profile without expectations is checked")
}

// Trials draw other values for uuid and string, also after a resume, in which they are
// counted again.
func TestTrialsHaveTheirOwnValues(t *testing.T) {
	seen := map[uint64]bool{}
	for resumes := range 3 {
		l := trafficOf(t, bench.Run{Resumed: make([]time.Time, resumes)})
		for _, name := range []string{"a", "b"} { // two targets may have one address
			at := runner.Place{Trial: bench.Trial{Contender: name, Round: 1}, BaseURL: "http://a"}
			salt := l.trialState(at).Salt
			testenv.Check(t, !seen[salt] && l.trialState(at).Salt == salt,
				"after %d resumes: salt %x again, or not kept", resumes, salt)
			seen[salt] = true
		}
	}
}

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
