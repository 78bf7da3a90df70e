package load

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRunSendsWhatTheMixSays(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		var mu sync.Mutex
		seen := map[string]int{}
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			body, _ := io.ReadAll(r.Body)
			headers := slices.Sorted(maps.Keys(r.Header))
			mu.Lock()
			seen[fmt.Sprintf("%s %s %s host=%s a=%s agent=%s %v", r.Method, r.URL, body, r.Host, r.Header.Get("A"), r.Header.Get("User-Agent"), headers)]++
			mu.Unlock()
			if r.Method == "DELETE" {
				w.WriteHeader(404)
				return 404
			}
			return hello(w, r)
		})
		p := counted(server.URL, 3, 300)
		p.Requests = []bench.Request{
			{Name: "post", Method: "POST", Path: "/p", Weight: 1, Body: `{"a":1}`, Header: map[string]string{"a": "b", "Host": "example.org"}},
			{Name: "head", Method: "HEAD", Path: "/h", Weight: 1, Header: map[string]string{"User-Agent": "me"}},
			{Name: "missing", Method: "DELETE", Path: "/d", Weight: 1, ExpectStatus: 404},
		}
		l := run(t, e, p)
		testenv.Until(t, 30*time.Second, "the server has counted its responses", func() bool { return server.count(200)+server.count(404) == 300 })
		if l.Succeeded != 300 {
			t.Errorf("%d succeeded, failed: %v", l.Succeeded, l.Examples)
		}
		host := strings.TrimPrefix(server.URL, "http://")
		for _, want := range []string{
			`POST /p {"a":1} host=example.org a=b agent=locbench [A Content-Length User-Agent]`,
			`HEAD /h  host=` + host + ` a= agent=me [User-Agent]`,
			`DELETE /d  host=` + host + ` a= agent=locbench [User-Agent]`,
		} {
			if seen[want] == 0 {
				t.Errorf("no request %s in %v", want, seen)
			}
		}
		if len(seen) != 3 {
			t.Errorf("seen: %v", seen)
		}
	})
}

func TestPlanMistakes(t *testing.T) {
	request := func(r bench.Request) func(*Plan) {
		return func(p *Plan) { p.Requests = []bench.Request{r} }
	}
	tests := []struct {
		change func(p *Plan)
		want   string
	}{
		{func(p *Plan) { p.BaseURL = "" }, `base URL: must be http://HOST:PORT`},
		{func(p *Plan) { p.BaseURL = "ftp://h" }, "http://HOST:PORT"},
		{func(p *Plan) { p.BaseURL = "http://h:port" }, "base URL"},
		{func(p *Plan) { p.BaseURL = "http://:8080" }, "base URL"},
		{func(p *Plan) { p.Step.Connections = 0 }, "must be 1 to"},
		{func(p *Plan) { p.Step.Connections = 1 << 20 }, "1048576 connections"},
		{func(p *Plan) { p.Step.Duration = 0 }, "duration 0s"},
		{func(p *Plan) { p.Step.MaxRequests = -1 }, "-1 requests"},
		{func(p *Plan) { p.Requests = nil }, "no requests"},
		{func(p *Plan) { p.IDs = nil }, "there are no ids"},
		{request(bench.Request{Path: "x"}), "start with a slash"},
		{request(bench.Request{Path: "/ x\n"}), "invalid"},
		{request(bench.Request{Path: "/", Method: "G T"}), "invalid method"},
		{request(bench.Request{Path: "/", Weight: -1}), "weight -1"},
		{request(bench.Request{Path: "/{language}"}), "the request has no languages"},
		{request(bench.Request{Path: "/{id}", IDs: bench.IDSpec{Distribution: "normal"}}), `unknown distribution "normal"`},
		{request(bench.Request{Path: "/{id}", IDs: bench.IDSpec{Distribution: "zipf", Exponent: 1}}), "zipf exponent 1"},
	}
	for _, test := range tests {
		p := plan("http://127.0.0.1:1", 1, time.Second)
		test.change(&p)
		if _, err := (Engine{}).Run(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
	p := plan("x", 0, 0)
	p.Requests = nil
	_, err := Engine{}.Run(t.Context(), p, nil)
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("not all mistakes at once: %v", err)
	}
}
